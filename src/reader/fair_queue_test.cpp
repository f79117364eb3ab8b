// SPDX-License-Identifier: Apache-2.0
#include "reader/fair_queue.hpp"

#include <doctest/doctest.h>

#include "tests/support/need.hpp"

namespace schedmate::reader {
namespace {

using std::chrono::seconds;
using testing::need;

Waiting of(const std::string& user, std::uint64_t id = 1, Instant due = seconds(100)) {
  return {.client = 1, .id = id, .user = user, .line = "line", .due = due};
}

}  // namespace

TEST_CASE("users take turns, whatever one of them asks for") {
  FairQueue queue({.children = 100, .children_of_user = 100});
  for (int i = 0; i < 10; ++i) need(queue.add(of("ann"), seconds(0)));
  need(queue.add(of("bob"), seconds(0)));
  need(queue.add(of("cat"), seconds(0)));
  std::string order;
  while (const auto next = queue.next(seconds(0))) order += next->user[0];
  CHECK(order == "abcaaaaaaaaa");
}

TEST_CASE("one user has no more children than his share") {
  FairQueue queue({.children = 3, .children_of_user = 2});
  for (int i = 0; i < 5; ++i) need(queue.add(of("ann"), seconds(0)));
  CHECK(queue.next(seconds(0)));
  CHECK(queue.next(seconds(0)));
  CHECK_FALSE(queue.next(seconds(0)));
  need(queue.add(of("bob"), seconds(0)));
  need(queue.add(of("cat"), seconds(0)));
  CHECK(queue.next(seconds(0))->user == "bob");
  CHECK_FALSE(queue.next(seconds(0)));  // three in all
  queue.ended("bob", {}, seconds(0));
  CHECK(queue.next(seconds(0))->user == "cat");
  queue.ended("ann", {}, seconds(0));
  CHECK(queue.next(seconds(0))->user == "ann");
  CHECK(queue.children() == 3);
}

TEST_CASE(
    "whoever waits for a model keeps nobody from a place, and no more may wait so than have one") {
  FairQueue queue({.children = 3, .children_of_user = 2});
  for (int i = 0; i < 5; ++i) need(queue.add(of("ann"), seconds(0)));
  CHECK(queue.next(seconds(0)));
  CHECK(queue.next(seconds(0)));
  CHECK_FALSE(queue.next(seconds(0)));
  CHECK(queue.pause("ann"));
  CHECK(queue.pause("ann"));
  CHECK(queue.children() == 0);
  CHECK(queue.next(seconds(0)));  // her own, too
  CHECK(queue.next(seconds(0)));
  CHECK_FALSE(queue.pause("ann"));
  for (const char* user : {"bob", "cat"}) need(queue.add(of(user), seconds(0)));
  CHECK(queue.next(seconds(0))->user == "bob");
  CHECK(queue.pause("bob"));
  CHECK(queue.next(seconds(0))->user == "cat");
  CHECK_FALSE(queue.pause("cat"));  // three in all
  queue.go_on("ann");
  CHECK(queue.children() == 4);  // it is beyond what may begin, and nobody begins
  need(queue.add(of("dan"), seconds(0)));
  queue.ended("ann", {}, seconds(0));
  CHECK_FALSE(queue.next(seconds(0)));
  queue.ended("cat", {}, seconds(0));
  CHECK(queue.next(seconds(0))->user == "dan");
  CHECK(queue.pause("dan"));
}

TEST_CASE("more waiting requests than a user's share, or than there is room for, are refused") {
  FairQueue queue({.waiting = 3, .waiting_of_user = 2});
  need(queue.add(of("ann"), seconds(0)));
  need(queue.add(of("ann"), seconds(0)));
  const auto more = queue.add(of("ann"), seconds(0));
  REQUIRE_FALSE(more);
  CHECK(more.error().code == ErrorCode::unavailable);
  CHECK(more.error().message == "the reader is busy: 2 requests of ann wait already");
  need(queue.add(of("bob"), seconds(0)));
  CHECK(queue.add(of("cat"), seconds(0)).error().message.contains("3 requests wait already"));
  FairQueue small({.waiting_bytes = 6});
  need(small.add(of("ann"), seconds(0)));
  CHECK_FALSE(small.add(of("bob"), seconds(0)));
}

TEST_CASE("CPU time and bytes are paid back over a minute") {
  FairQueue queue({.cpu_per_minute = seconds(60), .bytes_per_minute = 600});
  need(queue.add(of("ann"), seconds(0)));
  need(queue.add(of("ann"), seconds(0)));
  CHECK(queue.next(seconds(0)));
  queue.ended("ann", {.cpu = seconds(75)}, seconds(0));
  CHECK_FALSE(queue.next(seconds(0)));  // what waits goes on waiting
  const auto refused = queue.add(of("ann"), seconds(0));
  REQUIRE_FALSE(refused);
  CHECK(refused.error().message.contains("has used 75 s of CPU time"));
  CHECK(refused.error().message.contains("try again in 16 s"));
  CHECK_FALSE(queue.next(seconds(14)));
  CHECK(queue.next(seconds(16)));
  queue.ended("ann", {.bytes = 6000}, seconds(16));
  CHECK_FALSE(queue.add(of("ann"), seconds(500)));
  need(queue.add(of("bob"), seconds(500)));
  need(queue.add(of("ann"), seconds(560)));
}

TEST_CASE("what waits too long is given back, and what nobody waits for is dropped") {
  FairQueue queue({});
  need(queue.add(of("ann", 1, seconds(5)), seconds(0)));
  need(queue.add(of("ann", 2, seconds(9)), seconds(0)));
  need(queue.add(of("bob", 3, seconds(5)), seconds(0)));
  CHECK(queue.late(seconds(4)).empty());
  CHECK(queue.late(seconds(5)).size() == 2);
  CHECK(queue.waiting() == 1);
  queue.forget_client(1);
  CHECK(queue.waiting() == 0);
  CHECK_FALSE(queue.next(seconds(5)));
}

TEST_CASE("users who are done are forgotten") {
  FairQueue queue({.waiting = 1});
  for (int i = 0; i < 5000; ++i) {
    const std::string user = "u" + std::to_string(i);
    need(queue.add(of(user), seconds(i)));
    CHECK(queue.next(seconds(i)));
    queue.ended(user, {.cpu = seconds(1)}, seconds(i));
  }
  CHECK(queue.users() < 1100);
}

}  // namespace schedmate::reader
