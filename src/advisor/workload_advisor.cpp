// SPDX-License-Identifier: Apache-2.0
#include "advisor/workload_advisor.hpp"

#include <algorithm>
#include <map>
#include <ranges>
#include <schedmate/paper.hpp>
#include <span>

#include "advisor/advisor.hpp"
#include "advisor/estimates.hpp"
#include "advisor/experience.hpp"
#include "advisor/scaling.hpp"
#include "base/check.hpp"

namespace schedmate {
namespace {

/// A job that has ended.
struct Ended {
  std::uint32_t row = 0;
  const Described* job = nullptr;
  AdviceSource source = AdviceSource::none;  ///< of the advice that it got
  FractionalSeconds p50{0}, p90{0};
  double log_ratio = 0;  ///< log(actual / p50), once it has ended
};
/// By submission, oldest first.
using EndedJobs = std::vector<Ended>;

/// Keeps the latest `most`: nobody looks farther back.
void insert(EndedJobs& jobs, const Ended& ended, std::size_t most) {
  jobs.insert(std::ranges::upper_bound(jobs, ended.row, {}, &Ended::row), ended);
  if (jobs.size() > most) jobs.erase(jobs.begin());
}

/// The latest `count`, newest first.
auto latest(const EndedJobs& jobs, std::size_t count) {
  return jobs | std::views::reverse | std::views::take(static_cast<std::ptrdiff_t>(count));
}

}  // namespace

class WorkloadAdvisor::Memory {
 public:
  Memory(const Trace& trace, const Workload& workload, const Options& options)
      : trace_(trace),
        workload_(workload),
        options_(options),
        compared_(*options.compared),
        embedder_(lexical()) {
    auto store = open_store("memory");
    SCHEDMATE_CHECK(store.has_value(), "memory is built in");
    store_ = std::move(*store);
    auto index = open_index(*store_, embedder_);
    SCHEDMATE_CHECK(index.has_value(), "an index in memory needs nothing");
    index_ = std::move(*index);
  }

  void learn(std::uint32_t row);
  Estimate advise(const Entering& at);
  /// Mean GPU use of the best matches of the latest advice (paper 4.1).
  [[nodiscard]] std::optional<GpuUse> use_of_matches() const;

 private:
  struct User {
    EndedJobs ended;
    std::map<std::string, EndedJobs, std::less<>> by_entry;
  };
  struct Found {
    Ended ended;
    PastRun run;
  };

  struct Candidate {
    double score = 0;
    std::uint32_t row = 0;
    const Ended* ended = nullptr;
  };

  static Embedder lexical() {
    auto embedder = make_embedder("lexical");
    SCHEDMATE_CHECK(embedder.has_value(), "lexical is built in");
    return std::move(*embedder);
  }
  /// 0: nothing to be found by.
  std::uint64_t text_id_of(const Described& job);
  /// Whether it counts as a run, as past_run() has it; those that do not count for the limits.
  [[nodiscard]] bool has_run(const Ended& ended) const {
    return trace_.jobs[ended.row].state != EndState::unknown;
  }
  [[nodiscard]] PastRun run_of(const Ended& ended) const;
  [[nodiscard]] std::optional<Residual> residual_of(const Ended& ended) const;
  void find_repeated(const Described& ours, std::uint32_t user);
  void find_similar(const Described& ours);
  void add_similar(const Described& ours, const SimilarText& text);
  void keep_best();
  [[nodiscard]] std::size_t used_matches() const {
    return options_.top.value_or(paper::similar_jobs);
  }
  [[nodiscard]] double trust_in(std::uint32_t user) const;
  [[nodiscard]] std::vector<PastRun> latest_runs_of(std::uint32_t user, std::int32_t gpus) const;
  [[nodiscard]] std::vector<Residual> residuals_for(std::uint32_t user) const;

  const Trace& trace_;
  const Workload& workload_;
  Options options_;
  ComparedJobs& compared_;
  Embedder embedder_;
  std::unique_ptr<Store> store_;  // the distinct texts alone
  std::unique_ptr<TextIndex> index_;
  std::unordered_map<std::string_view, std::uint64_t> text_ids_;
  std::unordered_map<std::uint64_t, EndedJobs> by_text_;
  std::unordered_map<std::uint32_t, User> users_;
  std::unordered_map<std::uint32_t, Ended> open_;  // by row: advised, not ended
  EndedJobs all_;
  std::vector<Found> found_;  // of the advice at hand, best first
  std::vector<Candidate> candidates_;
};

Estimate WorkloadAdvisor::Memory::advise(const Entering& at) {
  const Described& ours = compared_.describe(trace_, workload_, at.job.number);
  found_.clear();
  AdviceSource source = AdviceSource::none;
  if (options_.admission) find_repeated(ours, at.job.user);
  if (!found_.empty()) {
    source = AdviceSource::resubmission;
  } else {
    find_similar(ours);
    if (!found_.empty()) source = AdviceSource::similar;
  }
  if (options_.top && !options_.similarity.paper)
    found_.resize(std::min(found_.size(), *options_.top));
  std::vector<PastRun> matches;
  for (Found& each : found_) {
    each.run.trust = trust_in(trace_.jobs[each.ended.row].user);
    matches.push_back(each.run);
  }
  const std::vector<PastRun> own = latest_runs_of(at.job.user, at.job.gpus);
  const std::vector<Residual> residuals = residuals_for(at.job.user);
  Estimate made = options_.estimate->make(
      {source, matches, own, residuals, std::nullopt, at.job.submit, used_matches()});
  const auto row = static_cast<std::uint32_t>(at.job.number);
  open_[row] = {row, &ours, made.source, made.p50, made.p90};
  return made;
}

void WorkloadAdvisor::Memory::learn(std::uint32_t row) {
  const Job& job = trace_.jobs[row];
  const auto advised = open_.find(row);
  const bool known = advised != open_.end();
  const Described& described =
      known ? *advised->second.job : compared_.describe(trace_, workload_, row);
  Ended ended = known ? advised->second : Ended{row, &described};
  if (known) open_.erase(advised);
  ended.log_ratio = log_of(FractionalSeconds(job.duration)) - log_of(ended.p50);
  User& user = users_[job.user];
  insert(user.ended, ended, std::max(experience::own_errors, experience::latest_jobs));
  insert(user.by_entry[described.record.entry], ended, submissions_of_an_entry);
  insert(all_, ended, experience::all_errors);
  if (const auto text = text_id_of(described); text != 0)
    insert(by_text_[text], ended, jobs_of_a_text);
}

std::uint64_t WorkloadAdvisor::Memory::text_id_of(const Described& job) {
  const std::string& text = job.record.text;
  if (text.empty()) return 0;
  const auto [known, fresh] = text_ids_.try_emplace(text, text_ids_.size() + 1);
  if (!fresh) return known->second;
  JobRecord record;
  record.id = std::to_string(known->second);
  record.text = text;
  SCHEDMATE_CHECK(store_->put(record).has_value(), "memory takes every record");
  const auto last = store_->last_text();
  SCHEDMATE_CHECK(last.has_value() && *last == known->second, "texts are numbered in order");
  return known->second;
}

PastRun WorkloadAdvisor::Memory::run_of(const Ended& ended) const {
  const Job& job = trace_.jobs[ended.row];
  PastRun run;  // nobody is told its name
  run.submit = job.submit;
  run.state = job.state;
  run.duration = job.duration;
  return run;
}

std::optional<Residual> WorkloadAdvisor::Memory::residual_of(const Ended& ended) const {
  if (ended.source == AdviceSource::none || !has_run(ended)) return std::nullopt;
  return Residual{ended.log_ratio, ended.source, false};
}

void WorkloadAdvisor::Memory::find_repeated(const Described& ours, std::uint32_t user) {
  const auto known = users_.find(user);
  if (known == users_.end()) return;
  const auto entry = known->second.by_entry.find(ours.record.entry);
  if (entry == known->second.by_entry.end()) return;
  std::vector<std::pair<FlagClass, Found>> repeated;
  for (const Ended& each : latest(entry->second, submissions_of_an_entry)) {
    if (!has_run(each) || ours.record.root != each.job->record.root) continue;
    const Repetition repetition = compared_.repetition_of(ours, *each.job);
    if (repetition.relation == FlagClass::another_job) continue;
    PastRun run = run_of(each);
    run.score = likeness(repetition.relation);
    run.scale = repetition.scale;
    repeated.push_back({repetition.relation, {each, std::move(run)}});
  }
  std::ranges::stable_sort(repeated, {}, [](const auto& each) { return each.first; });
  for (auto& [relation, each] : repeated) found_.push_back(std::move(each));
}

void WorkloadAdvisor::Memory::find_similar(const Described& ours) {
  if (text_id_of(ours) == 0) return;
  const auto fresh = index_->refresh();
  const auto texts = index_->nearest(ours.record.text, nearest_texts);
  SCHEDMATE_CHECK(fresh.has_value() && texts.has_value(), "an index in memory does not fail");
  candidates_.clear();
  for (const SimilarText& each : *texts) add_similar(ours, each);
  keep_best();
  if (options_.similarity.paper) return;
  for (Found& each : found_)
    each.run.scale = scale_between(ours.record.fields, each.ended.job->record.fields).factor;
}

void WorkloadAdvisor::Memory::add_similar(const Described& ours, const SimilarText& text) {
  const auto jobs = by_text_.find(text.text_id);
  if (jobs == by_text_.end()) return;
  const SimilarityOptions& options = options_.similarity;
  Likeness alike;
  std::optional<std::uint32_t> alike_to;  // mostly the same fields as the job before
  for (const Ended& each : latest(jobs->second, jobs_of_a_text)) {
    if (!has_run(each)) continue;
    if (alike_to != each.job->fields_id) alike = compared_.likeness_of(ours, *each.job);
    alike_to = each.job->fields_id;
    const double score =
        options.paper ? text.score : mixed_score(text.score, alike.score, options.similar_cosine);
    if (!(options.paper || alike.same_kind) || score < threshold_of(options)) continue;
    candidates_.push_back({score, each.row, &each});
  }
}

/// Best first, equal ones newest first.
void WorkloadAdvisor::Memory::keep_best() {
  const std::size_t count = std::min(candidates_.size(), options_.similarity.most);
  const auto kept = candidates_.begin() + static_cast<std::ptrdiff_t>(count);
  std::ranges::partial_sort(candidates_, kept, std::ranges::greater(),
                            [](const Candidate& each) { return std::pair(each.score, each.row); });
  for (const Candidate& each : std::span(candidates_).first(count)) {
    PastRun run = run_of(*each.ended);
    run.score = each.score;
    found_.push_back({*each.ended, std::move(run)});
  }
}

double WorkloadAdvisor::Memory::trust_in(std::uint32_t user) const {
  const auto known = users_.find(user);
  if (known == users_.end()) return trust_after(0, 0);
  std::size_t overruns = 0;
  std::size_t jobs = 0;
  for (const Ended& each : latest(known->second.ended, experience::latest_jobs)) {
    if (!residual_of(each)) continue;
    ++jobs;
    if (FractionalSeconds(trace_.jobs[each.row].duration) > each.p90) ++overruns;
  }
  return trust_after(overruns, jobs);
}

std::vector<PastRun> WorkloadAdvisor::Memory::latest_runs_of(std::uint32_t user,
                                                             std::int32_t gpus) const {
  std::vector<PastRun> all;
  std::vector<PastRun> alike;
  const auto known = users_.find(user);
  if (known == users_.end()) return all;
  for (const Ended& each : latest(known->second.ended, experience::latest_jobs)) {
    if (!has_run(each)) continue;
    const bool is_alike = trace_.jobs[each.row].gpus == gpus;
    if (is_alike) alike.push_back(run_of(each));
    if (alike.empty()) all.push_back(run_of(each));
  }
  return alike.empty() ? all : alike;
}

std::vector<Residual> WorkloadAdvisor::Memory::residuals_for(std::uint32_t user) const {
  std::vector<Residual> residuals;
  const auto add = [&](const EndedJobs& jobs, std::size_t count, bool same_user) {
    for (const Ended& each : latest(jobs, count)) {
      if (!same_user && trace_.jobs[each.row].user == user) continue;
      if (auto residual = residual_of(each)) {
        residual->same_user = same_user;
        residuals.push_back(*residual);
      }
    }
  };
  if (const auto known = users_.find(user); known != users_.end())
    add(known->second.ended, experience::own_errors, true);
  add(all_, experience::all_errors, false);
  return residuals;
}

std::optional<GpuUse> WorkloadAdvisor::Memory::use_of_matches() const {
  GpuUse sum;
  double count = 0;
  for (const Found& each : found_) {
    const std::uint32_t profile = trace_.jobs[each.ended.row].profile;
    if (profile == no_index || count == static_cast<double>(used_matches())) continue;
    const Profile& measured = trace_.packing->profiles[profile];
    sum.gpu_util_pct += measured.gpu_util_pct;
    sum.memory_util_pct += measured.memory_util_pct;
    sum.memory_mib += measured.memory_mib;
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

Estimate WorkloadAdvisor::advise_row(const Entering& entering) { return memory_->advise(entering); }

Prediction WorkloadAdvisor::operator()(const Entering& entering) {
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

}  // namespace schedmate
