// SPDX-License-Identifier: Apache-2.0
#pragma once

/// A folder where every command has something to work on, and a line for each that succeeds.

#include <map>
#include <string>
#include <vector>

#include "tests/cli/evaluate_world.hpp"
#include "tests/support/http_house.hpp"

namespace schedmate {

struct EdgeWorld : World {
  EdgeWorld();

 private:
  testing::HttpHouse house_;  ///< a daemon on api.sock
};

/// The commands of commands.def.
[[nodiscard]] std::vector<std::string> command_names();
/// What follows "schedmate COMMAND" to make it print something; a new command needs one, too.
[[nodiscard]] const std::map<std::string, std::string>& working_lines();

}  // namespace schedmate
