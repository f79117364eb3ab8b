// SPDX-License-Identifier: Apache-2.0
/// A host's estimator with an advisor beside it (paper 4.1: advice where there is some, else the
/// host's own way). Advice counts as far as it has earned it (skill.hpp), by source and size of the
/// job: it moves the host's estimate a quarter, half or all of the way, in log space. GPU use that
/// is predicted is passed on once its source was right one time of four, at least ten times, and
/// only where jobs would have to be profiled for it: what costs nothing to know is not guessed.
/// docs/decisions/0012.
#include <algorithm>
#include <cmath>
#include <map>
#include <schedmate/scheduler.hpp>
#include <unordered_map>
#include <utility>

#include "policy/capped.hpp"
#include "policy/skill.hpp"

namespace schedmate {
namespace {

double log_of(FractionalSeconds time) { return std::log(std::max(1.0, time.count())); }

std::optional<RunTimeDistribution> moved(const std::optional<RunTimeDistribution>& distribution,
                                         FractionalSeconds from, FractionalSeconds to) {
  return distribution ? std::optional(distribution->moved(from, to)) : std::nullopt;
}

/// Jobs of different size are different work: what advice is worth for one says little of another.
int size_class(const KnownJob& job) {
  constexpr int node = 8;
  return job.gpus == 1 ? 0 : job.gpus <= node ? 1 : 2;
}

/// How often the GPU use that was predicted was the one that was measured.
class UseRecord {
 public:
  void add(const GpuUse& predicted, const Profile& measured, const SharingRule& rule) {
    Profile expected;
    expected.gpu_util_pct = predicted.gpu_util_pct;
    expected.memory_util_pct = predicted.memory_util_pct;
    constexpr double near = 0.1;
    const bool right =
        rule.score(expected) == measured.sharing_score &&
        std::abs(predicted.memory_mib - measured.memory_mib) <= near * measured.memory_mib;
    constexpr double decay = 0.99;
    seen_ = decay * seen_ + 1;
    right_ = decay * right_ + (right ? 1 : 0);
  }
  [[nodiscard]] bool trusted() const {
    constexpr double enough = 10;
    // What is right saves a profile; what is wrong costs a bad pair, which is cancelled.
    constexpr double often_enough = 0.25;
    return seen_ >= enough && right_ >= often_enough * seen_;
  }

 private:
  double seen_ = 0;
  double right_ = 0;
};

class Advised {
 public:
  struct Beside {
    Estimator host, advisor;
  };
  Advised(Beside estimators, const SharingRule& sharing, const Scheduler& scheduler)
      : host_(std::move(estimators.host)),
        advisor_(std::move(estimators.advisor)),
        sharing_(sharing),
        shrink_(scheduler.shrink),
        orders_(scheduler.advice_orders),
        profiles_(scheduler.profiler.has_value()),
        purpose_(scheduler.plans && !orders_ ? policy::AdviceGoal::length
                                             : policy::AdviceGoal::order) {}

  void learn(const FinishedJob& ended) {
    host_.learn(ended);
    advisor_.learn(ended);
    if (const auto found = open_.find(ended.job.number); found != open_.end()) {
      judge(found->second, ended);
      open_.erase(found);
    }
  }

  Prediction operator()(const EnteringJob& at) {
    Prediction prediction = host_(at);
    const Open* open = advice_for(at, prediction);
    if (open == nullptr) return prediction;
    const FractionalSeconds own = prediction.run_time;
    prediction.advised =
        shrink_ ? skills_[{open->advice.source, size_class(at.job)}].weight(purpose_) : 1;
    if (prediction.advised > 0) {
      const double log_s =
          std::lerp(log_of(own), log_of(open->advice.run_time), prediction.advised);
      prediction.run_time = FractionalSeconds(std::exp(log_s));
    }
    if (const FractionalSeconds around = open->advice.run_time; around.count() > 0)
      prediction.distribution = moved(open->advice.distribution, around, prediction.run_time);
    if (orders_) prediction.expected = std::exchange(prediction.run_time, own);
    if (profiles_ && (!shrink_ || uses_[open->advice.source].trusted()))
      prediction.use = open->advice.use;
    return prediction;
  }

 private:
  struct Open {
    double host = 0;  // log seconds, at submission
    Prediction advice;
  };

  /// Advice is given once, when the job is first asked about; null when there is none, or not yet.
  const Open* advice_for(const EnteringJob& at, const Prediction& host) {
    const auto [open, fresh] = open_.try_emplace(at.job.number);
    if (fresh) open->second = {log_of(host.run_time), advisor_(at)};
    return open->second.advice.blind || !at.advice_is_due ? nullptr : &open->second;
  }

  void judge(const Open& open, const FinishedJob& ended) {
    const Prediction& advice = open.advice;
    if (!advice.blind) {
      const policy::Expected seen{open.host, log_of(advice.run_time),
                                  log_of(FractionalSeconds(ended.run_time)),
                                  std::log(ended.job.gpus)};
      skills_[{advice.source, size_class(ended.job)}].add(seen, peers_, purpose_);
      peers_.add(seen);
    }
    if (advice.use && ended.job.profile != nullptr)
      uses_[advice.source].add(*advice.use, *ended.job.profile, sharing_);
  }

  Estimator host_, advisor_;
  SharingRule sharing_;
  bool shrink_, orders_, profiles_;
  policy::AdviceGoal purpose_;
  std::unordered_map<std::uint64_t, Open> open_;  // by number: advised and not ended
  policy::RecentJobs peers_;
  std::map<std::pair<std::uint8_t, int>, policy::Skill> skills_;  // by source and size_class()
  std::map<std::uint8_t, UseRecord> uses_;                        // by source
};

/// Boosted trees on GPU use would know what nobody measured where jobs are not profiled first.
Result<void> check_measured(const Scheduler& scheduler, std::string_view estimator) {
  if (estimator != "gbdt:profiled") return {};
  const auto& stage = scheduler.profiler;
  if (stage && stage->bypass == ProfilerStage::Bypass::none &&
      stage->max_gpus >= ProfilerStage{}.max_gpus)
    return {};
  return fail(ErrorCode::unsupported,
              "gbdt:profiled reads what Lucid's profiler measures for every job up to 8 GPUs: use "
              "it in lucid with that profiler and bypass=none, or use gbdt");
}

Result<Estimator> make_uncapped(const Scheduler& scheduler, std::string_view host,
                                const EstimatorInput& input) {
  for (const std::string_view spec : {host, std::string_view(scheduler.advice)})
    if (auto ok = check_measured(scheduler, spec); !ok) return tl::unexpected(ok.error());
  auto own = make_estimator(host, input);
  if (!own || scheduler.advice.empty()) return own;
  auto advisor = make_estimator(scheduler.advice, input);
  if (!advisor) return advisor;
  return Advised({std::move(*own), std::move(*advisor)}, input.sharing, scheduler);
}

}  // namespace

Result<Estimator> make_estimator(const Scheduler& scheduler, std::string_view host,
                                 const EstimatorInput& input) {
  auto made = make_uncapped(scheduler, host.empty() ? scheduler.estimator : host, input);
  if (!made || scheduler.cap.empty()) return made;
  auto cap = make_estimator(scheduler.cap, input);
  if (!cap) return cap;
  return policy::capped(std::move(*made), std::move(*cap));
}

}  // namespace schedmate
