// SPDX-License-Identifier: Apache-2.0
#include "policy/slurm_backfill_priority.hpp"

#include <doctest/doctest.h>

namespace schedmate::policy {
namespace {

constexpr Seconds day{86'400};

/// Two nodes of 8 GPUs, and jobs of users that are added to a queue by hand.
class PriorityWorld {
 public:
  explicit PriorityWorld(const MultifactorWeights& weights) : queue_(weights) {}

  JobId submit(std::uint32_t user, int gpus, SimTime when) {
    const JobId id = jobs_.end();
    JobInfo& job = jobs_[id];
    job.user = user;
    job.gpus = gpus;
    job.submit = job.entered = when;
    queue_.push(view(when), id);
    return id;
  }
  void run(JobId id, SimTime from, SimTime to) {
    queue_.remove(id);
    queue_.started(view(from), id);
    queue_.ended(view(to), id);
  }
  void set_order(JobId id, std::int64_t order, SimTime when) {
    jobs_.at(id).order = order;
    queue_.remove(id);
    queue_.push(view(when), id);
  }
  bool calculate(SimTime when) { return queue_.calculate(view(when)); }
  [[nodiscard]] std::vector<std::uint64_t> priorities() {
    std::vector<std::uint64_t> result;
    auto in_order = queue_.in_order();
    while (const auto entry = in_order.next()) result.push_back(entry->priority);
    return result;
  }
  [[nodiscard]] std::vector<JobId> order() {
    std::vector<JobId> result;
    auto in_order = queue_.in_order();
    while (const auto entry = in_order.next()) result.push_back(entry->job);
    return result;
  }
  [[nodiscard]] const MultifactorQueue& queue() const { return queue_; }

 private:
  [[nodiscard]] View view(SimTime now) const { return {now, {}, {}, jobs_, cluster_, {}}; }

  JobMap<JobInfo> jobs_;
  Cluster cluster_{{.name = "vc", .nodes = 2, .gpus_per_node = 8, .gpu_type = ""},
                   Placer::consolidate};
  MultifactorQueue queue_;
};

using Priorities = std::vector<std::uint64_t>;
using Order = std::vector<JobId>;

TEST_CASE("age counts up to max_age, and only at the next calculation") {
  PriorityWorld world({.age = 1000, .job_size = 1, .fairshare = 0, .max_age = 10 * day});
  const JobId old = world.submit(0, 1, at(0));
  world.calculate(at(0));
  CHECK(world.priorities() == Priorities{1});
  CHECK_FALSE(world.calculate(at(299)));
  CHECK(world.calculate(at(0) + 5 * day));
  const JobId young = world.submit(0, 1, at(0) + 5 * day);
  CHECK(world.priorities() == Priorities{500, 1});
  CHECK(world.calculate(at(0) + 30 * day));
  CHECK(world.priorities() == Priorities{1000, 1000});
  CHECK(world.order() == Order{old, young});  // equal: by submission
}

// Of 2 nodes and 16 GPUs, 12 GPUs are (2/2 + 12/16) / 2 = 7/8; 4 GPUs (1/2 + 4/16) / 2 = 3/8.
TEST_CASE("job size favours the large, or the small if so set") {
  for (const bool small : {false, true}) {
    PriorityWorld world({.age = 0, .job_size = 800, .fairshare = 0, .favor_small = small});
    const JobId four = world.submit(0, 4, at(0));
    const JobId twelve = world.submit(0, 12, at(0));
    CHECK(world.order() == (small ? Order{four, twelve} : Order{twelve, four}));
    CHECK(world.priorities() == (small ? Priorities{500, 100} : Priorities{700, 300}));
  }
}

// The heavy user has 3/4 of all usage, of which 1/2 is due: 2^-1.5 = 0.353; the light one 2^-0.5 =
// 0.707. Nothing is forgotten.
TEST_CASE("a heavy user's later job goes behind a light user's") {
  PriorityWorld world({.age = 0, .job_size = 0, .fairshare = 1000, .half_life = Seconds(0)});
  world.run(world.submit(0, 3, at(0)), at(0), at(600));
  world.run(world.submit(1, 1, at(0)), at(0), at(600));
  const JobId heavy = world.submit(0, 1, at(600));
  const JobId light = world.submit(1, 1, at(601));
  CHECK(world.order() == Order{heavy, light});  // until the next calculation
  CHECK(world.calculate(at(900)));
  CHECK(world.order() == Order{light, heavy});
  CHECK(world.priorities() == Priorities{707, 353});
}

// Slurm counts for each what his account used, too, as far as it is his share: of a part u of all,
// u + (1 - u) / 2 of the due 1/2. The heavy one has 2^-1.75 = 0.297, the light one 2^-1.25 = 0.420,
// who has used nothing 2^-1, with three users 2^-(1 + 0) as well.
TEST_CASE("among the users of one account fairshare is half as strong") {
  PriorityWorld world(
      {.age = 0, .job_size = 0, .fairshare = 1000, .in_account = true, .half_life = Seconds(0)});
  world.run(world.submit(0, 3, at(0)), at(0), at(600));
  world.run(world.submit(1, 1, at(0)), at(0), at(600));
  world.submit(0, 1, at(600));
  world.submit(1, 1, at(601));
  CHECK(world.priorities() == Priorities{1000, 1000});  // nobody has used anything
  CHECK(world.calculate(at(900)));
  CHECK(world.priorities() == Priorities{420, 297});
  world.submit(2, 1, at(901));
  CHECK(world.priorities().front() == 500);
}

// User 0 used 8 GPU-days until day 1 (the ageing within that day left out: both the same), user 1
// 4 GPU-days until day 3. With a half-life of two days the former counts as 4: equal shares.
TEST_CASE("half of what a user has used is forgotten every half_life") {
  PriorityWorld world({.age = 0, .job_size = 0, .fairshare = 1000, .half_life = 2 * day});
  world.run(world.submit(0, 8, at(0)), at(0), at(0) + day);
  world.run(world.submit(1, 4, at(0)), at(0) + 2 * day, at(0) + 3 * day);
  world.submit(0, 1, at(0) + 3 * day);
  world.submit(1, 1, at(0) + 3 * day);
  CHECK(world.calculate(at(0) + 3 * day + Seconds(300)));
  for (const std::uint64_t priority : world.priorities()) {
    CHECK(priority >= 499);  // 2^-1, but for rounding
    CHECK(priority <= 500);
  }
}

// One GPU of 16 on one node of two: (1/2 + 1/16) / 2 = 9/32 of 3200.
TEST_CASE("an order from outside is added to the priority at once, and stays in it") {
  PriorityWorld world({.age = 1000, .job_size = 3200, .fairshare = 0, .max_age = 10 * day});
  const JobId first = world.submit(0, 1, at(0));
  const JobId second = world.submit(0, 1, at(0));
  const JobId third = world.submit(0, 1, at(0));
  world.calculate(at(0));
  world.set_order(third, 50, at(100));
  CHECK(world.priorities() == Priorities{950, 900, 900});
  CHECK(world.order() == Order{third, first, second});
  CHECK(world.calculate(at(0) + day));
  world.set_order(first, -50, at(0) + day);
  CHECK(world.priorities() == Priorities{1050, 1000, 950});
  CHECK(world.order() == Order{third, second, first});
  CHECK(world.calculate(at(0) + 2 * day));
  CHECK(world.priorities() == Priorities{1150, 1100, 1050});
  world.set_order(first, 0, at(0) + 2 * day);
  world.set_order(third, 0, at(0) + 2 * day);
  CHECK(world.order() == Order{first, second, third});  // as if nothing had been
}

TEST_CASE("who waits longer may pass a higher order, at a calculation") {
  PriorityWorld world({.age = 1000, .job_size = 0, .fairshare = 0, .max_age = 10 * day});
  const JobId old = world.submit(0, 1, at(0));
  const JobId young = world.submit(0, 1, at(0) + 9 * day);
  world.set_order(young, 500, at(0) + 9 * day);
  world.calculate(at(0) + 9 * day + Seconds(300));
  CHECK(world.order() == Order{old, young});  // 900 and 500
  CHECK(world.queue().next_calculation(at(0) + 9 * day) != never);
  world.calculate(at(0) + 19 * day);
  CHECK(world.order() == Order{young, old});  // 1500 and 1000
}

TEST_CASE("there is no calculation where none can change the order") {
  const PriorityWorld age_only({.age = 1000, .job_size = 0, .fairshare = 0});
  CHECK(age_only.queue().next_calculation(at(7)) == never);
  const PriorityWorld both({.age = 1000, .job_size = 1, .fairshare = 0});
  CHECK(both.queue().next_calculation(at(7)) == at(300));
  CHECK(both.queue().next_calculation(at(300)) == at(600));
}

}  // namespace
}  // namespace schedmate::policy
