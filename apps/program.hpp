// SPDX-License-Identifier: Apache-2.0
#pragma once

/// The program as its parser knows it: the flags of all commands, and what there is to complete.

#include <string>
#include <vector>

#include "apps/command.hpp"
#include "apps/completion.hpp"

namespace schedmate {

/// The flags of all commands.
void add_common(CLI::App& app, CommonFlags& common);

/// Every command that `program` has learned, with its flags and what may follow them.
[[nodiscard]] std::vector<CommandDescription> describe(const CLI::App& program);

/// Errors: not_found for a flag, command or argument that no parser knows, with the nearest name.
[[nodiscard]] Result<void> check_known(const CLI::App& program);

}  // namespace schedmate
