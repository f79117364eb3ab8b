// SPDX-License-Identifier: Apache-2.0
#pragma once

/// What `schedmate whatif` replays and tries when the command line does not say.

#include <optional>
#include <schedmate/result.hpp>
#include <string>
#include <string_view>
#include <vector>

#include "study/policy_spec.hpp"

namespace schedmate::lab {

/// The label of with_schedmate's policy.
inline constexpr std::string_view schedmate_label = "site_sm";

/// What may stand for the site's scheduler unless --site names a policy: Slurm's backfill with the
/// limits of the dump, by multifactor priority and in the order of Eligible (Slurm's own default:
/// all weights 0). The one whose replay is nearest is taken.
[[nodiscard]] std::vector<std::string> default_sites();
/// What is tried when no --policy is given, beside the site with SchedMate.
[[nodiscard]] std::vector<std::string> default_policies();

/// The policy NAME+sm with the settings of `site`, so that the two differ by SchedMate alone.
/// Settings that make the variant what it is stay the variant's. None when there is no such policy.
[[nodiscard]] Result<std::optional<study::PolicySpec>> with_schedmate(
    const study::PolicySpec& site);

/// The host of a variant, with the settings of `variant` that are its own; none of a policy that is
/// no variant. Errors: none but those of a host that does not exist.
[[nodiscard]] Result<std::optional<study::PolicySpec>> host_of(const study::PolicySpec& variant);

}  // namespace schedmate::lab
