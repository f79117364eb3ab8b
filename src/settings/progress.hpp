// SPDX-License-Identifier: Apache-2.0
#pragma once

/// How long work reports how far it has come, without knowing who shows it, if anybody does.

#include <functional>
#include <string>

namespace schedmate::settings {

/// Called with the share that is done, 0 to 1, from any thread. The display ends with the last
/// copy.
using ShowProgress = std::function<void(double done)>;

/// Begins to show work of that name, such as "importing".
using BeginProgress = std::function<ShowProgress(const std::string& what)>;

/// Shows nothing.
[[nodiscard]] inline ShowProgress no_progress(const std::string& /*what*/) {
  return [](double) {};
}

}  // namespace schedmate::settings
