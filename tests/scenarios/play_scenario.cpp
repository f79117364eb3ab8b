// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <schedmate/sim.hpp>
#include <set>

#include "base/text.hpp"
#include "tests/scenarios/scenario.hpp"
#include "tests/support/estimators.hpp"

namespace schedmate::scenario {
namespace {

using Settings = std::map<std::string, std::string, std::less<>>;

/// "0-3,6" for the bits of `gpus`.
std::string gpu_list(std::uint64_t gpus) {
  std::string text;
  while (gpus != 0) {
    const int first = std::countr_zero(gpus);
    const int count = std::countr_one(gpus >> first);
    text += fmt::format("{}{}", text.empty() ? "" : ",", first);
    if (count > 1) text += fmt::format("-{}", first + count - 1);
    gpus &= count == 64 ? 0 : ~(((std::uint64_t{1} << count) - 1) << first);
  }
  return text;
}

std::string row_of(const Job& job, const JobOutcome& outcome) {
  if (outcome.status == JobStatus::infeasible) return fmt::format("{} infeasible\n", job.id);
  if (outcome.status == JobStatus::stalled) return fmt::format("{} stalled\n", job.id);
  std::vector<std::string> nodes;
  for (const Slice& slice : outcome.nodes) {
    nodes.push_back(fmt::format("{}:{}", slice.node, gpu_list(slice.gpus)));
  }
  std::string row = fmt::format("{} {} {} {}", job.id, seconds_of(outcome.start),
                                seconds_of(outcome.end), fmt::join(nodes, ";"));
  if (outcome.preemptions > 0) row += fmt::format(" preemptions={}", outcome.preemptions);
  if (outcome.queue != outcome.start - job.submit) {
    row += fmt::format(" queue_s={}", outcome.queue.count());
  }
  if (outcome.packed_at != SimTime()) {
    row += fmt::format(" packed_s={}", seconds_of(outcome.packed_at));
  }
  if (outcome.finished_in_profiler) {
    row += " in_profiler";
  } else if (outcome.profiled) {
    row += " profiled";
  }
  return row + "\n";
}

Settings settings_of(std::string_view text) {
  Settings settings;
  if (text.empty()) return settings;
  for (const std::string_view part : split(text, ',')) {
    const std::size_t sign = std::min(part.find('='), part.size());
    settings.emplace(part.substr(0, sign), part.substr(std::min(sign + 1, part.size())));
  }
  return settings;
}

Result<std::string> play_one(const Scenario& scenario, const PolicyLine& line) {
  SimOptions options;
  options.placer = line.placer;
  if (line.mode == "reference") options.defects = Defects::reference();
  const std::size_t colon = std::min(line.spec.find(':'), line.spec.size());
  Settings settings =
      settings_of(std::string_view(line.spec).substr(std::min(colon + 1, line.spec.size())));
  const auto wanted = settings.extract("estimate");
  const auto scheduler =
      make_scheduler(line.spec.substr(0, colon),
                     {scenario.cluster, options.defects, 1, forecast_of(scenario.trace)},
                     PolicyOptions(std::move(settings)));
  if (!scheduler) return tl::unexpected(scheduler.error());
  auto estimator = make_estimator(*scheduler, wanted.empty() ? std::string() : wanted.mapped(),
                                  testing::replay_input(scenario.trace));
  if (!estimator) return tl::unexpected(estimator.error());
  options.estimator = std::move(*estimator);
  const auto result = simulate(scenario.trace, scenario.cluster, *scheduler, options);
  if (!result) return tl::unexpected(result.error());
  std::string text = fmt::format("[{}]\n", line.text);
  for (std::size_t row = 0; row < scenario.trace.jobs.size(); ++row) {
    text += row_of(scenario.trace.jobs[row], result->outcomes[row]);
  }
  for (const auto& [when, change] : result->profiler_scaling) {
    text += fmt::format("profiler_nodes{:+d} {}\n", change, seconds_of(when));
  }
  return text;
}

struct BlockLine {
  std::string block;
  std::string line;
  auto operator<=>(const BlockLine&) const = default;
};

std::vector<BlockLine> lines_of(std::string_view text) {
  std::vector<BlockLine> lines;
  std::string block;
  for (const std::string_view part : split(text, '\n')) {
    const std::string line(trim(part));
    if (line.empty() || line.starts_with('#')) continue;
    if (line.starts_with('[')) block = line;
    lines.push_back({block, line});
  }
  return lines;
}

}  // namespace

Result<std::string> play(const Scenario& scenario) {
  std::string text;
  for (const PolicyLine& line : scenario.policies) {
    auto block = play_one(scenario, line);
    if (!block) return block;
    text += *block;
  }
  return text;
}

std::string difference(std::string_view expected, std::string_view got) {
  const auto wanted = lines_of(expected);
  const auto played = lines_of(got);
  const std::multiset<BlockLine> wanted_set(wanted.begin(), wanted.end());
  const std::multiset<BlockLine> played_set(played.begin(), played.end());
  std::map<std::string, std::string> blocks;
  for (const auto& line : wanted) {
    if (!played_set.contains(line)) blocks[line.block] += fmt::format("  - {}\n", line.line);
  }
  for (const auto& line : played) {
    if (!wanted_set.contains(line)) blocks[line.block] += fmt::format("  + {}\n", line.line);
  }
  std::string text;
  for (const auto& [block, lines] : blocks) text += fmt::format("{}\n{}", block, lines);
  if (text.empty() && wanted != played) text = "the same rows in another order\n";
  return text;
}

}  // namespace schedmate::scenario
