// SPDX-License-Identifier: Apache-2.0
/// Tests of nodes and spares, with scripts that stand for Slurm's programs; on a real one:
/// tests/live/slurm_rows.py.
#include <doctest/doctest.h>

#include <algorithm>

#include "base/input.hpp"
#include "settings/clock.hpp"
#include "slurm_live/cluster.hpp"
#include "slurm_live/reservations.hpp"
#include "tests/support/cluster_site.hpp"
#include "tests/support/need.hpp"

namespace schedmate::slurm_live {
namespace {

using testing::ClusterSite;
using testing::need;
constexpr Connector::Deadline long_yet{10'000}, soon{900};
const std::string recorded_in = SCHEDMATE_SOURCE_DIR "/tests/fixtures/slurm/live_22_05/";

TEST_CASE("a reservation's name says which test it is of, and whose node it may return") {
  for (const TestName& test : {TestName{"schedmate:main.ab12/7"},
                               TestName{"schedmate:a_b-c.1/7", "schedmate:a_b-c.1/5"}}) {
    const auto read = test_of(reservation_of(test));
    REQUIRE(read);
    CHECK(read->token == test.token);
    CHECK(read->drain == test.drain);
  }
  CHECK(reservation_of({"schedmate:main.ab12/7"}) == "schedmate_main.ab12_7");
  CHECK(reservation_of({"schedmate:main/7", "schedmate:other/5"}).empty());
  CHECK(reservation_of({"nonsense"}).empty());
  for (const char* name : {"spares", "schedmate_", "schedmate_main", "schedmate_main_x",
                           "schedmate_main_7-", "schedmate_main_7-x", "schedmate__7"})
    CHECK(!test_of(name));
}

TEST_CASE("what scontrol prints of reservations is read, and nonsense is none of it") {
  CHECK(need(read_reservations("No reservations in the system\n")).empty());
  const auto found = need(read_reservations(
      "ReservationName=schedmate_main.ab12_7 StartTime=2026-11-26T21:52:50 "
      "EndTime=2026-11-26T22:02:50 Duration=00:10:00\n   Nodes=n[1-2] NodeCnt=2 CoreCnt=128 "
      "Features=(null) PartitionName=(null) Flags=MAINT,IGNORE_JOBS,SPEC_NODES\n   TRES=cpu=128\n"
      "   Users=root Groups=(null) Accounts=(null) Licenses=(null) State=ACTIVE "
      "BurstBuffer=(null) Watts=n/a\n   MaxStartDelay=(null)\n\n"));
  REQUIRE(found.size() == 1);
  CHECK(found.front().name == "schedmate_main.ab12_7");
  CHECK(found.front().nodes == std::vector<std::string>{"n1", "n2"});
  CHECK(read_reservations("nonsense").error().code == ErrorCode::invalid);
  CHECK(read_reservations("slurm_load_reservations error: Unable to contact slurm controller\n")
            .error()
            .code == ErrorCode::unavailable);
}

/// The recorded cluster, in which n2 is drained by an own action, with a test of two nodes.
struct Tested : ClusterSite {
  Tested() {
    tool("squeue", "cat " + recorded_in + "squeue.json\n");
    tool("sprio", "cat " + recorded_in + "sprio.txt\n");
    tool("sinfo", "cat " + recorded_in + "sinfo.json\n");
    const std::string writes = "printf '%s' \"$(basename $0)\" >> " + here.path("calls") +
                               "; for word in \"$@\"; do printf '[%s]' \"$word\"; done >> " +
                               here.path("calls") + "; echo >> " + here.path("calls") + "\n";
    reserved("No reservations in the system");
    tool("scontrol", "if [ \"$2\" = config ]; then exec cat " + recorded_in +
                         "config.txt; fi\nif [ \"$1$2\" = showreservation ]; then exec cat " +
                         here.path("reserved") + "; fi\n" + writes);
    tool("sbatch", writes + "echo 12\n");
    tool("scancel", writes);
  }
  void all_jobs_have_its_mark() const {
    tool("squeue", "sed 's/\"comment\":\"\"/\"comment\":\"schedmate:main.ab12\\/9\"/' " +
                       recorded_in + "squeue.json\n");
  }
  void reserved(const std::string& text) const { (void)write("reserved", text + "\n"); }
  [[nodiscard]] std::string calls() const { return read_file(here.path("calls")).value_or(""); }
  [[nodiscard]] CommandLine cluster() const {
    Clock clock = settings::machine_clock();
    clock.wall = [] { return at(1'795'714'411); };
    return {Tools(session().environment, clock, ""),
            "root",
            {.test_command = "run it; please", .test_timeout = Seconds(90), .spares = "kept"}};
  }
};

std::string reservation(const std::string& name, const std::string& nodes) {
  return "ReservationName=" + name +
         " StartTime=2026-11-26T21:52:50 EndTime=2026-11-26T22:02:50 Duration=00:10:00\n   Nodes=" +
         nodes + " NodeCnt=1\n   Users=root State=ACTIVE\n";
}

ActionCall test_of_nodes(std::vector<NodeGpus> nodes, std::string mark = "") {
  ActionCall call{.kind = ActionKind::test_nodes, .nodes = std::move(nodes)};
  call.text = std::move(mark);
  call.token = "schedmate:main.ab12/9";
  return call;
}

TEST_CASE("a test is a reservation and a job in it") {
  const Tested site;
  CommandLine cluster = site.cluster();
  CHECK(need(cluster.abilities(long_yet)).lack(ActionKind::test_nodes).empty());
  const CallReply reply = cluster.call(test_of_nodes({{"n0", {}}, {"n1", {}}}), long_yet);
  INFO(reply.text);
  CHECK(reply.outcome == CallOutcome::done);
  CHECK(site.calls() ==
        "scontrol[create][reservation][ReservationName=schedmate_main.ab12_9][StartTime=now]"
        "[Duration=8][Flags=MAINT,IGNORE_JOBS,PURGE_COMP=00:05:00][Nodes=n0,n1][Users=root]\n"
        "sbatch[--parsable][--reservation=schedmate_main.ab12_9][--job-name=schedmate-test]"
        "[--comment=schedmate:main.ab12/9][--nodes=2][--ntasks-per-node=1][--nodelist=n0,n1]"
        "[--partition=gpu][--exclusive][--no-requeue][--time=2][--chdir=/][--output=/dev/null]"
        "[--gres=gpu:8][--wrap=run it; please]\n");
}

TEST_CASE("nodes that are drained are tested with the mark of their drain, one by one") {
  const Tested site;
  CommandLine cluster = site.cluster();
  const auto refused = [&](const ActionCall& call, std::string_view why) {
    const CallReply reply = cluster.call(call, soon);
    CHECK(reply.outcome == CallOutcome::refused);
    CHECK_MESSAGE(reply.text.contains(why), reply.text);
  };
  refused(test_of_nodes({{"n2", {}}}), "is drained");
  refused(test_of_nodes({{"n2", {}}}, "schedmate:main.ab12/7"), "does not carry this mark");
  refused(test_of_nodes({{"n0", {}}}, "schedmate:main.ab12/8"), "does not carry this mark");
  refused(test_of_nodes({{"n9", {}}}), "no node n9");
  CHECK(site.calls().empty());
  // Its job does not begin here: nobody knows yet.
  CHECK(cluster.call(test_of_nodes({{"n2", {}}}, "schedmate:main.ab12/8"), soon).outcome ==
        CallOutcome::unknown);
  CHECK(site.calls().starts_with(
      "scontrol[create][reservation][ReservationName=schedmate_main.ab12_9-8]"));
  CHECK(site.calls().ends_with("scontrol[update][NodeName=n2][State=UNDRAIN]\n"));
}

TEST_CASE("a test that Slurm does not take leaves no reservation") {
  Tested site;
  site.tool("sbatch",
            "echo 'sbatch: error: Batch job submission failed: Invalid partition' >&2; exit 1\n");
  CommandLine cluster = site.cluster();
  CHECK(cluster.call(test_of_nodes({{"n0", {}}}), long_yet).outcome == CallOutcome::refused);
  CHECK(site.calls().ends_with("scontrol[delete][ReservationName=schedmate_main.ab12_9]\n"));
}

TEST_CASE("a node that is woken for its test counts as drained, until it is drained again") {
  Tested site;
  site.reserved(reservation("schedmate_main.ab12_9-8", "n0"));
  CommandLine cluster = site.cluster();
  const Listing listing = need(cluster.list(SimTime::min(), long_yet));
  CHECK(listing.tests == std::vector<std::string>{"schedmate:main.ab12/9"});
  CHECK(listing.nodes.front().name == "n0");
  CHECK(listing.nodes.front().state == NodeState::drained);
  CHECK(listing.nodes.front().reason == "schedmate:main.ab12/8");
  CHECK(listing.nodes.back().state == NodeState::up);
  // From then on one that serves was put back by somebody, and stays so.
  site.tool("squeue",
            "sed -e '2s/\"comment\":\"\"/\"comment\":\"schedmate:main.ab12\\/9\"/' -e "
            "'2s/\"admin_comment\":\"\"/\"admin_comment\":\"drained again\"/' " +
                recorded_in + "squeue.json\n");
  CommandLine later = site.cluster();
  CHECK(need(later.list(SimTime::min(), long_yet)).nodes.front().state == NodeState::up);
  CHECK(later.end_test("schedmate:main.ab12/9", long_yet).outcome == CallOutcome::done);
  CHECK(!site.calls().contains("DRAIN"));
}

TEST_CASE("the end of a test: its job, its node where that did not begin, its reservation") {
  Tested site;
  site.reserved(reservation("schedmate_main.ab12_9-8", "n0") + "\n" + reservation("kept", "n3"));
  CommandLine cluster = site.cluster();
  CHECK(cluster.end_test("schedmate:main.ab12/10", long_yet).outcome == CallOutcome::done);
  CHECK(site.calls().empty());
  CHECK(cluster.end_test("schedmate:main.ab12/9", long_yet).outcome == CallOutcome::done);
  CHECK(site.calls() ==
        "scontrol[update][NodeName=n0][State=DRAIN]"
        "[Reason=schedmate:main.ab12/8 it was woken for a test]\n"
        "scontrol[delete][ReservationName=schedmate_main.ab12_9-8]\n");
}

TEST_CASE("the job of a test without a reservation is one that is left, too") {
  Tested site;
  site.all_jobs_have_its_mark();
  CommandLine cluster = site.cluster();
  CHECK(need(cluster.list(SimTime::min(), long_yet)).tests ==
        std::vector<std::string>{"schedmate:main.ab12/9"});
  CHECK(cluster.end_test("schedmate:main.ab12/9", long_yet).outcome == CallOutcome::done);
  CHECK(site.calls().starts_with("scancel["));
}

TEST_CASE(
    "spare nodes are those of the reservation that the settings name, and leave it one by one") {
  Tested site;
  site.reserved(reservation("kept", "n[0-1]"));
  CommandLine cluster = site.cluster();
  const Listing listing = need(cluster.list(SimTime::min(), long_yet));
  CHECK(listing.tests.empty());
  CHECK(std::ranges::count(listing.nodes, true, &SeenNode::spare) == 2);
  const auto release = [&](const std::string& node) {
    return cluster.call({.kind = ActionKind::release_spare, .nodes = {{node, {}}}}, long_yet)
        .outcome;
  };
  CHECK(release("n3") == CallOutcome::refused);
  CHECK(release("n0") == CallOutcome::done);
  site.reserved(reservation("kept", "n1"));
  CHECK(release("n1") == CallOutcome::done);
  CHECK(site.calls() ==
        "scontrol[update][ReservationName=kept][Nodes=n1]\n"
        "scontrol[delete][ReservationName=kept]\n");
}

TEST_CASE("only own jobs speak for tests") {
  Tested site;
  site.all_jobs_have_its_mark();
  CommandLine cluster = site.cluster();
  for (const SeenJob& job : need(cluster.list(SimTime::min(), long_yet)).jobs)
    CHECK(job.token == (job.user == "root" ? "schedmate:main.ab12/9" : ""));
}

}  // namespace
}  // namespace schedmate::slurm_live
