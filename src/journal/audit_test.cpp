// SPDX-License-Identifier: Apache-2.0
#include "journal/audit.hpp"

#include <doctest/doctest.h>

#include <limits>
#include <nlohmann/json.hpp>

#include "journal/audit_json.hpp"
#include "journal/chain.hpp"
#include "journal/journal.hpp"
#include "tests/support/faulty_disk.hpp"
#include "tests/support/fixed_clock.hpp"
#include "tests/support/made_actions.hpp"

namespace schedmate::journal {
namespace {

using testing::FaultyDisk;
using testing::fixed_clock;
using testing::made_action;

/// A journal of 12 entries: its epoch, the steps of three actions, a remark, the epoch after it was
/// opened again.
void fill(const FaultyDisk& disk) {
  const Options options{.path = "/j", .instance = "a", .vfs = disk.vfs()};
  const auto journal = Journal::open(options, fixed_clock(at(9))).value();
  const auto step = [](std::int64_t action, ActionState state) {
    return NewStep{action, {.state = state, .when = at(7), .by = "ann", .note = "seen"}};
  };
  REQUIRE(journal->append(
      {.actions = {made_action(1, {.kind = ActionKind::hold, .job = "1"}),
                   made_action(2, {.kind = ActionKind::evict, .job = "2"}),
                   made_action(3, {.kind = ActionKind::notify, .user = "ann"}, Mode::approve)}}));
  REQUIRE(journal->append({.steps = {step(1, ActionState::intended), step(2, ActionState::intended),
                                     step(3, ActionState::waiting)}}));
  REQUIRE(journal->append({.steps = {step(1, ActionState::called), step(2, ActionState::called)},
                           .remarks = {{.what = "breaker closed", .when = at(8), .by = "ann"}}}));
  REQUIRE(journal->append({.steps = {step(2, ActionState::verified)}}));
  REQUIRE(journal->reopen());
}

AuditVerdict verdict_of(const FaultyDisk& disk) {
  const auto verdict = verify({"/j", disk.vfs()});
  REQUIRE_MESSAGE(verdict.has_value(), verdict.error().message);
  return *verdict;
}

void change(const FaultyDisk& disk, const std::string& sql) {
  const auto database = sqlite::Database::open({.path = "/j", .vfs = disk.vfs()}).value();
  database->run(sql);
  REQUIRE(database->take_error());
}

/// The statement must be found at this entry.
void check_found(const std::string& sql, std::int64_t sequence, const std::string& words) {
  CAPTURE(sql);
  FaultyDisk disk(1);
  fill(disk);
  change(disk, sql);
  const auto verdict = verdict_of(disk);
  REQUIRE(verdict.fault.has_value());
  CHECK(verdict.fault->sequence == sequence);
  CHECK_MESSAGE(verdict.fault->what.contains(words), verdict.fault->what);
}

TEST_CASE("a chain that nobody touched is sound") {
  FaultyDisk disk(1);
  fill(disk);
  const auto verdict = verdict_of(disk);
  CHECK_FALSE(verdict.fault.has_value());
  CHECK(verdict.entries == 12);
  CHECK(verdict.first == 1);
  CHECK(verdict.last == 12);
  const auto entries = audit_entries({"/j", disk.vfs()}, 10, 5).value();
  REQUIRE(entries.size() == 2);
  CHECK(entries[0].text ==
        R"({"sequence":11,"when_s":7,"by":"ann","action":2,"state":"verified","seen":"seen",)"
        R"("epoch":1})");
  CHECK(entries[1].hash == chained(entries[0].hash, entries[1].text));
  CHECK(entries[1].hash == verdict.head);
  const auto all = read_actions({"/j", disk.vfs()}, ActionsWanted{}).value();
  const auto newest = read_actions({"/j", disk.vfs()}, ActionsWanted{.since = -1}).value();
  REQUIRE(newest.size() == 1);
  CHECK(newest.front().id == all.front().id);
  const auto last = audit_entries({"/j", disk.vfs()}, -2, 5).value();
  REQUIRE(last.size() == 2);
  CHECK(last[0].hash == entries[0].hash);
}

TEST_CASE("actions about a job are found by its whole id") {
  FaultyDisk disk(1);
  Batch batch;
  for (const char* const job : {"7", "17", "7_1", "7"}) {
    batch.actions.push_back(made_action(std::ssize(batch.actions) + 1,
                                        {.kind = ActionKind::hold, .job = job}, Mode::shadow));
    batch.actions.back().steps.push_back({.state = ActionState::shadowed, .when = at(6)});
  }
  const Options options{.path = "/j", .instance = "a", .vfs = disk.vfs()};
  REQUIRE(Journal::open(options, fixed_clock(at(9))).value()->append(batch));
  const auto about = [&](const char* job, std::size_t most) {
    return actions_about({"/j", disk.vfs()}, job, most).value();
  };
  using Ids = std::vector<std::int64_t>;
  CHECK(about("7", 10) == Ids{4, 1});
  CHECK(about("7", 1) == Ids{4});
  CHECK(about("1", 10).empty());
}

TEST_CASE("actions are read newest first, and of a state before they are counted") {
  FaultyDisk disk(1);
  fill(disk);
  const auto ids = [&](const ActionsWanted& wanted) {
    const auto found = read_actions({"/j", disk.vfs()}, wanted).value();
    std::vector<std::int64_t> all;
    for (const Action& each : found) all.push_back(each.id);
    return all;
  };
  using Ids = std::vector<std::int64_t>;
  CHECK(ids({}) == Ids{3, 2, 1});
  CHECK(ids({.limit = 2}) == Ids{3, 2});
  CHECK(ids({.before = 2, .limit = 2}) == Ids{1});
  CHECK(ids({.since = 1}) == Ids{3, 2});
  CHECK(ids({.since = -2, .before = 3}) == Ids{2});
  CHECK(ids({.state = ActionState::called, .limit = 1}) == Ids{1});
  CHECK(ids({.state = ActionState::verified, .limit = 1}) == Ids{2});
  CHECK(ids({.state = ActionState::expired}).empty());
}

TEST_CASE("a changed byte of any entry is found where it is") {
  FaultyDisk disk(1);
  fill(disk);
  const auto image = disk.image();
  const auto entries = audit_entries({"/j", disk.vfs()}, 0, 100).value();
  for (const AuditEntry& entry : entries) {
    for (const std::size_t at :
         {std::size_t{1}, entry.text.size() / 3, entry.text.size() / 2, entry.text.size() - 2}) {
      disk.restore(image);
      std::string text = entry.text;
      text[at] = text[at] == '1' ? '2' : '1';
      const auto database = sqlite::Database::open({.path = "/j", .vfs = disk.vfs()}).value();
      sqlite::Query(*database, "UPDATE audit SET entry = ? WHERE sequence = ?")
          .bind(text)
          .bind(entry.sequence)
          .run();
      const auto verdict = verdict_of(disk);
      REQUIRE(verdict.fault.has_value());
      CHECK(verdict.fault->sequence == entry.sequence);
    }
  }
}

TEST_CASE("what was changed in the chain is found where it is") {
  check_found("UPDATE audit SET hash = replace(hash, substr(hash, 1, 1), 'x') WHERE sequence = 5",
              5, "its hash does not fit");
  check_found("DELETE FROM audit WHERE sequence = 5", 5, "it is missing");
  check_found("DELETE FROM audit WHERE sequence = 1", 1, "it is missing");
  check_found("DELETE FROM audit WHERE sequence >= 11", 11, "all to the head, 12");
  check_found("DELETE FROM audit", 1, "all to the head, 12");
  check_found(
      "UPDATE audit SET sequence = -5 WHERE sequence = 5;"
      "UPDATE audit SET sequence = 5 WHERE sequence = 6;"
      "UPDATE audit SET sequence = 6 WHERE sequence = -5",
      5, "another entry stands in its place: 6");
  check_found(
      "INSERT INTO audit SELECT 13, replace(entry, ':12,', ':13,'), hash FROM audit "
      "WHERE sequence = 12",
      13, "added after the head");
  check_found("INSERT INTO audit SELECT 0, entry, hash FROM audit WHERE sequence = 12", 0,
              "before the checkpoint");
}

TEST_CASE("an end that was cut off is found by both heads") {
  const std::string cut = "DELETE FROM audit WHERE sequence = 12;";
  check_found(cut +
                  "UPDATE state SET head_sequence = 11, head_hash = (SELECT hash FROM audit WHERE "
                  "sequence = 11)",
              0, "the two copies of the head differ");
  check_found("UPDATE chain_head SET hash = 'x'; UPDATE state SET head_hash = 'x'", 12,
              "not that of the head");
  check_found("DELETE FROM chain_head", 0, "the head of the chain is gone");
}

TEST_CASE("a beginning that was cut off is found, for the chain tells of its checkpoints") {
  check_found(
      "UPDATE state SET floor_sequence = 4, floor_hash = (SELECT hash FROM audit WHERE "
      "sequence = 4); DELETE FROM audit WHERE sequence <= 4",
      5, "no entry tells of the checkpoint");
  FaultyDisk disk(1);
  fill(disk);
  {
    const Options options{.path = "/j", .instance = "a", .most_bytes = 0, .vfs = disk.vfs()};
    const auto journal = Journal::open(options, fixed_clock(at(9))).value();
    REQUIRE(journal->compact(5).value() == 5);
    CHECK_FALSE(verdict_of(disk).fault.has_value());
    REQUIRE(journal->compact(4).value() == 4);
  }
  CHECK_FALSE(verdict_of(disk).fault.has_value());
  CHECK(verdict_of(disk).first == 10);
  change(disk,
         "UPDATE state SET floor_sequence = 10, floor_hash = (SELECT hash FROM audit WHERE "
         "sequence = 10); DELETE FROM audit WHERE sequence <= 10");
  CHECK(verdict_of(disk).fault->what.contains("no entry tells of the checkpoint"));
}

TEST_CASE("an action that is kept otherwise than the chain tells is found") {
  check_found(
      "UPDATE actions SET body = replace(body, '\"job\":\"1\"', '\"job\":\"9\"') WHERE id = 1", 2,
      "action 1 was planned otherwise");
  check_found("UPDATE actions SET body = replace(body, 'a witness', 'no witness') WHERE id = 1", 2,
              "action 1 was planned otherwise");
  check_found(
      "UPDATE actions SET body = replace(body, 'called', 'verified'), state = 'verified' "
      "WHERE id = 1",
      8, "action 1 is kept in another state, verified");
  check_found("UPDATE actions SET state = 'verified' WHERE id = 1", 0,
              "action 1: what is kept of it contradicts itself");
  check_found(R"(UPDATE actions SET body = replace(body, '"intended","when_s":7,"by":"ann"',)"
              R"( '"intended","when_s":7,"by":"bob"') WHERE id = 1)",
              5, "a step of action 1 is kept otherwise, intended");
  check_found(
      R"(UPDATE actions SET body = replace(body, '"steps":[', '"steps":[{"state":"planned",)"
      R"("when_s":1,"by":"bob","note":""},') WHERE id = 1)",
      8, "action 1 is kept in another state, called");
  for (const char* const column : {"ended = 1", "kind = 'evict'", "when_s = 8"})
    check_found(std::string("UPDATE actions SET ") + column + " WHERE id = 1", 0,
                "action 1: what is kept of it contradicts itself");
  check_found("UPDATE actions SET sequence = 5 WHERE id = 1", 8,
              "action 1 is kept in another state, called");
  check_found("DELETE FROM actions WHERE id = 2", 11, "action 2 is gone");
  check_found(
      "INSERT INTO actions SELECT 9, kind, state, ended, 12, when_s, "
      "replace(body, '\"id\":2', '\"id\":9') FROM actions WHERE id = 2",
      12, "of action 9, which no entry tells of");
}

/// The statement that gives entry 12 this text and a hash that fits.
std::string with_last_entry(const std::string& text) {
  FaultyDisk disk(1);
  fill(disk);
  const auto before = audit_entries({"/j", disk.vfs()}, 10, 1).value().front().hash;
  const auto hash = "'" + chained(before, text) + "'";
  return "UPDATE audit SET entry = '" + text + "', hash = " + hash +
         " WHERE sequence = 12; UPDATE state SET head_hash = " + hash +
         "; UPDATE chain_head SET hash = " + hash;
}

TEST_CASE("nothing that the file may hold ends the program") {
  const std::string deep = std::string(100'000, '[') + std::string(100'000, ']');
  check_found("UPDATE audit SET entry = '{\"sequence\":" + deep + "}' WHERE sequence = 5", 5,
              "its text is no JSON object");
  check_found(R"(UPDATE actions SET body = replace(body, '"nodes":[', '"nodes":[)" + deep +
                  R"(,'), state = 'verified' WHERE id = 1)",
              0, "action 1: what is kept of it contradicts itself");
  check_found(with_last_entry(R"({"sequence":12,"epoch":"x","what":[],"action":{}})"), 12,
              "its epoch is lower");
  check_found(with_last_entry(R"({"sequence":12,"epoch":9e99,"what":[],"action":9e99})"), 12,
              "its epoch is lower");
  const std::string last = std::to_string(std::numeric_limits<std::int64_t>::max());
  check_found(
      "DELETE FROM audit; UPDATE state SET floor_hash = 'x', head_hash = 'x', "
      "floor_sequence = " +
          last + ", head_sequence = " + last +
          "; UPDATE chain_head SET hash = 'x', sequence = " + last,
      0, "no entry tells of the checkpoint");
  const std::vector<AuditEntry> entries{
      {.sequence = 1, .text = "{\"seen\":" + deep + "}", .hash = "h"}};
  CHECK(audit_document(entries)["entries"][0]["text"] == entries.front().text);
}

TEST_CASE("of an action that is told in part, that part counts") {
  FaultyDisk disk(1);
  fill(disk);
  const Options options{.path = "/j", .instance = "a", .most_bytes = 0, .vfs = disk.vfs()};
  REQUIRE(Journal::open(options, fixed_clock(at(9))).value()->compact(5).value() == 5);
  CHECK_FALSE(verdict_of(disk).fault.has_value());
  const auto image = disk.image();
  change(disk, "UPDATE actions SET body = replace(body, '\"job\":\"1\"', '\"job\":\"9\"')");
  CHECK_FALSE(verdict_of(disk).fault.has_value());  // its plan went to the summary
  disk.restore(image);
  change(disk, R"(UPDATE actions SET body = replace(body, '"called","when_s":7', )"
               R"('"called","when_s":8') WHERE id = 2)");
  CHECK(verdict_of(disk).fault->sequence == 9);
}

TEST_CASE("a file that is not there, or no journal, is an error") {
  FaultyDisk disk(1);
  CHECK(verify({"/j", disk.vfs()}).error().code == ErrorCode::unavailable);
  change(disk, "CREATE TABLE t (x)");
  CHECK(verify({"/j", disk.vfs()}).error().code == ErrorCode::invalid);
}

}  // namespace
}  // namespace schedmate::journal
