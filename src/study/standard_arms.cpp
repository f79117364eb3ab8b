// SPDX-License-Identifier: Apache-2.0
#include "study/standard_arms.hpp"

#include <string_view>

namespace schedmate::study {
namespace {

/// The arm's policy with further options.
ExperimentArm with(const ExperimentArm& arm, std::string_view suffix, std::string_view options) {
  ExperimentArm changed = arm;
  changed.label += suffix;
  if (options.empty()) return changed;
  changed.policy += changed.policy.find(':') == std::string::npos ? ':' : ',';
  changed.policy += options;
  return changed;
}

ExperimentArm shuffled(const ExperimentArm& arm, std::string_view suffix, std::string what) {
  ExperimentArm changed = with(arm, suffix, "");
  changed.settings["workload_shuffle"] = std::move(what);
  return changed;
}

}  // namespace

std::vector<ExperimentArm> standard_arms(const ExperimentArm& arm) {
  return {arm, with(arm, ".last_k", "advice=last_k:use"),
          with(arm, ".oracle", "advice=oracle:use,shrink=false"), shuffled(arm, ".own", "own"),
          shuffled(arm, ".all", "all")};
}

std::string oracle_of(const std::string& label) {
  return label.substr(0, label.find('.')) + ".oracle";
}

}  // namespace schedmate::study
