// SPDX-License-Identifier: Apache-2.0
#pragma once

/// Past jobs of a Store with its index, as `schedmate advise` asks for them. A past job is a brief
/// record.

#include <optional>
#include <schedmate/search.hpp>
#include <string_view>
#include <utility>

#include "advisor/past_jobs.hpp"
#include "advisor/similar.hpp"

namespace schedmate {

/// What PastJob asks of a record; one without an outcome has no run.
[[nodiscard]] bool has_run(const JobRecord& record);
[[nodiscard]] PastRun past_run(const JobRecord& record);
[[nodiscard]] std::optional<Residual> residual_of(const JobRecord& record);
[[nodiscard]] std::optional<LengthMiss> length_miss(const JobRecord& record);
[[nodiscard]] bool outlasted(const JobRecord& record);
[[nodiscard]] inline std::pair<SimTime, std::string_view> submission_order(
    const JobRecord& record) {
  return {record.submit, record.id};
}

}  // namespace schedmate

namespace schedmate::advisor {

class StoredJobs {
 public:
  using Job = JobRecord;
  struct StoredSubmission {
    const Submission& submission;  ///< a record with its id is no past job
    const Fields& fields;
    const FlagRules& rules;
    bool unfinished = false;  ///< of_entry() gives jobs that have not ended, too
  };
  /// All of it outlives the object.
  StoredJobs(Store& store, TextIndex& index, const StoredSubmission& ours)
      : store_(store), index_(index), ours_(ours), row_(ours.fields) {}

  template <class Visit>
  Result<void> of_entry(const Visit& visit) {
    JobFilter filter = entry_filter();
    filter.finished = !ours_.unfinished;
    return each(filter, [&](JobRecord record) { visit_other(std::move(record), visit); });
  }
  Result<std::vector<SimilarText>> nearest();
  template <class Visit>
  Result<void> of_text(std::uint64_t text_id, const Visit& visit) {
    return each({.text_id = text_id, .finished = true, .limit = jobs_of_a_text},
                [&](JobRecord record) { visit_other(std::move(record), visit); });
  }
  template <class Visit>
  Result<void> of_user(const std::string& user, std::size_t count, const Visit& visit) {
    return each({.user = user, .finished = true, .limit = count}, visit);
  }
  template <class Visit>
  Result<void> of_all(std::size_t count, const Visit& visit) {
    return each({.finished = true, .limit = count}, visit);
  }
  [[nodiscard]] Verdict verdict_on(const JobRecord& earlier) const;
  [[nodiscard]] Similarity similarity_to(const JobRecord& earlier) const;
  [[nodiscard]] double scale_from(const JobRecord& earlier) const;

 private:
  [[nodiscard]] JobFilter entry_filter() const;
  template <class Visit>
  Result<void> each(JobFilter filter, const Visit& visit) {
    filter.brief = true;
    return store_.each(filter, [&](JobRecord&& record) {
      visit(std::move(record));
      return true;
    });
  }
  template <class Visit>
  void visit_other(JobRecord record, const Visit& visit) {
    if (record.id != ours_.submission.id) visit(std::move(record));
  }

  Store& store_;
  TextIndex& index_;
  StoredSubmission ours_;
  FieldRow row_;
};

}  // namespace schedmate::advisor
