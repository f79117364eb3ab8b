// SPDX-License-Identifier: Apache-2.0
#include "live/jobs.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <exception>
#include <iterator>
#include <nlohmann/json.hpp>
#include <tuple>
#include <utility>

#include "base/text.hpp"

namespace schedmate::live {
namespace {

constexpr std::array<std::string_view, 3> phases = {"queued", "running", "ended"};

constexpr Seconds late{300};  // ends may be shown so much later

std::optional<JobPhase> phase_named(std::string_view name) {
  const auto* const found = std::ranges::find(phases, name);
  if (found == phases.end()) return std::nullopt;
  return static_cast<JobPhase>(found - phases.begin());
}

nlohmann::json past_document(const std::vector<PastRun>& past) {
  nlohmann::json runs = nlohmann::json::array();
  for (const PastRun& run : past) {
    nlohmann::json nodes = nlohmann::json::array();
    for (const NodeGpus& node : run.nodes) nodes.push_back({node.node, node.gpus});
    runs.push_back({{"restarts", run.restarts},
                    {"started_s", seconds_of(run.started.value_or(never))},
                    {"ended_s", seconds_of(run.ended.value_or(never))},
                    {"state", to_string(run.end_state)},
                    {"nodes", std::move(nodes)}});
  }
  return runs;
}

/// What is not as past_document() writes it is left out.
std::vector<PastRun> past_of(const nlohmann::json& runs) {
  const auto instant = [](const nlohmann::json& seconds) {
    const SimTime when = at(seconds.get<std::int64_t>());
    return when == never ? std::nullopt : std::optional(when);
  };
  std::vector<PastRun> past;
  try {  // the library throws on what is missing or of another kind
    for (const nlohmann::json& each : runs) {
      PastRun run{each.at("restarts"), instant(each.at("started_s")), instant(each.at("ended_s")),
                  end_state_named(each.at("state").get<std::string>()).value_or(EndState::unknown)};
      for (const nlohmann::json& node : each.at("nodes"))
        run.nodes.push_back({node.at(0), node.at(1)});
      past.push_back(std::move(run));
    }
  } catch (const std::exception&) {
    return past;
  }
  return past;
}

}  // namespace

std::string_view name_of(Change::Kind kind) {
  constexpr std::array<std::string_view, 5> names = {"arrived", "started", "ended", "vanished",
                                                     "altered"};
  return names.at(static_cast<std::size_t>(kind));
}

const Attempt* Jobs::find(const std::string& id) const {
  const auto found = jobs_.find(id);
  return found == jobs_.end() ? nullptr : &found->second;
}

std::size_t Jobs::waiting() const {
  return static_cast<std::size_t>(std::ranges::count_if(
      jobs_, [](const auto& each) { return each.second.seen.phase == JobPhase::queued; }));
}

void Jobs::arrive(Attempt& attempt, const SeenJob& seen, std::vector<Change>& changes) {
  attempt = {.number = ++numbers_,
             .seen = seen,
             .starts = 0,
             .past = std::move(attempt.past),
             .place = attempt.place};
  attempt.seen.phase = JobPhase::queued;
  changes.push_back({Change::Kind::arrived, attempt, {}});
}

/// The attempt is over and another one follows.
void Jobs::remember(Attempt& attempt) {
  constexpr std::size_t most_runs = 20, most_nodes = 32;
  const SeenJob& seen = attempt.seen;
  PastRun run{seen.restarts, seen.started, seen.ended, seen.end_state, seen.nodes};
  if (run.nodes.size() > most_nodes) run.nodes.resize(most_nodes);
  attempt.past.push_back(std::move(run));
  if (attempt.past.size() > most_runs) attempt.past.erase(attempt.past.begin());
}

/// Was it sent back to the queue?
bool Jobs::is_new_attempt(const SeenJob& before, const SeenJob& seen) {
  if (seen.restarts != before.restarts) return seen.restarts > before.restarts;
  return seen.phase < before.phase;
}

void Jobs::follow(Attempt& attempt, const SeenJob& seen, SimTime now,
                  std::vector<Change>& changes) {
  if (attempt.seen == seen) return;
  if (is_new_attempt(attempt.seen, seen)) {
    if (attempt.seen.phase != JobPhase::ended) {
      const SeenJob before = attempt.seen;
      attempt.seen.phase = JobPhase::ended;
      attempt.seen.end_state = EndState::requeued;
      attempt.seen.ended = now;
      changes.push_back({Change::Kind::ended, attempt, before});
    }
    remember(attempt);
    arrive(attempt, seen, changes);
  }
  if (attempt.seen.phase == JobPhase::ended) {  // its life was told
    if (seen.phase == JobPhase::ended) attempt.seen = seen;
    return;
  }
  const bool has_run = seen.phase == JobPhase::running || seen.started;
  if (attempt.seen.phase == JobPhase::queued && seen.phase != JobPhase::queued && has_run) {
    const SeenJob before = std::exchange(attempt.seen, seen);
    attempt.seen.phase = JobPhase::running;
    attempt.starts = ++starts_;
    changes.push_back({Change::Kind::started, attempt, before});
  }
  const SeenJob before = std::exchange(attempt.seen, seen);
  if (before.phase != seen.phase)
    changes.push_back({Change::Kind::ended, attempt, before});
  else if (before != seen)
    changes.push_back({Change::Kind::altered, attempt, before});
}

bool Jobs::is_old(const Listing& listing) const {
  if (version_ >= 0) return listing.version < version_;
  if (ended_since_ == SimTime::min()) return false;
  const SimTime since = listing.now - late;
  return since < ended_since_ || (since == ended_since_ && listing.version < version_before_);
}

std::string Jobs::read_text() const {
  return fmt::format("{} {}", seconds_of(ended_since_), std::max(version_, version_before_));
}

void Jobs::know_what_was_read(std::string_view text) {
  const auto words = split(text, ' ');
  const auto since = parse_number<std::int64_t>(words.front());
  if (since) ended_since_ = std::max(ended_since_, at(*since));
  version_before_ = parse_number<std::int64_t>(words.back()).value_or(-1);
}

/// Readings show most jobs in the order of the one before.
Jobs::Known::iterator Jobs::find(const std::string& id, std::size_t& next) {
  const bool is_next =
      next < shown_.size() && shown_[next] != jobs_.end() && shown_[next]->first == id;
  const auto found = is_next ? shown_[next] : jobs_.find(id);
  if (found != jobs_.end()) next = found->second.place + 1;
  return found;
}

std::vector<Change> Jobs::take(const Listing& listing) {
  forgotten_.clear();
  std::vector<Change> changes;
  // One that shows more than another of its version, since that one was a part of it, is news.
  const bool was_taken = listing.version == version_ && listing.jobs.size() <= shown_.size();
  if (listing.version < version_ || was_taken || is_old(listing)) return changes;
  version_ = listing.version;
  std::vector<Known::iterator> shown(listing.jobs.size(), jobs_.end());
  const auto is_shown = [&](Known::iterator job) {
    return job->second.place < shown.size() && shown[job->second.place] == job;
  };
  std::size_t next = 0, count = 0;
  for (std::size_t place = 0; place < shown.size(); ++place) {
    const SeenJob& seen = listing.jobs[place];
    auto found = find(seen.id, next);
    const bool is_known = found != jobs_.end();
    const bool is_same = is_known && found->second.seen.submitted == seen.submitted;
    const bool is_older = is_known && seen.submitted < found->second.seen.submitted;
    const bool was_told = !is_same && seen.ended && *seen.ended < ended_since_;
    if (!is_known && was_told) continue;
    if (!is_known) found = jobs_.try_emplace(seen.id).first;
    Attempt& attempt = found->second;
    if (is_same) {
      if (attempt.number == 0) attempt.number = ++numbers_;
      follow(attempt, seen, listing.now, changes);
    } else if (!is_older && !was_told) {
      if (is_known && attempt.seen.phase != JobPhase::ended)
        changes.push_back({Change::Kind::vanished, attempt, attempt.seen});
      attempt.past.clear();  // of another job
      arrive(attempt, seen, changes);
      follow(attempt, seen, listing.now, changes);
    }
    if (!is_shown(found)) ++count;
    attempt.place = place;
    shown[place] = found;
  }
  for (auto job = jobs_.begin(); count < jobs_.size() && job != jobs_.end();)
    job = is_shown(job) ? std::next(job) : forget(job, changes);
  shown_ = std::move(shown);
  ended_since_ = std::max(ended_since_, listing.now - late);
  return changes;
}

Jobs::Known::iterator Jobs::forget(Known::iterator job, std::vector<Change>& changes) {
  if (job->second.seen.phase != JobPhase::ended)
    changes.push_back({Change::Kind::vanished, job->second, job->second.seen});
  forgotten_.push_back(job->first);
  return jobs_.erase(job);
}

void sort_for_policies(std::vector<Change>& changes) {
  std::ranges::stable_sort(changes, {}, [](const Change& change) {
    const bool ends = change.kind == Change::Kind::ended;
    constexpr std::array rank = {3, 2, 0, 1, 4};
    return std::tuple(rank.at(static_cast<std::size_t>(change.kind)),
                      ends ? change.attempt.seen.ended.value_or(never) : SimTime(),
                      ends ? change.attempt.starts : 0);
  });
}

std::string Jobs::text(const Attempt& attempt) {
  const SeenJob& seen = attempt.seen;
  nlohmann::json document{{"id", seen.id},
                          {"submitted_s", seconds_of(seen.submitted)},
                          {"restarts", seen.restarts},
                          {"user", seen.user},
                          {"gpus", seen.gpus},
                          {"phase", phases.at(static_cast<std::size_t>(seen.phase))},
                          {"started_s", seconds_of(seen.started.value_or(never))},
                          {"ended_s", seconds_of(seen.ended.value_or(never))}};
  if (!attempt.past.empty()) document["past"] = past_document(attempt.past);
  return document.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
}

Result<void> Jobs::restore(std::string_view text) {
  const auto document = nlohmann::json::parse(text, nullptr, false);
  const auto whole = [&](const char* name) {
    const auto found = document.find(name);
    return found != document.end() && found->is_number_integer()
               ? std::optional(found->get<std::int64_t>())
               : std::nullopt;
  };
  const auto word = [&](const char* name) {
    const auto found = document.find(name);
    return found != document.end() && found->is_string() ? found->get<std::string>()
                                                         : std::string();
  };
  const auto refuse = [&] { return fail(ErrorCode::invalid, "what the journal keeps of a job"); };
  if (!document.is_object()) return refuse();
  const auto submitted = whole("submitted_s"), restarts = whole("restarts"),
             started = whole("started_s");
  const auto phase = phase_named(word("phase"));
  if (!submitted || !restarts || !started || !phase) return refuse();
  Attempt& attempt = jobs_[word("id")];
  attempt.seen.id = word("id");
  attempt.seen.submitted = at(*submitted);
  attempt.seen.restarts = *restarts;
  attempt.seen.phase = *phase;
  attempt.seen.user = word("user");
  attempt.seen.gpus = static_cast<std::int32_t>(whole("gpus").value_or(0));
  if (const auto past = document.find("past"); past != document.end())
    attempt.past = past_of(*past);
  if (at(*started) != never) attempt.seen.started = at(*started);
  if (const auto ended = whole("ended_s"); ended && at(*ended) != never)
    attempt.seen.ended = at(*ended);
  if (*phase != JobPhase::queued) attempt.starts = ++starts_;
  return {};
}

}  // namespace schedmate::live
