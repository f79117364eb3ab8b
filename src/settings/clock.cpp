// SPDX-License-Identifier: Apache-2.0
#include "settings/clock.hpp"

#include <chrono>
#include <ctime>
#include <thread>

namespace schedmate::settings {

Clock machine_clock() {
  return {[] { return std::chrono::steady_clock::now().time_since_epoch(); },
          [](std::chrono::nanoseconds rest) { std::this_thread::sleep_for(rest); },
          [] { return at(std::time(nullptr)); },
          [] { return std::chrono::nanoseconds(std::clock() * (1'000'000'000 / CLOCKS_PER_SEC)); }};
}

}  // namespace schedmate::settings
