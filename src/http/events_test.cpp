// SPDX-License-Identifier: Apache-2.0
#include "http/events.hpp"

#include <doctest/doctest.h>

namespace schedmate::http {
namespace {

const Caller ann_caller{"ann", Role::owner};

std::vector<std::uint64_t> ids_of(const Delta& delta) {
  std::vector<std::uint64_t> ids;
  for (const auto& each : delta.events) ids.push_back(each.id);
  return ids;
}

}  // namespace

TEST_CASE("who lags behind the oldest event, or names one that never was, gets full") {
  EventLog log({.events = 3, .bytes = 1U << 20U, .first_id = 10});
  CHECK(log.last_id() == 9);
  CHECK(!log.since(9, ann_caller, 4096).full);
  CHECK(log.since(0, ann_caller, 4096).full);
  CHECK(log.since(10, ann_caller, 4096).full);
  for (int i = 0; i < 5; ++i) log.publish({"job", "{}"});  // 10 to 14; 12 to 14 are kept
  CHECK(log.since(10, ann_caller, 4096).full);
  CHECK(log.since(10, ann_caller, 4096).last == 14);
  CHECK(ids_of(log.since(11, ann_caller, 4096)) == std::vector<std::uint64_t>{12, 13, 14});
  CHECK(ids_of(log.since(13, ann_caller, 4096)) == std::vector<std::uint64_t>{14});
  CHECK(ids_of(log.since(14, ann_caller, 4096)).empty());
  CHECK(log.since(15, ann_caller, 4096).full);
  CHECK(log.since(~0ULL, ann_caller, 4096).full);
}

TEST_CASE("events go to those whom they concern, and the cursor passes the others") {
  EventLog log;
  log.publish({"job", "{}", Audience::owner, "ann"});
  log.publish({"job", "{}", Audience::owner, "bob"});
  log.publish({"node", "{}"});
  log.publish({"action", "{}", Audience::operators});
  const auto seen = [&](const Caller& caller) { return ids_of(log.since(0, caller, 4096)); };
  using Ids = std::vector<std::uint64_t>;
  CHECK(seen(ann_caller) == Ids{1, 3});
  CHECK(log.since(0, ann_caller, 4096).last == 4);
  CHECK(seen({"olga", Role::cluster_operator}) == Ids{1, 2, 3, 4});
  CHECK(seen({"vera", Role::viewer}) == Ids{3});
  CHECK(seen({"vera", Role::viewer, true}) == Ids{1, 2, 3});
  CHECK(seen({"carl", Role::owner, true}) == Ids{3});
  CHECK(seen({"", Role::owner}) == Ids{3});
}

TEST_CASE("the log is bounded by bytes, too, and a part by what was asked") {
  EventLog log({.events = 1000, .bytes = 10'000});
  for (int i = 0; i < 100; ++i) log.publish({"job", std::string(936, 'x')});  // 1003 bytes each
  CHECK(ids_of(log.since(91, ann_caller, 1U << 20U)).size() == 9);
  CHECK(log.since(90, ann_caller, 1U << 20U).full);
  CHECK(ids_of(log.since(91, ann_caller, 2500)) == std::vector<std::uint64_t>{92, 93});
  CHECK(ids_of(log.since(91, ann_caller, 1)) == std::vector<std::uint64_t>{92});
  log.publish({"job", std::string(50'000, 'x')});
  CHECK(ids_of(log.since(100, ann_caller, 1)) == std::vector<std::uint64_t>{101});
}

TEST_CASE("an event is one block of lines") {
  EventLog log;
  log.publish({"job", "{\"a\":\n\r1}"});
  CHECK(event_text(log.since(0, ann_caller, 4096)) == "id: 1\nevent: job\ndata: {\"a\":  1}\n\n");
  CHECK(event_text(log.since(7, ann_caller, 4096)) == "id: 1\nevent: full\ndata: {}\n\n");
}

}  // namespace schedmate::http
