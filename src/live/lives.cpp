// SPDX-License-Identifier: Apache-2.0
#include "live/lives.hpp"

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>
#include <schedmate/progress.hpp>
#include <utility>

#include "base/document_value.hpp"
#include "base/json.hpp"
#include "core/step_ends.hpp"

namespace schedmate::live {
namespace {

using enum Study::What;

constexpr std::size_t most_earlier = 8, longest_document = std::size_t{16} << 10U,
                      longest_reason = 200;

Document number(const std::optional<double>& value) { return or_null<Document>(value); }
std::optional<double> read_number(const Document& whole, const char* name) {
  return figure_in(part(whole, name));
}
std::string read_text(const Document& whole, const char* name) {
  return text_in(part(whole, name));
}
std::int64_t read_whole(const Document& whole, const char* name) {
  return whole_in(part(whole, name)).value_or(0);
}
bool read_truth(const Document& whole, const char* name) {
  return part(whole, name) == Document(true);
}

/// Of an enumeration whose last value is `last`.
template <class Value>
Value read_value(const Document& whole, const char* name, Value last) {
  const auto value = read_whole(whole, name);
  return value < 0 || value > static_cast<std::int64_t>(last) ? Value{} : static_cast<Value>(value);
}

Document document_of(const CauseFound& cause) {
  Document document = {
      {"judged", cause.judged},
      {"verdict", cause.verdict},
      {"component", cause.component},
      {"recommendation", cause.recommendation},
      {"reason", cause.reason},
      {"advice", cause.advice},
      {"unread", cause.unread},
      {"fingerprint", cause.fingerprint},
      {"blamed", cause.blamed},
      {"step", number(cause.step)},
      {"document", cause.document.size() > longest_document ? "" : cause.document}};
  if (!cause.steps.empty()) document["steps"] = steps_document(cause.steps);
  return document;
}

CauseFound read_cause(const Document& document) {
  CauseFound cause;
  cause.judged = read_truth(document, "judged");
  cause.verdict = read_value(document, "verdict", FailureClass::other);
  cause.component = read_value(document, "component", Component::other);
  cause.recommendation = read_value(document, "recommendation", Recommendation::notify);
  cause.reason = read_text(document, "reason");
  cause.advice = read_text(document, "advice");
  cause.unread = read_text(document, "unread");
  cause.fingerprint = read_text(document, "fingerprint");
  if (const Document& nodes = part(document, "blamed"); nodes.is_array())
    for (const Document& node : nodes)
      if (node.is_string()) cause.blamed.push_back(node);
  cause.step = read_number(document, "step");
  cause.document = read_text(document, "document");
  cause.steps = steps_in(part(document, "steps"));
  return cause;
}

}  // namespace

std::string_view name_of(Health health) {
  switch (health) {
    case Health::unknown:
      return "unknown";
    case Health::ok:
      return "ok";
    case Health::slow:
      return "slow";
    case Health::hung:
      return "hung";
    case Health::failed:
      return "failed";
  }
  return "";
}

bool wants_cause(const SeenJob& job) {
  using enum EndState;
  const EndState state = job.end_state;
  if (state == node_fail) return true;
  return !job.output.empty() && (state == failed || state == timeout || state == out_of_memory);
}

Health Life::health() const {
  if (cause || cause_is_due) return Health::failed;
  if (hang && log && hang->step == log->step) return Health::hung;
  if (!log || !looked || points.empty()) return Health::unknown;
  std::vector<Report> reports;
  reports.reserve(points.size());
  for (const Point& each : points)
    reports.push_back({static_cast<double>(seconds_of(each.when)), each.step});
  if (hangs(reports, static_cast<double>(seconds_of(*looked))).value_or(false)) return Health::hung;
  constexpr double much = 1.5;
  if (const auto now = log->step_s_now(); now && fastest_step_s && *now > much * *fastest_step_s)
    return Health::slow;
  return Health::ok;
}

// Kept over restarts ------------------------------------------------------------------------------

std::string Lives::text(const std::string& id) const {
  const Life* const life = find(id);
  const bool was_measured = life != nullptr && life->restarts > 0 && life->fastest_step_s;
  if (life == nullptr || (!life->cause && !life->cause_is_due && !life->hang && !life->is_alone &&
                          !was_measured && life->earlier.empty()))
    return "";
  Document document{{"submitted_s", seconds_of(life->submitted)},
                    {"restarts", life->restarts},
                    {"due", life->cause_is_due},
                    {"handled", life->is_handled},
                    {"alone", life->is_alone},
                    {"fastest_step_s", number(life->fastest_step_s)},
                    {"earlier", Document::array()}};
  if (life->end_shown) document["end_shown_s"] = seconds_of(*life->end_shown);
  if (life->hang)
    document["hang"] = {{"since_s", seconds_of(life->hang->since)},
                        {"step", number(life->hang->step)},
                        {"told", life->hang->told},
                        {"restarted", life->hang->restarted}};
  if (life->cause) document["cause"] = document_of(*life->cause);
  for (const EarlierFailure& each : life->earlier)
    document["earlier"].push_back({{"fingerprint", each.fingerprint},
                                   {"step", number(each.step)},
                                   {"restarts", each.restarts},
                                   {"reason", each.reason}});
  return document.dump(-1, ' ', false, Document::error_handler_t::replace);
}

std::optional<std::string> Lives::row(const std::string& id) {
  std::string made = text(id);
  if (!made.empty())
    rows_.insert(id);
  else if (rows_.erase(id) == 0)
    return std::nullopt;
  return made;
}

Result<void> Lives::restore(const std::string& id, std::string_view text) {
  const Document document = Document::parse(text, nullptr, false);
  if (!document.is_object()) return schedmate::fail(ErrorCode::invalid, "the life of job " + id);
  rows_.insert(id);
  Life& life = lives_[id];
  life.submitted = at(read_whole(document, "submitted_s"));
  life.restarts = read_whole(document, "restarts");
  life.cause_is_due = read_truth(document, "due");
  life.is_handled = read_truth(document, "handled");
  life.is_alone = read_truth(document, "alone");
  life.fastest_step_s = read_number(document, "fastest_step_s");
  life.end_shown = whole_in(part(document, "end_shown_s")).transform(at);
  if (const Document& cause = part(document, "cause"); cause.is_object()) {
    life.cause = read_cause(cause);
    life.note = life.cause->unread;
  }
  if (const Document& hang = part(document, "hang"); hang.is_object())
    life.hang = {at(read_whole(hang, "since_s")), read_number(hang, "step"),
                 read_truth(hang, "told"), read_truth(hang, "restarted")};
  if (const Document& earlier = part(document, "earlier"); earlier.is_array())
    for (const Document& each : earlier)
      if (each.is_object() && life.earlier.size() < most_earlier)
        life.earlier.push_back({read_text(each, "fingerprint"), read_number(each, "step"),
                                read_whole(each, "restarts"), read_text(each, "reason")});
  return {};
}

void Lives::recall(const std::string& id, const Life& earlier) {
  const Life fresh{.submitted = earlier.submitted, .restarts = earlier.restarts};
  Life& life = lives_.try_emplace(id, fresh).first->second;
  if (life.submitted != earlier.submitted || life.restarts != earlier.restarts) return;
  life.code = earlier.code;
  life.log = earlier.log;
  life.looked = earlier.looked;
  life.points = earlier.points;
  if (earlier.fastest_step_s) life.fastest_step_s = earlier.fastest_step_s;
  if (life.note.empty()) life.note = earlier.note;
  if (life.hang && life.log && life.log->step != life.hang->step) life.hang.reset();
}

void Lives::resume(const Attempt& attempt, SimTime now) {
  const auto found = lives_.find(attempt.seen.id);
  if (found != lives_.end() && found->second.attempt == attempt.number) return;
  Life& life = begin(attempt);
  if (attempt.seen.phase == JobPhase::running && life.hang) hanging_.insert(attempt.seen.id);
  if (attempt.seen.phase != JobPhase::ended) return want(attempt, now);
  if (life.cause_is_due) queue_.want({attempt.number, failure}, now);
  if (life.cause && !life.is_handled) unhandled_.insert(attempt.seen.id);
}

// What happens ------------------------------------------------------------------------------------

/// The life of this attempt. What an earlier one failed of is remembered with the job.
Life& Lives::begin(const Attempt& attempt) {
  const SeenJob& seen = attempt.seen;
  Life& life = lives_[seen.id];
  if (life.attempt == attempt.number && attempt.number != 0) {
    life.restarts = seen.restarts;  // a controller may have forgotten some
    return life;
  }
  const bool is_same_job = life.submitted == seen.submitted;
  const bool is_same_attempt = is_same_job && life.restarts == seen.restarts && life.attempt == 0;
  if (life.attempt != 0) {
    queue_.forget(life.attempt);
    ids_.erase(life.attempt);
  }
  if (!is_same_attempt) {
    Life next;
    if (is_same_job) {
      next.earlier = std::move(life.earlier);
      next.code = std::move(life.code);
      next.fastest_step_s = life.fastest_step_s;  // say while it was measured alone
      next.is_alone = life.is_alone;
      if (life.cause)
        next.earlier.push_back({life.cause->fingerprint, life.cause->step, life.restarts,
                                life.cause->reason.substr(0, longest_reason)});
      if (next.earlier.size() > most_earlier) next.earlier.erase(next.earlier.begin());
    }
    life = std::move(next);
    unhandled_.erase(seen.id);
    hanging_.erase(seen.id);
  }
  life.attempt = attempt.number;
  life.submitted = seen.submitted;
  life.restarts = seen.restarts;
  ids_[attempt.number] = seen.id;
  return life;
}

void Lives::want(const Attempt& attempt, SimTime now) {
  const SeenJob& seen = attempt.seen;
  const bool has_code = !seen.dir.empty() && (!seen.command.empty() || options_.keeps_scripts);
  if (has_code && !lives_[seen.id].code) queue_.want({attempt.number, code}, now);
  if (seen.phase == JobPhase::running && !seen.output.empty())
    queue_.want({attempt.number, log}, now + options_.follow);
}

void Lives::follow(const Change& change, SimTime now) {
  using enum Change::Kind;
  const Attempt& attempt = change.attempt;
  switch (change.kind) {
    case arrived:
    case started:
      begin(attempt);
      return want(attempt, now);
    case ended: {
      Life& life = begin(attempt);
      if (life.hang && life.hang->restarted)
        life.earlier.push_back({std::string(hung), life.hang->step, life.restarts, "it hung"});
      life.hang.reset();
      hanging_.erase(attempt.seen.id);
      queue_.forget(attempt.number);
      if (!wants_cause(attempt.seen)) return;
      life.cause_is_due = true;
      life.is_handled = false;
      life.end_shown = now;
      return queue_.want({attempt.number, failure}, now);
    }
    case vanished:
    case altered:
      return;
  }
}

void Lives::doubt(const Attempt& attempt, SimTime now) {
  Life& life = begin(attempt);
  if (life.cause || life.cause_is_due) return;
  life.cause_is_due = true;
  life.is_handled = false;
  queue_.want({attempt.number, failure}, now);
}

void Lives::forget(const std::string& id) {
  const auto found = lives_.find(id);
  if (found == lives_.end()) return;
  queue_.forget(found->second.attempt);
  ids_.erase(found->second.attempt);
  unhandled_.erase(id);
  hanging_.erase(id);
  lives_.erase(found);
}

// Studies -----------------------------------------------------------------------------------------

std::vector<Study> Lives::take(const Jobs& jobs, SimTime now) {
  std::vector<Study> studies;
  for (const auto& [number, key] : queue_.take(now)) {
    const auto id = ids_.find(key.attempt);
    const schedmate::live::Attempt* const attempt =
        id == ids_.end() ? nullptr : jobs.find(id->second);
    if (attempt == nullptr || attempt->number != key.attempt) {
      (void)queue_.returned(number);
      continue;
    }
    studies.push_back({number, key.what, attempt->seen});
  }
  return studies;
}

std::optional<std::string> Lives::returned(std::uint64_t number, const Result<Finding>& finding,
                                           SimTime now) {
  const auto study = queue_.returned(number);
  return study ? settle(*study, finding, now) : std::nullopt;
}

std::vector<std::string> Lives::give_up(SimTime now) {
  std::vector<std::string> ids;
  for (const StudyQueue::Key& key : queue_.give_up(now))
    if (auto id =
            settle({key, now}, fail(ErrorCode::timeout, "whoever reads has not answered"), now))
      ids.push_back(std::move(*id));
  return ids;
}

std::optional<std::string> Lives::settle(const StudyQueue::Answered& study,
                                         const Result<Finding>& finding, SimTime now) {
  const StudyQueue::Key& key = study.key;
  const auto id = ids_.find(key.attempt);
  if (id == ids_.end()) return std::nullopt;
  Life& life = lives_.at(id->second);
  const bool is_log = key.what == log;
  if (!finding) {
    const std::string& why = finding.error().message;
    const bool is_news = std::exchange(life.note, why) != why;
    const ErrorCode code = finding.error().code;
    const bool may_pass = code == ErrorCode::unavailable || code == ErrorCode::timeout;
    const bool comes_again = may_pass && queue_.again(key, now);
    if (is_log && !comes_again) queue_.want(key, now + options_.follow);
    if (key.what == failure && !comes_again) {
      life.cause = CauseFound{.judged = false, .unread = why};
      life.cause_is_due = false;
      unhandled_.insert(id->second);
      return id->second;
    }
    return is_news ? std::optional(id->second) : std::nullopt;
  }
  life.note.clear();
  queue_.went_well(key);
  if (const auto* const code = std::get_if<CodeFound>(&*finding)) life.code = *code;
  if (const auto* const look = std::get_if<LogFound>(&*finding)) {
    take(life, *look, study.asked);  // its answer may have come much later
    see_hang(id->second, life);
  }
  if (is_log) queue_.want(key, now + options_.follow);
  if (const auto* const cause = std::get_if<CauseFound>(&*finding)) {
    life.cause = *cause;
    life.note = cause->unread;
    if (!life.cause->step && life.log) life.cause->step = life.log->step;
    life.cause_is_due = false;
    unhandled_.insert(id->second);
  }
  return id->second;
}

/// Another file, or a shorter one: the log begins anew, and what was read of it is over.
void Lives::take(Life& life, const LogFound& found, SimTime looked) const {
  const bool anew = life.log && (life.log->file != found.file || life.log->bytes > found.bytes);
  const bool stepped_back =
      found.step && !life.points.empty() && *found.step < life.points.back().step;
  if (anew || stepped_back) life.points.clear();
  life.looked = looked;
  life.log = found;
  if (found.step_time_s && *found.step_time_s > 0)
    life.fastest_step_s =
        std::min(life.fastest_step_s.value_or(*found.step_time_s), *found.step_time_s);
  if (!found.step || !std::isfinite(*found.step)) return;
  if (!life.points.empty() && life.points.back().step == *found.step) return;
  life.points.push_back({looked, *found.step, found.loss});
  if (life.points.size() <= options_.most_points) return;
  std::vector<Life::Point> half;
  for (std::size_t i = 0; i < life.points.size(); i += 2) half.push_back(life.points[i]);
  if (life.points.size() % 2 == 0) half.push_back(life.points.back());
  life.points = std::move(half);
}

void Lives::see_hang(const std::string& id, Life& life) {
  if (life.hang && life.hang->step != life.log->step) {
    life.hang.reset();
    hanging_.erase(id);
  } else if (!life.hang && life.health() == Health::hung) {
    life.hang = Life::Hang{*life.looked, life.log->step};
    hanging_.insert(id);
  }
}

void Lives::note_hang(const std::string& id, const Life::Hang& hang) {
  if (const auto found = lives_.find(id); found != lives_.end()) found->second.hang = hang;
}

const Life* Lives::find(const std::string& id) const {
  const auto found = lives_.find(id);
  return found == lives_.end() ? nullptr : &found->second;
}

void Lives::handled(const std::string& id) {
  const auto found = lives_.find(id);
  if (found != lives_.end()) found->second.is_handled = true;
  unhandled_.erase(id);
}

std::vector<std::string> Lives::unhandled() const { return {unhandled_.begin(), unhandled_.end()}; }

}  // namespace schedmate::live
