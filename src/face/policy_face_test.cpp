// SPDX-License-Identifier: Apache-2.0

/// Policies of a host (schedmate_policy.h), called as hosts may call it: well, and badly.

#include <doctest/doctest.h>
#include <schedmate_policy.h>

#include <atomic>
#include <fstream>
#include <functional>
#include <limits>
#include <nlohmann/json.hpp>
#include <sstream>
#include <thread>
#include <vector>

#include "tests/library/host.hpp"

namespace schedmate {
namespace {

using face_test::Answer, face_test::Json, face_test::World;
using Decide = std::function<int(const schedmate_round&)>;

/// Six jobs of 8, 4, 4, 2, 16 and 1 GPUs on two nodes of 8; each runs 100 s.
class Host {
 public:
  Host() {
    std::ofstream(world.path("small.csv")) << "job_id,user,gpu_num,state,submit_time,duration,vc\n"
                                              "a,u,8,COMPLETED,2020-09-01 00:00:00,100,all\n"
                                              "b,u,4,COMPLETED,2020-09-01 00:00:00,100,all\n"
                                              "c,v,4,COMPLETED,2020-09-01 00:00:10,100,all\n"
                                              "d,v,2,COMPLETED,2020-09-01 00:00:20,100,all\n"
                                              "e,v,16,COMPLETED,2020-09-01 00:00:30,100,all\n"
                                              "f,w,1,COMPLETED,2020-09-01 00:00:40,100,all\n";
    std::ofstream(world.path("cluster.toml")) << "nodes = 2\ngpus_per_node = 8\n";
    hooks.finished = [](void* host, const schedmate_outcomes* told) {
      return static_cast<Host*>(host)->keep(*told);
    };
    hooks.context = this;
    policy.decide = [](void* host, const schedmate_round* round) {
      auto& self = *static_cast<Host*>(host);
      ++self.calls;
      return self.decide(*round);
    };
    policy.context = this;
  }

  Answer run(const std::string& policies = "host") {
    hooks.policies = &policy;
    hooks.policy_count = 1;
    const Json request{{"trace", "helios:" + world.path("small.csv")},
                       {"cluster", world.path("cluster.toml")},
                       {"policies", {policies}}};
    return ask(request.dump(), &hooks);
  }
  Answer ask(const std::string& request, const schedmate_hooks* given) const {
    char* reply = nullptr;
    Answer answer{
        schedmate_simulate_with(world.session(), request.data(), request.size(), given, &reply),
        reply == nullptr ? "" : reply};
    CHECK(schedmate_free(reply) == SCHEDMATE_OK);
    return answer;
  }
  int keep(const schedmate_outcomes& told) {
    starts.assign(told.start_s, told.start_s + told.count);
    statuses.assign(told.status, told.status + told.count);
    nodes.assign(told.nodes, told.nodes + told.count);
    bins = told.bins;
    return 0;
  }

  World world;
  schedmate_policy policy{"host", nullptr, 0, nullptr, nullptr};
  schedmate_hooks hooks{sizeof(schedmate_hooks), nullptr, 0, nullptr, 0, nullptr, nullptr, nullptr};
  Decide decide;
  int calls = 0;
  std::vector<std::int64_t> starts;
  std::vector<std::uint8_t> statuses;
  std::vector<std::string> nodes;
  std::size_t bins = 0;
};

/// Starts what waits, in order of arrival, as far as there is room.
struct FirstFit {
  std::vector<std::uint32_t> queue;
  int operator()(const schedmate_round& round) {
    queue.insert(queue.end(), round.arrived->number, round.arrived->number + round.arrived->count);
    std::erase_if(queue, [&](std::uint32_t job) {
      return schedmate_plan_start(round.plan, job, nullptr) == SCHEDMATE_OK;
    });
    return 0;
  }
};

/// What a callback does at its first call; then it starts what it can.
Decide at_first(std::function<void(const schedmate_round&)> work) {
  return [work = std::move(work), rest = FirstFit(), first = true](const auto& round) mutable {
    if (std::exchange(first, false)) work(round);
    return rest(round);
  };
}

TEST_CASE("a policy of the host decides, and sees columns of jobs") {
  Host host;
  std::vector<std::string> ids;
  std::vector<std::uint32_t> ended;
  host.decide = [&, rest = FirstFit()](const schedmate_round& round) mutable {
    const schedmate_jobs& arrived = *round.arrived;
    for (std::size_t i = 0; i < arrived.count; ++i) {
      ids.emplace_back(arrived.id[i]);
      CHECK(arrived.estimate_s[i] == 100);
      CHECK(arrived.entered_s[i] == round.now_s);
      CHECK(arrived.running[i] == 0);
      CHECK(arrived.run_since_s[i] == SCHEDMATE_NEVER);
      CHECK(arrived.sharing_score[i] == -1);
    }
    ended.insert(ended.end(), round.ended.jobs, round.ended.jobs + round.ended.count);
    CHECK(round.gpus.total == 16);
    CHECK(round.gpus.per_node == 8);
    CHECK(round.copy == 0);
    return rest(round);
  };
  const Answer answer = host.run();
  REQUIRE(answer.code == SCHEDMATE_OK);
  CHECK(answer.json()["labels"]["host"]["finished"] == 6);
  CHECK(ids == std::vector<std::string>{"a", "b", "c", "d", "e", "f"});
  CHECK(ended.size() == 6);
  REQUIRE(host.starts.size() == 6);
  const std::int64_t zero = host.starts[0];
  CHECK(host.starts[2] == zero + 10);
  CHECK(host.starts[3] == zero + 100);
  CHECK(host.nodes[0] == "0:0,1,2,3,4,5,6,7");
  CHECK(host.statuses == std::vector<std::uint8_t>(6, 0));
  CHECK(host.bins > 0);
}

TEST_CASE("what is impossible changes nothing, says why, and ends the simulation") {
  struct Case {
    const char* says;
    int code;
    std::function<int(const schedmate_round&)> work;
  };
  const auto start_on = [](const schedmate_round& round, std::vector<schedmate_slice> where) {
    const schedmate_slices slices{where.data(), where.size()};
    return schedmate_plan_start_on(round.plan, 0, &slices, nullptr);
  };
  for (const Case& each : std::vector<Case>{
           {"no job 99", SCHEDMATE_NOT_FOUND,
            [](const auto& r) { return schedmate_plan_start(r.plan, 99, nullptr); }},
           {"cannot start twice", SCHEDMATE_CONFLICT,
            [](const auto& r) {
              CHECK(schedmate_plan_start(r.plan, 0, nullptr) == SCHEDMATE_OK);
              return schedmate_plan_start(r.plan, 0, nullptr);
            }},
           {"has no GPUs to leave", SCHEDMATE_CONFLICT,
            [](const auto& r) { return schedmate_plan_preempt(r.plan, 0, nullptr); }},
           {"has no GPUs to leave", SCHEDMATE_CONFLICT,
            [](const auto& r) { return schedmate_plan_evict(r.plan, 1, nullptr); }},
           {"asks for 8 GPUs and is given 16", SCHEDMATE_INVALID,
            [&](const auto& r) { return start_on(r, {{0, 0xFF}, {1, 0xFF}}); }},
           {"asks for 8 GPUs and is given 0", SCHEDMATE_INVALID,
            [&](const auto& r) { return start_on(r, {}); }},
           {"no node 7 is up", SCHEDMATE_NOT_FOUND,
            [&](const auto& r) { return start_on(r, {{7, 0xFF}}); }},
           {"its GPUs are 0 to 7", SCHEDMATE_INVALID,
            [&](const auto& r) { return start_on(r, {{0, 0x1FE}}); }},
           {"its GPUs are 0 to 7", SCHEDMATE_INVALID,
            [&](const auto& r) { return start_on(r, {{0, 0}}); }},
           {"node 0 is given twice", SCHEDMATE_INVALID,
            [&](const auto& r) { return start_on(r, {{0, 0x0F}, {0, 0xF0}}); }},
           {"does not say that it shares", SCHEDMATE_CONFLICT,
            [&](const auto& r) {
              CHECK(schedmate_plan_start(r.plan, 1, nullptr) == SCHEDMATE_OK);
              return start_on(r, {{0, 0xFF}});
            }},
           {"no trace lasts", SCHEDMATE_INVALID,
            [](const auto& r) {
              return schedmate_plan_wake_at(r.plan, std::numeric_limits<std::int64_t>::max(),
                                            nullptr);
            }},
       }) {
    CAPTURE(each.says);
    Host host;
    int code = 0;
    host.decide = at_first([&](const schedmate_round& round) { code = each.work(round); });
    const Answer answer = host.run();
    CHECK(code == each.code);
    CHECK(answer.code == each.code);
    const auto message = answer.json()["message"].get<std::string>();
    CHECK(message.contains(each.says));
    CHECK(message.contains("policy host at "));
    CHECK(host.calls == 1);
  }
}

TEST_CASE("jobs that have ended cannot start again") {
  Host host;
  std::string said;
  host.decide = [&, rest = FirstFit()](const schedmate_round& round) mutable {
    if (round.ended.count > 0 && said.empty()) {
      char* reply = nullptr;
      CHECK(schedmate_plan_start(round.plan, round.ended.jobs[0], &reply) == SCHEDMATE_CONFLICT);
      said = schedmate_message(reply);
      CHECK(schedmate_free(reply) == SCHEDMATE_OK);
    }
    return rest(round);
  };
  CHECK(host.run().code == SCHEDMATE_CONFLICT);
  CHECK(said.contains("has ended"));
}

TEST_CASE("questions are answered as of now") {
  Host host;
  host.decide = at_first([](const schedmate_round& round) {
    schedmate_gpus gpus{};
    const schedmate_jobs* jobs = nullptr;
    const std::uint64_t* masks = nullptr;
    schedmate_slices held{};
    schedmate_numbers residents{};
    std::size_t count = 0;
    CHECK(schedmate_plan_start(round.plan, 1, nullptr) == SCHEDMATE_OK);
    CHECK(schedmate_plan_gpus(round.plan, &gpus, nullptr) == SCHEDMATE_OK);
    CHECK(gpus.free == 12);
    CHECK(gpus.stranded == 4);
    CHECK(schedmate_plan_fits(round.plan, 12, nullptr) == SCHEDMATE_OK);
    CHECK(schedmate_plan_fits(round.plan, 13, nullptr) == SCHEDMATE_UNAVAILABLE);
    CHECK(schedmate_plan_fits(round.plan, 0, nullptr) == SCHEDMATE_INVALID);
    CHECK(schedmate_plan_free(round.plan, &masks, &count, nullptr) == SCHEDMATE_OK);
    REQUIRE(count == 2);
    CHECK(masks[0] == 0xF0);
    CHECK(masks[1] == 0xFF);
    CHECK(schedmate_plan_held(round.plan, 1, &held, nullptr) == SCHEDMATE_OK);
    REQUIRE(held.count == 1);
    CHECK(held.slices[0].gpus == 0x0F);
    CHECK(schedmate_plan_held(round.plan, 0, &held, nullptr) == SCHEDMATE_OK);
    CHECK(held.count == 0);
    const auto look = [&](schedmate_gpu gpu) {
      return schedmate_plan_residents(round.plan, &gpu, &residents, nullptr);
    };
    CHECK(look({0, 3}) == SCHEDMATE_OK);
    REQUIRE(residents.count == 1);
    CHECK(residents.jobs[0] == 1);
    for (const schedmate_gpu none : {schedmate_gpu{2, 0}, {0, 8}, {0, -1}})
      CHECK(look(none) == SCHEDMATE_NOT_FOUND);
    const std::uint32_t asked[]{1, 0, 77};
    schedmate_numbers numbers{asked, 2};
    CHECK(schedmate_plan_jobs(round.plan, &numbers, &jobs, nullptr) == SCHEDMATE_OK);
    REQUIRE(jobs->count == 2);
    CHECK(std::string(jobs->id[1]) == "a");
    numbers.count = 3;
    CHECK(schedmate_plan_jobs(round.plan, &numbers, &jobs, nullptr) == SCHEDMATE_NOT_FOUND);
    CHECK(jobs == nullptr);
    CHECK(schedmate_plan_preempt(round.plan, 1, nullptr) == SCHEDMATE_OK);
  });
  host.policy.traits = SCHEDMATE_PREEMPTS;
  const Answer answer = host.run();
  CAPTURE(answer.text);
  // What it started and stopped waits on, as far as its own queue knows.
  CHECK(answer.code == SCHEDMATE_OK);
  CHECK(answer.json()["labels"]["host"]["finished"] == 6);
}

TEST_CASE("a callback that gives something else than 0 ends the simulation") {
  Host host;
  host.decide = [&](const schedmate_round&) { return host.calls == 3 ? -7 : 0; };
  const Answer answer = host.run();
  CHECK(answer.code == SCHEDMATE_STOPPED);
  CHECK(answer.json()["code"] == "stopped");
  CHECK(answer.json()["message"] == "policy host ended the simulation: its callback gave -7");
  CHECK(host.calls == 3);
  host.decide = FirstFit();
  host.hooks.progress = [](void*, const char*, double) { return 1; };
  CHECK(host.run().code == SCHEDMATE_STOPPED);
  host.hooks.progress = nullptr;
  host.decide = FirstFit();
  host.hooks.finished = [](void*, const schedmate_outcomes*) { return 5; };
  CHECK(host.run().json()["message"] == "finished ended the simulation: its callback gave 5");
}

TEST_CASE("a plan is of use to its thread, during its call") {
  Host host;
  std::uint64_t old = 0;
  host.decide = [&, rest = FirstFit()](const schedmate_round& round) mutable {
    if (old != 0) CHECK(schedmate_plan_start(old, 0, nullptr) == SCHEDMATE_BAD_CALL);
    CHECK(old != round.plan);
    old = round.plan;
    std::jthread([&] {
      char* reply = nullptr;
      CHECK(schedmate_plan_start(round.plan, 0, &reply) == SCHEDMATE_BAD_CALL);
      CHECK(std::string(schedmate_message(reply)).contains("in this thread"));
      CHECK(schedmate_free(reply) == SCHEDMATE_OK);
      CHECK(schedmate_plan_fits(round.plan, 1, nullptr) == SCHEDMATE_BAD_CALL);
    }).join();
    CHECK(schedmate_close(round.plan) == SCHEDMATE_BAD_CALL);
    CHECK(schedmate_plan_start(round.plan + 1, 0, nullptr) == SCHEDMATE_BAD_CALL);
    return rest(round);
  };
  CHECK(host.run().code == SCHEDMATE_OK);
  for (const std::uint64_t wrong :
       {old, std::uint64_t{0}, ~std::uint64_t{0}, host.world.session()}) {
    CHECK(schedmate_plan_start(wrong, 0, nullptr) == SCHEDMATE_BAD_CALL);
    CHECK(schedmate_plan_preempt(wrong, 0, nullptr) == SCHEDMATE_BAD_CALL);
    CHECK(schedmate_plan_evict(wrong, 0, nullptr) == SCHEDMATE_BAD_CALL);
    CHECK(schedmate_plan_wake_at(wrong, 0, nullptr) == SCHEDMATE_BAD_CALL);
  }
}

TEST_CASE("a callback may call the library, another simulation, too") {
  Host host;
  Answer inner;
  host.decide = at_first([&](const schedmate_round& round) {
    inner = face_test::ask_face(schedmate_track, host.world.session(), host.world.logs());
    Host other;
    other.decide = [&, rest = FirstFit()](const schedmate_round& nested) mutable {
      CHECK(nested.plan != round.plan);
      CHECK(schedmate_plan_fits(round.plan, 16, nullptr) == SCHEDMATE_OK);
      return rest(nested);
    };
    CHECK(other.run().code == SCHEDMATE_OK);
    CHECK(schedmate_plan_fits(round.plan, 16, nullptr) == SCHEDMATE_OK);
  });
  CHECK(host.run().code == SCHEDMATE_OK);
  CHECK(inner.code == SCHEDMATE_OK);
}

TEST_CASE("a session may be closed by a callback, whose simulation goes on") {
  Host host;
  const schedmate_session session = host.world.open_another();
  host.decide =
      at_first([&](const schedmate_round&) { CHECK(schedmate_close(session) == SCHEDMATE_OK); });
  host.hooks.policies = &host.policy;
  host.hooks.policy_count = 1;
  const std::string request = Json{
      {"trace", "helios:" + host.world.path("small.csv")},
      {"cluster", host.world.path("cluster.toml")},
      {"policies", {"host"}}}.dump();
  char* reply = nullptr;
  CHECK(schedmate_simulate_with(session, request.data(), request.size(), &host.hooks, &reply) ==
        SCHEDMATE_OK);
  CHECK(schedmate_free(reply) == SCHEDMATE_OK);
}

TEST_CASE("nulls, and hooks that are none, are bad calls") {
  Host host;
  char* reply = nullptr;
  host.decide = at_first([](const schedmate_round& round) {
    std::size_t count = 0;
    const schedmate_jobs* jobs = nullptr;
    const schedmate_slices nowhere{nullptr, 1};
    const schedmate_numbers nobody{nullptr, 1};
    schedmate_slices held{};
    schedmate_numbers residents{};
    const schedmate_gpu gpu{};
    for (const int code : {schedmate_plan_start_on(round.plan, 0, nullptr, nullptr),
                           schedmate_plan_start_on(round.plan, 0, &nowhere, nullptr),
                           schedmate_plan_gpus(round.plan, nullptr, nullptr),
                           schedmate_plan_jobs(round.plan, &nobody, &jobs, nullptr),
                           schedmate_plan_jobs(round.plan, nullptr, &jobs, nullptr),
                           schedmate_plan_jobs(round.plan, &nobody, nullptr, nullptr),
                           schedmate_plan_free(round.plan, nullptr, &count, nullptr),
                           schedmate_plan_held(round.plan, 0, nullptr, nullptr),
                           schedmate_plan_residents(round.plan, nullptr, &residents, nullptr),
                           schedmate_plan_residents(round.plan, &gpu, nullptr, nullptr),
                           schedmate_plan_held(round.plan + 1, 0, &held, nullptr)})
      CHECK(code == SCHEDMATE_BAD_CALL);
  });
  CHECK(host.run().code == SCHEDMATE_OK);
  const std::string request = "{}";
  const auto code_of = [&](const schedmate_hooks* hooks) { return host.ask(request, hooks).code; };
  CHECK(code_of(nullptr) == SCHEDMATE_BAD_CALL);
  CHECK(schedmate_simulate_with(host.world.session(), "{}", 2, &host.hooks, nullptr) ==
        SCHEDMATE_BAD_CALL);
  CHECK(schedmate_simulate_with(host.world.session(), nullptr, 2, &host.hooks, &reply) ==
        SCHEDMATE_BAD_CALL);
  CHECK(schedmate_free(reply) == SCHEDMATE_OK);
  schedmate_hooks wrong = host.hooks;
  wrong.size = 3;
  CHECK(code_of(&wrong) == SCHEDMATE_BAD_CALL);
  wrong = host.hooks;
  wrong.policies = nullptr;
  CHECK(code_of(&wrong) == SCHEDMATE_BAD_CALL);
  wrong = host.hooks;
  wrong.estimator_count = 1;
  CHECK(code_of(&wrong) == SCHEDMATE_BAD_CALL);
  for (const char* name : {static_cast<const char*>(nullptr), ""}) {
    const schedmate_policy nameless{name, nullptr, 0, host.policy.decide, nullptr};
    wrong = host.hooks;
    wrong.policies = &nameless;
    CHECK(code_of(&wrong) == SCHEDMATE_BAD_CALL);
  }
  const schedmate_policy idle{"idle", nullptr, 0, nullptr, nullptr};
  wrong.policies = &idle;
  CHECK(code_of(&wrong) == SCHEDMATE_BAD_CALL);
}

TEST_CASE("names are the host's own, and elastic jobs are not for it") {
  Host host;
  host.decide = FirstFit();
  host.policy.name = "fifo";
  CHECK(host.run("fifo").code == SCHEDMATE_CONFLICT);
  host.policy.name = "host";
  CHECK(host.run("hosts").code == SCHEDMATE_NOT_FOUND);
  CHECK(host.run("host:no=1").code == SCHEDMATE_NOT_FOUND);
  const schedmate_policy twice[]{host.policy, host.policy};
  schedmate_hooks hooks = host.hooks;
  hooks.policies = twice;
  hooks.policy_count = 2;
  CHECK(host.ask(R"({"trace": "helios:x", "policies": ["host"]})", &hooks).code ==
        SCHEDMATE_CONFLICT);
  CHECK(host.ask(R"({"trace": "sia:x", "policies": ["host"]})", &host.hooks).code ==
        SCHEDMATE_UNSUPPORTED);
}

TEST_CASE("an estimator of the host is asked of each job and told of each end") {
  Host host;
  struct Seen {
    std::vector<std::string> asked, told;
    double prediction = 7;
  } seen;
  schedmate_estimator estimator{"mine",
                                [](void* context, std::uint32_t, const schedmate_known_job* job,
                                   std::int64_t now_s, schedmate_prediction* prediction) {
                                  auto& here = *static_cast<Seen*>(context);
                                  CHECK(job->submit_s == now_s);
                                  here.asked.emplace_back(job->id);
                                  prediction->run_time_s = here.prediction;
                                  return here.prediction == 9 ? 4 : 0;
                                },
                                [](void* context, std::uint32_t, const schedmate_known_job* job,
                                   std::int64_t, std::int64_t run_time_s, const char* state) {
                                  CHECK(run_time_s == 100);
                                  CHECK(std::string(state) == "COMPLETED");
                                  static_cast<Seen*>(context)->told.emplace_back(job->id);
                                  return 0;
                                },
                                &seen};
  host.hooks.estimators = &estimator;
  host.hooks.estimator_count = 1;
  host.decide = [&, rest = FirstFit()](const schedmate_round& round) mutable {
    for (std::size_t i = 0; i < round.arrived->count; ++i) CHECK(round.arrived->estimate_s[i] == 7);
    return rest(round);
  };
  CHECK(host.run("host:estimate=mine").code == SCHEDMATE_OK);
  host.decide = FirstFit();
  CHECK(seen.asked == std::vector<std::string>{"a", "b", "c", "d", "e", "f"});
  CHECK(seen.told.size() == 6);
  for (const double none :
       {-1.0, std::numeric_limits<double>::quiet_NaN(), std::numeric_limits<double>::infinity()}) {
    seen.prediction = none;
    const Answer answer = host.run("host:estimate=mine");
    CHECK(answer.code == SCHEDMATE_INVALID);
    CHECK(answer.json()["message"].get<std::string>().contains("estimator mine: a run time of"));
  }
  seen.prediction = 9;
  CHECK(host.run("host:estimate=mine").code == SCHEDMATE_STOPPED);
}

TEST_CASE("many threads simulate with policies of their own") {
  std::atomic<int> good = 0;
  Host base;
  const std::string request = Json{
      {"trace", "helios:" + base.world.path("small.csv")},
      {"cluster", base.world.path("cluster.toml")},
      {"policies", {"host"}}}.dump();
  {
    std::vector<std::jthread> threads;
    for (int i = 0; i < 6; ++i) {
      threads.emplace_back([&] {
        for (int turn = 0; turn < 5; ++turn) {
          FirstFit mine;
          const schedmate_policy policy{"host", nullptr, 0,
                                        [](void* context, const schedmate_round* round) {
                                          return (*static_cast<FirstFit*>(context))(*round);
                                        },
                                        &mine};
          schedmate_hooks hooks{sizeof(hooks), &policy, 1, nullptr, 0, nullptr, nullptr, nullptr};
          char* reply = nullptr;
          if (schedmate_simulate_with(base.world.session(), request.data(), request.size(), &hooks,
                                      &reply) == SCHEDMATE_OK &&
              std::string(reply).contains("\"finished\": 6"))
            ++good;
          schedmate_free(reply);
        }
      });
    }
  }
  CHECK(good.load() == 30);
}

}  // namespace
}  // namespace schedmate
