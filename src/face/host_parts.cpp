// SPDX-License-Identifier: Apache-2.0
#include "face/host_parts.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <memory>
#include <mutex>
#include <utility>

#include "face/outcome_columns.hpp"
#include "study/policy_spec.hpp"

namespace schedmate::face {
namespace {

/// A number for each copy that is called: the simulator makes one for each virtual cluster.
class CopyNumber {
 public:
  CopyNumber() : next_(std::make_shared<std::uint32_t>(0)) {}
  CopyNumber(const CopyNumber& other) : next_(other.next_) {}
  CopyNumber(CopyNumber&&) = default;
  CopyNumber& operator=(const CopyNumber&) = delete;
  CopyNumber& operator=(CopyNumber&&) = delete;
  ~CopyNumber() = default;

  std::uint32_t get() {
    if (!own_) own_ = (*next_)++;
    return *own_;
  }

 private:
  std::shared_ptr<std::uint32_t> next_;  // of all copies, which one thread calls
  std::optional<std::uint32_t> own_;
};

std::span<const std::uint32_t> numbers_of(std::span<const JobId> ids,
                                          std::vector<std::uint32_t>& into) {
  into.clear();
  for (const JobId id : ids) into.push_back(index_of(id));
  return into;
}

class HostPolicy {
 public:
  HostPolicy(const schedmate_policy& policy, Sessions& sessions)
      : policy_(policy), sessions_(&sessions) {}

  void operator()(const View& view, Plan& plan) {
    Round round(view, plan, memory_, (policy_.traits & SCHEDMATE_SHARES) != 0);
    const Opened opened(*sessions_, round);
    const auto ended = numbers_of(view.ended, ended_);
    const auto withdrawn = numbers_of(view.withdrawn, withdrawn_);
    const schedmate_round told{
        .plan = opened.number,
        .copy = copy_.get(),
        .now_s = seconds_of(view.now),
        .arrived = memory_.arrived.fill(view.jobs, view.arrived),
        .ended = {ended.data(), ended.size()},
        .withdrawn = {withdrawn.data(), withdrawn.size()},
        .gpus = round.gpus(),
        .preemption_s = {view.preemption.small.count(), view.preemption.large.count()}};
    const int code = policy_.decide(policy_.context, &told);
    if (round.fault())
      throw HookFailure(Error{
          round.fault()->code,
          fmt::format("policy {} at {} s: {}", policy_.name, told.now_s, round.fault()->message)});
    if (code != 0) throw HookFailure(fmt::format("policy {}", policy_.name), code);
  }

 private:
  struct Opened {
    Opened(Sessions& table, Round& round) : sessions(table), number(table.open(round)) {}
    Opened(const Opened&) = delete;
    Opened& operator=(const Opened&) = delete;
    ~Opened() { sessions.close(number); }
    Sessions& sessions;
    std::uint64_t number;
  };

  schedmate_policy policy_;
  Sessions* sessions_;
  CopyNumber copy_;
  RoundMemory memory_;
  std::vector<std::uint32_t> ended_, withdrawn_;
};

class HostEstimator {
 public:
  explicit HostEstimator(const schedmate_estimator& estimator) : estimator_(estimator) {}

  Prediction operator()(const EnteringJob& entering) {
    const std::string id(entering.job.id);
    const schedmate_known_job job = told(entering.job, id);
    schedmate_prediction said{.run_time_s = 0, .p10_s = NAN, .p50_s = NAN, .p90_s = NAN};
    const int code =
        estimator_.predict(estimator_.context, copy_.get(), &job, seconds_of(entering.now), &said);
    if (code != 0) throw HookFailure(fmt::format("estimator {}", estimator_.name), code);
    return taken(said, id);
  }

  void learn(const FinishedJob& finished) {
    if (estimator_.learn == nullptr) return;
    const std::string id(finished.job.id);
    const std::string state(to_string(finished.state));
    const schedmate_known_job job = told(finished.job, id);
    const int code =
        estimator_.learn(estimator_.context, copy_.get(), &job, seconds_of(finished.end),
                         finished.run_time.count(), state.c_str());
    if (code != 0) throw HookFailure(fmt::format("estimator {}", estimator_.name), code);
  }

 private:
  static schedmate_known_job told(const KnownJob& job, const std::string& id) {
    return {.number = job.number,
            .id = id.c_str(),
            .user = job.user,
            .vc = job.vc,
            .gpus = job.gpus,
            .submit_s = seconds_of(job.submit)};
  }
  [[nodiscard]] Prediction taken(const schedmate_prediction& said, const std::string& id) const {
    constexpr double longest_s = 1e12;
    const auto sound = [](double value) { return value >= 0 && value <= longest_s; };
    const bool has_range =
        !(std::isnan(said.p10_s) && std::isnan(said.p50_s) && std::isnan(said.p90_s));
    const bool is_range = sound(said.p10_s) && said.p10_s <= said.p50_s &&
                          said.p50_s <= said.p90_s && sound(said.p90_s);
    if (!sound(said.run_time_s) || (has_range && !is_range))
      throw HookFailure(Error{
          ErrorCode::invalid,
          fmt::format("estimator {}: a run time of {} s ({} to {} to {} s) for job {} is none",
                      estimator_.name, said.run_time_s, said.p10_s, said.p50_s, said.p90_s, id)});
    Prediction prediction{.run_time = FractionalSeconds(said.run_time_s)};
    if (has_range)
      prediction.distribution = {prediction.run_time, FractionalSeconds(said.p10_s),
                                 FractionalSeconds(said.p50_s), FractionalSeconds(said.p90_s)};
    return prediction;
  }

  schedmate_estimator estimator_;
  CopyNumber copy_;
};

Scheduler scheduler_of(const schedmate_policy& policy, Sessions& sessions) {
  Scheduler scheduler;
  scheduler.decide = HostPolicy(policy, sessions);
  if (policy.estimator != nullptr) scheduler.estimator = policy.estimator;
  scheduler.uses_estimates = (policy.traits & SCHEDMATE_IGNORES_ESTIMATES) == 0;
  scheduler.packs = (policy.traits & SCHEDMATE_SHARES) != 0;
  scheduler.counts_down = scheduler.packs || (policy.traits & SCHEDMATE_PREEMPTS) != 0;
  return scheduler;
}

bool is_null(const char* name) { return name == nullptr || *name == '\0'; }

/// Adds a name to those in use. Errors: conflict.
Result<void> take_name(std::string_view kind, std::string_view name,
                       std::vector<std::string_view>& used) {
  if (std::ranges::find(used, name) != used.end())
    return fail(ErrorCode::conflict,
                fmt::format("two {} are called {}, or one that is built in is", kind, name));
  used.push_back(name);
  return {};
}

}  // namespace

HookFailure::HookFailure(std::string_view callback, int code)
    : message_(fmt::format("{} ended the simulation: its callback gave {}", callback, code)) {}

const char* fault_of(const schedmate_hooks& hooks) {
  if (hooks.size < sizeof(schedmate_hooks)) return "the size of the hooks is not theirs";
  if (hooks.policies == nullptr && hooks.policy_count > 0) return "the policies are null";
  if (hooks.estimators == nullptr && hooks.estimator_count > 0) return "the estimators are null";
  for (const auto& each : std::span(hooks.policies, hooks.policy_count))
    if (is_null(each.name) || each.decide == nullptr) return "a policy without name or callback";
  for (const auto& each : std::span(hooks.estimators, hooks.estimator_count))
    if (is_null(each.name) || each.predict == nullptr)
      return "an estimator without name or callback";
  return nullptr;
}

Result<study::OwnParts> parts_of(const schedmate_hooks& hooks, Sessions& sessions) {
  study::OwnParts parts;
  std::vector<std::string_view> used = study::policy_names();
  for (const auto& each : std::span(hooks.policies, hooks.policy_count)) {
    if (auto ok = take_name("policies", each.name, used); !ok) return tl::unexpected(ok.error());
    parts.policies.push_back({each.name, scheduler_of(each, sessions)});
  }
  used.clear();
  for (const EstimatorRow& row : estimator_rows()) used.push_back(row.name);
  for (const auto& each : std::span(hooks.estimators, hooks.estimator_count)) {
    if (auto ok = take_name("estimators", each.name, used); !ok) return tl::unexpected(ok.error());
    parts.estimators.push_back({each.name, HostEstimator(each)});
  }
  return parts;
}

settings::BeginProgress progress_of(const schedmate_hooks& hooks) {
  if (hooks.progress == nullptr) return settings::no_progress;
  const auto one_at_a_time = std::make_shared<std::mutex>();
  return [&hooks, one_at_a_time](const std::string& label) -> settings::ShowProgress {
    return [&hooks, one_at_a_time, label](double done) {
      const std::scoped_lock lock(*one_at_a_time);
      const int code = hooks.progress(hooks.context, label.c_str(), done);
      if (code != 0) throw HookFailure("progress", code);
    };
  };
}

void tell(const schedmate_hooks& hooks, const RunRecord& record) {
  if (hooks.finished == nullptr) return;
  OutcomeColumns columns;
  const int code = hooks.finished(hooks.context, columns.fill(record));
  if (code != 0) throw HookFailure("finished", code);
}

}  // namespace schedmate::face
