// SPDX-License-Identifier: Apache-2.0
#include "slurm/site_policy.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>

#include "base/text.hpp"
#include "trace/values.hpp"

namespace schedmate::slurm {
namespace {

constexpr double day_s = 86'400;
constexpr double minute_s = 60;

/// "" where it is not given.
std::string_view setting(const ClusterQueue& queue, std::string_view name) {
  const auto found = queue.settings.find(name);
  return found == queue.settings.end() ? std::string_view() : std::string_view(found->second);
}

bool says_yes(std::string_view value) { return value.starts_with('Y') || value.starts_with('y'); }

bool is_multifactor(const ClusterQueue& queue) {
  return setting(queue, "PriorityType").ends_with("multifactor");
}

/// Of "bf_interval=30,bf_continue".
std::string_view parameter(std::string_view parameters, std::string_view name) {
  for (std::string_view each : split(parameters, ','))
    if (each.starts_with(name) && each.substr(name.size()).starts_with('='))
      return each.substr(name.size() + 1);
  return {};
}

/// A setting of the site, and what the policy takes in its place.
struct SiteSetting {
  std::string_view setting, option;
  double least, most;  // that the policy takes
  double unit_s = 0;   // of the option, where the setting is a span; 0: a number
};

constexpr auto of_backfill =
    std::to_array<SiteSetting>({{"bf_interval", "bf_interval", 1, 10'800},
                                {"bf_window", "bf_window", 1, 43'200},
                                {"bf_resolution", "bf_resolution", 1, 3600},
                                {"bf_max_job_test", "bf_max_job_test", 1, 1e6},
                                {"bf_max_job_user", "bf_max_job_user", 0, 1e6}});
constexpr SiteSetting reserving{"bf_job_part_count_reserve", "bf_job_part_count_reserve", 1, 1e5};
/// Where the site reserves for all of them. As good and many times as fast (docs/eta.md).
constexpr std::string_view most_reserved = "bf_job_part_count_reserve=20";
constexpr auto of_priority =
    std::to_array<SiteSetting>({{"PriorityWeightAge", "weight_age", 0, 1e9},
                                {"PriorityWeightJobSize", "weight_job_size", 0, 1e9},
                                {"PriorityWeightFairShare", "weight_fairshare", 0, 1e9},
                                {"PriorityMaxAge", "max_age_d", 0.001, 3650, day_s},
                                {"PriorityDecayHalfLife", "half_life_d", 0, 3650, day_s},
                                {"PriorityCalcPeriod", "calc_period_min", 1, 1440, minute_s}});

std::optional<double> units_of(const SiteSetting& row, std::string_view value) {
  if (row.unit_s == 0) return parse_number<double>(value);
  const auto span_s = trace::parse_elapsed(value);
  if (!span_s) return std::nullopt;
  const double units = static_cast<double>(*span_s) / row.unit_s;
  return row.unit_s == minute_s ? std::ceil(units) : units;
}

class SitePolicyMaker {
 public:
  explicit SitePolicyMaker(const ClusterQueue& queue) : queue_(queue) {}

  SitePolicy make() && {
    const std::string_view parameters = setting(queue_, "SchedulerParameters");
    const std::string_view scheduler = setting(queue_, "SchedulerType");
    if (scheduler.ends_with("builtin") || parameter(parameters, "bf_interval") == "-1") {
      made_.settings.push_back(scheduler.ends_with("builtin")
                                   ? fmt::format("SchedulerType={}", scheduler)
                                   : "bf_interval=-1");
      options_.emplace_back("bf_max_job_test=1");
    } else {
      for (const SiteSetting& row : of_backfill) take(row, parameter(parameters, row.setting));
      const std::string_view reserved = parameter(parameters, reserving.setting);
      if (reserved.empty() || reserved == "0")
        options_.emplace_back(most_reserved);
      else
        take(reserving, reserved);
    }
    take_priorities();
    made_.text = "slurm_backfill";
    if (!options_.empty()) made_.text += fmt::format(":{}", fmt::join(options_, ","));
    return std::move(made_);
  }

 private:
  void take_priorities() {
    const std::string_view type = setting(queue_, "PriorityType");
    if (type.empty()) {
      made_.notes.emplace_back(
          "how the site schedules is not shown (scontrol show config): the settings of the policy "
          "are its own");
      return;
    }
    if (!is_multifactor(queue_)) {
      made_.settings.push_back(fmt::format("PriorityType={}", type));
      for (const char* const weight : {"weight_age", "weight_job_size", "weight_fairshare"})
        options_.push_back(fmt::format("{}=0", weight));
      return;
    }
    for (const SiteSetting& row : of_priority) {
      const std::string_view value = setting(queue_, row.setting);
      if (value.empty() && row.unit_s == 0)
        options_.push_back(fmt::format("{}=0", row.option));  // as Slurm has it
      else
        take(row, value);
    }
    if (says_yes(setting(queue_, "PriorityFavorSmall"))) {
      made_.settings.emplace_back("PriorityFavorSmall=Yes");
      options_.emplace_back("favor_small=true");
    }
    if (setting(queue_, "PriorityFlags").contains("NO_FAIR_TREE")) {
      made_.settings.emplace_back("PriorityFlags=NO_FAIR_TREE");
      options_.emplace_back("fairshare_in_account=true");
    }
  }

  void take(const SiteSetting& row, std::string_view value) {
    if (value.empty()) return;
    const auto number = units_of(row, value);
    if (!number) {
      made_.notes.push_back(fmt::format("the site's {}={} cannot be read: the policy's own is used",
                                        row.setting, value.substr(0, 40)));
      return;
    }
    const double used = std::clamp(*number, row.least, row.most);
    const std::string option = row.unit_s == day_s ? fmt::format("{}={:.7g}", row.option, used)
                                                   : fmt::format("{}={:.0f}", row.option, used);
    if (used != *number)
      made_.notes.push_back(
          fmt::format("the site's {}={} is beyond what the policy takes: {} is "
                      "used",
                      row.setting, value.substr(0, 40), option));
    made_.settings.push_back(fmt::format("{}={}", row.setting, value.substr(0, 40)));
    options_.push_back(option);
  }

  const ClusterQueue& queue_;
  SitePolicy made_;
  std::vector<std::string> options_;
};

}  // namespace

PrioritySettings priority_settings(const ClusterQueue& queue) {
  PrioritySettings made;
  const std::string_view type = setting(queue, "PriorityType");
  if (type.empty()) return made;
  made.by_submission = !is_multifactor(queue);
  const auto weight = [&](std::string_view name) {
    return made.by_submission ? 0 : parse_number<std::int64_t>(setting(queue, name)).value_or(0);
  };
  made.weight_age = weight("PriorityWeightAge");
  made.weight_job_size = weight("PriorityWeightJobSize");
  made.favor_small = says_yes(setting(queue, "PriorityFavorSmall"));
  const auto max_age_s = trace::parse_elapsed(setting(queue, "PriorityMaxAge"));
  if (max_age_s && *max_age_s > 0) made.max_age = Seconds(*max_age_s);
  const auto half_life_s = trace::parse_elapsed(setting(queue, "PriorityDecayHalfLife"));
  if (half_life_s && *half_life_s >= 0) made.half_life = Seconds(*half_life_s);
  return made;
}

SitePolicy site_policy(const ClusterQueue& queue) { return SitePolicyMaker(queue).make(); }

}  // namespace schedmate::slurm
