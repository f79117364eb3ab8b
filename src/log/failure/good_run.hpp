// SPDX-License-Identifier: Apache-2.0
#pragma once

/// What is new since a run that went well: lines whose template the good log does not have.

#include <schedmate/diagnosis.hpp>
#include <schedmate/file_access.hpp>
#include <schedmate/result.hpp>
#include <string>
#include <unordered_set>
#include <vector>

namespace schedmate::failure {

using KnownTemplates = std::unordered_set<std::uint64_t>;

/// At most `most_known_templates` of them. Errors: as each_line.
inline constexpr std::size_t most_known_templates = std::size_t{1} << 20U;
[[nodiscard]] Result<void> add_templates(const ForeignPath& path, KnownTemplates& known);

/// The first lines of new templates, the last `most` of them.
[[nodiscard]] Result<std::vector<LogEvidence>> new_lines(const ForeignPath& path,
                                                         const KnownTemplates& known,
                                                         std::size_t most);

}  // namespace schedmate::failure
