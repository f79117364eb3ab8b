// SPDX-License-Identifier: Apache-2.0
#include "slurm/shown_parts.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "base/text.hpp"
#include "trace/hostlist.hpp"
#include "trace/values.hpp"

namespace schedmate::slurm {
namespace {

/// "0-1,3" as bits; 0 where it is no such list, or one is beyond a node.
std::uint64_t bits_of(std::string_view list) {
  std::uint64_t which = 0;
  for (const auto range : split(list, ',')) {
    const std::size_t dash = range.find('-');
    const auto first = parse_number<int>(range.substr(0, dash));
    const auto last =
        dash == std::string_view::npos ? first : parse_number<int>(range.substr(dash + 1));
    if (!first || !last || *first < 0 || *last < *first || *last >= most_gpus_of_node) return 0;
    for (int gpu = *first; gpu <= *last; ++gpu)
      which |= std::uint64_t{1} << static_cast<unsigned>(gpu);
  }
  return which;
}

// What the site's policy and the limits are made of.
constexpr std::string_view settings_read =
    "SLURM_VERSION SelectType PreemptType AccountingStorageEnforce SchedulerType "
    "SchedulerParameters PriorityType PriorityFlags PriorityWeightAge PriorityWeightFairShare "
    "PriorityWeightJobSize PriorityWeightQOS PriorityMaxAge PriorityFavorSmall "
    "PriorityDecayHalfLife PriorityCalcPeriod";

}  // namespace

std::map<std::string, std::string, std::less<>> settings_in(const Shown& config) {
  std::map<std::string, std::string, std::less<>> settings;
  for (const std::string_view key : split(settings_read, ' '))
    if (config.has(key)) settings[std::string(key)] = config.text(key);
  return settings;
}

std::string id_of(const Shown& job) {
  const std::string_view array = job.text("ArrayJobId");
  const std::string_view tasks = job.text("ArrayTaskId");
  if (array.empty() || tasks.empty()) return std::string(job.text("JobId"));
  return parse_number<std::int64_t>(tasks) ? fmt::format("{}_{}", array, tasks)
                                           : fmt::format("{}_[{}]", array, tasks);
}

bool has_ended(std::string_view state) {
  constexpr auto ends = std::to_array<std::string_view>(
      {"COMPLETED", "CANCELLED", "FAILED", "TIMEOUT", "NODE_FAIL", "PREEMPTED", "BOOT_FAIL",
       "DEADLINE", "OUT_OF_MEMORY", "REVOKED", "LAUNCH_FAILED", "RECONFIG_FAIL"});
  return std::ranges::find(ends, state) != ends.end();
}

bool has_word(std::string_view state, std::string_view word) {
  for (std::string_view part : split(state, '+')) {
    part = part.substr(0, part.find_first_of("*~#!%$@^-"));
    if (part == word) return true;
  }
  return false;
}

std::uint64_t gpus_by_index(std::string_view gres) {
  constexpr std::string_view mark = "(IDX:";
  std::uint64_t which = 0;
  for (std::size_t begin = 0; begin < gres.size();) {
    const std::size_t open = gres.find(mark, begin);
    const std::size_t close = gres.find(')', open);
    if (open == std::string_view::npos || close == std::string_view::npos) break;
    const std::string_view item = gres.substr(begin, open - begin);
    if (item.substr(std::min(item.find_first_not_of(", "), item.size())).starts_with("gpu"))
      which |= bits_of(gres.substr(open + mark.size(), close - open - mark.size()));
    begin = close + 1;
  }
  return which;
}

Result<std::int64_t> gpus_in(std::string_view tres) {
  std::string_view rest = tres;
  while (const auto item = trace::next_gpu_item(rest))
    if (!item->empty() && !trace::count_of_gpu_item(*item))
      return fail(ErrorCode::invalid,
                  fmt::format("its GPUs are no number: {}", tres.substr(0, 80)));
  return trace::gpus_of_tres(tres).value_or(0);
}

Result<std::int64_t> gpus_asked_for(const Shown& job, std::int64_t nodes) {
  for (const char* const key : {"TRES", "AllocTRES", "ReqTRES"}) {
    const auto gpus = gpus_in(job.text(key));
    if (!gpus || *gpus > 0) return gpus;
  }
  const std::int64_t tasks = std::clamp<std::int64_t>(job.whole("NumTasks"), 1, trace::most_gpus);
  for (const auto& [key, times] :
       {std::pair("TresPerJob", std::int64_t{1}), std::pair("TresPerNode", nodes),
        std::pair("TresPerTask", tasks)}) {
    const auto gpus = gpus_in(job.text(key));
    if (!gpus || *gpus > 0) return gpus.map([&](std::int64_t one) { return one * times; });
  }
  return 0;
}

Result<std::vector<HeldNode>> held_by(const Shown& job, std::int64_t gpus) {
  std::vector<HeldNode> held;
  const auto nodes = job.texts("Nodes");
  const auto gres = job.texts("GRES");
  for (std::size_t i = 0; i < nodes.size() && nodes.size() == gres.size(); ++i) {
    const auto names = trace::expand_hosts(nodes[i]);
    if (!names) return tl::unexpected(names.error());
    const auto count = gpus_in(gres[i]);
    if (!count) return tl::unexpected(count.error());
    for (const std::string& name : *names) held.push_back({name, *count, gpus_by_index(gres[i])});
  }
  if (!held.empty()) return held;
  const auto names = trace::expand_hosts(job.text("NodeList"));
  if (!names) return tl::unexpected(names.error());
  if (names->empty()) return fail(ErrorCode::invalid, "runs, but on no node");
  const auto share = gpus / static_cast<std::int64_t>(names->size());
  for (const std::string& name : *names) held.push_back({name, share, 0});
  return held;
}

}  // namespace schedmate::slurm
