// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <ctime>
#include <schedmate/time.hpp>

namespace schedmate {

/// When a command was given, in Unix time: the one place that reads it. Everything below takes it
/// as an argument.
[[nodiscard]] inline SimTime wall_clock() { return at(std::time(nullptr)); }

}  // namespace schedmate
