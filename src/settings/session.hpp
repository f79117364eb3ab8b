// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <optional>
#include <schedmate/file_access.hpp>
#include <schedmate/result.hpp>
#include <string>
#include <string_view>

#include "settings/clock.hpp"
#include "settings/environment.hpp"
#include "settings/progress.hpp"
#include "settings/settings.hpp"

namespace schedmate::settings {

/// What every use case gets from the program that calls it: what was set, where it runs, and which
/// clock it goes by. A value: a daemon that loads its settings again makes another one.
struct Session {
  Environment environment;
  Settings settings;
  Clock clock;
  BeginProgress progress = no_progress;
  /// Why nothing in the state folder may be touched; else none.
  std::optional<Error> state_fault = std::nullopt;
  /// Where this process may call no model: who may, and is asked instead (src/llm/remote.hpp). It
  /// has the budgets and tokens of `llm.use`.
  std::function<std::string(std::string_view question)> ask_model{};
  /// Of each file that a request names.
  ReadBudget budget{};

  [[nodiscard]] std::string state_dir() const {
    const std::string given = settings.text("state_dir");
    return given.empty() ? environment.state_home + "/schedmate" : given;
  }
};

}  // namespace schedmate::settings
