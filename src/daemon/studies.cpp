// SPDX-License-Identifier: Apache-2.0
#include "daemon/studies.hpp"

#include <nlohmann/json.hpp>
#include <utility>

#include "daemon/findings.hpp"
#include "daemon/readings.hpp"

namespace schedmate::daemon {
namespace {

using StudyKind = live::Study::What;

Result<live::Finding> finding_in(const live::Study& study, const Document& document) {
  if (study.what == StudyKind::log) return log_found(document);
  live::CauseFound found = failure_found(document);
  found.steps = study.steps;
  return found;
}

/// Whoever was to read was away or too slow. The loop asks again, a few times.
bool may_pass(const Error& error) {
  return error.code == ErrorCode::unavailable || error.code == ErrorCode::timeout;
}

/// The answer to a study whose log was not read: how the job's steps ended tells something, too.
Result<live::Finding> unread(const live::Study& study, const Error& error) {
  if (study.steps.empty() || may_pass(error)) return tl::unexpected(error);
  return live::CauseFound{.judged = false, .unread = error.message, .steps = study.steps};
}

}  // namespace

Result<reader::Request> reading_for(const live::Study& study) {
  const SeenJob& job = study.job;
  reader::Request request{.user = job.user};
  if (study.what == StudyKind::code) {
    request.what = reader::What::facts;
    request.dir = job.dir;
    request.command = job.command;
    if (job.gpus > 0) request.gpus = job.gpus;
    return request;
  }
  auto path = log_path_of(job);
  if (!path) return tl::unexpected(path.error());
  request.what = study.what == StudyKind::log ? reader::What::track : reader::What::failure;
  request.logs = {std::move(*path)};
  return request;
}

std::size_t Studies::most_readings(const settings::Session& session) {
  constexpr std::size_t here = 4;
  constexpr std::size_t by_workers = 64;
  return session.settings.text("workers.redis").empty() ? here : by_workers;
}

void Studies::make(std::uint64_t loop, const live::Study& study, const reader::Ask& ask) {
  const Answer answer = [this, loop, number = study.number](Result<live::Finding> finding) {
    settle(loop, number, std::move(finding));
  };
  if (!ask)
    return answer(unread(
        study, {ErrorCode::unsupported, "nothing is read: setting reader.socket names no reader"}));
  const auto request = reading_for(study);
  if (!request) return answer(unread(study, request.error()));
  shared_.ask(ask, *request, [this, answer, study](const SharedReadings::Read& read) {
    if (!*read) return answer(unread(study, read->error()));
    if (study.what != StudyKind::code) return answer(finding_in(study, **read));
    advise(study.job, read, answer);
  });
}

/// The worker takes all that have come alike by its turn.
void Studies::advise(const SeenJob& job, const SharedReadings::Read& facts, const Answer& answer) {
  const std::string key =
      in_one_line({job.user, job.partition, job.dir, job.command, job.gpus, job.limit.count()});
  const std::lock_guard lock(mutex_);
  Alike& alike = alike_[key];
  alike.facts = facts;
  alike.jobs.push_back(job);
  alike.answers.push_back(answer);
  if (alike.jobs.size() == 1) worker_.ask([this, key] { advise_all(key); });
}

void Studies::advise(service::AdviseRequest request, Document facts, reader::Take take) {
  worker_.ask([this, request = std::move(request), facts = std::move(facts),
               take = std::move(take)] { take(historian_.advise(request, facts)); });
}

void Studies::advise_all(const std::string& key) {
  if (ends_.is_late() && ends_.work()) give_ends();  // advice may take long
  Alike alike;
  {
    const std::lock_guard lock(mutex_);
    alike = std::move(alike_.extract(key).mapped());
  }
  const auto found = historian_.advise(alike.jobs, **alike.facts);
  for (const Answer& answer : alike.answers)
    answer(found.map([](const live::CodeFound& code) -> live::Finding { return code; }));
}

void Studies::remember(const live::Attempt& attempt, const live::Life* life,
                       const probe::JobUse* use) {
  Ended end{.job = attempt.seen, .earlier = attempt.past};
  if (life != nullptr) end.life = *life;
  if (use != nullptr) end.use = use->summary();
  remember(std::move(end));
}

void Studies::begin(const live::Jobs& jobs) {
  try_again();
  ended_before_.clear();
  for (const auto& [id, attempt] : jobs.all())
    if (attempt.seen.phase == JobPhase::ended) ended_before_.push_back(attempt);
}

void Studies::seen(const live::Jobs& jobs, const live::Lives& lives) {
  for (const live::Attempt& before : std::exchange(ended_before_, {})) {
    const SeenJob& job = before.seen;
    const live::Attempt* const shown = jobs.find(job.id);
    const bool is_it = shown != nullptr && shown->seen.phase == JobPhase::ended &&
                       shown->seen.submitted == job.submitted &&
                       shown->seen.restarts == job.restarts;
    const live::Attempt& known = is_it ? *shown : before;
    Ended end{.job = known.seen, .earlier = known.past, .is_old = true};
    if (const live::Life* const life = is_it ? lives.find(job.id) : nullptr; life != nullptr)
      end.life = *life;
    remember(std::move(end));
  }
}

void Studies::remember(Ended end) {
  if (ends_.put(std::move(end))) give_ends();
}

void Studies::try_again() {
  if (ends_.try_again()) give_ends();
}

void Studies::give_ends() {
  worker_.ask([this] {
    if (ends_.work()) give_ends();
  });
}

}  // namespace schedmate::daemon
