// SPDX-License-Identifier: Apache-2.0
#pragma once

/// The edge of the service: whatever a use case shows, stores or sends passes one of these.
/// Texts from which parts are cut are redacted before the cut, where they are still whole: lines of
/// a tree in facts/safe.hpp, excerpts for a model in src/agent.

#include <schedmate/facts.hpp>
#include <string>
#include <string_view>
#include <vector>

namespace schedmate::service {

/// Without secrets; line ends stay. For what is stored or sent.
[[nodiscard]] std::string redacted(std::string_view text);
/// The same of a submission's command, and of facts that somebody else wrote.
[[nodiscard]] JobSource redacted(JobSource job);
[[nodiscard]] Facts redacted(Facts facts);
/// A line without secrets and without what controls a terminal; the same of a text, which keeps its
/// line ends. For what is shown.
[[nodiscard]] std::string safe_line(std::string_view line);
[[nodiscard]] std::string safe_text(std::string_view text);
void make_safe(std::vector<std::string>& lines);

}  // namespace schedmate::service
