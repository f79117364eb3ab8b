// SPDX-License-Identifier: Apache-2.0
/// Readings that lack what was there.
#include "live/doubts.hpp"

#include <doctest/doctest.h>

#include <string>
#include <vector>

#include "tests/support/live_house.hpp"

namespace schedmate::live {
namespace {

Listing listing_of(const std::vector<std::string>& jobs, const std::vector<std::string>& nodes,
                   std::int64_t version) {
  Listing made{.version = version, .now = at(1000), .jobs = {}, .ended_since = {}, .nodes = {}};
  for (const std::string& id : jobs) {
    SeenJob& job = made.jobs.emplace_back();
    job.id = id;
    job.submitted = at(10);
  }
  for (const std::string& name : nodes) made.nodes.emplace_back().name = name;
  return made;
}

/// Whether it is believed, and if so taken.
bool believes(Doubts& doubts, Jobs& jobs, const Listing& listing) {
  if (doubts.has(listing, jobs)) return false;
  (void)jobs.take(listing);
  return true;
}

}  // namespace

TEST_CASE("what is missing is gone once the next reading lacks it, too") {
  Doubts doubts(true);
  Jobs jobs;
  CHECK(believes(doubts, jobs, listing_of({"1", "2"}, {"a", "b"}, 1)));
  CHECK_FALSE(believes(doubts, jobs, listing_of({"1"}, {"a", "b"}, 2)));
  CHECK(believes(doubts, jobs, listing_of({"1", "2"}, {"a", "b"}, 3)));
  CHECK_FALSE(believes(doubts, jobs, listing_of({"1", "2"}, {"a"}, 4)));
  CHECK_FALSE(believes(doubts, jobs, listing_of({"1"}, {"a", "b"}, 5)));  // something else
  CHECK(believes(doubts, jobs, listing_of({"1", "3"}, {"a", "b"}, 6)));
  CHECK(jobs.find("2") == nullptr);
  CHECK(jobs.find("3") != nullptr);
}

TEST_CASE("the first reading shows the nodes on which jobs run") {
  Doubts doubts(true);
  Jobs jobs;
  Listing part = listing_of({"1"}, {"a"}, 1);
  part.jobs.front().phase = JobPhase::running;
  part.jobs.front().nodes = {{"a", {0}}, {"b", {0}}};
  CHECK_FALSE(believes(doubts, jobs, part));
  part.nodes.emplace_back().name = "b";
  CHECK(believes(doubts, jobs, part));
}

TEST_CASE("a cluster that loses something each time is believed in the end") {
  Doubts doubts(true);
  Jobs jobs;
  std::vector<std::string> ids;
  for (int i = 0; i < 20; ++i) ids.push_back(std::to_string(i));
  CHECK(believes(doubts, jobs, listing_of(ids, {}, 1)));
  int passed_over = 0;
  do {
    ids.pop_back();
    ++passed_over;
  } while (!believes(doubts, jobs, listing_of(ids, {}, 1 + passed_over)));
  CHECK(passed_over == 11);
  CHECK(jobs.all().size() == ids.size());
}

TEST_CASE("an end that the cluster remembers no more may be missing, one that it does may not") {
  Doubts doubts(true);
  Jobs jobs;
  Listing all = listing_of({"1", "2"}, {}, 1);
  for (SeenJob& job : all.jobs) {
    job.phase = JobPhase::ended;
    job.started = at(20);
    job.ended = at(job.id == "1" ? 700 : 900);
  }
  all.ended_since = at(600);
  CHECK(believes(doubts, jobs, all));
  Listing later = all;
  later.version = 2;
  later.ended_since = at(800);
  later.jobs.erase(later.jobs.begin());
  CHECK(believes(doubts, jobs, later));
  later.version = 3;
  later.jobs.clear();
  CHECK_FALSE(believes(doubts, jobs, later));
}

TEST_CASE("an end that is missing in the first reading after a restart is not told again") {
  testing::LiveHouse house(2, testing::ActingDesk::all_in(Mode::observe));
  house.site.submit("1");
  house.turn();
  house.site.begin("1", {{"a-0", {0}}});
  house.turn();
  house.site.finish("1", EndState::completed);
  house.turn();
  house.restart();
  const SeenJob ended = house.site.see("1");
  auto& shown = house.site.listing().jobs;
  std::erase_if(shown, [](const SeenJob& job) { return job.id == "1"; });
  house.turn();
  shown.push_back(ended);
  house.site.change_node("a-0");  // another version
  house.turns(2);
  CHECK(house.told().empty());
}

TEST_CASE("a reading that shows more than a part of its version is news") {
  Doubts doubts(true);
  Jobs jobs;
  CHECK(believes(doubts, jobs, listing_of({"1"}, {"a"}, 7)));
  CHECK(doubts.is_news());
  const Listing whole = listing_of({"1", "2"}, {"a"}, 7);
  CHECK(believes(doubts, jobs, whole));
  CHECK(doubts.is_news());
  CHECK(jobs.find("2") != nullptr);
  CHECK(believes(doubts, jobs, whole));
  CHECK_FALSE(doubts.is_news());
}

TEST_CASE("an answer that comes twice is one") {
  testing::LiveHouse house(2);
  house.site.submit("1");
  house.turn();
  const std::string before = house.actions();
  CHECK(!house.book().empty());
  for (const auto& [id, action] : house.book())
    house.tell(Returned{id, {CallOutcome::refused, "an answer from yesterday", {}}});
  CHECK(house.actions() == before);
}

}  // namespace schedmate::live
