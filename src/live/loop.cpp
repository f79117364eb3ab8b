// SPDX-License-Identifier: Apache-2.0
#include "live/loop.hpp"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <tuple>
#include <utility>

#include "base/text.hpp"

namespace schedmate::live {
namespace {

constexpr std::string_view kept_read = "ends are known until";
constexpr std::string_view kept_began = "read first at";

Actions::Restored restored_of(const Past& past, SimTime now) {
  const auto kept = [&](const std::string& name) {
    const auto found = past.kept.find(name);
    return found == past.kept.end() ? "" : found->second;
  };
  return {past.open, past.next_action, kept(std::string(Actions::key)), now,
          kept(journal::doubt_name)};
}

}  // namespace

Loop::Loop(LoopOptions options, const Past& past, SimTime now)
    : options_(std::move(options)),
      lives_(options_.lives),
      actions_(options_.settings, restored_of(past, now)) {
  if (options_.ordering) ordering_.emplace(*options_.ordering);
  for (const auto& [name, value] : past.kept)
    if (name.starts_with(Jobs::key("")))
      (void)jobs_.restore(value);
    else if (name.starts_with(Lives::key("")))
      (void)lives_.restore(name.substr(Lives::key("").size()), value);
    else if (ordering_ && name.starts_with(Ordering::key("")))
      ordering_->restore(name, value);
    else if (name == kept_read)
      jobs_.know_what_was_read(value);
    else if (name == kept_began)
      began_ = parse_number<std::int64_t>(value).transform(at);
    else if (name == NodeCare::key)
      care_.restore(value);
  submissions_.restore(past.kept);
  ledger_.restore(past.kept);
}

void Loop::recall(const std::map<std::string, Life>& earlier) {
  for (const auto& [id, life] : earlier)
    if (const Attempt* const job = jobs_.find(id); job != nullptr &&
                                                   job->seen.submitted == life.submitted &&
                                                   job->seen.restarts == life.restarts)
      lives_.recall(id, life);
}

std::vector<Effect> Loop::step(const Event& event, SimTime now) {
  if (over_) return look(event, now);
  std::visit([&](const auto& each) { take(each, now); }, event);
  study(now);
  flush(now);
  return std::exchange(effects_, {});
}

SimTime Loop::next_tick() const { return listing_ ? never : next_reading(); }

/// A policy's wish does not hurry a cluster that gave no answer.
SimTime Loop::next_reading() const {
  return blind_ || over_ ? next_list_ : std::min(next_list_, next_wake());
}

SimTime Loop::next_wake() const {
  SimTime next = never;
  if (over_) return next;
  for (const auto& [number, until] : profiles_) next = std::min(next, until);
  next = std::min(next, actions_.next_due());
  if (actions_.settings().modes.order == Mode::observe) return next;
  for (const auto& [name, pool] : pools_) next = std::min(next, pool.cluster.next_call());
  return next;
}

// Events -----------------------------------------------------------------------------------------

void Loop::take(const Ticked& /*event*/, SimTime now) {
  actions_.tick(now);
  if (now >= next_reading()) ask_to_list();
}

void Loop::take(const Returned& event, SimTime now) {
  if (calls_out_.extract(event.action).empty()) return;  // its answer has come already
  profiler_calls_.erase(event.action);
  actions_.returned(event.action, event.reply, readings_, now);
  reread_ = true;
  if (calls_out_.empty()) ask_to_list();
}

void Loop::take(const Proposed& event, SimTime now) {
  Proposal proposal = event.proposal;
  if (!proposal.call.job.empty()) {
    const Attempt* const job = jobs_.find(proposal.call.job);
    const bool same = job != nullptr && job->seen.submitted == proposal.call.submitted &&
                      job->seen.restarts == proposal.call.restarts;
    if (!same) return;
    // What undo restores is what was read, not what the proposer knew.
    if (proposal.call.kind == ActionKind::set_order)
      proposal.before = std::to_string(job->seen.order);
    if (proposal.call.kind == ActionKind::annotate) proposal.before = job->seen.note;
  }
  (void)actions_.propose(std::move(proposal), now);
}

void Loop::take(const Decided& event, SimTime now) {
  using enum Decided::What;
  const auto same = [&](const Result<void>& result) -> Result<std::int64_t> {
    if (!result) return tl::unexpected(result.error());
    return event.action;
  };
  Result<std::int64_t> result = event.action;
  switch (event.what) {
    case approve:
      result = same(actions_.approve(event.action, event.by, now));
      break;
    case reject:
      result = same(actions_.reject(event.action, event.by, now));
      break;
    case undo:
      result = actions_.undo(event.action, event.by, now);
      break;
    case close_breaker:
      actions_.close_breaker(event.by, now);
  }
  answers_.push_back({event.number, std::move(result), false});
}

void Loop::take(const Appended& event, SimTime /*now*/) {
  appending_ = false;
  if (!event.result) {
    over_ = true;
    effects_.emplace_back(Stop{event.result.error()});
    return;
  }
  give(promised_);
  for (std::string& token : std::exchange(ends_, {}))
    effects_.emplace_back(EndTest{std::move(token)});
  for (DueCall& due : actions_.recorded()) {
    calls_out_.insert(due.action);
    ++counts_.calls;
    effects_.emplace_back(MakeCall{due.action, std::move(due.call)});
  }
}

bool Loop::believes(const Listed& event, SimTime now) {
  listing_ = false;
  next_list_ = now + options_.poll;
  blind_ = !event.listing || jobs_.is_old(*event.listing) || doubts_.has(*event.listing, jobs_);
  ++(blind_ ? counts_.blind : counts_.readings);
  return !blind_;
}

void Loop::take(const Listed& event, SimTime now) {
  if (!believes(event, now)) return;
  const Listing& listing = *event.listing;
  if (!began_) {
    began_ = listing.now;
    batch_.kept.push_back({std::string(kept_began), std::to_string(seconds_of(*began_))});
  }
  std::vector<Change> changes = jobs_.take(listing);
  for (const Change& change : changes) tell(change, now);
  follow_lives(changes, now);
  if (!changes.empty() || !jobs_.forgotten().empty()) keep_jobs(changes);
  sort_for_policies(changes);
  see_nodes(listing, now);
  if (read_before_)
    for (const Change& change : changes) follow(change, now);
  const bool is_first = !std::exchange(read_before_, true);
  if (doubts_.is_news() || !actions_.all().empty())
    actions_.read(Reading(listing), event.number, now);
  replace_forgotten(now);
  doubt_good_ends(changes, listing, now);
  follow_ends(listing, now);
  respond_to_failures(now);
  respond_to_hangs(now);
  care_for_nodes(listing, now);
  decide(now);
  order_jobs(changes, is_first, now);
  if (reread_ && calls_out_.empty()) ask_to_list();
}

void Loop::ask_to_list() {
  if (listing_) return;
  listing_ = true;
  reread_ = false;
  SimTime since = jobs_.ended_since();
  if (since > SimTime::min() + options_.shown_for) since -= options_.shown_for;
  effects_.emplace_back(List{++readings_, std::min(since, actions_.looks_back_to())});
}

// Jobs -------------------------------------------------------------------------------------------

void Loop::tell(const Change& change, SimTime now) {
  ++counts_.changes.at(static_cast<std::size_t>(change.kind));
  effects_.emplace_back(Noted{Noted::What::job, change.attempt.seen.id, {}, change.kind});
  if (change.kind == Change::Kind::altered) return;
  const SeenJob& seen = change.attempt.seen;
  if (change.kind == Change::Kind::ended)
    ledger_.note(seen, now, options_.sampled ? options_.sampled(seen) : Sampled{});
  nlohmann::json body{{"submitted_s", seconds_of(seen.submitted)},
                      {"restarts", seen.restarts},
                      {"user", seen.user},
                      {"gpus", seen.gpus}};
  if (change.kind == Change::Kind::ended) body["state"] = to_string(seen.end_state);
  batch_.events.push_back(
      {.kind = "job " + std::string(name_of(change.kind)),
       .subject = seen.id,
       .body = body.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace),
       .when = now});
}

/// As they are now, whatever has happened to them in between.
void Loop::keep_jobs(const std::vector<Change>& changes) {
  std::set<std::string> ids;
  for (const Change& change : changes)
    if (change.kind != Change::Kind::altered) ids.insert(change.attempt.seen.id);
  for (const std::string& id : ids)
    if (const Attempt* const attempt = jobs_.find(id);
        attempt != nullptr && options_.settings.rules.tells_once)
      batch_.kept.push_back({Jobs::key(id), Jobs::text(*attempt)});
  for (const std::string& id : jobs_.forgotten()) batch_.kept.push_back({Jobs::key(id), ""});
  batch_.kept.push_back({std::string(kept_read), jobs_.read_text()});
}

KnownJob Loop::known(const Attempt& attempt) {
  const auto number = [](auto& numbers, const std::string& name) {
    return numbers.try_emplace(name, static_cast<std::uint32_t>(numbers.size())).first->second;
  };
  const SeenJob& seen = attempt.seen;
  return {.number = attempt.number,
          .id = seen.id,
          .user = number(users_, seen.user),
          .vc = number(pool_numbers_, seen.partition),
          .gpus = seen.gpus,
          .submit = seen.submitted,
          .profile = options_.profile ? options_.profile(seen) : nullptr};
}

/// Own tests of nodes are nobody's to start.
Loop::Pool* Loop::home_of(const SeenJob& job) {
  const auto found = pools_.find(job.partition);
  return found == pools_.end() || is_own_test(job) ? nullptr : &found->second;
}

/// A partition that appears has a pool from then on. Nodes that are tested are not for jobs.
void Loop::see_nodes(const Listing& listing, SimTime now) {
  if (!options_.pool) return;
  std::map<std::string, std::vector<VirtualCluster::Node>> fresh;
  std::map<std::string_view, std::set<std::string_view>> listed;
  const std::set<std::string_view> tested = nodes_tested(listing);
  for (const SeenNode& node : listing.nodes) {
    listed[node.partition].insert(node.name);
    NodeState state = node.state;
    if (tested.contains(node.name)) state = std::max(state, NodeState::drained);
    if (const auto pool = pools_.find(node.partition); pool != pools_.end())
      pool->second.cluster.see({node.name, node.gpus, state}, now);
    else
      fresh[node.partition].push_back({node.name, node.gpus, state});
  }
  for (auto& [name, pool] : pools_) pool.cluster.lose_others(listed[name], now);
  for (const auto& [name, nodes] : fresh) pools_.try_emplace(name, options_.pool(name), nodes);
}

void Loop::follow(const Change& change, SimTime now) {
  using enum Change::Kind;
  const Attempt& attempt = change.attempt;
  Pool* const pool = pool_of(attempt.seen);
  if (pool == nullptr) return;
  switch (change.kind) {
    case ended:
    case vanished: {
      const SeenJob& seen = attempt.seen;
      const SimTime end = seen.ended.value_or(now);
      const FinishedJob finished{known(attempt), end, end - seen.started.value_or(end),
                                 seen.end_state};
      const bool ran = change.kind == ended && seen.end_state != EndState::requeued && seen.started;
      pool->cluster.ended(attempt.number, now, ran ? &finished : nullptr);
      if (Pool* const home = home_of(seen); ran && home != pool && home != nullptr)
        home->cluster.learn(finished);
      ids_.erase(attempt.number);
      bypassing_.erase(seen.id);
      profiles_.erase(attempt.number);
      not_before_.erase(attempt.number);
      shadowed_.erase(attempt.number);
      return;
    }
    case started:
      return follow_start(*pool, change);
    case arrived:
      ids_[attempt.number] = attempt.seen.id;
      coming_.push_back(attempt.seen.id);
      return;
    case altered:
      if (attempt.seen.phase == JobPhase::running)
        pool->surprised = pool->surprised || attempt.seen.nodes != change.before.nodes;
      else if (attempt.seen.held && !change.before.held)
        pool->cluster.withdraw(attempt.number, now);
      else if (!attempt.seen.held && change.before.held) {
        coming_.push_back(attempt.seen.id);
        // A start that was on its way as it was held counts again.
        pool->surprised = pool->surprised || actions_.start_of(attempt.seen.id) != nullptr;
      }
  }
}

/// Those that have come to a queue enter it, the first submitted first.
void Loop::let_in(bool to_profiler, SimTime now) {
  std::vector<const Attempt*> entering;
  std::erase_if(coming_, [&](const std::string& id) {
    const Attempt* const attempt = jobs_.find(id);
    if (attempt == nullptr || attempt->seen.phase != JobPhase::queued || attempt->seen.held)
      return true;
    Pool* const pool = pool_of(attempt->seen);
    if ((pool == profiler()) != to_profiler) return false;
    if (to_profiler && skips_profile(*attempt, now)) {
      bypassing_.insert(id);
      return false;
    }
    entering.push_back(attempt);
    return true;
  });
  std::ranges::stable_sort(entering, {}, [](const Attempt* each) { return each->seen.submitted; });
  for (const Attempt* const attempt : entering)
    if (Pool* const pool = pool_of(attempt->seen)) pool->cluster.enter(as_waiting(*attempt), now);
}

/// As its pool is to know it.
VirtualCluster::Waiting Loop::as_waiting(const Attempt& attempt) {
  const std::string& id = attempt.seen.id;
  return {known(attempt), is_measured(attempt.seen), advice_on(id), is_alone(id)};
}

/// Evicted once from GPUs that it shared.
bool Loop::is_alone(const std::string& id) const {
  const Life* const life = lives_.find(id);
  return life != nullptr && life->is_alone;
}

void Loop::follow_start(Pool& pool, const Change& change) {
  const SeenJob& seen = change.attempt.seen;
  const Attempt* const attempt = jobs_.find(seen.id);
  const bool runs = attempt != nullptr && attempt->number == change.attempt.number &&
                    attempt->seen.phase == JobPhase::running;
  if (!runs) return;  // it has ended since
  if (&pool == profiler() && seen.started)
    profiles_[change.attempt.number] = *seen.started + options_.profiling.time;
  if (seen.started && pool.cluster.runs_on(change.attempt.number, seen.nodes))
    pool.cluster.confirm(change.attempt.number, *seen.started);
  else
    pool.surprised = true;
}

/// Starts and evictions that came to nothing leave the pool's policy with a wrong belief.
void Loop::follow_ends(const Listing& listing, SimTime now) {
  for (const Action& action : actions_.take_ended()) {
    const ActionKind kind = action.call.kind;
    if (kind == ActionKind::test_nodes) follow_test(action, listing, now);
    if (ordering_ && kind == ActionKind::set_order &&
        (action.state() == ActionState::undone || action.state() == ActionState::rejected))
      ordering_->leave_alone(action.call);
    if (kind != ActionKind::start && kind != ActionKind::evict) continue;
    if (action.state() == ActionState::verified || action.state() == ActionState::shadowed)
      continue;
    const Attempt* const attempt = jobs_.find(action.call.job);
    if (attempt == nullptr) continue;
    if (Pool* const pool = pool_of(attempt->seen)) pool->surprised = true;
    constexpr Seconds pause{60};
    if (kind == ActionKind::start) not_before_[attempt->number] = action.steps.back().when + pause;
  }
}

// Decisions --------------------------------------------------------------------------------------

void Loop::decide(SimTime now) {
  if (actions_.settings().modes.order == Mode::observe) return coming_.clear();
  std::vector<std::uint64_t> again;
  std::erase_if(not_before_, [&](const auto& each) {
    if (each.second > now) return false;
    again.push_back(each.first);
    return true;
  });
  for (const std::uint64_t number : again)
    if (const auto id = ids_.find(number); id != ids_.end())
      if (const Attempt* const attempt = jobs_.find(id->second);
          attempt != nullptr && attempt->number == number)
        if (Pool* const pool = pool_of(attempt->seen)) pool->surprised = true;
  // Whoever leaves the profiler does so before anybody is started there, and comes to the pools
  // before they decide.
  if (Pool* const first = profiler()) {
    end_profiles(now);
    if (!profiler_calls_.empty()) return;
    let_in(true, now);
    if (first->must_begin_anew()) begin_anew(*first, now);
    decide(*first, now);
    if (!profiler_calls_.empty()) return;
  }
  let_in(false, now);
  for (auto& [name, pool] : pools_) {
    if (&pool == profiler()) continue;
    if (pool.must_begin_anew()) begin_anew(pool, now);
    decide(pool, now);
  }
}

/// What runs and waits, as it was read; starts that are on their way run already.
void Loop::begin_anew(Pool& pool, SimTime now) {
  pool.surprised = false;
  ++counts_.anew;
  constexpr std::uint64_t on_its_way = std::uint64_t{1} << 62U;  // by action: partners come first
  std::vector<std::pair<std::uint64_t, VirtualCluster::Running>> running;
  std::vector<VirtualCluster::Waiting> waiting;
  const auto number_of = [&](const std::string& id) {
    const Attempt* const job = jobs_.find(id);
    return job == nullptr ? 0 : job->number;
  };
  for (const auto& [id, attempt] : jobs_.all()) {
    if (attempt.seen.phase == JobPhase::ended || pool_of(attempt.seen) != &pool) continue;
    ids_[attempt.number] = id;
    const KnownJob job = known(attempt);
    const bool counts = options_.settings.rules.counts_starts;
    const Action* start = counts ? actions_.start_of(id) : nullptr;
    // That of a held job, or of an earlier one of its id or attempt, will be refused.
    if (start != nullptr && (attempt.seen.held || start->call.submitted != attempt.seen.submitted ||
                             start->call.restarts != attempt.seen.restarts))
      start = nullptr;
    if (attempt.seen.phase == JobPhase::running)
      running.emplace_back(attempt.starts,
                           VirtualCluster::Running{job,
                                                   attempt.seen.started.value_or(now),
                                                   attempt.seen.nodes,
                                                   advice_on(id),
                                                   {},
                                                   is_alone(id)});
    else if (start != nullptr)
      running.emplace_back(
          on_its_way + static_cast<std::uint64_t>(start->id),
          VirtualCluster::Running{job, now, start->call.nodes, advice_on(id),
                                  number_of(start->call.shared_with), is_alone(id)});
    else if (!attempt.seen.held && !not_before_.contains(attempt.number))
      waiting.push_back(as_waiting(attempt));
  }
  std::ranges::sort(running, {}, [](const auto& each) {
    const bool comes = each.first >= on_its_way;  // its time is of another clock than the others'
    return std::tuple(comes, each.second.since, each.first, each.second.job.number);
  });
  std::ranges::sort(waiting, {}, [](const VirtualCluster::Waiting& each) {
    return std::tuple(each.job.submit, each.job.number);
  });
  std::vector<VirtualCluster::Running> runs;
  for (auto& [order, run] : running) runs.push_back(std::move(run));
  pool.cluster.restart(runs, waiting, now);
}

void Loop::decide(Pool& pool, SimTime now) {
  for (const VirtualCluster::Decision& decision : pool.cluster.decide(now))
    carry_out(pool, decision, now);
}

void Loop::carry_out(Pool& pool, const VirtualCluster::Decision& decision, SimTime now) {
  const auto id = ids_.find(decision.job);
  const Attempt* const attempt = id == ids_.end() ? nullptr : jobs_.find(id->second);
  if (attempt == nullptr || attempt->number != decision.job) return;
  const bool starts = decision.kind == Plan::Decision::Kind::start;
  Proposal proposal;
  proposal.of_policy = true;
  proposal.call = {.kind = starts ? ActionKind::start : ActionKind::evict,
                   .job = attempt->seen.id,
                   .submitted = attempt->seen.submitted,
                   .restarts = attempt->seen.restarts,
                   .nodes = decision.where};
  if (decision.beside)
    if (const auto other = ids_.find(*decision.beside); other != ids_.end())
      proposal.call.shared_with = other->second;
  // What is only recorded does not happen, and is recorded once.
  const bool acts = actions_.mode_of(area_of(proposal.call)) >= Mode::approve;
  pool.surprised = pool.surprised || !acts;
  if (!acts && !shadowed_.insert(decision.job).second) return;
  if (acts && !starts && decision.beside) {
    lives_.shares_no_more(attempt->seen.id);
    keep_life(attempt->seen.id);
  }
  const auto action = actions_.propose(std::move(proposal), now);
  if (!action)
    pool.surprised = true;
  else if (&pool == profiler() && actions_.is_to_be_called(*action))
    profiler_calls_.insert(*action);
}

}  // namespace schedmate::live
