// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "apps/environment.hpp"
#include "apps/settings.hpp"

namespace schedmate {

/// What every command gets: where it runs, what was set, and whether a program reads the answer.
struct Session {
  Environment environment;
  Settings settings;
  bool json = false;

  [[nodiscard]] std::string state_dir() const {
    const std::string given = settings.text("state_dir");
    return given.empty() ? environment.state_home + "/schedmate" : given;
  }
};

}  // namespace schedmate
