// SPDX-License-Identifier: Apache-2.0
#include "daemon/life_document.hpp"

#include <nlohmann/json.hpp>

#include "base/json.hpp"
#include "core/step_ends.hpp"

namespace schedmate::daemon {
namespace {

Document progress_of(const live::Life& life) {
  if (!life.log) return nullptr;
  const live::LogFound& log = *life.log;
  Document made{{"step", or_null<Document>(log.step)},
                {"of", or_null<Document>(log.total_steps)},
                {"step_time_s", as_known_or_null<Document>(log.step_time_s)},
                {"loss", as_known_or_null<Document>(log.loss)},
                {"remaining_s", as_known_or_null<Document>(log.remaining_s)}};
  made["as_of_s"] = life.looked ? Document(seconds_of(*life.looked)) : Document(nullptr);
  return made;
}

Document advice_of(const live::Life& life) {
  if (!life.code) return nullptr;
  return {{"source", life.code->source},
          {"held_s", life.code->prediction ? Document{{"p10", as_known(life.code->p10.count())},
                                                      {"p50", as_known(life.code->p50.count())},
                                                      {"p90", as_known(life.code->p90.count())}}
                                           : Document(nullptr)}};
}

}  // namespace

Document diagnosis_document(const live::CauseFound& cause) {
  if (Document whole = Document::parse(cause.document, nullptr, false); whole.is_object())
    return whole;
  return {{"class", cause.judged ? Document(name_of(cause.verdict)) : Document(nullptr)},
          {"reason", cause.judged || cause.unread.empty() ? cause.reason : cause.unread},
          {"recommendation", name_of(cause.recommendation)},
          {"advice", cause.advice}};
}

void add_life(const live::Life* life, Document& job) {
  job["progress"] = life == nullptr ? Document(nullptr) : progress_of(*life);
  job["health"] = nullptr;
  job["verdict"] = nullptr;
  if (life == nullptr) return;
  const bool has_ended = job.value("ended_s", Document()).is_number();
  if (const live::Health health = life->health();
      health == live::Health::failed || (health != live::Health::unknown && !has_ended))
    job["health"] = name_of(health);
  if (life->cause && life->cause->judged) job["verdict"] = name_of(life->cause->verdict);
}

void add_whole_life(const live::Life* life, Document& job) {
  add_life(life, job);
  job["advice"] = life == nullptr ? Document(nullptr) : advice_of(*life);
  job["diagnosis"] =
      life == nullptr || !life->cause ? Document(nullptr) : diagnosis_document(*life->cause);
  job["steps"] = life == nullptr || !life->cause || life->cause->steps.empty()
                     ? Document(nullptr)
                     : steps_document(life->cause->steps);
  job["note"] = life == nullptr || life->note.empty() ? Document(nullptr) : Document(life->note);
  if (life == nullptr || !job["progress"].is_object()) return;
  Document series = Document::array();
  for (const live::Life::Point& each : life->points)
    series.push_back({{"at_s", seconds_of(each.when)},
                      {"step", each.step},
                      {"loss", as_known_or_null<Document>(each.loss)}});
  job["progress"]["series"] = std::move(series);
}

}  // namespace schedmate::daemon
