// SPDX-License-Identifier: Apache-2.0
#include "advisor/workload_advisor.hpp"

#include <schedmate/paper.hpp>

#include "advisor/estimates.hpp"
#include "advisor/order_of_advice.hpp"
#include "advisor/replayed_jobs.hpp"
#include "base/check.hpp"

namespace schedmate::advisor {

/// Turns rows of the trace into past jobs and the job at hand.
class WorkloadAdvisor::Memory {
 public:
  Memory(const Trace& trace, const Workload& workload, const Options& options)
      : trace_(trace),
        workload_(workload),
        options_(options),
        jobs_(*options.compared, options.answers) {}

  void learn(std::uint32_t row) { jobs_.add(ended_job(row)); }
  Estimate advise(const EnteringJob& at);
  [[nodiscard]] const std::optional<RunAnswer>& answer() const { return answer_; }
  /// Mean GPU use of the best matches of the latest advice (paper 4.1).
  [[nodiscard]] std::optional<GpuUse> use_of_matches() const;

 private:
  /// An advice whose job has not ended.
  struct Open {
    const Described* job = nullptr;
    AdviceSource source = AdviceSource::none;
    FractionalSeconds p50{0}, p90{0};
    GivenCentre length;
  };
  ReplayedJob ended_job(std::uint32_t row);

  const Trace& trace_;
  const Workload& workload_;
  Options options_;
  ReplayedJobs jobs_;
  std::unordered_map<std::uint32_t, Open> open_;  // by row
  // Of the latest advice.
  std::vector<Matched<ReplayedJob>> matches_;  // best first
  std::optional<RunAnswer> answer_;
};

Estimate WorkloadAdvisor::Memory::advise(const EnteringJob& at) {
  const Described& ours = options_.compared->describe(trace_, workload_, at.job.number);
  jobs_.look_from(ours, at.job.user);
  const OrderOptions options{*options_.estimate, options_.similarity, options_.admission,
                             options_.top, options_.answers};
  auto made = OrderOfAdvice(jobs_, options)
                  .run({at.job.user, at.job.gpus, at.job.submit, {}, options_.limits});
  SCHEDMATE_CHECK(made.has_value(), "jobs in memory can be read");
  matches_ = std::move(made->matches);
  answer_ = std::move(made->answer);
  const Estimate& estimate = made->estimate;
  GivenCentre length;
  if (answer_) length = {answer_->source, log_of(answer_->centre)};
  open_[static_cast<std::uint32_t>(at.job.number)] = {&ours, estimate.source, estimate.p50,
                                                      estimate.p90, length};
  return std::move(made->estimate);
}

ReplayedJob WorkloadAdvisor::Memory::ended_job(std::uint32_t row) {
  const Job& job = trace_.jobs[row];
  Open advice;
  if (const auto known = open_.extract(row))
    advice = known.mapped();
  else
    advice.job = &options_.compared->describe(trace_, workload_, row);
  const FractionalSeconds duration = job.duration;
  return {.described = advice.job,
          .profile = job.profile == no_index ? nullptr : &trace_.packing->profiles[job.profile],
          .submit = job.submit,
          .duration = job.duration,
          .log_ratio = log_of(duration) - log_of(advice.p50),
          .row = row,
          .user = job.user,
          .gpus = job.gpus,
          .state = job.state,
          .source = advice.source,
          .beyond_p90 = duration > advice.p90,
          .length = advice.length};
}

std::optional<GpuUse> WorkloadAdvisor::Memory::use_of_matches() const {
  GpuUse sum;
  double count = 0;
  const auto most = static_cast<double>(options_.top.value_or(paper::similar_jobs));
  for (const Matched<ReplayedJob>& each : matches_) {
    const Profile* measured = each.job.profile;
    if (measured == nullptr || count == most) continue;
    sum.gpu_util_pct += measured->gpu_util_pct;
    sum.memory_util_pct += measured->memory_util_pct;
    sum.memory_mib += measured->memory_mib;
    ++count;
  }
  if (count == 0) return std::nullopt;
  return GpuUse{sum.gpu_util_pct / count, sum.memory_util_pct / count, sum.memory_mib / count};
}

WorkloadAdvisor::WorkloadAdvisor(const Trace& trace, const Workload& workload, Options options)
    : trace_(trace),
      workload_(workload),
      options_(std::move(options)),
      memory_(std::make_unique<Memory>(trace, workload, options_)) {}

WorkloadAdvisor::WorkloadAdvisor(const WorkloadAdvisor& other)
    : WorkloadAdvisor(other.trace_, other.workload_, other.options_) {}

WorkloadAdvisor::~WorkloadAdvisor() = default;

void WorkloadAdvisor::learn(const FinishedJob& ended) {
  memory_->learn(static_cast<std::uint32_t>(ended.job.number));
}

Estimate WorkloadAdvisor::advise_row(const EnteringJob& entering) {
  return memory_->advise(entering);
}

RunAnswer WorkloadAdvisor::answer_row(const EnteringJob& entering) {
  SCHEDMATE_CHECK(options_.answers, "answers were asked for");
  (void)memory_->advise(entering);
  return *memory_->answer();
}

Prediction WorkloadAdvisor::operator()(const EnteringJob& entering) {
  const Estimate made = advise_row(entering);
  return {.run_time = made.p50,
          .distribution = RunTimeDistribution{made.mean, made.p10, made.p50, made.p90},
          .blind = made.source == AdviceSource::none,
          .source = static_cast<std::uint8_t>(made.source),
          .use = memory_->use_of_matches()};
}

std::function<Estimator(const AdvisorChoice&)> advisor_on(const Trace& trace,
                                                          const Workload& workload,
                                                          std::shared_ptr<ComparedJobs> compared) {
  if (compared == nullptr) compared = compared_jobs();
  return [&trace, &workload, compared = std::move(compared)](const AdvisorChoice& choice) {
    WorkloadAdvisor::Options options;
    options.compared = compared;
    options.similarity.paper = choice.paper;
    options.admission = !choice.paper;
    options.top = choice.top;
    for (const EstimateRow& row : estimate_rows())
      if (row.name == (choice.paper ? "paper" : "calibrated")) options.estimate = &row;
    SCHEDMATE_CHECK(options.estimate != nullptr, "both estimates are in the table");
    return Estimator(WorkloadAdvisor(trace, workload, options));
  };
}

}  // namespace schedmate::advisor
