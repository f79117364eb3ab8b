// SPDX-License-Identifier: Apache-2.0
#include "daemon/studies.hpp"

#include <nlohmann/json.hpp>
#include <utility>

#include "daemon/findings.hpp"
#include "daemon/readings.hpp"

namespace schedmate::daemon {
namespace {

using StudyKind = live::Study::What;

Result<live::Finding> finding_in(StudyKind what, const Document& document) {
  if (what == StudyKind::log) return log_found(document);
  return cause_found(document);
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
  request.what = study.what == StudyKind::log ? reader::What::track : reader::What::diagnose;
  request.logs = {std::move(*path)};
  return request;
}

void Studies::make(std::uint64_t loop, const live::Study& study, reader::Client* reader) {
  const Answer answer = [this, loop, number = study.number](Result<live::Finding> finding) {
    take_(loop, {number, std::move(finding)});
  };
  if (reader == nullptr)
    return answer(
        fail(ErrorCode::unsupported, "nothing is read: setting reader.socket names no reader"));
  const auto request = reading_for(study);
  if (!request) return answer(tl::unexpected(request.error()));
  const SharedReadings::Ask ask = [reader](reader::Request asked, reader::Client::Take take) {
    reader->ask(std::move(asked), std::move(take));
  };
  shared_.ask(ask, *request, [this, answer, study](const SharedReadings::Read& read) {
    if (!*read) return answer(tl::unexpected(read->error()));
    if (study.what != StudyKind::code) return answer(finding_in(study.what, **read));
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

void Studies::advise_all(const std::string& key) {
  Alike alike;
  {
    const std::lock_guard lock(mutex_);
    alike = std::move(alike_.extract(key).mapped());
  }
  const auto found = historian_.advise(alike.jobs, **alike.facts);
  for (const Answer& answer : alike.answers)
    answer(found.map([](const live::CodeFound& code) -> live::Finding { return code; }));
}

/// The worker takes all that have come by its turn.
void Studies::remember(const live::Attempt& attempt, const live::Life* life,
                       const probe::JobUse* use) {
  Ended end{.job = attempt.seen, .earlier = attempt.past};
  if (life != nullptr) end.life = *life;
  if (use != nullptr) end.use = use->summary();
  const std::lock_guard lock(mutex_);
  ended_.push_back(std::move(end));
  if (ended_.size() == 1) worker_.ask([this] { remember_all(); });
}

void Studies::remember_all() {
  std::vector<Ended> ended;
  {
    const std::lock_guard lock(mutex_);
    ended = std::exchange(ended_, {});
  }
  if (historian_.remember(ended)) return;
  // Where one cannot be kept the others are.
  for (const Ended& each : ended) (void)historian_.remember(each);
}

}  // namespace schedmate::daemon
