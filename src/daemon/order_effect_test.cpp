// SPDX-License-Identifier: Apache-2.0
#include "daemon/order_effect.hpp"

#include <doctest/doctest.h>

#include <nlohmann/json.hpp>
#include <schedmate/scheduler.hpp>

#include "tests/support/near.hpp"
#include "tests/support/need.hpp"

namespace schedmate::daemon {
namespace {

using testing::near;
using testing::need;

constexpr std::int64_t now_s = 1'000'000;

SeenJob job_of(const std::string& id, const std::string& user, std::int64_t submit_s) {
  SeenJob job;
  job.id = id;
  job.user = user;
  job.partition = "gpu";
  job.gpus = 1;
  job.submitted = at(submit_s);
  job.limit = Seconds(7200);
  return job;
}

/// A node with one GPU, which ann's long job came first for, then bob's short one, then one of a
/// user of whom nothing is known. Their users' runs are known, to the second.
struct Queue {
  Listing listing;
  Forecasts forecasts;
  Hindsight hindsight;
  Scheduler slurm;

  Queue() {
    listing.now = at(now_s);
    listing.nodes = {{"n0", "gpu", 1, NodeState::up, ""}};
    for (const auto& [id, user] : {std::pair("1", "ann"), {"2", "bob"}, {"3", "new"}}) {
      listing.jobs.push_back(job_of(id, user, now_s - 100));
      listing.ranks[id] = {100.0, listing.now, at(now_s - 100)};
    }
    for (int i = 0; i < 200; ++i) {
      ended("ann", 3600, i);
      ended("bob", 60, i);
    }
    const ClusterSpec none;
    PolicyOptions options;
    options.add_defaults("bf_interval=1,weight_age=1000,weight_fairshare=0,weight_job_size=0");
    slurm = need(make_scheduler("slurm_backfill", {none}, options));
  }
  void ended(const std::string& user, std::int64_t ran_s, std::int64_t number) {
    SeenJob run = job_of(user + std::to_string(number), user, now_s - 800'000 + number * 3700);
    run.phase = JobPhase::ended;
    run.end_state = EndState::completed;
    run.started = run.submitted;
    run.ended = run.submitted + Seconds(ran_s);
    forecasts.note(run);
  }
  Forecast forecast(const Wishes& wishes) {
    return need(forecast_of(forecasts.question(listing, wishes), slurm, hindsight));
  }
};

TEST_CASE("what the cluster's own scheduler makes of jobs is what its replay begins with") {
  Queue queue;
  queue.forecasts.half_life(Seconds(86'400));
  queue.listing.ranks["2"].priority = 700;
  const auto question = queue.forecasts.question(queue.listing);
  REQUIRE(question->snapshot.jobs.size() == 3);
  const SnapshotJob& bobs = question->snapshot.jobs[1];
  CHECK(bobs.rank->priority == 700);
  CHECK(bobs.rank->used_gpu_s > 60);
  CHECK(bobs.rank->used_gpu_s < 60 * 200);
  CHECK(bobs.planned == FractionalSeconds(7200));
  CHECK(question->would_be.empty());
  CHECK(queue.forecast({}).jobs.at("2").start->p50 < queue.forecast({}).jobs.at("1").start->p50);
  queue.listing.ranks.clear();
  CHECK_FALSE(queue.forecasts.question(queue.listing)->snapshot.jobs[1].rank);
}

TEST_CASE("an order that is wished for is replayed beside the queue as it is") {
  Queue queue;
  CHECK_FALSE(queue.forecast({}).order);
  const Forecast told = queue.forecast({{"2", {500, true}}, {"3", {0, false}}});
  REQUIRE(told.order);
  const OrderEffect& effect = *told.order;
  CHECK(effect.waiting == 3);
  CHECK(effect.changed == 1);
  CHECK(effect.unknown == 1);
  // The long job starts after the short one instead of before it; the third one is last as before.
  CHECK(near(effect.now.mean - effect.would_be.mean, 3540.0 / 3, 0.1, 0));
  CHECK(effect.change_pct.mean < -20);
  CHECK(effect.change_pct.p10 <= effect.change_pct.p90);
  CHECK(near(effect.unknown_now.mean, effect.unknown_would_be.mean, 0.01, 0));
  CHECK(told.jobs.at("2").start_if_ordered->p50 <= at(now_s + 5));
  CHECK(told.jobs.at("2").start->p50 > at(now_s + 1800));
  const Document document = order_effect_document(effect);
  CHECK(document["wait_s"]["now"]["mean"] == effect.now.mean);
  CHECK(start_if_ordered(&told, "2", told.now)["p50"].is_number());
  CHECK(start_if_ordered(&told, "9", told.now).is_null());
  CHECK(start_if_ordered(nullptr, "2", told.now).is_null());
}

TEST_CASE("what never starts is in no mean, and nobody waits in an empty queue") {
  Queue queue;
  queue.listing.jobs[0].held = true;
  const Forecast told = queue.forecast({{"2", {500, true}}});
  CHECK(told.order->waiting == 2);
  queue.listing.jobs.clear();
  queue.listing.ranks.clear();
  CHECK_FALSE(queue.forecast({{"2", {500, true}}}).order);
}

}  // namespace
}  // namespace schedmate::daemon
