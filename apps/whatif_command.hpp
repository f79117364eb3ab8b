// SPDX-License-Identifier: Apache-2.0
#pragma once

/// `schedmate whatif`: docs/formats/whatif.md.

#include <schedmate/result.hpp>
#include <string>
#include <vector>

#include "apps/session.hpp"

namespace schedmate {

struct WhatifRequest {
  std::string sacct;                  ///< the dump
  std::string cluster;                ///< TOML file, "" = what the dump shows
  std::vector<std::string> policies;  ///< what would be; empty = default_policies
  std::string site;                   ///< the site's own scheduler; "" = nearest of default_sites
  std::string out;                    ///< folder, "" = print alone
  std::string names = "hashed";       ///< or "plain"
};

/// What may stand for the site's scheduler unless --site names a policy: Slurm's backfill with the
/// limits of the dump, by multifactor priority and in the order of Eligible (Slurm's own default:
/// all weights 0). The one whose replay is nearest is taken.
[[nodiscard]] std::vector<std::string> default_sites();
/// What is tried when no --policy is given.
[[nodiscard]] std::vector<std::string> default_policies();

/// Prints and writes the comparison. The exit code is 1 when the replay is too far from reality,
/// and then it stands alone. Errors: everything that ends the command early.
[[nodiscard]] Result<int> whatif_command(const Session& session, const WhatifRequest& request);

}  // namespace schedmate
