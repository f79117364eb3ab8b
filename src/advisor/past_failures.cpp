// SPDX-License-Identifier: Apache-2.0
#include "advisor/past_failures.hpp"

#include <algorithm>
#include <array>
#include <nlohmann/json.hpp>
#include <set>

namespace schedmate::advisor {
namespace {

using Json = nlohmann::json;

constexpr std::size_t most_jobs = 1000;
constexpr std::size_t most_read = 64;  ///< whole records
constexpr Seconds hour{3600};

/// When the job ended, as far as it is known.
SimTime end_of(const JobRecord& record) {
  return record.outcome->end.value_or(record.submit + record.outcome->duration);
}

std::vector<std::string> texts_of(const Json& list) {
  std::vector<std::string> texts;
  if (list.is_array())
    for (const Json& each : list)
      if (each.is_string()) texts.push_back(each.get<std::string>());
  return texts;
}

std::string text_of(const Json& from, const char* key) {
  const auto held = from.find(key);
  return held != from.end() && held->is_string() ? held->get<std::string>() : "";
}

template <class Value, std::size_t size>
Value value_of(const std::string& name, const std::array<Value, size>& values, Value otherwise) {
  const auto held =
      std::ranges::find(values, std::string_view(name), [](Value each) { return name_of(each); });
  return held == values.end() ? otherwise : *held;
}

constexpr std::array classes = {FailureClass::none, FailureClass::infrastructure,
                                FailureClass::framework, FailureClass::user_script,
                                FailureClass::other};
constexpr std::array recommendations = {Recommendation::restart_same,
                                        Recommendation::restart_elsewhere,
                                        Recommendation::do_not_restart, Recommendation::test_first};

/// What can be said of a failure without its summary.
PastFailure brief_failure(const JobRecord& record) {
  PastFailure made;
  made.job_id = record.id;
  made.user = record.user;
  made.ended = end_of(record);
  made.fingerprint = record.outcome->fingerprint;
  return made;
}

/// Looks at brief records and reads those that `wanted` takes as a whole, at most most_read.
Result<void> read_failures(Store& store, JobFilter filter,
                           const std::function<bool(const JobRecord&)>& wanted,
                           std::vector<PastFailure>& failures) {
  filter.brief = true;
  filter.finished = true;
  std::vector<std::string> ids;
  if (auto done = store.each(filter,
                             [&](const JobRecord& record) {
                               if (wanted(record)) ids.push_back(record.id);
                               return ids.size() < most_read;
                             });
      !done)
    return done;
  for (const std::string& id : ids) {
    const auto record = store.get(id);
    if (!record) return tl::unexpected(record.error());
    if (!*record) continue;  // forgotten meanwhile
    if (auto failure = past_failure(**record)) failures.push_back(*std::move(failure));
  }
  return {};
}

/// Earlier attempts since the job last completed, newest first.
Result<std::vector<PastFailure>> attempts_of(Store& store, const FailureSubject& subject) {
  std::vector<PastFailure> attempts;
  const auto own = store.get(subject.job_id);
  if (!own) return tl::unexpected(own.error());
  JobFilter filter;
  filter.user = subject.user;
  if (*own && !(*own)->entry.empty())
    filter.entry = (*own)->entry;
  else if (!subject.fingerprint.empty())
    filter.fingerprint = subject.fingerprint;
  else
    return attempts;
  bool completed = false;
  const auto wanted = [&](const JobRecord& record) {
    if (record.id == subject.job_id || end_of(record) > subject.ended) return false;
    if (filter.entry && record.root != (*own)->root) return false;
    completed = completed || record.outcome->state == EndState::completed;
    return !completed && !record.outcome->fingerprint.empty();
  };
  if (auto done = read_failures(store, filter, wanted, attempts); !done)
    return tl::unexpected(done.error());
  for (PastFailure& each : attempts) each.same_job = true;
  return attempts;
}

}  // namespace

std::optional<PastFailure> past_failure(const JobRecord& record) {
  if (!record.outcome || record.outcome->log_summary.empty()) return std::nullopt;
  const Json summary = Json::parse(record.outcome->log_summary, nullptr, false);
  if (!summary.is_object() || !summary.contains("diagnosis")) return std::nullopt;
  const Json& diagnosis = summary["diagnosis"];
  if (!diagnosis.is_object()) return std::nullopt;
  if (diagnosis.contains("class") && diagnosis["class"].is_null()) return std::nullopt;
  PastFailure made = brief_failure(record);
  made.verdict = value_of(text_of(diagnosis, "class"), classes, FailureClass::other);
  if (made.verdict == FailureClass::none) return std::nullopt;
  made.reason = text_of(diagnosis, "reason");
  made.by = text_of(diagnosis, "by");
  made.recommended =
      value_of(text_of(diagnosis, "recommendation"), recommendations, Recommendation::notify);
  made.blamed = texts_of(diagnosis.value("nodes", Json()));
  if (const auto job = summary.find("job"); job != summary.end() && job->is_object())
    made.allocation = texts_of(job->value("nodes", Json()));
  if (const auto progress = summary.find("progress"); progress != summary.end())
    if (progress->is_object() && progress->contains("step") && (*progress)["step"].is_number())
      made.step = (*progress)["step"].get<double>();
  return made;
}

Result<std::vector<PastFailure>> same_failures(Store& store, const FailureSubject& subject) {
  std::vector<PastFailure> failures;
  if (subject.fingerprint.empty()) return failures;
  JobFilter filter;
  filter.fingerprint = subject.fingerprint;
  filter.limit = most_jobs;
  filter.brief = true;
  if (auto done = store.each(filter,
                             [&](const JobRecord& record) {
                               if (record.id != subject.job_id)
                                 failures.push_back(brief_failure(record));
                               return true;
                             });
      !done)
    return tl::unexpected(done.error());
  for (std::size_t i = 0; i < std::min(failures.size(), most_read); ++i) {
    const auto record = store.get(failures[i].job_id);
    if (!record) return tl::unexpected(record.error());
    if (*record)
      if (auto whole = past_failure(**record)) failures[i] = *std::move(whole);
  }
  return failures;
}

Result<std::vector<PastFailure>> failures_for_caps(Store& store, const FailureSubject& subject) {
  std::vector<PastFailure> failures;
  if (!subject.user.empty()) {
    auto attempts = attempts_of(store, subject);
    if (!attempts) return tl::unexpected(attempts.error());
    failures = *std::move(attempts);
  }
  std::set<std::string> known{subject.job_id};
  for (const PastFailure& each : failures) known.insert(each.job_id);
  JobFilter filter;
  filter.limit = most_jobs;
  const auto recent = [&](const JobRecord& record) {
    const auto before = subject.ended - end_of(record);
    return !record.outcome->fingerprint.empty() && before >= Seconds(0) && before < hour &&
           !known.contains(record.id);
  };
  if (auto done = read_failures(store, filter, recent, failures); !done)
    return tl::unexpected(done.error());
  return failures;
}

}  // namespace schedmate::advisor
