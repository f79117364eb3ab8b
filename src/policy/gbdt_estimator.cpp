// SPDX-License-Identifier: Apache-2.0
/// What is learned depends on the jobs that ended and the day alone, never on which jobs were asked
/// about: an estimator that is asked more often (to bypass a profiler, say) says the same.
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

namespace schedmate::policy {
namespace {

constexpr std::size_t enough = 50;    // jobs, for a first fit
constexpr std::size_t most = 20'000;  // latest jobs of a fit
// Latest jobs that are remembered of a VC between two fits, and of a user: an estimator that runs
// for months stays small. The traces at hand have fewer in all.
constexpr std::ptrdiff_t most_remembered = 500'000;
constexpr float missing = std::numeric_limits<float>::quiet_NaN();

/// What is known of a job on entry. Times are logarithms of seconds.
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

std::array<float, 6> asked_of(const KnownJob& job) {
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

/// Run times of a user, or of jobs alike, as they were known at any instant of the latest past.
class Runs {
 public:
  struct Ended {
    SimTime end;
    Seconds run_time;
    double sum_s = 0;  // of this and all before it
  };

  void add(const FinishedJob& job) {
    const double before_s = latest_.empty() ? 0 : latest_.back().sum_s;
    if (std::ssize(latest_) == 2 * most_remembered) forget();
    latest_.push_back(
        {job.end, job.run_time, before_s + static_cast<double>(job.run_time.count())});
  }
  /// Those that had ended, oldest first; the ones that are forgotten are missing.
  [[nodiscard]] std::span<const Ended> by(SimTime then) const {
    return {latest_.begin(), std::ranges::upper_bound(latest_, then, {}, &Ended::end)};
  }
  [[nodiscard]] std::size_t forgotten() const { return forgotten_; }

 private:
  void forget() {
    latest_.erase(latest_.begin(), latest_.begin() + most_remembered);
    forgotten_ += static_cast<std::size_t>(most_remembered);
  }

  std::vector<Ended> latest_;
  std::size_t forgotten_ = 0;  // before them
};

class Past {
 public:
  void add(const FinishedJob& ended) {
    by_user_[ended.job.user].add(ended);
    by_shape_[shape_of(ended.job)].add(ended);
  }

  void describe(const KnownJob& job, SimTime then, Features& features) const {
    if (const auto user = by_user_.find(job.user); user != by_user_.end()) {
      if (const auto own = user->second.by(then); !own.empty()) {
        const auto count = static_cast<double>(user->second.forgotten() + own.size());
        features.mean_of_user = log_feature(FractionalSeconds(own.back().sum_s / count));
      }
    }
    const auto shape = by_shape_.find(shape_of(job));
    if (shape == by_shape_.end()) return;
    const auto alike = shape->second.by(then);
    auto& latest = features.latest_alike;
    for (std::size_t i = 0; i < std::min(latest.size(), alike.size()); ++i)
      latest[i] = log_feature(alike[alike.size() - 1 - i].run_time);
  }

 private:
  static std::uint64_t shape_of(const KnownJob& job) {
    return (std::uint64_t{job.user} << 32U) | static_cast<std::uint32_t>(job.gpus);
  }

  std::unordered_map<std::uint32_t, Runs> by_user_;
  std::unordered_map<std::uint64_t, Runs> by_shape_;
};

class DailyTrees {
 public:
  DailyTrees(Estimator fallback, bool profiled)
      : fallback_(std::move(fallback)), profiled_(profiled) {}

  /// Takes in a job with what was known at its submission.
  void learn(const FinishedJob& ended) {
    fallback_.learn(ended);
    const FeatureRow row = row_of(ended.job, ended.job.submit);
    features_.insert(features_.end(), row.begin(), row.end());
    targets_.push_back(log_feature(ended.run_time));
    ends_.push_back(ended.end);
    past_.add(ended);
    if (std::ssize(targets_) == most_remembered) forget(targets_.size() - most);
  }

  Prediction operator()(const EnteringJob& at) {
    const SimTime midnight = std::chrono::floor<std::chrono::days>(at.now);
    if (midnight > midnight_) {
      midnight_ = midnight;
      refit();
    }
    const float log = trees_ ? trees_->predict(row_of(at.job, at.now)).value_or(missing) : missing;
    if (!std::isfinite(log)) return fallback_(at);
    // Whole seconds, so that the last bit of a float does not decide the order of a queue.
    constexpr float longest = 20;  // 15 years
    return {FractionalSeconds(std::round(std::exp(std::clamp(log, 0.0F, longest))))};
  }

 private:
  [[nodiscard]] FeatureRow row_of(const KnownJob& job, SimTime then) const {
    Features features;
    features.asked = asked_of(job);
    past_.describe(job, then, features);
    const Profile* profile = job.profile;
    if (profiled_ && profile != nullptr && job.gpus <= ProfilerStage{}.max_gpus) {
      features.measured = {
          profile->mixed_precision ? 1.0F : 0.0F, static_cast<float>(profile->gpu_util_pct),
          static_cast<float>(profile->memory_util_pct), static_cast<float>(profile->memory_mib)};
    }
    return std::bit_cast<FeatureRow>(features);
  }

  void forget(std::size_t count) {
    const auto rows = static_cast<std::ptrdiff_t>(count);
    targets_.erase(targets_.begin(), targets_.begin() + rows);
    ends_.erase(ends_.begin(), ends_.begin() + rows);
    features_.erase(features_.begin(),
                    features_.begin() + rows * static_cast<std::ptrdiff_t>(width));
  }

  /// On the latest of those that had ended by midnight.
  void refit() {
    trees_.reset();
    const auto known =
        static_cast<std::size_t>(std::ranges::lower_bound(ends_, midnight_) - ends_.begin());
    if (known < enough) return;
    const std::size_t count = std::min(most, known);
    const std::size_t first = known - count;
    auto fitted = Gbdt::fit({.features = std::span(features_).subspan(first * width, count * width),
                             .targets = std::span(targets_).subspan(first, count)});
    if (fitted) trees_ = std::move(*fitted);
    if (first > most) forget(first);
  }

  Estimator fallback_;
  bool profiled_;
  Past past_;
  std::vector<float> features_;        // of jobs that have ended, row by row
  std::vector<float> targets_;         // logarithms of their run times
  std::vector<SimTime> ends_;          // in order
  SimTime midnight_ = SimTime::min();  // of the day of the latest question
  std::optional<Gbdt> trees_;
};

}  // namespace

Estimator gbdt_on(Estimator fallback, bool profiled) {
  return DailyTrees(std::move(fallback), profiled);
}

}  // namespace schedmate::policy
