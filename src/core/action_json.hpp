// SPDX-License-Identifier: Apache-2.0
#pragma once

/// `schedmate.action.v1` (docs/actions.md): what the journal keeps of an action and programs get.

#include <schedmate/action.hpp>
#include <schedmate/result.hpp>
#include <string_view>

#include "base/document.hpp"

namespace schedmate {

/// What is asked of the cluster; what is empty or 0 is left out.
[[nodiscard]] Document call_document(const ActionCall& call);
/// The other way. Errors: invalid.
[[nodiscard]] Result<ActionCall> read_call(const Document& document);

/// Bytes that are no UTF-8 become U+FFFD once it is text.
[[nodiscard]] Document action_document(const Action& action);

/// The action of such a text. Errors: invalid (no JSON, a word or a type that is not known).
[[nodiscard]] Result<Action> read_action(std::string_view text);

}  // namespace schedmate
