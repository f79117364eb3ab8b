// SPDX-License-Identifier: Apache-2.0
#include "policy/skill.hpp"

#include <doctest/doctest.h>

#include "base/random.hpp"
#include "tests/support/near.hpp"

namespace schedmate::policy {
namespace {

using testing::near;

/// Three jobs that came out as the host said: 1, 2 and 3, of one GPU each.
RecentJobs three_peers() {
  RecentJobs peers;
  for (const double value : {1.0, 2.0, 3.0}) peers.add({value, value, value, 0});
  return peers;
}

TEST_CASE("the gain of order counts pairs by how far apart they came out") {
  const RecentJobs peers = three_peers();
  const Expected last{0, 0, 4, 0};  // the host put it first, it came out last
  CHECK(near(peers.gain_of_order(last, 4), 1, 1e-12, 0));
  CHECK(peers.gain_of_order(last, 0.5) == 0);  // nearer, but still first
  // Beyond the first alone: 3 of the 3 + 2 + 1 that it is off.
  CHECK(near(peers.gain_of_order(last, 1.5), 0.5, 1e-12, 0));
  // The host was right: the more it is moved, the worse.
  const Expected right{4, 4, 4, 0};
  CHECK(peers.gain_of_order(right, 10) == 0);
  CHECK(near(peers.gain_of_order(right, 0), -1, 1e-12, 0));
}

TEST_CASE("order is by GPU time: an hour of four GPUs stands behind two hours of one") {
  RecentJobs peers;
  peers.add({2, 2, 2, 0});
  const Expected four{1, 3, 3, 1.4};  // 2.4 as the host has it: already behind
  CHECK(peers.gain_of_order(four, 3) == 0);
  const Expected one{1, 3, 3, 0};
  CHECK(near(peers.gain_of_order(one, 3), 1, 1e-12, 0));
}

TEST_CASE("without peers and before ten jobs nothing is earned") {
  Skill skill;
  const RecentJobs nobody;
  CHECK(nobody.gain_of_order({1, 2, 3, 0}, 2) == 0);
  for (int i = 0; i < 9; ++i) skill.add({1, 3, 3, 0}, nobody, AdviceGoal::length);
  CHECK(skill.weight(AdviceGoal::length) == 0);
  for (int i = 0; i < 9; ++i) skill.add({1, 3, 3, 0}, nobody, AdviceGoal::length);
  CHECK(skill.weight(AdviceGoal::length) == 1);
}

/// The weight after jobs whose truth and host are drawn from 0 to 10, and whose advice `make`s.
template <class Make>
double earned(AdviceGoal purpose, const Make& make) {
  Random random(3);
  Skill skill;
  RecentJobs peers;
  for (int i = 0; i < 500; ++i) {
    Expected job;
    job.truth = 10 * random.uniform();
    job.host = 10 * random.uniform();
    job.advised = make(job, random);
    skill.add(job, peers, purpose);
    peers.add(job);
  }
  return skill.weight(purpose);
}

TEST_CASE("each purpose is judged by its own measure") {
  const auto truth = [](const Expected& job, Random&) { return job.truth; };
  CHECK(earned(AdviceGoal::order, truth) == 1);
  CHECK(earned(AdviceGoal::length, truth) == 1);
  // The middle is nearer than a guess, but orders nothing.
  const auto middle = [](const Expected&, Random&) { return 5.0; };
  CHECK(earned(AdviceGoal::length, middle) > 0);
  CHECK(earned(AdviceGoal::order, middle) == 0);
  // Worse than a guess.
  const auto reversed = [](const Expected& job, Random&) { return 10 - job.truth; };
  CHECK(earned(AdviceGoal::order, reversed) == 0);
  CHECK(earned(AdviceGoal::length, reversed) == 0);
}

}  // namespace
}  // namespace schedmate::policy
