// SPDX-License-Identifier: Apache-2.0
/// What SchedMate adds to a policy, held against the policy itself.
#include <doctest/doctest.h>

#include <algorithm>
#include <map>

#include "tests/conformance/properties.hpp"
#include "tests/conformance/subjects.hpp"
#include "tests/support/effort.hpp"

namespace schedmate::conformance {
namespace {

std::vector<PolicyRow> variants() {
  std::vector<PolicyRow> rows;
  std::ranges::copy_if(policy_rows(), std::back_inserter(rows),
                       [](const PolicyRow& row) { return !row.preset.empty(); });
  return rows;
}

const PolicyRow& host_of(const PolicyRow& variant) {
  const auto rows = policy_rows();
  return *std::ranges::find_if(
      rows, [&](const PolicyRow& row) { return row.preset.empty() && row.make == variant.make; });
}

/// What a variant adds to its host that needs no advice: the host is compared with it, too.
Settings unadvised_part(const PolicyRow& row) {
  if (row.name != "lucid+sm") return {};
  return {{"reserve", "true"},
          {"horizon_s", "3600"},
          {"pack", "pays"},
          {"ageing", "0.5"},
          {"estimate", "gbdt"}};
}

std::string jobs_text(const World& world, const Prepared& prepared) {
  const SimResult result = replay(world, prepared);
  return text_of(std::span(result.outcomes));
}

TEST_CASE("each variant of the table is there, with the host that its name says") {
  std::map<std::string_view, std::string_view> hosts;
  for (const PolicyRow& row : variants()) hosts[row.name] = host_of(row).name;
  CHECK(hosts ==
        std::map<std::string_view, std::string_view>{{"lucid+sm", "lucid"},
                                                     {"qssf+sm", "qssf"},
                                                     {"backfill_easy+sm", "backfill_easy"},
                                                     {"slurm_backfill+sm", "slurm_backfill"},
                                                     {"tiresias+sm", "tiresias"},
                                                     {"schedmate+sm", "schedmate"},
                                                     {"schedmate+fh", "schedmate"}});
}

TEST_CASE("a variant is its host when nothing is advised and no log is read") {
  for (const PolicyRow& row : variants()) {
    for (std::uint64_t seed = 0; seed < testing::cases(150); ++seed) {
      CAPTURE(row.name);
      CAPTURE(seed);
      World world = random_world(seed);
      // The Advisor learns from no job of which nobody knows how it ended.
      for (Job& job : world.trace.jobs) job.state = EndState::unknown;
      Prepared host = prepare({host_of(row), unadvised_part(row)}, world, seed, Defects());
      Prepared variant = prepare({row, {}}, world, seed, Defects());
      for (Prepared* each : {&host, &variant}) {
        each->options.costs.failures = {};
        each->options.costs.tracked_share = 0;
      }
      REQUIRE(jobs_text(world, variant) == jobs_text(world, host));
    }
  }
}

TEST_CASE("a variant is its host when advice comes too late, however much it counts") {
  for (const PolicyRow& row : variants()) {
    for (std::uint64_t seed = 0; seed < testing::cases(60); ++seed) {
      CAPTURE(row.name);
      CAPTURE(seed);
      const World world = random_world(seed);
      Prepared host = prepare({host_of(row), unadvised_part(row)}, world, seed, Defects());
      Prepared variant = prepare({row, {{"shrink", "false"}}}, world, seed, Defects());
      for (Prepared* each : {&host, &variant}) {
        each->options.costs.failures = {};
        each->options.costs.tracked_share = 0;
        each->options.costs.advice = Seconds(315'360'000);
      }
      REQUIRE(jobs_text(world, variant) == jobs_text(world, host));
    }
  }
}

TEST_CASE("a variant is its host when its settings are taken back") {
  for (const PolicyRow& row : variants()) {
    Settings back{{"advice", "none"}, {"handler", "false"}};
    if (row.name == "lucid+sm")
      back.insert({{"cancel", "off"},
                   {"reserve", "false"},
                   {"pack", "first"},
                   {"ageing", "0"},
                   {"estimate", "last_k"}});
    for (std::uint64_t seed = 0; seed < testing::cases(150); ++seed) {
      CAPTURE(row.name);
      CAPTURE(seed);
      const World world = random_world(seed);
      REQUIRE(jobs_text(world, prepare({row, back}, world, seed, Defects())) ==
              jobs_text(world, prepare({host_of(row), {}}, world, seed, Defects())));
    }
  }
}

TEST_CASE("with advice in full every variant does something else than its host somewhere") {
  for (const PolicyRow& row : variants()) {
    CAPTURE(row.name);
    bool differs = false;
    for (std::uint64_t seed = 0; seed < 300 && !differs; ++seed) {
      const World world = random_world(seed);
      Prepared host = prepare({host_of(row), {}}, world, seed, Defects());
      Prepared variant = prepare({row, {{"shrink", "false"}}}, world, seed, Defects());
      differs = jobs_text(world, variant) != jobs_text(world, host);
    }
    CHECK(differs);
  }
}

TEST_CASE("with nothing predicted, engines in turn give what engines one after the other give") {
  const PolicyRow& lucid = *std::ranges::find(policy_rows(), "lucid", &PolicyRow::name);
  for (const Defects& defects : {Defects(), Defects::reference()}) {
    for (std::uint64_t seed = 0; seed < testing::cases(200); ++seed) {
      CAPTURE(seed);
      const World world = random_world(seed);
      const Prepared in_turn = prepare({lucid, {{"bypass", "all"}}}, world, seed, defects);
      const Prepared in_order = prepare({lucid, {{"bypass", "none"}}}, world, seed, defects);
      SimResult first = replay(world, in_turn);
      const SimResult second = replay(world, in_order);
      // Who may still come is not known in advance: a VC may be asked once more when all have
      // ended.
      REQUIRE(first.decision_points >= second.decision_points);
      first.decision_points = second.decision_points;
      REQUIRE(text_of(first) == text_of(second));
    }
  }
}

bool is_beside_another(const SimOptions::Moment& moment, JobId id) {
  for (const Slice& slice : moment.cluster.allocation(id))
    for (int gpu = 0; gpu < moment.cluster.gpus_per_node(); ++gpu)
      if ((slice.gpus >> gpu & 1U) != 0 && moment.cluster.residents(slice.node, gpu).size() > 1)
        return true;
  return false;
}

/// Jobs that were seen to be taken off GPUs that they shared, and who shared afterwards.
struct Evictions {
  std::map<std::pair<std::uint32_t, std::uint32_t>, SimTime> sharing;  // row and JobId: since when
  std::map<std::uint32_t, int> evicted;
  std::vector<std::uint32_t> shared_again;

  void look(const SimOptions::Moment& moment) {
    moment.standing.for_each([&](JobId id, const JobStanding& standing) {
      const std::uint32_t i = index_of(id);
      const std::uint32_t row = standing.row;
      const SimTime since = moment.jobs.at(id).run_since;
      const auto before = sharing.find({row, i});
      const bool ended = standing.phase == JobPhase::ended;
      const bool runs = standing.phase == JobPhase::running;
      if (before != sharing.end() && !ended && !(runs && since == before->second)) ++evicted[row];
      if (before != sharing.end()) sharing.erase(before);
      if (!runs || !is_beside_another(moment, id)) return;
      if (evicted.contains(row)) shared_again.push_back(row);
      sharing[{row, i}] = since;
    });
  }
};

TEST_CASE("who was evicted never shares GPUs again, whatever else happens to it") {
  const PolicyRow& lucid = *std::ranges::find(policy_rows(), "lucid", &PolicyRow::name);
  int evictions = 0;
  int failures_after = 0;
  for (const char* rule : {"slowdown", "gain"}) {
    for (std::uint64_t seed = 0; seed < 400; ++seed) {
      CAPTURE(seed);
      const World world = random_world(seed);
      Prepared prepared = prepare({lucid,
                                   {{"packing", "on"},
                                    {"profiler", "off"},
                                    {"score_limit", "4"},
                                    {"cancel", rule},
                                    {"cancel_after_s", "10"},
                                    {"threshold", "1"}}},
                                  world, seed, Defects());
      prepared.options.costs.failures = frequent_failures();
      Evictions seen;
      prepared.options.observer = [&](const SimOptions::Moment& moment) { seen.look(moment); };
      const SimResult result = replay(world, prepared);
      REQUIRE(seen.shared_again.empty());
      for (std::uint32_t row = 0; row < world.trace.jobs.size(); ++row) {
        const JobOutcome& outcome = result.outcomes[row];
        REQUIRE(outcome.evictions == seen.evicted[row]);
        REQUIRE((outcome.lost_gpu_s > 0) >= (outcome.evictions > 0));
        evictions += outcome.evictions;
        failures_after += outcome.evictions > 0 ? outcome.failures : 0;
      }
    }
  }
  CHECK(evictions > 100);
  CHECK(failures_after > 20);
}

}  // namespace
}  // namespace schedmate::conformance
