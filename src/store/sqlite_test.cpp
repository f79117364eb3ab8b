// SPDX-License-Identifier: Apache-2.0
#include <doctest/doctest.h>
#include <fmt/format.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>

#include <array>
#include <thread>

#include "base/input.hpp"
#include "base/output.hpp"
#include "sqlite/database.hpp"
#include "store/sqlite_schema.hpp"
#include "tests/support/store_places.hpp"

namespace schedmate::store {
namespace {

using testing::full_record;
using testing::open_or_fail;
using testing::Scratch;

std::unique_ptr<sqlite::Database> raw(const std::string& path) {
  return std::move(
      *sqlite::Database::open({.path = path, .busy_timeout = std::chrono::milliseconds(100)}));
}

/// Opening must fail with this code and leave the bytes alone.
void check_refused(const std::string& path, ErrorCode code, const std::string& words) {
  const auto before = read_file(path).value();
  const auto opened = open_store("sqlite:" + path);
  REQUIRE_FALSE(opened.has_value());
  CHECK(opened.error().code == code);
  CHECK_MESSAGE(opened.error().message.find(words) != std::string::npos, opened.error().message);
  CHECK(read_file(path).value() == before);
}

TEST_CASE("a file of an older schema is brought forward with its records") {
  const Scratch folder;
  const auto path = folder.path("history.db");
  {
    const auto old = raw(path);
    REQUIRE(prepare_schema(*old, 1));
    old->run("INSERT INTO texts (hash, text) VALUES (5, 'old text')");
    old->run(
        "INSERT INTO jobs (id, user, vc, submit_s, root, workdir, command, branch, gpus, nodes, "
        "gpu_type, text_id, entry, closure) "
        "VALUES ('j', 'ada', '', 7, '/r', '', 'c', '', 1, 1, '', 1, '', '')");
    old->run("INSERT INTO details VALUES (1, '', '', '', '', '')");
    REQUIRE(old->take_error());
  }
  const auto store = open_or_fail("sqlite:" + path);
  CHECK(store->get("j").value()->text == "old text");
  CHECK(store->cache({"s", "k", "g", "v"}, 10));
}

TEST_CASE("a history from before attempts were kept gets them, and its jobs stay") {
  const Scratch folder;
  const auto path = folder.path("history.db");
  {
    const auto old = raw(path);
    REQUIRE(prepare_schema(*old, 3));
    old->run(
        "INSERT INTO jobs (id, user, vc, submit_s, root, workdir, command, branch, gpus, nodes, "
        "gpu_type, text_id, entry, closure, state, duration_s, fingerprint) VALUES "
        "('j', 'ada', '', 7, '/r', '', 'c', '', 1, 1, '', 0, '', '', 'FAILED', 60, 'ff')");
    old->run("INSERT INTO details VALUES (1, '', '{}', '', '{\"log\":\"x\"}', '')");
    REQUIRE(old->take_error());
  }
  const auto store = open_or_fail("sqlite:" + path);
  const auto job = store->get("j").value().value();
  CHECK(job.name.empty());
  CHECK(job.outcome->state == EndState::failed);
  CHECK(job.outcome->fingerprint == "ff");
  CHECK(job.outcome->log_summary == R"({"log":"x"})");
  CHECK(job.outcome->attempts.empty());
  REQUIRE(store->finish("j", testing::full_outcome()));
  CHECK(store->get("j").value()->outcome == testing::full_outcome());
}

TEST_CASE("a file of a newer version is refused and left as it is") {
  const Scratch folder;
  const auto path = folder.path("history.db");
  {
    open_or_fail("sqlite:" + path);
  }
  {
    raw(path)->run("PRAGMA user_version = 99");
  }
  check_refused(path, ErrorCode::invalid, "newer version");
}

TEST_CASE("files that are no store are refused and left as they are") {
  const Scratch folder;
  const auto text = folder.path("notes.txt");
  REQUIRE(write_file(text, std::string(5000, 'n')));
  check_refused(text, ErrorCode::invalid, "not an SQLite database");
  const auto foreign = folder.path("foreign.db");
  {
    raw(foreign)->run("CREATE TABLE theirs (x)");
  }
  check_refused(foreign, ErrorCode::invalid, "another program");
}

TEST_CASE("many that open a new store at the same time all get it") {
  const Scratch folder;
  for (int round = 0; round < 40; ++round) {
    const auto place = "sqlite:" + folder.path(fmt::format("{}.db", round));
    std::array<std::string, 6> said;
    {
      std::vector<std::jthread> threads;
      for (auto& each : said)
        threads.emplace_back([&each, &place] {
          if (const auto store = open_store(place); !store) each = store.error().message;
        });
    }
    for (const auto& each : said) CHECK_MESSAGE(each.empty(), each);
  }
}

TEST_CASE("a damaged store says so") {
  const Scratch folder;
  const auto path = folder.path("history.db");
  {
    const auto store = open_or_fail("sqlite:" + path);
    std::vector<JobRecord> records;
    for (int i = 0; i < 300; ++i) records.push_back(full_record(i));
    REQUIRE(store->put_many(records));
    REQUIRE(store->flush());
  }
  auto bytes = read_file(path).value();
  REQUIRE(bytes.size() > 4096);
  bytes = bytes.substr(0, 4096) + std::string(bytes.size() - 4096, '\x5a');
  REQUIRE(write_file(path, bytes));
  const auto store = open_store("sqlite:" + path);
  const auto error = store ? (*store)->list({}).error() : store.error();
  CHECK(error.code == ErrorCode::invalid);
  CHECK_MESSAGE(error.message.find("damaged") != std::string::npos, error.message);
}

TEST_CASE("a new store can be read by its owner only") {
  const Scratch folder;
  const auto path = folder.path("history.db");
  const auto store = open_or_fail("sqlite:" + path);
  REQUIRE(store->put(full_record(1)));
  for (const auto* const end : {"", "-wal"}) {
    struct stat status{};
    REQUIRE(::stat((path + end).c_str(), &status) == 0);
    CHECK((status.st_mode & 0777U) == 0600);
  }
}

TEST_CASE("a place that cannot be written is an error with its path") {
  for (const auto* const path : {"/proc/self/history.db", "/nowhere/at/all.db"}) {
    const auto store = open_store(std::string("sqlite:") + path);
    REQUIRE_FALSE(store.has_value());
    CHECK(store.error().code == ErrorCode::unavailable);
    CHECK(store.error().message.find(path) != std::string::npos);
  }
}

TEST_CASE("somebody else's lock is waited for, then reported") {
  const Scratch folder;
  const auto path = folder.path("history.db");
  const auto store = open_store("sqlite:" + path, {.busy_timeout = std::chrono::milliseconds(50)});
  REQUIRE(store.has_value());
  const auto other = raw(path);
  other->run("BEGIN IMMEDIATE");
  CHECK((*store)->put(full_record(1)).error().code == ErrorCode::unavailable);
  CHECK((*store)->get("job-1").value() == std::nullopt);  // reading does not wait
  other->run("COMMIT");
  CHECK((*store)->put(full_record(1)));
}

/// In a child process whose files may grow to 400 kB: writes until it fails, then checks that what
/// was acknowledged is there. 0 = as it should be.
int fill_the_disk(const std::string& path) {
  const rlimit limit{400'000, 400'000};
  ::setrlimit(RLIMIT_FSIZE, &limit);
  ::signal(SIGXFSZ, SIG_IGN);
  const auto store = open_store("sqlite:" + path);
  if (!store) return 1;
  int written = 0;
  for (; written < 2000; ++written) {
    const auto put = (*store)->put(full_record(written));
    if (!put && put.error().code == ErrorCode::unavailable) break;
    if (!put) return 2;
  }
  if (written < 5 || written == 2000) return 3;
  const auto jobs = (*store)->list({.limit = 5000});
  return jobs && jobs->size() == static_cast<std::size_t>(written) ? 0 : 4;
}

TEST_CASE("a full disk is an error, and nothing that was acknowledged is lost") {
  const Scratch folder;
  const auto path = folder.path("history.db");
  const pid_t child = ::fork();
  if (child == 0) ::_exit(fill_the_disk(path));
  int status = 0;
  ::waitpid(child, &status, 0);
  CHECK(WEXITSTATUS(status) == 0);
  const auto store = open_or_fail("sqlite:" + path);
  CHECK(store->list({.limit = 5000})->size() >= 5);
  CHECK(store->put(full_record(9999)));
}

}  // namespace
}  // namespace schedmate::store
