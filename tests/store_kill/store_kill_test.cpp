// SPDX-License-Identifier: Apache-2.0
/// kill -9 at random points of a recording loop: whatever was acknowledged is there afterwards, the
/// store opens each time, and so does the search index beside it.
#include <doctest/doctest.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <schedmate/search.hpp>
#include <thread>

#include "base/hash.hpp"
#include "base/random.hpp"
#include "tests/support/store_places.hpp"

namespace schedmate {
namespace {

using testing::full_outcome;
using testing::full_record;
using testing::open_or_fail;
using testing::RedisServer;
using testing::Scratch;

constexpr int points = 200;

Embedder by_word() {
  return {.name = "words",
          .threshold = 0.5,
          .features =
              [](std::string_view word) {
                return std::vector<Feature>{
                    {static_cast<std::uint32_t>(hash_bytes(word) & 0xFFFFU), 1}};
              },
          .embed = {}};
}

/// What is told through the pipe once a call has returned without an error.
struct Receipt {
  int number = 0;
  bool finished = false;
};

/// Records, finishes and forgets jobs from `first` on until it is killed or the store fails.
[[noreturn]] void record_for_ever(const std::string& spec, const std::string& folder, int first,
                                  int pipe) {
  const auto store = open_store(spec);
  if (!store) ::_exit(1);
  const auto index = open_index(**store, by_word(), {.folder = folder});
  if (!index) ::_exit(2);
  const auto tell = [&](Receipt receipt) {
    if (::write(pipe, &receipt, sizeof receipt) != sizeof receipt) ::_exit(3);
  };
  for (int i = first;; ++i) {
    if (!(*store)->put(full_record(i))) ::_exit(4);
    tell({i, false});
    if (i % 3 == 0 && !(*index)->refresh()) ::_exit(5);
    if (i % 2 != 0) continue;
    if (!(*store)->finish("job-" + std::to_string(i), full_outcome())) ::_exit(6);
    tell({i, true});
    if (i % 10 != 0) continue;
    auto passing = full_record(i);
    passing.id = "passing";
    passing.text = "passing " + std::to_string(i);
    if (!(*store)->put(passing) || !(*store)->forget("passing")) ::_exit(7);
  }
}

struct Recording {
  pid_t process = 0;
  int pipe = -1;
};

Recording start_recording(const std::string& spec, const std::string& folder, int first) {
  int ends[2] = {-1, -1};
  REQUIRE(::pipe(ends) == 0);
  const pid_t child = ::fork();
  if (child == 0) record_for_ever(spec, folder, first, ends[1]);
  ::close(ends[1]);
  return {child, ends[0]};
}

/// Waits for the first receipt and then for a random time, so that the kill falls into the work.
std::vector<Receipt> kill_within(const Recording& recording, Random& random,
                                 const std::function<void()>& kill) {
  std::vector<Receipt> receipts;
  Receipt receipt;
  if (::read(recording.pipe, &receipt, sizeof receipt) == sizeof receipt) {
    receipts.push_back(receipt);
  }
  std::this_thread::sleep_for(std::chrono::microseconds(random.below(8000)));
  kill();
  while (::read(recording.pipe, &receipt, sizeof receipt) == sizeof receipt) {
    receipts.push_back(receipt);
  }
  ::kill(recording.process, SIGKILL);
  ::waitpid(recording.process, nullptr, 0);
  ::close(recording.pipe);
  return receipts;
}

/// Acknowledged records that are not as they were acknowledged.
int lost(Store& store, const std::vector<Receipt>& receipts) {
  int count = 0;
  for (const auto& receipt : receipts) {
    auto expected = full_record(receipt.number);
    const auto got = store.get("job-" + std::to_string(receipt.number));
    REQUIRE(got.has_value());
    const bool there = *got && (*got)->text == expected.text && (*got)->root == expected.root;
    const bool ended = there && (*got)->outcome == full_outcome();
    count += there && (ended || !receipt.finished) ? 0 : 1;
  }
  return count;
}

void check_index(Store& store, const std::string& folder, int number) {
  const auto index = open_index(store, by_word(), {.folder = folder});
  REQUIRE(index.has_value());
  REQUIRE((*index)->refresh());
  CHECK((*index)->verify());
  const auto found = (*index)->nearest(full_record(number).text, 1);
  REQUIRE(found.has_value());
  REQUIRE(found->size() == 1);
  CHECK(found->front().score == doctest::Approx(1));
}

TEST_CASE("sqlite: no acknowledged record is lost when the process is killed") {
  const Scratch folder;
  const auto spec = "sqlite:" + folder.path("history.db");
  Random random(11);
  int recorded = 0;
  int last = -1;
  for (int point = 0; point < points; ++point) {
    const auto recording = start_recording(spec, folder.path("vectors"), last + 1);
    const auto receipts =
        kill_within(recording, random, [&] { ::kill(recording.process, SIGKILL); });
    REQUIRE_FALSE(receipts.empty());
    const auto store = open_or_fail(spec);
    CHECK(lost(*store, receipts) == 0);
    recorded += static_cast<int>(receipts.size());
    last = receipts.back().number;
    if (point % 10 == 0) check_index(*store, folder.path("vectors"), last);
    last += 1;  // one more may be there without a receipt
  }
  MESSAGE("sqlite: ", points, " kills, ", recorded, " receipts, none lost");
}

TEST_CASE("redis: no acknowledged record is lost when server and process are killed") {
  if (!RedisServer::installed()) {
    MESSAGE("redis-server is not installed: the redis row was not tested");
    return;
  }
  RedisServer server;
  const Scratch folder;
  Random random(12);
  int recorded = 0;
  int last = -1;
  for (int point = 0; point < points; ++point) {
    const auto recording = start_recording(server.spec(), folder.path("vectors"), last + 1);
    const auto receipts = kill_within(recording, random, [&] { server.stop(SIGKILL); });
    REQUIRE_FALSE(receipts.empty());
    server.start();
    const auto store = open_or_fail(server.spec());
    CHECK(lost(*store, receipts) == 0);
    recorded += static_cast<int>(receipts.size());
    last = receipts.back().number;
    if (point % 10 == 0) check_index(*store, folder.path("vectors"), last);
    last += 1;
  }
  MESSAGE("redis: ", points, " kills, ", recorded, " receipts, none lost");
}

}  // namespace
}  // namespace schedmate
