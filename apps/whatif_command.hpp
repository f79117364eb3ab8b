// SPDX-License-Identifier: Apache-2.0
#pragma once

/// `schedmate whatif`: docs/formats/whatif.md.

#include <schedmate/result.hpp>
#include <string>
#include <vector>

#include "settings/session.hpp"

namespace schedmate {

struct WhatifRequest {
  std::string sacct;                  ///< the dump
  std::string cluster;                ///< TOML file, "" = what the dump shows
  std::vector<std::string> policies;  ///< what would be; empty = as whatif_sites.hpp says
  std::string site;                   ///< the site's own scheduler; "" = nearest of default_sites
  std::string out;                    ///< folder, "" = print alone
  std::string names = "hashed";       ///< or "plain"
};

/// Prints and writes the comparison. The exit code is 1 when the replay is too far from reality,
/// and then it stands alone. Errors: everything that ends the command early.
[[nodiscard]] Result<int> run_whatif(const Session& session, const WhatifRequest& request);

}  // namespace schedmate
