// SPDX-License-Identifier: Apache-2.0
/// With scripts that stand for Slurm's programs; on a real Slurm: tests/live.
#include "slurm_live/cluster.hpp"

#include <doctest/doctest.h>

#include <filesystem>

#include "base/input.hpp"
#include "settings/clock.hpp"
#include "tests/support/cluster_site.hpp"
#include "tests/support/connector_suite.hpp"
#include "tests/support/need.hpp"

namespace schedmate::slurm_live {
namespace {

using testing::ClusterSite;
using testing::need;
constexpr Connector::Deadline long_enough{60'000}, short_time{700};

const std::string recordings = SCHEDMATE_SOURCE_DIR "/tests/fixtures/slurm/live_22_05/";

/// The recorded cluster; scontrol and scancel write down what they are given.
struct Recorded : ClusterSite {
  Recorded() {
    tool("squeue", "cat " + recordings + "squeue.json\n");
    tool("sprio", "cat " + recordings + "sprio.txt\n");
    tool("sinfo", "cat " + recordings + "sinfo.json\n");
    changes("");
  }
  /// What scontrol does with a change, besides.
  void changes(const std::string& script) {
    const std::string writes = "for word in \"$@\"; do printf '[%s]' \"$word\"; done >> " +
                               here.path("calls") + "; echo >> " + here.path("calls") + "\n";
    tool("scontrol", std::string(no_reservations) + "if [ \"$1\" = show ]; then exec cat " +
                         recordings + "config.txt; fi\n" + writes + script);
    tool("scancel", writes);
  }
  [[nodiscard]] std::string calls() const { return read_file(here.path("calls")).value_or(""); }
  [[nodiscard]] CommandLine cluster() const {
    Clock clock = settings::machine_clock();
    clock.wall = [] { return at(1'795'714'411); };
    return {Tools(session().environment, clock, "/etc/the slurm.conf"), "root"};
  }
};

ActionCall of(ActionKind kind, const std::string& job, std::string text = "") {
  ActionCall call{.kind = kind, .job = job, .submitted = at(1'795'714'406)};
  call.text = std::move(text);
  return call;
}
ActionCall on(ActionKind kind, const std::string& node, std::string text) {
  ActionCall call{.kind = kind, .nodes = {{node, {}}}};
  call.text = std::move(text);
  return call;
}

TEST_CASE("a listing is jobs and nodes, and readings of the same have one version") {
  const Recorded site;
  CommandLine cluster = site.cluster();
  const Listing first = need(cluster.list(SimTime::min(), long_enough));
  CHECK(first.jobs.size() == 11);
  CHECK(first.nodes.size() == 4);
  CHECK(first.now == at(1'795'714'411));
  CHECK(first.ended_since == at(1'795'714'111));  // MinJobAge ago
  for (int i = 0; i < 3; ++i) {
    const Listing again = need(cluster.list(SimTime::min(), long_enough));
    CHECK(again.version == first.version);
    CHECK(again.jobs == first.jobs);
    CHECK(again.nodes == first.nodes);
  }
  CHECK(need(cluster.list(at(1'795'714'410), long_enough)).jobs.size() == 9);
  CHECK(need(cluster.job("4", long_enough))->mark == "schedmate:main.ab12/7");
  CHECK(!need(cluster.job("44", long_enough)));
}

TEST_CASE("jobs and nodes are read in turn, and both after a call") {
  const Recorded site;
  CommandLine cluster = site.cluster();
  const std::string asked = site.here.path("asked");
  site.tool("squeue", "printf j >> " + asked + "; cat " + recordings + "squeue.json\n");
  site.tool("sinfo", "printf n >> " + asked + "; cat " + recordings + "sinfo.json\n");
  for (int i = 0; i < 5; ++i) need(cluster.list(SimTime::min(), long_enough));
  CHECK(need(read_file(asked)) == "jnjnjn");
  CHECK(cluster.call(of(ActionKind::cancel, "nobody's"), long_enough).outcome ==
        CallOutcome::refused);
  need(cluster.list(SimTime::min(), long_enough));
  CHECK(need(read_file(asked)) == "jnjnjnjjn");
}

TEST_CASE("each call is one request of plain words") {
  Recorded site;
  CommandLine cluster = site.cluster();
  const auto done = [&](const ActionCall& call) {
    const CallReply reply = cluster.call(call, long_enough);
    INFO(reply.text);
    CHECK(reply.outcome == CallOutcome::done);
  };
  ActionCall order = of(ActionKind::set_order, "3");
  order.order = 77;
  done(order);
  done(of(ActionKind::annotate, "4", "two\nlines; $(rm x)"));
  done(of(ActionKind::hold, "3", "schedmate:a/1"));
  done(of(ActionKind::release, "4", "schedmate:main.ab12/7"));
  done(of(ActionKind::cancel, "2_3"));
  ActionCall again = of(ActionKind::requeue_excluding, "2_0");
  again.nodes = {{"n0", {}}, {"n1", {}}};
  done(again);
  done(on(ActionKind::drain_node, "n0", "schedmate:a/2 Xid 79"));
  done(on(ActionKind::undrain_node, "n2", "schedmate:main.ab12/8"));
  CHECK(site.calls() ==
        "[update][JobId=3][SiteFactor=77]\n"
        "[update][JobId=4][AdminComment=schedmate:main.ab12/7\ntwo\nlines; $(rm x)]\n"
        "[update][JobId=3][Priority=0][AdminComment=schedmate:a/1]\n"
        "[release][4]\n"
        "[update][JobId=4][AdminComment=expected at 10:00]\n"
        "[2_3]\n"
        "[requeue][2_0]\n"
        "[update][JobId=2_0][ExcNodeList=n0,n1]\n"
        "[update][NodeName=n0][State=DRAIN][Reason=schedmate:a/2 Xid 79]\n"
        "[update][NodeName=n2][State=UNDRAIN]\n");
}

TEST_CASE("what makes no sense on what is read is refused and not asked for") {
  Recorded site;
  CommandLine cluster = site.cluster();
  const auto refused = [&](const ActionCall& call, std::string_view why) {
    const CallReply reply = cluster.call(call, long_enough);
    CHECK(reply.outcome == CallOutcome::refused);
    CHECK_MESSAGE(reply.text.contains(why), reply.text);
  };
  ActionCall other = of(ActionKind::cancel, "3");
  other.submitted += Seconds(1);
  refused(other, "another one than was meant");
  refused(of(ActionKind::set_order, "4"), "sprio shows no priority");
  refused(of(ActionKind::set_order, "2_0"), "does not wait");
  refused(of(ActionKind::hold, "4", "schedmate:a/1"), "held already");
  for (const char* mark : {"schedmate:main.ab12/77", "schedmate:main.ab12/", ""})
    refused(of(ActionKind::release, "4", mark), "not held with this mark");
  refused(of(ActionKind::cancel, "5"), "has ended");
  ActionCall again = of(ActionKind::requeue_excluding, "2_0");
  again.restarts = 1;
  refused(again, "started again since");
  refused(of(ActionKind::requeue_excluding, "3"), "waits already");
  refused(of(ActionKind::requeue_excluding, "7"), "must not be requeued");
  refused(on(ActionKind::drain_node, "n2", "schedmate:a/2"), "drained already");
  refused(on(ActionKind::drain_node, "n9", "schedmate:a/2"), "no node n9");
  refused(on(ActionKind::undrain_node, "n0", "schedmate:main.ab12/8"), "not carry this mark");
  refused(on(ActionKind::undrain_node, "n2", "schedmate:main.ab12/"), "not carry this mark");
  refused(of(ActionKind::submit, ""), "sbatch");
  CHECK(site.calls().empty());
}

TEST_CASE("nodes are excluded as soon as Slurm lets them be, and a no to that is told") {
  Recorded site;
  const std::string tried = site.here.path("tried");
  site.changes("[ $1 = requeue ] && exit 0; [ -e " + tried + " ] && exit 0; touch " + tried +
               "; echo 'Job is no longer pending execution for job 2_0' >&2; exit 1\n");
  CommandLine cluster = site.cluster();
  ActionCall again = of(ActionKind::requeue_excluding, "2_0");
  again.nodes = {{"n0", {}}};
  CHECK(cluster.call(again, long_enough).text.empty());
  CHECK(std::filesystem::exists(tried));
  site.changes("[ $1 = requeue ] && exit 0; echo 'Job is no longer pending' >&2; exit 1\n");
  const CallReply never = cluster.call(again, Connector::Deadline(5000));
  CHECK(never.outcome == CallOutcome::done);
  CHECK(never.text.contains("not kept off n0"));
}

TEST_CASE("refused is only what Slurm said no to") {
  const auto outcome = [](const std::string& script, Connector::Deadline within = long_enough) {
    Recorded site;
    site.changes(script);
    CommandLine cluster = site.cluster();
    const CallReply reply = cluster.call(of(ActionKind::annotate, "3", "x"), within);
    CHECK(!reply.text.empty());
    return reply.outcome;
  };
  using enum CallOutcome;
  CHECK(outcome("echo 'slurm_update error: Invalid job id specified' >&2; exit 1\n") == refused);
  CHECK(outcome("echo 'Access/permission denied for job 3' >&2; exit 1\n") == refused);
  CHECK(outcome("echo 'slurm_update error: Unable to contact slurm controller (connect failure)' "
                ">&2; exit 1\n") == unknown);
  CHECK(outcome("echo 'scontrol: error: Munge encode failed' >&2; exit 1\n") == unknown);
  CHECK(outcome("echo 'Unexpected message received for job 3' >&2; exit 1\n") == unknown);
  CHECK(outcome("exit 1\n") == unknown);
  CHECK(outcome("kill -9 $$\n") == unknown);
  CHECK(outcome("sleep 600\n", short_time) == unknown);
}

TEST_CASE(
    "programs that hang, fail or print nonsense end by the deadline, and nothing is made up") {
  for (const char* script : {"sleep 60\n", "exit 1\n", "echo '{'\n", "yes\n",
                             "echo '{\"errors\": [{\"description\": \"no\"}], \"jobs\": []}'\n"}) {
    Recorded site;
    for (const char* tool : {"squeue", "sinfo", "scontrol", "sprio"}) site.tool(tool, script);
    CommandLine cluster = site.cluster();
    testing::check_unanswered(cluster, short_time);
  }
}

TEST_CASE("a listing with a part missing is none, and the next one reads all again") {
  Recorded site;
  const Recorded whole;
  CommandLine cluster = site.cluster();
  need(cluster.list(SimTime::min(), long_enough));
  for (const char* tool : {"squeue", "sprio", "sinfo"}) {
    site.tool(tool, "exit 1\n");
    (void)cluster.call(of(ActionKind::cancel, "nobody's"), long_enough);
    CHECK(!cluster.list(SimTime::min(), long_enough));
    site.tool(tool, std::string("exec ") + whole.here.path("bin/") + tool + "\n");
    CHECK(cluster.list(SimTime::min(), long_enough));
  }
}

}  // namespace
}  // namespace schedmate::slurm_live
