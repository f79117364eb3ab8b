// SPDX-License-Identifier: Apache-2.0
#include "tests/storm/daemon.hpp"

#include <algorithm>
#include <utility>

namespace schedmate::storm {

Result<void> Daemon::start(const Setup& setup) {
  setup_ = setup;
  const Clock clock{.now = [] { return std::chrono::nanoseconds(0); },
                    .sleep = [](std::chrono::nanoseconds) {},
                    .wall = [this] { return site_.wall(); }};
  auto journal = journal::Journal::open({.path = "/j",
                                         .instance = fmt::format("host:{}", life_),
                                         .most_bytes = setup.most_bytes,
                                         .vfs = site_.disk.vfs(),
                                         .rules = setup.rules},
                                        clock);
  if (!journal) return tl::unexpected(journal.error());
  journal_ = std::move(*journal);
  site_.epoch = std::max(site_.epoch, journal_->epoch());
  const auto open = journal_->open_actions();
  if (!open) return tl::unexpected(open.error());
  const auto next = journal_->next_action();
  if (!next) return tl::unexpected(next.error());
  const auto kept = journal_->all_kept();
  if (!kept) return tl::unexpected(kept.error());
  live::Past past{.open = *open, .next_action = *next};
  past.kept = *kept;
  loop_ = std::make_unique<live::Loop>(setup.options, std::move(past), site_.wall());
  set_timer();
  return {};
}

void Daemon::tell(live::Event event) {
  if (over_) return;
  inbox_.push_back(std::move(event));
  pump();
}

void Daemon::take(std::vector<live::Effect> effects) {
  for (live::Effect& effect : effects) effects_.push_back(std::move(effect));
}

/// Events and effects in order, until a reading is waited for.
void Daemon::pump() {
  if (pumping_) return;
  pumping_ = true;
  while (!over_ && !reading_ && (!effects_.empty() || !inbox_.empty())) {
    if (!effects_.empty()) {
      const live::Effect effect = std::move(effects_.front());
      effects_.pop_front();
      std::visit([&](const auto& each) { carry_out(each); }, effect);
      continue;
    }
    const live::Event event = std::move(inbox_.front());
    inbox_.pop_front();
    const bool answer = std::holds_alternative<live::Returned>(event);
    if (answer && ends_at("before an answer is taken")) break;
    take(loop_->step(event, site_.wall()));
    if (answer && ends_at("after an answer was taken")) break;
  }
  pumping_ = false;
  if (!over_) set_timer();
}

void Daemon::carry_out(const live::Append& append) {
  if (ends_at("before an append")) return;
  if (site_.recording) site_.recording(*this, append.batch);
  const Result<void> done = this->append(append.batch);
  constexpr double mostly = 0.9;
  if (!done && site_.dice.strikes(Fault::kill_on_error, mostly)) kill("as its disk fails");
  if (over_ || ends_at("after an append")) return;
  if (!done)
    site_.book.note(site_.timeline.now(), "daemon {} cannot append: {}", life_,
                    done.error().message);
  take(loop_->step(live::Appended{done}, site_.wall()));
  if (done) compact();
}

void Daemon::note_batch(const journal::Batch& batch) {
  for (const journal::NewStep& each : batch.steps)
    site_.book.note(site_.timeline.now(), "daemon {} appends: action {} is {} {}", life_,
                    each.action, name_of(each.step.state), each.step.note);
  for (const Action& each : batch.actions)
    site_.book.note(site_.timeline.now(), "daemon {} appends: action {}, {}, is {} ({}) {}", life_,
                    each.id, text_of(each.call), name_of(each.state()), name_of(each.mode),
                    each.steps.back().note);
  for (const journal::Remark& each : batch.remarks)
    site_.book.note(site_.timeline.now(), "daemon {} appends: {} by {}", life_, each.what, each.by);
  for (const journal::Event& each : batch.events)
    site_.book.note(site_.timeline.now(), "daemon {} appends: {} {} {}", life_, each.kind,
                    each.subject, each.body);
}

void Daemon::change(const Danger& danger, const std::function<void()>& change) {
  constexpr std::int64_t most_changes = 12;
  const bool ends = site_.dice.strikes(danger.fault, danger.often);
  std::int64_t left = ends ? site_.dice.of(danger.fault).below(most_changes) : -1;
  bool begun = false, stopped = false;
  site_.disk.before_change = [&] {
    if (danger.before && !std::exchange(begun, true)) danger.before();
    if (left-- != 0) return;
    stopped = true;
    site_.disk.stop();
  };
  change();
  site_.disk.before_change = nullptr;
  if (stopped) kill(danger.where);
}

Result<void> Daemon::append(const journal::Batch& batch) {
  if (site_.book.traces()) note_batch(batch);
  constexpr double often = 0.05;
  Result<void> done;
  change({Fault::kill_in_append, often, "in an append"}, [&] { done = journal_->append(batch); });
  return done;
}

/// As the real one does after an append, but now and then only.
void Daemon::compact() {
  constexpr Millis pause = 10'000;
  if (setup_.most_bytes == 0 || site_.timeline.now() < compact_at_) return;
  compact_at_ = site_.timeline.now() + pause;
  constexpr double often = 0.2;
  constexpr int rows = 40;
  Result<std::int64_t> gone = 0;
  change({Fault::kill_in_compaction, often, "in a compaction", site_.compacting},
         [&] { gone = journal_->compact(rows); });
  if (!gone || *gone == 0) return;
  site_.compacted += *gone;
  site_.book.note(site_.timeline.now(), "daemon {} has compacted {} rows", life_, *gone);
}

void Daemon::carry_out(const live::MakeCall& call) {
  if (ends_at("before a call")) return;
  const Sent sent{.number = ++site_.calls,
                  .when = site_.timeline.now(),
                  .action = call.action,
                  .call = call.call};
  site_.book.note(sent.when, "daemon {} calls: {} (action {})", life_, text_of(call.call),
                  call.action);
  site_.book.sent.push_back(sent);
  if (site_.sending) site_.sending(*this, sent);
  site_.network.call(sent, [this, alive = std::weak_ptr(alive_),
                            action = call.action](const CallReply& reply) {
    if (alive.expired()) return;
    site_.book.note(site_.timeline.now(), "daemon {} is answered: action {}, {} {}", life_, action,
                    reply.outcome == CallOutcome::done      ? "done"
                    : reply.outcome == CallOutcome::refused ? "refused"
                                                            : "unknown",
                    reply.text);
    tell(live::Returned{action, reply});
  });
  (void)ends_at("after a call");
}

void Daemon::carry_out(const live::List& list) {
  if (ends_at("before a reading")) return;
  reading_ = true;
  site_.network.list(list.ended_since, [this, alive = std::weak_ptr(alive_), number = list.number](
                                           const Result<Network::Shown>& listing) {
    if (alive.expired() || over_) return;
    reading_ = false;
    if (ends_at("before a reading is taken")) return;
    site_.book.note(
        site_.timeline.now(), "daemon {} reads {}: {}", life_, number,
        listing ? fmt::format("version {}", (*listing)->version) : listing.error().message);
    const auto readings = loop_->counts().readings;
    auto effects = loop_->step(
        live::Listed{number, listing.map([](const auto& shown) { return *shown; })}, site_.wall());
    if (loop_->counts().readings > readings) {
      listing_ = *listing;
      if (site_.reading) site_.reading(*this);
    }
    take(std::move(effects));
    if (!ends_at("after a reading was taken")) pump();
  });
}

void Daemon::carry_out(const live::Examine& examine) {
  if (ends_at("before a study")) return;
  site_.studying(examine.study, [this, alive = std::weak_ptr(alive_),
                                 number = examine.study.number](Result<live::Finding> finding) {
    if (alive.expired()) return;
    tell(live::Studied{number, std::move(finding)});
  });
}

void Daemon::carry_out(const live::Answer& answer) {
  if (!answer.result)
    site_.book.note(site_.timeline.now(), "daemon {} refuses an operator: {}", life_,
                    answer.result.error().message);
}

void Daemon::carry_out(const live::Stop& stop) {
  ++site_.stops;
  site_.book.note(site_.timeline.now(), "daemon {} stops: {}", life_, stop.error.message);
  end();
}

bool Daemon::ends_at(std::string_view boundary) {
  if (over_) return true;
  constexpr double often = 0.02;
  const std::int64_t number = site_.boundaries++;
  if (number != site_.kill_at && !site_.dice.strikes(Fault::kill, often)) return false;
  kill(fmt::format("{} (boundary {})", boundary, number));
  return true;
}

void Daemon::kill(std::string_view where) {
  if (over_) return;
  site_.book.note(site_.timeline.now(), "daemon {} is killed {}", life_, where);
  ++site_.kills;
  killed_ = true;
  site_.disk.stop();
  end();
}

void Daemon::end() {
  over_ = true;
  alive_.reset();
  if (site_.over) site_.over(*this);
}

void Daemon::set_timer() {
  const std::uint64_t timer = ++timer_;
  const SimTime due = loop_->next_tick();
  if (reading_ || due == never) return;
  const SimTime wall = site_.wall();
  Millis delay = 1;
  if (due > wall) delay = millis_of(due - wall) - site_.timeline.now() % 1000;
  site_.timeline.in(std::max<Millis>(delay, 1), [this, alive = std::weak_ptr(alive_), timer] {
    if (alive.expired() || timer != timer_) return;
    tell(live::Ticked{});
  });
}

}  // namespace schedmate::storm
