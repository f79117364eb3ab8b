// SPDX-License-Identifier: Apache-2.0
/// What is learned depends on the history and the day alone, never on which jobs were asked about:
/// an estimator that is asked more often (to bypass a profiler, say) says the same.
#include "policy/gbdt_estimator.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <chrono>
#include <cmath>
#include <cstdint>
#include <limits>
#include <optional>
#include <schedmate/scheduler.hpp>
#include <span>
#include <unordered_map>
#include <utility>
#include <vector>

#include "policy/gbdt.hpp"

namespace schedmate {
namespace {

constexpr std::size_t enough = 50;    // jobs, for a first fit
constexpr std::size_t most = 20'000;  // latest jobs of a fit
constexpr float missing = std::numeric_limits<float>::quiet_NaN();

/// What is known of a job on entry (lucid.md 6.3). Times are logarithms of seconds.
struct Features {
  std::array<float, 6> asked{};  // user, GPUs, month, day, hour, weekday of submission
  float mean_of_user = missing;
  std::array<float, 3> latest_alike{missing, missing, missing};  // same user and GPUs, newest first
  std::array<float, 4> measured{missing, missing, missing, missing};
};
constexpr std::size_t width = sizeof(Features) / sizeof(float);
using FeatureRow = std::array<float, width>;

float log_feature(FractionalSeconds time) {
  return static_cast<float>(std::log(std::max(1.0, time.count())));
}

std::array<float, 6> asked_of(const Job& job) {
  const std::chrono::sys_seconds submit(job.submit.time_since_epoch());
  const auto midnight = std::chrono::floor<std::chrono::days>(submit);
  const std::chrono::year_month_day date(midnight);
  return {static_cast<float>(job.user),
          static_cast<float>(job.gpus),
          static_cast<float>(static_cast<unsigned>(date.month())),
          static_cast<float>(static_cast<unsigned>(date.day())),
          static_cast<float>(std::chrono::floor<std::chrono::hours>(submit - midnight).count()),
          static_cast<float>(std::chrono::weekday(midnight).c_encoding())};
}

/// Run times by user, as they were known at any instant.
class Past {
 public:
  void add(const Job& job, SimTime end) {
    append(by_user_[job.user], job, end);
    append(by_shape_[shape_of(job)], job, end);
  }

  void describe(const Job& job, SimTime then, Features& features) const {
    if (const auto own = ended(by_user_, job.user, then); !own.empty()) {
      const auto count = static_cast<double>(own.size());
      features.mean_of_user = log_feature(FractionalSeconds(own.back().sum_s / count));
    }
    const auto alike = ended(by_shape_, shape_of(job), then);
    auto& latest = features.latest_alike;
    for (std::size_t i = 0; i < std::min(latest.size(), alike.size()); ++i)
      latest[i] = log_feature(alike[alike.size() - 1 - i].run_time);
  }

 private:
  struct Ended {
    SimTime end;
    Seconds run_time;
    double sum_s = 0;  // of this and all before it
  };
  using Runs = std::vector<Ended>;  // oldest end first

  static std::uint64_t shape_of(const Job& job) {
    return (std::uint64_t{job.user} << 32U) | static_cast<std::uint32_t>(job.gpus);
  }
  static void append(Runs& runs, const Job& job, SimTime end) {
    const double before_s = runs.empty() ? 0 : runs.back().sum_s;
    runs.push_back({end, job.duration, before_s + static_cast<double>(job.duration.count())});
  }
  template <class Key>
  static std::span<const Ended> ended(const std::unordered_map<Key, Runs>& table, Key key,
                                      SimTime then) {
    const auto found = table.find(key);
    if (found == table.end()) return {};
    const Runs& runs = found->second;
    return {runs.begin(), std::ranges::upper_bound(runs, then, {}, &Ended::end)};
  }

  std::unordered_map<std::uint32_t, Runs> by_user_;
  std::unordered_map<std::uint64_t, Runs> by_shape_;
};

class DailyTrees {
 public:
  DailyTrees(const Trace& trace, Estimator fallback, bool profiled)
      : trace_(&trace), fallback_(std::move(fallback)), profiled_(profiled) {}

  Prediction operator()(const Entering& at) {
    const SimTime midnight = std::chrono::floor<std::chrono::days>(at.now);
    if (midnight > midnight_) {
      midnight_ = midnight;
      learn(at.history, midnight);
      refit();
    }
    learn(at.history, never);
    const float log = trees_ ? trees_->predict(row_of(at.job, at.now)).value_or(missing) : missing;
    if (!std::isfinite(log)) return fallback_(at);
    // Whole seconds, so that the last bit of a float does not decide the order of a queue.
    constexpr float longest = 20;  // 15 years
    return {FractionalSeconds(std::round(std::exp(std::clamp(log, 0.0F, longest))))};
  }

 private:
  [[nodiscard]] FeatureRow row_of(const Job& job, SimTime then) const {
    Features features;
    features.asked = asked_of(job);
    past_.describe(job, then, features);
    if (profiled_ && job.profile != no_index && job.gpus <= ProfilerStage{}.max_gpus) {
      const Profile& profile = trace_->packing->profiles[job.profile];
      features.measured = {
          profile.mixed_precision ? 1.0F : 0.0F, static_cast<float>(profile.gpu_util_pct),
          static_cast<float>(profile.memory_util_pct), static_cast<float>(profile.memory_mib)};
    }
    return std::bit_cast<FeatureRow>(features);
  }

  /// Takes in what ended before `until`, each job with what was known at its submission.
  void learn(const History& history, SimTime until) {
    const auto finished = history.finished();
    for (; known_ < finished.size() && finished[known_].end < until; ++known_) {
      const Job& job = trace_->jobs[finished[known_].row];
      const FeatureRow row = row_of(job, job.submit);
      features_.insert(features_.end(), row.begin(), row.end());
      targets_.push_back(log_feature(job.duration));
      past_.add(job, finished[known_].end);
    }
    if (targets_.size() >= 2 * most) forget(targets_.size() - most);
  }

  void forget(std::size_t count) {
    const auto rows = static_cast<std::ptrdiff_t>(count);
    targets_.erase(targets_.begin(), targets_.begin() + rows);
    features_.erase(features_.begin(),
                    features_.begin() + rows * static_cast<std::ptrdiff_t>(width));
  }

  void refit() {
    trees_.reset();
    if (targets_.size() < enough) return;
    const std::size_t count = std::min(most, targets_.size());
    auto fitted = Gbdt::fit({.features = std::span(features_).last(count * width),
                             .targets = std::span(targets_).last(count)});
    if (fitted) trees_ = std::move(*fitted);
  }

  const Trace* trace_;
  Estimator fallback_;
  bool profiled_;
  std::size_t known_ = 0;  // jobs of the history
  Past past_;
  std::vector<float> features_;        // of jobs that have ended, row by row
  std::vector<float> targets_;         // logarithms of their run times
  SimTime midnight_ = SimTime::min();  // of the day of the latest question
  std::optional<Gbdt> trees_;
};

}  // namespace

Estimator gbdt_on(const Trace& trace, Estimator fallback, bool profiled) {
  return DailyTrees(trace, std::move(fallback), profiled);
}

}  // namespace schedmate
