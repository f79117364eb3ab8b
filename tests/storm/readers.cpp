// SPDX-License-Identifier: Apache-2.0

/// Whoever reads code, logs and failures for the daemon.

#include <algorithm>

#include "tests/storm/people.hpp"

namespace schedmate::storm {

using enum Fault;

void People::study(const live::Study& study, std::function<void(Result<live::Finding>)> answer) {
  Dice& dice = town_.dice;
  if (dice.strikes(study_lost, 0.2)) return;
  Millis delay = readers_.between(1, 3'000);
  if (dice.strikes(study_late, 0.2)) delay = dice.of(study_late).between(10'000, 200'000);
  Result<live::Finding> found = finding(study);
  if (dice.strikes(study_fails, 0.3)) {
    const bool may_pass = dice.of(study_fails).below(2) == 0;
    found = fail(may_pass ? ErrorCode::unavailable : ErrorCode::not_found, "it cannot be read");
  }
  town_.timeline.in(delay,
                    [answer = std::move(answer), found = std::move(found)] { answer(found); });
}

live::Finding People::finding(const live::Study& study) {
  const auto some = [&](std::int64_t most) { return static_cast<double>(readers_.below(most)); };
  switch (study.what) {
    case live::Study::What::code:
      if (readers_.below(2) == 0) return live::CodeFound{};
      return live::CodeFound{.prediction =
                                 Prediction{.run_time = FractionalSeconds(10 + some(400))}};
    case live::Study::What::log:
      return logs_.look(study.job);
    case live::Study::What::failure:
      return cause_of(study.job);
  }
  return {};
}

/// Tests tell the truth, but for those that say the opposite: a bad node passes, or a good one
/// fails that no log blames, so that two sources never lie together.
void People::run_tests() {
  town_.cluster.test_begins = [this]() -> ModelCluster::Fate {
    constexpr std::int64_t shortest = 5, longest = 40;
    constexpr Seconds until_somebody_comes{300};
    if (town_.dice.strikes(test_hangs, 0.5)) return {until_somebody_comes, true};
    return {Seconds(tests_.between(shortest, longest)), false};
  };
  town_.cluster.test_lies = [this](const std::vector<std::string>& nodes, bool bad) {
    const bool blamed =
        std::ranges::any_of(nodes, [&](const std::string& node) { return blamed_.contains(node); });
    return (bad || !blamed) && town_.dice.strikes(test_lies, 0.5);
  };
}

/// A bad or dead node under the job is the cause, else the program, or something that may pass.
live::CauseFound People::cause_of(const SeenJob& job) {
  live::CauseFound cause{.verdict = FailureClass::user_script,
                         .reason = "so says its log",
                         .fingerprint = fmt::format("f{}", readers_.below(3)),
                         .step = static_cast<double>(readers_.below(3))};
  const auto blame = [&](Component component, const std::string& node) {
    cause.verdict = FailureClass::infrastructure;
    cause.component = component;
    cause.recommendation = Recommendation::test_first;
    if (readers_.below(2) == 0 && !node.empty()) cause.blamed = {node};
  };
  for (const NodeGpus& each : job.nodes) {
    const ModelCluster::Node* const node = town_.cluster.find_node(each.node);
    if (node == nullptr) continue;
    if (node->dead) blame(Component::node, each.node);
    for (const auto& [from, to] : node->bad)
      if (from <= town_.timeline.now() && town_.timeline.now() <= to)
        blame(Component::gpu, each.node);
  }
  if (cause.verdict == FailureClass::user_script && readers_.below(4) == 0) {
    blame(Component::storage, "");
    cause.recommendation = Recommendation::restart_same;
  }
  if (town_.dice.strikes(study_lies, 0.5))
    blame(town_.dice.of(study_lies).below(2) == 0 ? Component::gpu : Component::nvlink,
          job.nodes.empty() ? "" : job.nodes.front().node);
  if (cause.verdict != FailureClass::infrastructure || cause.component == Component::storage)
    return cause;
  std::vector<std::string> nodes = cause.blamed;
  if (nodes.empty())
    for (const NodeGpus& each : job.nodes) nodes.push_back(each.node);
  for (const std::string& node : nodes) {
    town_.book.blames.push_back({town_.timeline.now(), node});
    blamed_.insert(node);
  }
  return cause;
}

}  // namespace schedmate::storm
