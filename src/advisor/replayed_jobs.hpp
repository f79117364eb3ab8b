// SPDX-License-Identifier: Apache-2.0
#pragma once

/// Past jobs of a replay: what has ended so far, kept in memory as numbers, so that a month of
/// submissions takes seconds. It gives what a Store with its index would give (stored_jobs.hpp).

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <ranges>
#include <schedmate/job.hpp>
#include <schedmate/search.hpp>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "advisor/compared_jobs.hpp"
#include "advisor/past_jobs.hpp"
#include "advisor/run_answer.hpp"
#include "advisor/similar.hpp"

namespace schedmate::advisor {

/// A job of a replay that has ended.
struct ReplayedJob {
  const Described* described = nullptr;
  const Profile* profile = nullptr;  ///< its GPU use, if it was measured
  SimTime submit;
  Seconds duration{0};
  double log_ratio = 0;   ///< log(duration / p50 of its advice)
  std::uint32_t row = 0;  ///< of the trace, rising by submission
  std::uint32_t user = 0;
  std::int32_t gpus = 0;
  EndState state = EndState::unknown;
  AdviceSource source = AdviceSource::none;  ///< of the advice that it got
  bool beyond_p90 = false;
  GivenCentre length;  ///< of the answer that it got
};

/// What PastJob asks of it.
[[nodiscard]] inline bool has_run(const ReplayedJob& job) { return job.state != EndState::unknown; }
[[nodiscard]] inline PastRun past_run(const ReplayedJob& job) {
  PastRun run;  // nobody sees its name
  run.submit = job.submit;
  run.state = job.state;
  run.duration = job.duration;
  return run;
}
[[nodiscard]] inline std::optional<Residual> residual_of(const ReplayedJob& job) {
  if (job.source == AdviceSource::none || !has_run(job)) return std::nullopt;
  return Residual{job.log_ratio, job.source, false};
}
[[nodiscard]] inline std::optional<LengthMiss> length_miss(const ReplayedJob& job) {
  return has_run(job) ? miss_of(job.length, job.state, job.duration) : std::nullopt;
}
[[nodiscard]] inline bool outlasted(const ReplayedJob& job) { return job.beyond_p90; }
[[nodiscard]] inline std::uint32_t submission_order(const ReplayedJob& job) { return job.row; }

class ReplayedJobs {
 public:
  using Job = ReplayedJob;
  /// `compared` outlives the object. `lengths`: as many are kept as answers about lengths look at.
  ReplayedJobs(ComparedJobs& compared, bool lengths);

  /// Remembers a job that has ended; in any order.
  void add(const ReplayedJob& job);
  /// The job at hand from here on; `ours` outlives that.
  void look_from(const Described& ours, std::uint32_t user);

  template <class Visit>
  Result<void> of_entry(const Visit& visit) const {
    if (const EndedJobs* jobs = jobs_of_entry())
      visit_latest(*jobs, submissions_of_an_entry, visit);
    return {};
  }
  Result<std::vector<SimilarText>> nearest();
  template <class Visit>
  Result<void> of_text(std::uint64_t text_id, const Visit& visit) const {
    if (const auto jobs = by_text_.find(text_id); jobs != by_text_.end())
      visit_latest(jobs->second, jobs_of_a_text, visit);
    return {};
  }
  template <class Visit>
  Result<void> of_user(std::uint32_t user, std::size_t count, const Visit& visit) const {
    if (const auto known = users_.find(user); known != users_.end())
      visit_latest(known->second.ended, count, visit);
    return {};
  }
  template <class Visit>
  Result<void> of_all(std::size_t count, const Visit& visit) const {
    visit_latest(all_, count, visit);
    return {};
  }
  [[nodiscard]] Verdict verdict_on(const ReplayedJob& earlier) const;
  [[nodiscard]] Similarity similarity_to(const ReplayedJob& earlier);
  [[nodiscard]] double scale_from(const ReplayedJob& earlier) const;

 private:
  /// By submission, oldest first.
  using EndedJobs = std::vector<ReplayedJob>;
  struct User {
    EndedJobs ended;
    std::map<std::string, EndedJobs, std::less<>> by_entry;
  };

  template <class Visit>
  static void visit_latest(const EndedJobs& jobs, std::size_t count, const Visit& visit) {
    const auto most = static_cast<std::ptrdiff_t>(count);
    for (const ReplayedJob& each : jobs | std::views::reverse | std::views::take(most)) visit(each);
  }
  [[nodiscard]] const EndedJobs* jobs_of_entry() const;
  /// 0: nothing to be found by.
  std::uint64_t text_id_of(const Described& job);

  ComparedJobs& compared_;
  std::size_t looked_at_;  // of a user, and of all
  Embedder embedder_;
  std::unique_ptr<Store> texts_;  // the distinct texts alone
  std::unique_ptr<TextIndex> index_;
  std::unordered_map<std::string_view, std::uint64_t> text_ids_;
  std::unordered_map<std::uint64_t, EndedJobs> by_text_;
  std::unordered_map<std::uint32_t, User> users_;
  EndedJobs all_;

  const Described* ours_ = nullptr;
  std::uint32_t user_ = 0;
  std::optional<std::uint32_t> alike_to_;  // mostly the same fields as the job asked for before
  Similarity alike_;
};

}  // namespace schedmate::advisor
