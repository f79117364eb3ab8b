// SPDX-License-Identifier: Apache-2.0

/// Each attempt's life is told once, and as it was.

#include <algorithm>
#include <map>
#include <nlohmann/json.hpp>
#include <tuple>

#include "tests/storm/inspector.hpp"

namespace schedmate::storm {
namespace {

/// An attempt, by id, submission and restarts.
using Key = std::tuple<std::string, std::int64_t, std::int64_t>;
struct Told {
  int arrived = 0, started = 0, ended = 0, vanished = 0;
  std::string state;
  bool out_of_order = false;
};

std::map<Key, Told> told_of(const Records& records) {
  std::map<Key, Told> all;
  for (const journal::Event& event : records.events) {
    const auto body = nlohmann::json::parse(event.body, nullptr, false);
    if (!event.kind.starts_with("job ") || !body.is_object()) continue;
    Told& told = all[{event.subject, body.value("submitted_s", std::int64_t{0}),
                      body.value("restarts", std::int64_t{0})}];
    const bool over = told.ended + told.vanished > 0;
    if (event.kind == "job arrived") {
      ++told.arrived;
      told.out_of_order = told.out_of_order || over || told.started > 0;
    } else if (event.kind == "job started") {
      ++told.started;
      told.out_of_order = told.out_of_order || over || told.arrived == 0;
    } else if (event.kind == "job ended") {
      ++told.ended;
      told.state = body.value("state", "");
    } else if (event.kind == "job vanished") {
      ++told.vanished;
    }
  }
  return all;
}

std::string text_of(const Key& key) {
  return fmt::format("job {} (submitted {}, {} restarts)", std::get<0>(key), std::get<1>(key),
                     std::get<2>(key));
}

}  // namespace

void Inspector::check_lives(const Records& records) {
  const auto told = told_of(records);
  std::map<Key, bool> alive;
  for (const ModelCluster::Job& job : cluster_.jobs())
    alive[{job.seen.id, seconds_of(job.seen.submitted), job.seen.restarts}] =
        job.seen.phase != JobPhase::ended;
  for (const auto& [key, each] : told) {
    const int ends = each.ended + each.vanished;
    if (each.arrived > 1 || each.started > 1 || ends > 1)
      return accuse(
          "tells_once",
          fmt::format("{}: {} arrivals, {} starts, {} ends and {} disappearances told",
                      text_of(key), each.arrived, each.started, each.ended, each.vanished));
    if (each.arrived == 0) return accuse("tells_once", text_of(key) + ": its arrival was not told");
    if (each.out_of_order) return accuse("tells_once", text_of(key) + ": told in the wrong order");
    const auto found = alive.find(key);
    const bool lives = found != alive.end() && found->second;
    if (ends == 0 && !lives) return accuse("tells_once", text_of(key) + ": its end was not told");
    if (ends == 1 && lives)
      return accuse("tells_once", text_of(key) + ": its end was told, and it lives");
    if (found != alive.end() && each.vanished > 0)
      return accuse("tells_once", text_of(key) + ": called gone, and the cluster shows it");
  }
}

void Inspector::check_truth_of_lives(const Records& records) {
  const auto told = told_of(records);
  std::map<Key, const Life*> truth;
  for (const Life& life : book_.lives)
    truth[{life.id, seconds_of(life.submitted), life.restarts}] = &life;
  for (const auto& [key, each] : told) {
    const auto found = truth.find(key);
    if (found == truth.end())
      return accuse("tells_once", text_of(key) + ": told, and there never was one");
    const Life& life = *found->second;
    if (each.ended > 0 && !life.ended)
      return accuse("tells_once", text_of(key) + ": its end was told, and it has not ended");
    if (each.ended > 0 && each.state != to_string(life.end_state) &&
        each.state != to_string(EndState::requeued))
      return accuse("tells_once", fmt::format("{}: told as {}, was {}", text_of(key), each.state,
                                              to_string(life.end_state)));
    if (each.started > 0 && !life.started)
      return accuse("tells_once", text_of(key) + ": its start was told, and it never ran");
  }
  // Those that the cluster still shows.
  for (const ModelCluster::Job& job : cluster_.jobs())
    if (!told.contains({job.seen.id, seconds_of(job.seen.submitted), job.seen.restarts}))
      return accuse("tells_once", fmt::format("job {} was never told of", job.seen.id));
}

}  // namespace schedmate::storm
