// SPDX-License-Identifier: Apache-2.0
#include "tests/support/connector_suite.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <chrono>
#include <numeric>
#include <string>
#include <utility>

#include "tests/support/need.hpp"
#include "tests/support/patience.hpp"

namespace schedmate::testing {
namespace {

constexpr const char* mark = "schedmate:suite/1";
/// Marks that only look alike.
constexpr const char* other_marks[] = {"schedmate:suite/12", "schedmate:suite/", "schedmate:x/1",
                                       ""};

class Suite {
 public:
  explicit Suite(const ConnectorTrial& trial) : trial_(trial), lacks_(need(abilities())) {}

  void run() {
    readings();
    orders();
    notes();
    holds();
    starts();
    drains();
    evictions();
    submissions();
    cancellations();
    lacking();
    ends();
  }

 private:
  Result<Abilities> abilities() { return trial_.connector.abilities(trial_.within); }
  bool can(ActionKind kind) const { return lacks_.lack(kind).empty(); }

  Listing read(SimTime ended_since = SimTime::min()) {
    Listing listing = need(trial_.connector.list(ended_since, trial_.within));
    CHECK(listing.version >= version_);
    CHECK(listing.now >= now_);
    CHECK(listing.ended_since >= ended_since);
    version_ = listing.version;
    now_ = listing.now;
    const auto there = [](const SeenJob& job) { return job.phase != JobPhase::ended; };
    std::vector<SimTime> times;
    for (const SeenJob& job : listing.jobs)
      if (there(job)) times.push_back(job.submitted);
    CHECK(std::ranges::is_sorted(times));
    return listing;
  }
  SeenJob job(const std::string& id) {
    const auto found = need(trial_.connector.job(id, trial_.within));
    REQUIRE(found);
    return *found;
  }
  SeenNode node(const std::string& name) {
    const Listing listing = read();
    const auto found = std::ranges::find(listing.nodes, name, &SeenNode::name);
    REQUIRE(found != listing.nodes.end());
    return *found;
  }
  CallReply call(const ActionCall& call) { return trial_.connector.call(call, trial_.within); }

  /// The cluster is as before.
  void check_refused(const ActionCall& asked, const char* why) {
    INFO("refused: " << std::string(why));
    const Listing before = read();
    const CallReply reply = call(asked);
    CHECK(reply.outcome == CallOutcome::refused);
    CHECK(!reply.text.empty());
    const Listing after = read();
    CHECK(after.jobs == before.jobs);
    CHECK(after.nodes == before.nodes);
  }
  void check_done(const ActionCall& asked) {
    INFO("done: " << name_of(asked.kind));
    const std::int64_t before = read().version;
    const CallReply reply = call(asked);
    INFO(reply.text);
    CHECK(reply.outcome == CallOutcome::done);
    CHECK(read().version > before);
  }

  std::vector<SeenJob> waiting() {
    std::vector<SeenJob> jobs = read().jobs;
    std::erase_if(jobs,
                  [](const SeenJob& each) { return each.phase != JobPhase::queued || each.held; });
    REQUIRE(jobs.size() >= 3);
    return jobs;
  }
  static ActionCall of(ActionKind kind, const SeenJob& job, std::string text = "") {
    ActionCall made{.kind = kind, .job = job.id, .submitted = job.submitted};
    made.restarts = job.restarts;
    made.text = std::move(text);
    return made;
  }
  static ActionCall of(ActionKind kind, const std::string& node, std::string text) {
    ActionCall made{.kind = kind, .nodes = {{node, {}}}};
    made.text = std::move(text);
    return made;
  }
  /// On the first GPUs of the i-th node.
  ActionCall start(const SeenJob& job, std::size_t i) {
    const Listing listing = read();
    ActionCall made = of(ActionKind::start, job);
    made.nodes = {{listing.nodes.at(i).name, {}}};
    REQUIRE(job.gpus <= listing.nodes.at(i).gpus);
    made.nodes.front().gpus.resize(static_cast<std::size_t>(job.gpus));
    std::iota(made.nodes.front().gpus.begin(), made.nodes.front().gpus.end(), 0);
    return made;
  }
  static ActionCall as(ActionCall call, const std::function<void(ActionCall&)>& change) {
    change(call);
    return call;
  }

  void readings() {
    const Listing first = read(), second = read();
    if (first.version == second.version) {
      CHECK(first.jobs == second.jobs);
      CHECK(first.nodes == second.nodes);
    }
    REQUIRE(first.nodes.size() >= 3);
    for (const SeenJob& each : waiting()) {
      CHECK(job(each.id) == each);
      CHECK(each.gpus >= 1);
      CHECK(!each.started);
    }
    CHECK(!need(trial_.connector.job("nobody's", trial_.within)));
    CHECK(!need(trial_.connector.job("", trial_.within)));
    CHECK(!need(trial_.connector.find_submission("no token", trial_.within)));
  }

  /// For each kind that is about a job.
  void check_wrong_jobs(const ActionCall& right) {
    check_refused(as(right, [](ActionCall& each) { each.job = "nobody's"; }), "an unknown job");
    check_refused(as(right, [](ActionCall& each) { each.job.clear(); }), "no job");
    check_refused(as(right, [](ActionCall& each) { each.submitted += Seconds(1); }),
                  "another job of that id");
  }

  void orders() {
    if (!can(ActionKind::set_order)) return;
    ActionCall order = of(ActionKind::set_order, waiting().front());
    check_wrong_jobs(order);
    for (const std::int64_t value : {7, 7, -3, 0}) {
      order.order = value;
      CHECK(call(order).outcome == CallOutcome::done);
      CHECK(job(order.job).order == value);
      const Listing once = read();
      CHECK(call(order).outcome == CallOutcome::done);  // idempotent
      CHECK(read().jobs == once.jobs);
    }
  }

  void notes() {
    if (!can(ActionKind::annotate)) return;
    const SeenJob first = waiting().front();
    check_wrong_jobs(of(ActionKind::annotate, first, "x"));
    for (const char* text : {"expected at 10:00", "two\nlines, \"quoted\" \xc3\xa9", ""}) {
      check_done(of(ActionKind::annotate, first, text));
      CHECK(job(first.id).note == text);
    }
  }

  void holds() {
    if (!can(ActionKind::hold)) return;
    const SeenJob first = waiting().front();
    const ActionCall hold = of(ActionKind::hold, first, mark);
    check_wrong_jobs(hold);
    check_refused(of(ActionKind::release, first, mark), "it is not held");
    check_done(hold);
    CHECK(job(first.id).held);
    CHECK(job(first.id).mark == mark);
    check_refused(of(ActionKind::hold, first, "schedmate:x/9"), "somebody holds it");
    if (can(ActionKind::start)) check_refused(start(first, 0), "it is held");
    for (const char* other : other_marks)
      check_refused(of(ActionKind::release, first, other), "somebody else's hold");
    check_wrong_jobs(of(ActionKind::release, first, mark));
    check_done(of(ActionKind::release, first, mark));
    CHECK(!job(first.id).held);
    CHECK(job(first.id).mark.empty());
  }

  void check_wrong_starts(const ActionCall& right) {
    using Call = ActionCall;
    check_wrong_jobs(right);
    const auto refuse = [&](const std::function<void(Call&)>& change, const char* why) {
      check_refused(as(right, change), why);
    };
    refuse([](Call& each) { ++each.restarts; }, "another attempt");
    refuse([](Call& each) { each.nodes.clear(); }, "nowhere");
    refuse([](Call& each) { each.nodes.front().node = "nowhere"; }, "an unknown node");
    refuse([](Call& each) { each.nodes.front().gpus.pop_back(); }, "too few GPUs");
    refuse([](Call& each) { each.nodes.front().gpus.back() = 10'000; }, "a GPU that is not there");
    refuse([](Call& each) { each.nodes.front().gpus.back() = -1; }, "a GPU that cannot be");
    refuse(
        [](Call& each) {
          each.nodes.front().gpus.pop_back();
          each.nodes.push_back({each.nodes.front().node, {0}});
        },
        "a GPU twice");
    refuse([](Call& each) { each.shared_with = "nobody's"; }, "beside a job that is not there");
  }

  void starts() {
    if (!can(ActionKind::start)) return;
    const auto jobs = waiting();
    const auto large = std::ranges::max_element(jobs, {}, &SeenJob::gpus);
    REQUIRE(large->gpus >= 2);
    const ActionCall right = start(*large, 0);
    check_wrong_starts(right);
    check_done(right);
    const SeenJob run = job(large->id);
    CHECK(run.phase == JobPhase::running);
    CHECK(run.started);
    CHECK(run.nodes == right.nodes);
    CHECK(run.restarts == large->restarts);
    check_refused(right, "it runs already");
    if (can(ActionKind::hold)) check_refused(of(ActionKind::hold, run, mark), "it runs");
    const auto next =
        std::ranges::find_if(jobs, [&](const SeenJob& each) { return each.id != large->id; });
    check_refused(start(*next, 0), "a GPU is held");
  }

  void drains() {
    if (!can(ActionKind::drain_node)) return;
    const std::string name = read().nodes.at(1).name;
    const std::string reason = std::string(mark) + " Xid 79";
    check_refused(of(ActionKind::drain_node, "nowhere", reason), "an unknown node");
    check_refused(of(ActionKind::undrain_node, name, mark), "it is in service");
    check_done(of(ActionKind::drain_node, name, reason));
    CHECK(node(name).state == NodeState::drained);
    CHECK(node(name).reason == reason);
    check_refused(of(ActionKind::drain_node, name, "schedmate:x/9 no"), "somebody drained it");
    if (can(ActionKind::start)) check_refused(start(waiting().front(), 1), "it is drained");
    for (const char* other : other_marks)
      check_refused(of(ActionKind::undrain_node, name, other), "somebody else's drain");
    check_done(of(ActionKind::undrain_node, name, mark));
    CHECK(node(name).state == NodeState::up);
    CHECK(node(name).reason.empty());
    if (!can(ActionKind::start)) return;
    // What runs on a drained node goes on.
    const std::string busy = read().nodes.at(0).name;
    const auto running = read().jobs;
    check_done(of(ActionKind::drain_node, busy, mark));
    CHECK(read().jobs == running);
    check_done(of(ActionKind::undrain_node, busy, mark));
  }

  void evictions() {
    if (!can(ActionKind::evict) || !can(ActionKind::start)) return;
    check_refused(of(ActionKind::evict, waiting().front()), "it does not run");
    const std::vector<SeenJob> jobs = read().jobs;
    const auto runs = std::ranges::find(jobs, JobPhase::running, &SeenJob::phase);
    REQUIRE(runs != jobs.end());
    const ActionCall evict = of(ActionKind::evict, *runs);
    check_wrong_jobs(evict);
    check_done(evict);
    const SeenJob again = job(runs->id);
    CHECK(again.phase == JobPhase::queued);
    CHECK(again.restarts == runs->restarts + 1);
    CHECK(again.nodes.empty());
    check_refused(evict, "it waits already");
    check_refused(start(*runs, 0), "another attempt");
    check_done(start(again, 0));
    check_refused(evict, "another attempt");
  }

  SeenJob submitted(const std::string& token) {
    ActionCall submit{.kind = ActionKind::submit};
    submit.text = R"({"name": "made", "command": "sleep 60", "gpus": 1, "limit_s": 60})";
    submit.user = "ann";
    submit.token = token;
    const CallReply reply = call(submit);
    REQUIRE(reply.outcome == CallOutcome::done);
    return job(reply.job);
  }

  void submissions() {
    if (!can(ActionKind::submit)) return;
    ActionCall wrong{.kind = ActionKind::submit};
    for (const char* text : {"", "no request", "[]", R"({"gpus": 0})", R"({"gpus": 1000000})"})
      check_refused(as(wrong, [&](ActionCall& each) { each.text = text; }), text);
    const SeenJob first = submitted("key 1");
    CHECK(first.phase == JobPhase::queued);
    CHECK(first.token == "key 1");
    CHECK(first.user == "ann");
    CHECK(first.name == "made");
    CHECK(first.gpus == 1);
    CHECK(first.limit == Seconds(60));
    CHECK(need(trial_.connector.find_submission("key 1", trial_.within)) == first.id);
    CHECK(std::ranges::count(read().jobs, first.id, &SeenJob::id) == 1);
    CHECK(submitted("key 2").id != first.id);
  }

  void cancellations() {
    if (!can(ActionKind::cancel) || !can(ActionKind::submit) || !can(ActionKind::start)) return;
    const SeenJob waits = submitted("key 3"), runs = submitted("key 4");
    check_wrong_jobs(of(ActionKind::cancel, waits));
    check_done(of(ActionKind::cancel, waits));
    CHECK(job(waits.id).end_state == EndState::cancelled);
    CHECK(!job(waits.id).started);
    check_done(start(runs, 2));
    check_done(of(ActionKind::cancel, runs));
    CHECK(job(runs.id).phase == JobPhase::ended);
    CHECK(job(runs.id).started);
    CHECK(job(runs.id).ended);
    check_refused(of(ActionKind::cancel, runs), "it has ended");
    check_done(start(submitted("key 5"), 2));  // its GPUs are free again
  }

  void lacking() {
    for (int i = 0; i < action_kinds; ++i) {
      const auto kind = static_cast<ActionKind>(i);
      if (can(kind)) continue;
      ActionCall asked = of(kind, waiting().front(), "text");
      asked.nodes = {{read().nodes.front().name, {}}};
      asked.token = "token";
      check_refused(asked, lacks_.lack(kind).c_str());
    }
  }

  void ends() {
    if (!can(ActionKind::start)) return;
    const std::int64_t before = read().version;
    trial_.let_end();
    const Listing all = read();
    CHECK(all.version > before);
    const auto ended = std::ranges::find(all.jobs, JobPhase::ended, &SeenJob::phase);
    REQUIRE(ended != all.jobs.end());
    REQUIRE(ended->ended);
    CHECK(ended->started);
    CHECK(*ended->ended <= all.now);
    CHECK(job(ended->id) == *ended);
    const auto shows = [&](SimTime since) {
      const Listing listing = read(since);
      return std::ranges::find(listing.jobs, ended->id, &SeenJob::id) != listing.jobs.end();
    };
    CHECK(shows(*ended->ended));
    CHECK(!shows(*ended->ended + Seconds(1)));
    for (const ActionKind kind : {ActionKind::evict, ActionKind::hold, ActionKind::set_order})
      if (can(kind)) check_refused(of(kind, *ended, mark), "it has ended");
    if (can(ActionKind::start)) check_refused(start(*ended, 0), "it has ended");
  }

  const ConnectorTrial& trial_;
  Abilities lacks_;
  std::int64_t version_ = 0;
  SimTime now_ = SimTime::min();
};

void check_in_time(const std::function<void()>& operation) { CHECK(ends(operation)); }

}  // namespace

void check_connector(const ConnectorTrial& trial) { Suite(trial).run(); }

void check_unanswered(Connector& connector, Connector::Deadline within) {
  const auto is_blind = [](const Error& error) {
    CHECK(!error.message.empty());
    return error.code == ErrorCode::unavailable || error.code == ErrorCode::invalid;
  };
  check_in_time([&] {
    const auto made = connector.abilities(within);
    CHECK((!made && is_blind(made.error())));
  });
  check_in_time([&] {
    const auto made = connector.list(at(0), within);
    CHECK((!made && is_blind(made.error())));
  });
  check_in_time([&] {
    const auto made = connector.job("1", within);
    CHECK((!made && is_blind(made.error())));
  });
  check_in_time([&] {
    const auto made = connector.find_submission("token", within);
    CHECK((!made && is_blind(made.error())));
  });
  check_in_time([&] {
    const CallReply reply = connector.call({.kind = ActionKind::hold, .job = "1"}, within);
    CHECK(reply.outcome == CallOutcome::unknown);
    CHECK(!reply.text.empty());
  });
}

}  // namespace schedmate::testing
