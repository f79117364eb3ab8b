// SPDX-License-Identifier: Apache-2.0
/// What the loop has decided becomes a batch of the journal; calls wait for it.
#include <algorithm>
#include <iterator>
#include <utility>

#include "live/loop.hpp"

namespace schedmate::live {

void Loop::flush(SimTime now) {
  if (appending_ || over_) return;
  ActionRecord record = actions_.take();
  for (auto& [action, step] : record.steps) batch_.steps.push_back({action, std::move(step)});
  std::ranges::move(record.actions, std::back_inserter(batch_.actions));
  for (auto& [what, by, note] : record.remarks)
    batch_.remarks.push_back({std::move(what), now, std::move(by), std::move(note)});
  if (record.past) batch_.kept.push_back({std::string(Actions::key), std::move(*record.past)});
  if (record.agreed) {
    batch_.kept.push_back({journal::doubt_name, ""});
    batch_.kept.push_back({journal::agreed_name, std::move(*record.agreed)});
  }
  std::ranges::move(submissions_.take(now), std::back_inserter(batch_.kept));
  std::ranges::move(ledger_.take(), std::back_inserter(batch_.kept));
  if (auto text = care_.take_text())
    batch_.kept.push_back({std::string(NodeCare::key), std::move(*text)});
  // Repeated calls have their record; this one notices whether another daemon has taken over.
  if (nothing_to_record() && actions_.awaits_record())
    batch_.kept.push_back({"last repeated call", std::to_string(seconds_of(now))});
  if (nothing_to_record()) {
    give(answers_);
    return take(Appended{}, now);
  }
  std::ranges::move(std::exchange(answers_, {}), std::back_inserter(promised_));
  note_actions();
  appending_ = true;
  effects_.emplace_back(Append{std::exchange(batch_, {})});
  if (!options_.settings.rules.record_first) {
    take(Appended{}, now);
    appending_ = true;
    std::ranges::rotate(effects_, std::ranges::find_if(effects_, [](const Effect& effect) {
                          return std::holds_alternative<MakeCall>(effect);
                        }));
  }
}

void Loop::give(std::vector<Answer>& answers) {
  for (Answer& answer : std::exchange(answers, {})) effects_.emplace_back(std::move(answer));
}

std::vector<Effect> Loop::look(const Event& event, SimTime now) {
  if (std::holds_alternative<Ticked>(event) && now >= next_reading()) ask_to_list();
  const auto* const listed = std::get_if<Listed>(&event);
  if (listed != nullptr && believes(*listed, now)) {
    for (const Change& change : jobs_.take(*listed->listing))
      effects_.emplace_back(Noted{Noted::What::job, change.attempt.seen.id, {}, change.kind});
    actions_.see(*listed->listing);
  }
  return std::exchange(effects_, {});
}

bool Loop::nothing_to_record() const {
  return batch_.steps.empty() && batch_.actions.empty() && batch_.remarks.empty() &&
         batch_.events.empty() && batch_.kept.empty();
}

void Loop::note_actions() {
  const auto note = [&](std::int64_t id, ActionState state, const std::string& job) {
    ++counts_.steps.at(static_cast<std::size_t>(state));
    effects_.emplace_back(Noted{Noted::What::action, std::to_string(id), state, {}, job});
  };
  for (const journal::NewStep& step : batch_.steps) note(step.action, step.step.state, "");
  for (const Action& action : batch_.actions)
    for (const ActionStep& step : action.steps) note(action.id, step.state, action.call.job);
}

}  // namespace schedmate::live
