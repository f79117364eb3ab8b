// SPDX-License-Identifier: Apache-2.0
#include "slurm_live/ended_away.hpp"

#include <doctest/doctest.h>

#include <algorithm>

#include "base/input.hpp"
#include "settings/clock.hpp"
#include "slurm_live/cluster.hpp"
#include "slurm_live/scripts.hpp"
#include "tests/support/cluster_site.hpp"
#include "tests/support/need.hpp"

namespace schedmate::slurm_live {
namespace {

using testing::ClusterSite;
using testing::need;

constexpr Connector::Deadline in_time{10'000};
const std::string sacct_head = "JobID|User|State|Submit|Start|End|NodeList\n";

SeenJob lost_job(const std::string& id, std::int64_t submitted_s) {
  SeenJob job;
  job.id = id;
  job.submitted = at(submitted_s);
  job.user = "ann";
  job.name = "train";
  job.gpus = 8;
  job.phase = JobPhase::running;
  job.started = at(submitted_s + 10);
  job.nodes = {{"n0", {0, 1}}};
  return job;
}

/// 2026-11-26 22:32:51 UTC.
constexpr std::int64_t sent_s = 1'795'732'371;

TEST_CASE("what accounting says of jobs whose end nobody has seen") {
  const LostJobs lost{{"12", lost_job("12", sent_s)},
                      {"13", lost_job("13", sent_s)},
                      {"2_1", lost_job("2_1", sent_s)},
                      {"6", lost_job("6", sent_s)},
                      {"77", lost_job("77", sent_s)}};
  const auto ended = need(read_ended(
      sacct_head +
          "12|ann|FAILED|2026-11-26T22:32:51|2026-11-26T22:33:00|2026-11-26T22:40:00|n0\n"
          "13|ann|RUNNING|2026-11-26T22:32:51|2026-11-26T22:33:00|Unknown|n0\n"
          "2_1|ann|CANCELLED by 0|2026-11-26T22:32:51|Unknown|2026-11-26T22:33:12|None assigned\n"
          "6+0|ann|COMPLETED|2026-11-26T22:35:00|2026-11-26T22:35:19|2026-11-26T22:36:25|n[1-2]\n"
          "77|bob|COMPLETED|2026-11-26T22:32:51|2026-11-26T22:33:00|2026-11-26T22:40:00|n0\n"
          "88|ann|COMPLETED|2026-11-26T22:32:51|2026-11-26T22:33:00|2026-11-26T22:40:00|n0\n",
      lost));
  REQUIRE(ended.size() == 3);
  CHECK(ended[0].id == "12");
  CHECK(ended[0].end_state == EndState::failed);
  CHECK(ended[0].phase == JobPhase::ended);
  CHECK(ended[0].started == at(sent_s + 9));
  CHECK(ended[0].ended == at(sent_s + 429));
  CHECK(ended[0].nodes == std::vector<NodeGpus>{{"n0", {0, 1}}});
  CHECK(ended[0].name == "train");
  CHECK(ended[1].id == "2_1");
  CHECK(ended[1].end_state == EndState::cancelled);
  CHECK(ended[2].id == "6");
  CHECK(ended[2].submitted == at(sent_s));  // it was requeued since
  CHECK(ended[2].nodes == std::vector<NodeGpus>{{"n1", {}}, {"n2", {}}});
}

TEST_CASE("of an earlier job of that id, and of nonsense, nothing is taken") {
  const LostJobs lost{{"12", lost_job("12", sent_s)}};
  const auto none = [&](const std::string& text) {
    const auto read = read_ended(text, lost);
    return !read || read->empty();
  };
  CHECK(none(sacct_head +
             "12|ann|FAILED|2025-01-01T00:00:00|2025-01-01T00:00:01|2025-01-01T00:00:02|n0\n"));
  CHECK(none(sacct_head + "12|ann|FAILED|2026-11-26T22:32:51|Unknown|2026-11-26T22:30:00|n0\n"));
  CHECK(none(sacct_head + "12|ann|FAILED|2026-11-26T22:3"));
  CHECK(none(sacct_head + "12|ann|\xff|x|y|z|w\n12\n||||||\n"));
  CHECK(none("JobID|State\n12|FAILED\n"));
  CHECK(none("sacct: error: slurm_persist_conn_open: failed to connect\n"));
  CHECK(none(""));
  CHECK(sacct_for(lost).back() == "--jobs=12");
  LostJobs many;
  for (int i = 0; i < 2000; ++i) many[std::to_string(i)] = lost_job(std::to_string(i), 5);
  CHECK(std::ranges::count(sacct_for(many).back(), ',') == 499);
}

struct AccountedSite : ClusterSite {
  AccountedSite() {
    const std::string recorded = SCHEDMATE_SOURCE_DIR "/tests/fixtures/slurm/live_22_05/";
    tool("squeue", "cat " + recorded + "squeue.json\n");
    tool("sprio", "cat " + recorded + "sprio.txt\n");
    tool("sinfo", "cat " + recorded + "sinfo.json\n");
    tool("scontrol", std::string(no_reservations) +
                         "sed 's#accounting_storage/none#accounting_storage/slurmdbd#' " +
                         recorded + "config.txt\n");
    answers("cat " +
            write("sacct.txt", sacct_head + "12|ann|FAILED|2026-11-26T22:32:51|2026-11-26T22:33:00|"
                                            "2026-11-26T22:40:00|n0\n"));
  }
  void answers(const std::string& script) const {
    tool("sacct", "echo asked >> " + here.path("asked") + "\n" + script + "\n");
  }
  [[nodiscard]] std::size_t asked() const {
    return static_cast<std::size_t>(
        std::ranges::count(read_file(here.path("asked")).value_or(""), '\n'));
  }
  [[nodiscard]] CommandLine cluster() const {
    return {Tools(session().environment, settings::machine_clock(), ""), "root"};
  }
};

TEST_CASE("a job that was known and is gone is looked up once, and its end is told") {
  const AccountedSite site;
  CommandLine cluster = site.cluster();
  need(cluster.abilities(in_time));
  cluster.know(lost_job("12", sent_s));
  const Listing first = need(cluster.list(SimTime::min(), in_time));
  const auto found = std::ranges::find(first.jobs, "12", &SeenJob::id);
  REQUIRE(found != first.jobs.end());
  CHECK(found->end_state == EndState::failed);
  CHECK(std::ranges::is_sorted(first.jobs, {}, &SeenJob::submitted));
  need(cluster.list(SimTime::min(), in_time));
  const Listing third = need(cluster.list(SimTime::min(), in_time));
  CHECK(std::ranges::find(third.jobs, "12", &SeenJob::id) == third.jobs.end());
  CHECK(site.asked() == 1);
}

TEST_CASE("accounting that fails or hangs costs no reading") {
  const AccountedSite site;
  for (const char* const script : {"exit 1", "sleep 60", "head -c 100000 /dev/urandom"}) {
    CAPTURE(script);
    site.answers(script);
    CommandLine cluster = site.cluster();
    need(cluster.abilities(in_time));
    cluster.know(lost_job("12", sent_s));
    CHECK(need(cluster.list(SimTime::min(), std::chrono::milliseconds(3000))).jobs.size() == 11);
  }
}

// Scripts -----------------------------------------------------------------------------------------

TEST_CASE("what was submitted is read once a job, and not too often") {
  const ClusterSite site;
  site.tool(
      "scontrol",
      "echo \"$*\" >> " + site.here.path("asked") +
          "\n[ \"$3\" = 9 ] && { echo 'job script retrieval failed: Job script not specified' >&2; "
          "exit 0; }\n[ \"$3\" = 8 ] && { echo 'job script retrieval failed: Unable to contact "
          "slurm controller' >&2; exit 0; }\nprintf '#!/bin/sh\\npython train.py\\n'\n");
  Clock clock = settings::machine_clock();
  std::chrono::nanoseconds slept{0};
  clock.sleep = [&](std::chrono::nanoseconds time) { slept += time; };
  clock.now = [&] { return slept; };
  Scripts scripts(Tools(site.session().environment, clock, ""));
  const auto read = [&](const std::string& id) {
    SeenJob job;
    job.id = id;
    return scripts.read(job, in_time);
  };
  CHECK(need(read("12_0")) == "#!/bin/sh\npython train.py\n");
  CHECK(need(read("12_1")) == "#!/bin/sh\npython train.py\n");
  CHECK(need(read_file(site.here.path("asked"))) == "write batch_script 12 -\n");
  CHECK(slept == std::chrono::nanoseconds(0));
  for (int i = 20; i < 40; ++i) need(read(std::to_string(i)));
  CHECK(slept == std::chrono::seconds(1));
  CHECK(read("9").error().code == ErrorCode::not_found);
  CHECK(read("8").error().code == ErrorCode::unavailable);
  CHECK(read("$(reboot)").error().code == ErrorCode::not_found);
  CHECK(read("").error().code == ErrorCode::not_found);
}

TEST_CASE("scripts that are none") {
  CHECK(script_in(" \n").error().code == ErrorCode::not_found);
  CHECK(script_in(std::string(1 << 16U, 'x')).error().code == ErrorCode::unsupported);
  CHECK(script_in(std::string_view("\x7f"
                                   "ELF\0",
                                   5))
            .error()
            .code == ErrorCode::unsupported);
  CHECK(need(script_in("echo \xff\n")) == "echo ?\n");
}

}  // namespace
}  // namespace schedmate::slurm_live
