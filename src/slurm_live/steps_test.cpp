// SPDX-License-Identifier: Apache-2.0
#include "slurm_live/steps.hpp"

#include <doctest/doctest.h>
#include <fmt/format.h>

#include <algorithm>

#include "base/input.hpp"
#include "core/step_ends.hpp"
#include "settings/clock.hpp"
#include "tests/support/cluster_site.hpp"
#include "tests/support/need.hpp"

namespace schedmate::slurm_live {
namespace {

using testing::ClusterSite;
using testing::need;

constexpr Connector::Deadline soon_enough{10'000};

bool alone() { return false; }  // nobody else waits

SeenJob ended_job(const std::string& id) {
  SeenJob job;
  job.id = id;
  job.phase = JobPhase::ended;
  job.started = at(1'795'832'504);  // 2026-11-28 02:21:44 UTC
  return job;
}

/// Recorded on Slurm 22.05.8 with slurmdbd.
std::string recorded_steps() {
  return need(read_file(SCHEDMATE_SOURCE_DIR "/tests/fixtures/slurm_library/steps_22_05.txt"));
}

/// "batch completed 0:0 n0, 0 cancelled 0:15 n0 n1".
std::string steps_told(const std::string& sacct, const SeenJob& job) {
  std::string words;
  for (const SeenStep& each : need(read_steps(sacct, job)).steps) {
    words += fmt::format("{}{} {} {}:{}", words.empty() ? "" : ", ", each.id,
                         to_string(each.end_state), each.exit_code, each.exit_signal);
    for (const std::string& node : each.nodes) words += " " + node;
  }
  return words;
}

TEST_CASE("what accounting says of steps") {
  const std::string sacct = recorded_steps();
  // Its other node died, and its script ended well.
  CHECK(steps_told(sacct, ended_job("1")) == "batch COMPLETED 0:0 n0, 0 CANCELLED 0:15 n0 n1");
  CHECK(steps_told(sacct, ended_job("2")) == "batch FAILED 3:0 n2, 0 CANCELLED 0:9 n2 n3");
  CHECK(steps_told(sacct, ended_job("3")) ==
        "batch COMPLETED 0:0 n4, 0 FAILED 1:0 n4, 1 COMPLETED 0:0 n4");
  CHECK(steps_told(sacct, ended_job("4_3")) == "batch FAILED 7:0 n5, 0 FAILED 7:0 n5");
  CHECK(steps_told(sacct, ended_job("5")) ==
        "batch FAILED 1:0 n6, 0 COMPLETED 0:0 n6, +1.0 FAILED 1:0 n7");
  CHECK(steps_told(sacct, ended_job("77")).empty());
  const auto of_two = need(read_steps(sacct, ended_job("2")));
  CHECK(of_two.is_over);
  CHECK(of_two.steps[1].name == "my|train");
  CHECK(of_two.steps[1].ended == at(1'795'832'505));
  CHECK(step_words(*failed_step(of_two.steps)) ==
        "step 0 (my|train) on n2 n3 was killed by signal 9");
}

TEST_CASE("steps of another attempt, and what cannot be read, are left out") {
  SeenJob later = ended_job("1");
  later.started = at(1'795'832'600);
  CHECK(steps_told(recorded_steps(), later).empty());
  SeenJob earlier = ended_job("1");
  earlier.started = at(1'795'832'400);
  CHECK(steps_told(recorded_steps(), earlier).contains("0 CANCELLED"));
  earlier.ended = at(1'795'832'503);  // the second before those began
  CHECK(steps_told(recorded_steps(), earlier).empty());
  const std::string head = "JobID|State|ExitCode|Start|End|NodeList|JobName\n";
  const auto of = [&](const std::string& rows) {
    return need(read_steps(head + rows, ended_job("1")));
  };
  const auto runs =
      of("1|RUNNING|0:0|2026-11-28T02:21:44|Unknown|n0|x\n"
         "1.0|RUNNING|0:0|2026-11-28T02:21:44|Unknown|n0|x\n");
  CHECK_FALSE(runs.is_over);
  CHECK(runs.steps.at(0).end_state == EndState::unknown);
  CHECK(of("12.0|FAILED|1:0|2026-11-28T02:21:44|2026-11-28T02:21:45|n0|x\n").steps.empty());
  CHECK(of("1.0|FAILED|1:0|2026-11-28T02:21:44|2026-11-28T02:2").steps.empty());
  const auto odd = of("1.0|CANCELLED by 0|x:99999999999|2026-11-28T02:21:44|?|n[0-|\x1b[31m\n");
  REQUIRE(odd.steps.size() == 1);
  CHECK(odd.steps[0].end_state == EndState::cancelled);
  CHECK(odd.steps[0].exit_signal == 0);
  CHECK(odd.steps[0].nodes.empty());
  CHECK_FALSE(odd.steps[0].name.contains('\x1b'));
  for (const char* const text : {"", "sacct: error: no slurmdbd\n", "JobID|State\n1.0|FAILED\n"})
    CHECK(read_steps(text, ended_job("1")).error().code == ErrorCode::invalid);
}

TEST_CASE("of many steps those that failed are told") {
  std::string text = "JobID|State|ExitCode|Start|End|NodeList|JobName\n";
  for (int i = 0; i < 500; ++i)
    text += fmt::format("1.{}|{}|0:0|2026-11-28T02:21:44|2026-11-28T02:21:45|n0|x\n", i,
                        i == 400 ? "FAILED" : "COMPLETED");
  const auto read = need(read_steps(text, ended_job("1")));
  CHECK(read.steps.size() == most_steps);
  CHECK(read.steps.front().id == "400");
}

struct AskedSite : ClusterSite {
  AskedSite() {
    clock.sleep = [this](std::chrono::nanoseconds time) { slept += time; };
    clock.now = [this] { return slept; };
  }
  void answers(const std::string& script) const {
    tool("sacct", "echo \"$*\" >> " + here.path("asked") + "\n" + script + "\n");
  }
  [[nodiscard]] std::ptrdiff_t asked() const {
    return std::ranges::count(read_file(here.path("asked")).value_or(""), '\n');
  }
  [[nodiscard]] Steps steps() const { return Steps(Tools(session().environment, clock, "")); }
  Clock clock = settings::machine_clock();
  std::chrono::nanoseconds slept{0};
};

TEST_CASE("steps are asked for once an attempt, and not too often") {
  AskedSite site;
  const std::string cat = "cat " + site.write("sacct.txt", recorded_steps());
  site.answers(cat);
  Steps steps = site.steps();
  CHECK(need(steps.read(ended_job("2"), soon_enough, alone)).size() == 2);
  CHECK(need(steps.read(ended_job("2"), soon_enough, alone)).size() == 2);
  CHECK(site.asked() == 1);
  CHECK(need(read_file(site.here.path("asked"))).ends_with("--jobs=2\n"));
  SeenJob again = ended_job("2");
  again.restarts = 1;
  need(steps.read(again, soon_enough, alone));
  for (int i = 0; i < 19; ++i) {
    again.restarts = 2 + i;
    need(steps.read(again, soon_enough, alone));
  }
  CHECK(site.asked() == 21);
  CHECK(site.slept == std::chrono::seconds(1));
  CHECK(steps.read(ended_job("$(reboot)"), soon_enough, alone).error().code == ErrorCode::invalid);
  CHECK(steps.read(ended_job(""), soon_enough, alone).error().code == ErrorCode::invalid);
  CHECK(site.asked() == 21);
}

TEST_CASE("accounting that is late is asked twice, and one that does not answer is left alone") {
  AskedSite site;
  site.answers(
      "echo 'JobID|State|ExitCode|Start|End|NodeList|JobName'\n"
      "echo '2|RUNNING|0:0|2026-11-28T02:21:44|Unknown|n0|x'");
  Steps steps = site.steps();
  CHECK(need(steps.read(ended_job("2"), soon_enough, alone)).empty());
  CHECK(site.asked() == 2);
  CHECK(site.slept >= std::chrono::seconds(1));
  site.answers("echo 'sacct: error: Sending PersistInit msg: Connection refused' >&2; exit 1");
  CHECK(steps.read(ended_job("3"), soon_enough, alone).error().code == ErrorCode::unavailable);
  CHECK(site.asked() == 3);
  CHECK(steps.read(ended_job("4_3"), soon_enough, alone).error().code == ErrorCode::unavailable);
  CHECK(site.asked() == 3);
  site.slept += std::chrono::minutes(1);
  CHECK_FALSE(steps.read(ended_job("4_3"), soon_enough, alone));
  CHECK(site.asked() == 4);
}

TEST_CASE("while others wait accounting that is late is asked once, and again when that may be") {
  AskedSite site;
  site.answers(
      "echo 'JobID|State|ExitCode|Start|End|NodeList|JobName'\n"
      "echo '2|RUNNING|0:0|2026-11-28T02:21:44|Unknown|n0|x'\n"
      "echo '2.0|FAILED|1:0|2026-11-28T02:21:44|2026-11-28T02:21:45|n0|x'");
  Steps steps = site.steps();
  CHECK(need(steps.read(ended_job("2"), soon_enough, [] { return true; })).size() == 1);
  CHECK(site.asked() == 1);
  CHECK(need(steps.read(ended_job("2"), soon_enough, alone)).size() == 1);
  CHECK(site.asked() == 3);
}

TEST_CASE("where the second look fails the first one counts, and the next job is asked for") {
  AskedSite site;
  site.answers("[ $(wc -l < " + site.here.path("asked") +
               ") = 2 ] && exit 1\n"
               "echo 'JobID|State|ExitCode|Start|End|NodeList|JobName'\n"
               "echo '2|RUNNING|0:0|2026-11-28T02:21:44|Unknown|n0|x'\n"
               "echo '2.0|FAILED|1:0|2026-11-28T02:21:44|2026-11-28T02:21:45|n0|x'");
  Steps steps = site.steps();
  CHECK(need(steps.read(ended_job("2"), soon_enough, alone)).size() == 1);
  CHECK(site.asked() == 2);
  CHECK(steps.read(ended_job("3"), soon_enough, alone));
  CHECK(site.asked() > 2);
}

}  // namespace
}  // namespace schedmate::slurm_live
