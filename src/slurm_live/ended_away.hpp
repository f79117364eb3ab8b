// SPDX-License-Identifier: Apache-2.0
#pragma once

/// How jobs ended that the controller has forgotten, of which nobody has seen the end: the site's
/// accounting knows.

#include <map>
#include <optional>
#include <schedmate/connector.hpp>
#include <string>
#include <string_view>
#include <vector>

namespace schedmate::slurm_live {

/// At most so many are asked for at once.
inline constexpr std::size_t most_lost = 500;
/// By id.
using LostJobs = std::map<std::string, SeenJob, std::less<>>;

/// As sacct prints it, UTC here; nothing for Unknown and None.
[[nodiscard]] std::optional<SimTime> sacct_time(std::string_view text);
/// The words that ask sacct for them.
[[nodiscard]] std::vector<std::string> sacct_for(const LostJobs& lost);
/// Those of them that have ended, by what sacct printed; what it does not tell is as it was seen
/// last. Errors: invalid.
[[nodiscard]] Result<std::vector<SeenJob>> read_ended(std::string_view sacct, const LostJobs& lost);

}  // namespace schedmate::slurm_live
