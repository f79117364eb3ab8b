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
#include "tests/support/near.hpp"
#include "tests/support/store_places.hpp"

namespace schedmate {
namespace {

using testing::full_outcome;
using testing::full_record;
using testing::near;
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

/// What is written to the pipe once a call has returned without an error.
struct Receipt {
  int number = 0;
  bool finished = false;
};

/// What a call came to that needs the store, as the exit code of the process that records.
enum Ended : int { no_store = 1, no_index, no_pipe, no_put, no_refresh, no_finish, no_passing };

/// Records, finishes and forgets jobs from `first` on until it is killed or the store fails.
[[noreturn]] void record_for_ever(const std::string& spec, const std::string& folder, int first,
                                  int pipe) {
  const auto store = open_store(spec);
  if (!store) ::_exit(no_store);
  const auto index = open_index(**store, by_word(), {.folder = folder});
  if (!index) ::_exit(no_index);
  const auto write_receipt = [&](Receipt receipt) {
    if (::write(pipe, &receipt, sizeof receipt) != sizeof receipt) ::_exit(no_pipe);
  };
  for (int i = first;; ++i) {
    if (!(*store)->put(full_record(i))) ::_exit(no_put);
    write_receipt({i, false});
    if (i % 3 == 0 && !(*index)->refresh()) ::_exit(no_refresh);
    if (i % 2 != 0) continue;
    if (!(*store)->finish("job-" + std::to_string(i), full_outcome())) ::_exit(no_finish);
    write_receipt({i, true});
    if (i % 10 != 0) continue;
    auto passing = full_record(i);
    passing.id = "passing";
    passing.text = "passing " + std::to_string(i);
    if (!(*store)->put(passing)) ::_exit(no_passing);
    if (!(*index)->refresh()) ::_exit(no_refresh);  // so that the kill falls into its removal, too
    if (!(*store)->forget("passing")) ::_exit(no_passing);
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

struct Recorded {
  std::vector<Receipt> receipts;
  int status = 0;  ///< how the process ended, as waitpid() has it
};

/// It is to be there until it is killed: one that failed before would show nothing of kills.
void check_still_records(const Recording& recording) {
  siginfo_t ended{};
  REQUIRE(::waitid(P_PID, static_cast<id_t>(recording.process), &ended,
                   WEXITED | WNOHANG | WNOWAIT) == 0);
  REQUIRE_MESSAGE(ended.si_pid == 0, "recording ended by itself: " << ended.si_status);
}

/// Waits for the first receipt and then for a random time, so that the kill falls into the work.
Recorded kill_within(const Recording& recording, Random& random,
                     const std::function<void()>& kill) {
  Recorded recorded;
  std::vector<Receipt>& receipts = recorded.receipts;
  Receipt receipt;
  if (::read(recording.pipe, &receipt, sizeof receipt) == sizeof receipt) {
    receipts.push_back(receipt);
  }
  const std::chrono::microseconds time(random.below(8000));
  std::this_thread::sleep_for(time);  // clock: where the kill falls
  check_still_records(recording);
  kill();
  while (::read(recording.pipe, &receipt, sizeof receipt) == sizeof receipt) {
    receipts.push_back(receipt);
  }
  REQUIRE(::waitpid(recording.process, &recorded.status, 0) == recording.process);
  ::close(recording.pipe);
  return recorded;
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
  CHECK(near(found->front().score, 1, 1e-12, 0));
}

TEST_CASE("sqlite: no acknowledged record is lost when the process is killed") {
  const Scratch folder;
  const auto spec = "sqlite:" + folder.path("history.db");
  Random random(11);
  int recorded = 0;
  int last = -1;
  for (int point = 0; point < points; ++point) {
    const auto recording = start_recording(spec, folder.path("vectors"), last + 1);
    const auto [receipts, status] =
        kill_within(recording, random, [&] { ::kill(recording.process, SIGKILL); });
    REQUIRE_FALSE(receipts.empty());
    REQUIRE(WIFSIGNALED(status));
    REQUIRE(WTERMSIG(status) == SIGKILL);
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
  RedisServer server;
  const Scratch folder;
  Random random(12);
  int recorded = 0;
  int last = -1;
  for (int point = 0; point < points; ++point) {
    const auto recording = start_recording(server.spec(), folder.path("vectors"), last + 1);
    const auto [receipts, status] = kill_within(recording, random, [&] { server.stop(SIGKILL); });
    REQUIRE_FALSE(receipts.empty());
    REQUIRE(WIFEXITED(status));  // by itself, at the first call that finds no server
    REQUIRE(WEXITSTATUS(status) >= no_put);
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
