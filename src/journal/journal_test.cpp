// SPDX-License-Identifier: Apache-2.0
#include "journal/journal.hpp"

#include <doctest/doctest.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <filesystem>
#include <nlohmann/json.hpp>

#include "base/input.hpp"
#include "base/output.hpp"
#include "core/action_json.hpp"
#include "journal/schema.hpp"
#include "tests/support/effort.hpp"
#include "tests/support/faulty_disk.hpp"
#include "tests/support/fixed_clock.hpp"
#include "tests/support/made_actions.hpp"
#include "tests/support/scratch.hpp"

namespace schedmate::journal {
namespace {

using testing::fixed_clock;
using testing::made_action;
using testing::Scratch;

std::unique_ptr<Journal> open_journal(const Options& options) {
  auto journal = Journal::open(options, fixed_clock(at(1'000)));
  REQUIRE_MESSAGE(journal.has_value(), (journal ? "" : journal.error().message));
  return std::move(*journal);
}

std::unique_ptr<Journal> open_in(const Scratch& folder, const std::string& instance = "a:1") {
  return open_journal({.path = folder.path("journal.sqlite"), .instance = instance});
}

NewStep step_of(std::int64_t action, ActionState state) {
  return {action, {.state = state, .when = at(7), .by = "schedmate", .note = "seen"}};
}

/// The error must have this code and these words, and nothing may be written.
void check_refused(Journal& journal, const Batch& batch, ErrorCode code, const std::string& words) {
  const auto before = journal.actions(0, 100).value();
  const auto events = journal.events(0, 100).value();
  const auto done = journal.append(batch);
  REQUIRE_FALSE(done.has_value());
  CHECK(done.error().code == code);
  CHECK_MESSAGE(done.error().message.contains(words), done.error().message);
  CHECK(journal.actions(0, 100).value() == before);
  CHECK(journal.events(0, 100).value() == events);
}

TEST_CASE("what was appended is there after the file is opened again") {
  const Scratch folder;
  const Action hold = made_action(1, {.kind = ActionKind::hold, .job = "7"});
  {
    const auto journal = open_in(folder);
    CHECK(journal->epoch() == 1);
    CHECK(journal->next_action().value() == 1);
    REQUIRE(
        journal->append({.actions = {hold},
                         .events = {{.kind = "told", .subject = "7", .body = "{}", .when = at(3)}},
                         .kept = {{"cursor", "17"}, {"cursor", "18"}}}));
    REQUIRE(journal->append({.steps = {step_of(1, ActionState::intended)}}));
  }
  const auto journal = open_in(folder);
  CHECK(journal->epoch() == 2);
  Action expected = hold;
  expected.steps.push_back(step_of(1, ActionState::intended).step);
  CHECK(journal->open_actions().value() == std::vector{expected});
  CHECK(journal->actions(0, 10).value() == std::vector{expected});
  CHECK(journal->actions(1, 10).value().empty());
  CHECK(journal->action(1).value() == expected);
  CHECK_FALSE(journal->action(2).value().has_value());
  CHECK(journal->next_action().value() == 2);
  CHECK(journal->kept("cursor").value() == "18");
  CHECK_FALSE(journal->kept("other").value().has_value());
  REQUIRE(journal->append({.kept = {{"cursor", "19"}, {"gone", "1"}, {"gone", ""}}}));
  CHECK(journal->all_kept().value() == std::map<std::string, std::string>{{"cursor", "19"}});
  const Event event{.id = 1, .kind = "told", .subject = "7", .body = "{}", .when = at(3)};
  CHECK(journal->events(0, 10).value() == std::vector{event});
  CHECK(journal->last_event("told", "7").value() == event);
  CHECK_FALSE(journal->last_event("told", "8").value().has_value());
  const auto verdict = verify({folder.path("journal.sqlite")}).value();
  CHECK_FALSE(verdict.fault.has_value());
  CHECK(verdict.entries == 4);  // two epochs, planned, intended
}

TEST_CASE("a folder that is reached through a symbolic link has a journal, too") {
  const Scratch folder;
  std::filesystem::create_directory(folder.path("real"));
  std::filesystem::create_directory_symlink("real", folder.path("link"));
  for (int i = 1; i <= 2; ++i) {
    const auto journal =
        open_journal({.path = folder.path("link/journal.sqlite"), .instance = "a:1"});
    CHECK(journal->epoch() == i);
    REQUIRE(journal->append({.kept = {{"a", "b"}}}));
  }
  CHECK(open_journal({.path = folder.path("real/journal.sqlite")})->kept("a").value() == "b");
}

TEST_CASE("only what is at no end is taken up again") {
  const Scratch folder;
  const auto journal = open_in(folder);
  Action shadowed = made_action(1, {.kind = ActionKind::evict, .job = "1"}, Mode::shadow);
  shadowed.steps.push_back(step_of(1, ActionState::shadowed).step);
  REQUIRE(journal->append(
      {.actions = {shadowed, made_action(2, {.kind = ActionKind::evict, .job = "2"}),
                   made_action(3, {.kind = ActionKind::hold, .job = "3"})}}));
  for (const auto state : {ActionState::intended, ActionState::called, ActionState::verified})
    REQUIRE(journal->append({.steps = {step_of(2, state), step_of(3, state)}}));
  // A hold that stands can be undone; an eviction has happened.
  REQUIRE(journal->open_actions().value().size() == 1);
  CHECK(journal->open_actions().value().front().id == 3);
}

TEST_CASE("a batch with something wrong leaves nothing") {
  const Scratch folder;
  const auto journal = open_in(folder);
  const auto hold = [](std::int64_t id) {
    return made_action(id, {.kind = ActionKind::hold, .job = "7"});
  };
  REQUIRE(journal->append({.actions = {hold(1)}}));
  const Event event{.kind = "told", .subject = "x", .body = "{}"};
  check_refused(*journal, {.steps = {step_of(1, ActionState::verified)}, .events = {event}},
                ErrorCode::invalid,
                "action 1 (hold, mode act) is planned and cannot become verified");
  check_refused(*journal, {.steps = {step_of(5, ActionState::intended)}, .events = {event}},
                ErrorCode::not_found, "no action 5");
  check_refused(*journal, {.steps = {step_of(1, ActionState::intended)}, .actions = {hold(3)}},
                ErrorCode::invalid, "has id 3, next is 2");
  check_refused(*journal, {.steps = {step_of(1, ActionState::intended)}, .actions = {hold(2)}},
                ErrorCode::conflict, "action 2 may not change \"job 7\": action 1 is about to");
  Action unplanned = made_action(2, {.kind = ActionKind::cancel, .job = "8"});
  unplanned.steps.front().state = ActionState::intended;
  check_refused(*journal, {.actions = {unplanned}}, ErrorCode::invalid, "was not planned");
  const Action shadow = made_action(2, {.kind = ActionKind::cancel, .job = "8"}, Mode::shadow);
  Action acting = shadow;
  acting.steps.push_back(step_of(2, ActionState::intended).step);
  check_refused(*journal, {.actions = {acting}}, ErrorCode::invalid, "mode shadow");
  Action long_why = made_action(2, {.kind = ActionKind::cancel, .job = "8"});
  long_why.why.emplace_back(70'000, 'x');
  check_refused(*journal, {.actions = {long_why}}, ErrorCode::invalid, "at most 65536 are kept");
  CHECK(journal->append({.actions = {shadow}}));
}

TEST_CASE("an action of any size that is taken can get its outcome") {
  const Scratch folder;
  const auto journal = open_in(folder);
  Action large = made_action(1, {.kind = ActionKind::cancel, .job = "8"});
  large.why.emplace_back(65'500 - in_one_line(action_document(large)).size(), 'x');
  REQUIRE(journal->append({.actions = {large}}));
  for (const auto state : {ActionState::intended, ActionState::called}) {
    NewStep step = step_of(1, state);
    step.step.note.assign(4'096 - step.step.by.size() + 1, 'x');
    check_refused(*journal, {.steps = {step}}, ErrorCode::invalid, "4097 bytes, at most 4096");
    step.step.note.pop_back();
    REQUIRE(journal->append({.steps = {step}}));
  }
  CHECK(journal->append({.steps = {step_of(1, ActionState::verified)}}));
  Action at_once = made_action(2, {.kind = ActionKind::cancel, .job = "8"});
  at_once.steps.push_back(step_of(2, ActionState::intended).step);
  at_once.steps.back().note.assign(5'000, 'x');
  check_refused(*journal, {.actions = {at_once}}, ErrorCode::invalid, "at most 4096");
  CHECK_FALSE(verify({folder.path("journal.sqlite")}).value().fault.has_value());
}

TEST_CASE("every text has a bound, with its name") {
  const Scratch folder;
  const auto journal = open_in(folder);
  const std::string large(1'100'000, 'x');
  check_refused(*journal, {.kept = {{large, ""}}}, ErrorCode::invalid, "at most 1048576");
  check_refused(*journal, {.kept = {{"n", large}}}, ErrorCode::invalid, "at most 1048576");
  check_refused(*journal, {.remarks = {{.what = large}}}, ErrorCode::invalid, "at most 65536");
  check_refused(*journal, {.remarks = {{.by = large}}}, ErrorCode::invalid, "at most 65536");
  check_refused(*journal, {.events = {{.subject = large}}}, ErrorCode::invalid, "at most 65536");
}

TEST_CASE("a target that is no UTF-8 is free again, too") {
  const Scratch folder;
  const auto journal = open_in(folder);
  Action hold = made_action(1, {.kind = ActionKind::hold, .job = "7\xff"});
  REQUIRE(journal->append({.actions = {hold}}));
  CHECK(journal->action(1).value()->call.job == "7\uFFFD");
  hold.id = 2;
  check_refused(*journal, {.actions = {hold}}, ErrorCode::conflict, "action 1 is about to");
  for (const auto state : {ActionState::intended, ActionState::called, ActionState::failed})
    REQUIRE(journal->append({.steps = {step_of(1, state)}}));
  CHECK(journal->append({.actions = {hold}}));
}

TEST_CASE("a target is free once nothing is in flight for it") {
  const Scratch folder;
  const auto journal = open_in(folder);
  const ActionCall drain{.kind = ActionKind::drain_node, .nodes = {{"n1", {}}, {"n2", {}}}};
  const ActionCall tests{.kind = ActionKind::test_nodes, .nodes = {{"n2", {}}}};
  REQUIRE(journal->append({.actions = {made_action(1, drain)}}));
  check_refused(*journal, {.actions = {made_action(2, tests)}}, ErrorCode::conflict, "node n2");
  for (const auto state : {ActionState::intended, ActionState::called})
    REQUIRE(journal->append({.steps = {step_of(1, state)}}));
  REQUIRE(journal->append(
      {.steps = {step_of(1, ActionState::verified)}, .actions = {made_action(2, tests)}}));
}

TEST_CASE("an undo is an action of its own, of what is in force") {
  const Scratch folder;
  const auto journal = open_in(folder);
  Action hold = made_action(1, {.kind = ActionKind::hold, .job = "7"});
  Action release = made_action(2, {.kind = ActionKind::release, .job = "7"});
  release.undoes = 1;
  for (const auto state : {ActionState::intended, ActionState::called, ActionState::failed})
    hold.steps.push_back(step_of(1, state).step);
  Action other = hold;
  other.steps.back().state = ActionState::verified;
  other.id = 2;
  REQUIRE(journal->append({.actions = {hold, other}}));
  release.id = 3;
  check_refused(*journal, {.actions = {release}}, ErrorCode::invalid,
                "action 1 cannot be undone: hold, failed");
  release.undoes = 9;
  check_refused(*journal, {.actions = {release}}, ErrorCode::not_found, "no action 9");
  release.undoes = 2;
  for (const auto state : {ActionState::intended, ActionState::called})
    release.steps.push_back(step_of(3, state).step);
  REQUIRE(journal->append({.actions = {release}}));
  REQUIRE(journal->append(
      {.steps = {step_of(3, ActionState::verified), step_of(2, ActionState::undone)}}));
  CHECK(journal->open_actions().value().empty());
}

TEST_CASE("a second daemon of this machine is refused, and told by whom") {
  const Scratch folder;
  const auto journal = open_in(folder, "host:17");
  const auto second =
      Journal::open({.path = folder.path("journal.sqlite"), .instance = "b"}, fixed_clock(at(0)));
  REQUIRE_FALSE(second.has_value());
  CHECK(second.error().code == ErrorCode::refused);
  CHECK_MESSAGE(second.error().message.contains("host:17 is at work on it"),
                second.error().message);
  CHECK(journal->append({.kept = {{"a", "b"}}}));
}

TEST_CASE("a writer that was replaced writes nothing, not even after it opened again") {
  testing::FaultyDisk disk(1);
  const auto options = [&](const std::string& name) {
    return Options{.path = "/j", .instance = name, .vfs = disk.vfs()};
  };
  const auto first = open_journal(options("a:1"));
  const auto second = open_journal(options("b:2"));
  CHECK(second->epoch() == 2);
  check_refused(*first, {.actions = {made_action(1, {.kind = ActionKind::hold, .job = "7"})}},
                ErrorCode::refused, "instance b:2 has taken over (epoch 2, this one has 1)");
  CHECK(first->compact().error().code == ErrorCode::refused);
  CHECK(first->reopen().error().code == ErrorCode::refused);
  CHECK(second->append({.kept = {{"a", "b"}}}));
  CHECK(second->reopen());
  CHECK(second->epoch() == 3);
}

TEST_CASE("a thousand steps wait for the disk once") {
  testing::FaultyDisk disk(1);
  const auto journal = open_journal({.path = "/j", .instance = "a", .vfs = disk.vfs()});
  REQUIRE(journal->append({.kept = {{"a", "b"}}}));
  const auto before = disk.syncs();
  Batch batch;
  for (std::int64_t i = 1; i <= 1'000; ++i)
    batch.actions.push_back(made_action(i, {.kind = ActionKind::notify, .user = "ann"}));
  REQUIRE(journal->append(batch));
  CHECK(disk.syncs() - before <= 3);  // one, and a checkpoint's two
}

TEST_CASE("what cannot be read is not said to lack room") {
  testing::FaultyDisk disk(1);
  REQUIRE(open_journal({.path = "/j", .instance = "a", .vfs = disk.vfs()})->append({}));
  disk.faults.read_error = 1;
  const auto unread = Journal::open({.path = "/j", .instance = "a", .vfs = disk.vfs()}, {});
  CHECK((!unread && unread.error().message.contains("look at the disk")));
}

TEST_CASE("a full disk breaks the journal until it is opened again, and loses nothing") {
  testing::FaultyDisk disk(1);
  const auto journal = open_journal({.path = "/j", .instance = "a", .vfs = disk.vfs()});
  REQUIRE(journal->append({.kept = {{"a", "1"}}}));
  disk.faults.capacity = 0;
  const auto full = journal->append({.kept = {{"a", std::string(100'000, 'x')}}});
  REQUIRE_FALSE(full.has_value());
  CHECK(full.error().code == ErrorCode::unavailable);
  CHECK_MESSAGE(full.error().message.contains("free disk space"), full.error().message);
  disk.faults.capacity = 10'000'000;
  CHECK(journal->append({.kept = {{"a", "2"}}}).error().message == full.error().message);
  CHECK_FALSE(journal->kept("a").has_value());
  REQUIRE(journal->reopen());
  CHECK(journal->kept("a").value() == "1");
  CHECK(journal->append({.kept = {{"a", "2"}}}));
}

TEST_CASE("a damaged page breaks the journal: it is an error of the disk, not of the batch") {
  testing::FaultyDisk disk(1);
  const Options options{.path = "/j", .instance = "a", .vfs = disk.vfs()};
  REQUIRE(open_journal(options)->append({.events = {{.kind = "told"}}}));
  std::int64_t page = 0;
  {
    const auto database = sqlite::Database::open({.path = "/j", .vfs = disk.vfs()}).value();
    sqlite::Query query(*database, "SELECT rootpage FROM sqlite_schema WHERE name = 'events'");
    if (query.next()) page = query.integer(0);
  }
  testing::DiskImage image = disk.image();
  auto& file = image.files.at("/j");
  for (std::string* const bytes : {&file.seen, &file.synced})
    bytes->replace(static_cast<std::size_t>(page - 1) * 4'096, 64, 64, '\xff');
  disk.restore(image);
  const auto journal = open_journal(options);
  const auto done = journal->append({.events = {{.kind = "told"}}});
  REQUIRE_FALSE(done.has_value());
  CHECK(done.error().code == ErrorCode::unavailable);
  CHECK_MESSAGE(done.error().message.contains("damaged"), done.error().message);
  CHECK(journal->append({.kept = {{"a", "b"}}}).error().code == ErrorCode::unavailable);
}

TEST_CASE("a file that is no journal, or a newer one, is left as it is") {
  const Scratch folder;
  const auto path = folder.path("journal.sqlite");
  const auto refused = [&](const std::string& words) {
    const auto before = read_file(path).value();
    const auto journal = Journal::open({.path = path, .instance = "a"}, fixed_clock(at(0)));
    REQUIRE_FALSE(journal.has_value());
    CHECK(journal.error().code == ErrorCode::invalid);
    CHECK_MESSAGE(journal.error().message.contains(words), journal.error().message);
    CHECK(read_file(path).value() == before);
  };
  REQUIRE(
      write_file(path, "no database, but long enough to look like one " + std::string(200, '.')));
  refused("not an SQLite database");
  std::filesystem::remove(path);
  {
    const auto database = sqlite::Database::open({.path = path}).value();
    database->run("PRAGMA user_version = 9");
    database->run("PRAGMA application_id = 0x53634a6e");
    database->run("CREATE TABLE t (x)");
    REQUIRE(database->take_error());
  }
  refused("written by a newer version (schema 9, this program knows 1)");
  for (const char* const number : {"-1", "-2147483648"}) {
    std::filesystem::remove(path);
    const auto database = sqlite::Database::open({.path = path}).value();
    database->run("PRAGMA application_id = 0x53634a6e");
    database->run(std::string("PRAGMA user_version = ") + number);
    REQUIRE(database->take_error());
    refused(std::string("schema ") + number);
  }
}

TEST_CASE("compaction keeps the file small, what is open, and a chain that holds") {
  testing::FaultyDisk disk(1);
  const Options options{.path = "/j", .instance = "a", .most_bytes = 200'000, .vfs = disk.vfs()};
  const auto journal = open_journal(options);
  REQUIRE(journal->append({.actions = {made_action(1, {.kind = ActionKind::hold, .job = "7"})}}));
  std::int64_t next = 2, events = 0;
  for (int round = 0; round < 60; ++round) {
    Batch batch;
    for (int i = 0; i < 20; ++i) {
      Action action =
          made_action(next++, {.kind = ActionKind::notify, .user = "ann"}, Mode::shadow);
      action.steps.push_back(step_of(action.id, ActionState::shadowed).step);
      batch.actions.push_back(action);
      batch.events.push_back({.kind = "told", .subject = "j", .body = "{}", .when = at(++events)});
    }
    REQUIRE(journal->append(batch));
    while (journal->compact(50).value() > 0) {
    }
  }
  CHECK(disk.image().files.at("/j").seen.size() < 300'000);
  CHECK(journal->open_actions().value().size() == 1);
  const auto kept = journal->actions(0, 10'000).value();
  const auto kept_events = journal->events(0, 10'000).value();
  const auto summaries = journal->summaries().value();
  REQUIRE(summaries.size() == 2);
  CHECK(summaries[0].what == "action");
  CHECK(summaries[0].kind == "notify");
  CHECK(summaries[0].state == "shadowed");
  CHECK(summaries[0].number + std::ssize(kept) == next - 1);
  CHECK(summaries[1].what == "event");
  CHECK(summaries[1].number + std::ssize(kept_events) == events);
  CHECK(summaries[1].first == at(1));
  CHECK(kept_events.back().when == at(events));
  const auto verdict = verify({"/j", disk.vfs()}).value();
  CHECK_MESSAGE(!verdict.fault.has_value(), verdict.fault->what);
  CHECK(verdict.first > 1);
  CHECK(audit_entries({"/j", disk.vfs()}, 0, 1).value().front().sequence == verdict.first);
}

TEST_CASE("compaction by the smallest steps ends") {
  testing::FaultyDisk disk(1);
  const auto journal =
      open_journal({.path = "/j", .instance = "a", .most_bytes = 0, .vfs = disk.vfs()});
  for (int i = 0; i < 20; ++i)
    REQUIRE(journal->append({.remarks = {{.what = "compacted", .by = "ann"}}}));
  int steps = 0;
  while (steps < 100 && journal->compact(1).value() > 0) ++steps;
  CHECK(steps < 100);
  REQUIRE(journal->append({.remarks = {{.what = "compacted", .by = "ann"}}}));
  const auto verdict = verify({"/j", disk.vfs()}).value();
  CHECK_MESSAGE(!verdict.fault.has_value(), verdict.fault->what);
}

/// The file and its write-ahead log.
std::size_t bytes_of(const std::string& path) {
  std::size_t bytes = 0;
  for (const char* const end : {"", "-wal", "-shm"}) {
    std::error_code absent;
    const auto size = std::filesystem::file_size(path + end, absent);
    bytes += absent ? 0 : size;
  }
  return bytes;
}

TEST_CASE("200,000 events and 20,000 actions stay below 20 MB at any time" *
          doctest::skip(testing::sanitized)) {
  const Scratch folder;
  const std::string path = folder.path("journal.sqlite");
  const auto journal =
      open_journal({.path = path, .instance = "a", .most_bytes = std::int64_t{12} << 20});
  std::size_t most = 0;
  std::int64_t next = 1;
  for (int round = 0; round < 200; ++round) {
    Batch batch;
    for (int i = 0; i < 100; ++i) {
      Action action = made_action(next++, {.kind = ActionKind::set_order, .job = std::to_string(i)},
                                  Mode::shadow);
      action.steps.push_back(step_of(action.id, ActionState::shadowed).step);
      batch.actions.push_back(action);
    }
    for (int i = 0; i < 1'000; ++i)
      batch.events.push_back({.kind = "told",
                              .subject = std::to_string(round * 1'000 + i),
                              .body = R"({"state":"completed","gpus":8,"node":"n17"})",
                              .when = at(round)});
    REQUIRE(journal->append(batch));
    do most = std::max(most, bytes_of(path));
    while (journal->compact().value() > 0);
  }
  CHECK(most < 20'000'000);
  std::int64_t events = std::ssize(journal->events(0, 1'000'000).value());
  const auto summaries = journal->summaries().value();
  for (const Summary& each : summaries)
    if (each.what == "event") events += each.number;
  CHECK(events == 200'000);
  CHECK_FALSE(verify({path}).value().fault.has_value());
  MESSAGE(most, " bytes at most");
}

/// Appends until it is killed, and writes the id of each action that was acknowledged.
[[noreturn]] void append_for_ever(const std::string& path, int out) {
  const auto journal =
      Journal::open({.path = path, .instance = "child", .most_bytes = 300'000}, fixed_clock(at(0)));
  if (!journal) ::_exit(1);
  for (auto next = (*journal)->next_action().value();; ++next) {
    Action action = made_action(next, {.kind = ActionKind::notify, .user = "ann"}, Mode::shadow);
    action.steps.push_back(step_of(next, ActionState::shadowed).step);
    if (!(*journal)->append({.actions = {action}})) ::_exit(1);
    if (::write(out, &next, sizeof next) != sizeof next) ::_exit(1);
    if (!(*journal)->compact(50)) ::_exit(1);
  }
}

TEST_CASE("a process that is killed at any point loses nothing that was acknowledged") {
  const Scratch folder;
  const std::string path = folder.path("journal.sqlite");
  std::int64_t acknowledged = 0;
  for (int kill = 0; kill < 20; ++kill) {
    std::array<int, 2> pipe{};
    REQUIRE(::pipe(pipe.data()) == 0);
    const pid_t child = ::fork();
    if (child == 0) append_for_ever(path, pipe[1]);
    ::close(pipe[1]);
    for (int reads = 3 + 11 * kill; reads > 0; --reads)
      REQUIRE(::read(pipe[0], &acknowledged, sizeof acknowledged) == sizeof acknowledged);
    ::kill(child, SIGKILL);
    while (::read(pipe[0], &acknowledged, sizeof acknowledged) == sizeof acknowledged) {
    }
    ::close(pipe[0]);
    int status = 0;
    ::waitpid(child, &status, 0);
    CHECK(WIFSIGNALED(status));
    const auto journal = open_in(folder);
    const auto next = journal->next_action().value();
    CHECK(next - 1 >= acknowledged);
    CHECK(next - 1 <= acknowledged + 1);
    CHECK(journal->epoch() == 2 * (kill + 1));
    const auto verdict = verify({path}).value();
    CHECK_MESSAGE(!verdict.fault.has_value(), verdict.fault->what);
  }
}

}  // namespace
}  // namespace schedmate::journal
