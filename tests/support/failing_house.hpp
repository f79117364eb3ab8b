// SPDX-License-Identifier: Apache-2.0
#pragma once

/// A live loop whose jobs fail, or log, as a test says.

#include <string>
#include <utility>

#include "tests/support/live_house.hpp"

namespace schedmate::testing {

inline live::CauseFound cause_of(FailureClass verdict, Component component = Component::none,
                                 Recommendation recommendation = Recommendation::notify) {
  return {.verdict = verdict,
          .component = component,
          .recommendation = recommendation,
          .reason = "what the log says",
          .fingerprint = "f1"};
}

struct FailingHouse {
  explicit FailingHouse(live::Settings settings = ActingDesk::all_act())
      : house(8, std::move(settings)) {
    house.studies = [this](const live::Study& study) -> Result<live::Finding> {
      if (study.what == live::Study::What::failure) return cause;
      if (study.what == live::Study::What::log)
        return live::LogFound{.step = step, .file = 1, .bytes = 1};
      return live::CodeFound{};
    };
  }
  /// It runs, and ends so.
  void fail(const std::string& id, EndState how = EndState::failed) {
    if (house.site.see(id).id.empty()) house.site.submit(id).output = "/log";
    house.turns(40);
    house.site.finish(id, how);
    house.turns(3);
  }
  double step = 1;
  live::CauseFound cause = cause_of(FailureClass::infrastructure, Component::gpu);
  LiveHouse house;
};

}  // namespace schedmate::testing
