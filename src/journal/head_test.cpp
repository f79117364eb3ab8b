// SPDX-License-Identifier: Apache-2.0

/// What a journal lacks after a kill is seen, though SQLite finds nothing wrong.
#include "journal/head.hpp"

#include <doctest/doctest.h>

#include <filesystem>
#include <functional>

#include "base/input.hpp"
#include "base/output.hpp"
#include "journal/journal.hpp"
#include "tests/support/fixed_clock.hpp"
#include "tests/support/made_actions.hpp"
#include "tests/support/need.hpp"
#include "tests/support/scratch.hpp"

namespace schedmate::journal {
namespace {

using testing::fixed_clock;
using testing::made_action;
using testing::need;
using testing::Scratch;

std::unique_ptr<Journal> open_at(const std::string& path) {
  return need(Journal::open({.path = path, .instance = "a:1"}, fixed_clock(at(9))));
}

/// The doubt of a journal that was opened; "": there is none.
std::string doubt_of(Journal& journal) { return need(journal.kept(doubt_name)).value_or(""); }

/// The files of a journal whose process was killed: one epoch, five actions.
struct Killed {
  Scratch folder;
  std::string path = folder.path("killed.sqlite");

  Killed() {
    const std::string living = folder.path("journal.sqlite");
    const auto journal = open_at(living);
    for (std::int64_t id = 1; id <= 5; ++id)
      need(journal->append(
          {.actions = {made_action(id, {.kind = ActionKind::notify, .user = "ann"})}}));
    for (const char* const end : {"", "-wal", ".head"})
      std::filesystem::copy_file(living + end, path + end);
  }
  [[nodiscard]] std::string lost() const {
    const auto verdict = need(verify({path}));
    return verdict.fault ? verdict.fault->what : "";
  }
};

void change_file(const std::string& path, const std::function<void(std::string&)>& change) {
  std::string bytes = need(read_file(path));
  change(bytes);
  need(write_file(path, bytes));
}

void check_gone_back(const std::function<void(const std::string& log)>& damage) {
  const Killed killed;
  damage(killed.path + "-wal");
  const auto journal = open_at(killed.path);
  CHECK(doubt_of(*journal).contains("it has gone back"));
  CHECK(need(journal->next_action()) == 6);  // no number of what was lost comes again
  CHECK(journal->epoch() == 2);
}

TEST_CASE("a journal that was killed goes on, and holds what was on record") {
  const Killed killed;
  CHECK(killed.lost().empty());
  const auto journal = open_at(killed.path);
  CHECK(doubt_of(*journal).empty());
  CHECK(need(journal->actions(0, 10)).size() == 5);
}

TEST_CASE("a log that was removed, cut or damaged after a kill is seen") {
  check_gone_back([](const std::string& log) { std::filesystem::remove(log); });
  check_gone_back([](const std::string& log) {
    std::filesystem::resize_file(log, std::filesystem::file_size(log) / 2);
  });
  check_gone_back([](const std::string& log) {
    change_file(log, [](std::string& bytes) { bytes[bytes.size() / 2] ^= '\xff'; });
  });
}

TEST_CASE("the audit says so before anybody opens the journal") {
  const Killed killed;
  std::filesystem::resize_file(killed.path + "-wal",
                               std::filesystem::file_size(killed.path + "-wal") * 3 / 4);
  CHECK(killed.lost().contains("it has gone back"));
}

TEST_CASE("a doubt stays over restarts until somebody agrees") {
  const Killed killed;
  std::filesystem::remove(killed.path + "-wal");
  const std::string doubt = doubt_of(*open_at(killed.path));
  {
    const auto journal = open_at(killed.path);
    CHECK(doubt_of(*journal) == doubt);
    need(journal->append({.kept = {{doubt_name, ""}}}));
  }
  CHECK(doubt_of(*open_at(killed.path)).empty());
}

TEST_CASE("a head that is gone or damaged is a doubt; of an older program there was none") {
  for (const char* const text : {"", "x", "9 9 9 9 - 0"}) {
    const Killed killed;
    need(write_file(killed.path + ".head", text));
    CHECK(doubt_of(*open_at(killed.path)).contains(".head"));
  }
  const Killed old;
  std::filesystem::remove(old.path + ".head");
  need(sqlite::Database::open({.path = old.path}))->run("DELETE FROM kept");
  CHECK(doubt_of(*open_at(old.path)).empty());
}

TEST_CASE("a journal in the place of another one is seen") {
  const Killed one, other;
  std::filesystem::copy_file(one.path + ".head", other.path + ".head",
                             std::filesystem::copy_options::overwrite_existing);
  need(sqlite::Database::open({.path = other.path}))
      ->run("UPDATE audit SET hash = 'x' WHERE sequence = 6");
  CHECK(doubt_of(*open_at(other.path)).contains("entry 6"));
}

TEST_CASE("a chain that is broken is a doubt until somebody agrees, and not again") {
  const Killed killed;
  need(sqlite::Database::open({.path = killed.path}))
      ->run("UPDATE audit SET entry = replace(entry, 'ann', 'bob') WHERE sequence = 3");
  std::string doubt;
  {
    const auto journal = open_at(killed.path);
    doubt = doubt_of(*journal);
    CHECK(doubt.contains("entry 3"));
    need(journal->append({.kept = {{doubt_name, ""}, {agreed_name, doubt}}}));
  }
  const auto journal = open_at(killed.path);
  CHECK(doubt_of(*journal).empty());
}

}  // namespace
}  // namespace schedmate::journal
