// SPDX-License-Identifier: Apache-2.0
#include "journal/journal.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <nlohmann/json.hpp>

#include "base/own_files.hpp"
#include "core/action_json.hpp"
#include "journal/change.hpp"
#include "journal/schema.hpp"

namespace schedmate::journal {
namespace {

using sqlite::Database;
using sqlite::Query;
using sqlite::Transaction;

/// Errors: refused (another process has it), unavailable, those of open_own_file().
Result<Descriptor> take_lock(const Options& options) {
  const std::string path = options.path + ".lock";
  auto file = open_own_file(path, O_RDWR);
  if (!file) return tl::unexpected(file.error());
  if (::flock(file->number(), LOCK_EX | LOCK_NB) != 0) {
    if (errno != EWOULDBLOCK)
      return fail(ErrorCode::unavailable, fmt::format("{}: {}", path, std::strerror(errno)));
    std::array<char, 256> text{};
    const auto read = ::pread(file->number(), text.data(), text.size(), 0);
    const std::string_view holder(text.data(), read > 0 ? static_cast<std::size_t>(read) : 0);
    return fail(ErrorCode::refused,
                fmt::format("journal {}: {} is at work on it; one daemon serves a cluster",
                            options.path, holder.empty() ? "another process" : holder));
  }
  const std::string& name = options.instance;
  const bool written =
      ::ftruncate(file->number(), 0) == 0 &&
      ::pwrite(file->number(), name.data(), name.size(), 0) == static_cast<ssize_t>(name.size());
  if (!written)
    return fail(ErrorCode::unavailable, fmt::format("{}: {}", path, std::strerror(errno)));
  return file;
}

/// The names of the files that were made, too, survive a power cut.
Result<void> sync_folder_of(const std::string& path) {
  const auto folder = std::filesystem::absolute(path).parent_path();
  const Descriptor open(::open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (open && ::fsync(open.number()) == 0) return {};
  return fail(ErrorCode::unavailable, fmt::format("{}: {}", folder.string(), std::strerror(errno)));
}

Event event_of(const Query& row) {
  return {.id = row.integer(0),
          .kind = row.text(1),
          .subject = row.text(2),
          .body = row.text(3),
          .when = at(row.integer(4))};
}
constexpr const char* event_columns = "SELECT id, kind, subject, body, when_s FROM events ";

/// Of rows whose only column is a body.
Result<std::vector<Action>> actions_of(Query& rows) {
  std::vector<Action> actions;
  while (rows.next()) {
    auto action = read_action(rows.text(0));
    if (!action) return tl::unexpected(action.error());
    actions.push_back(std::move(*action));
  }
  return actions;
}

/// What was read, unless the disk failed.
template <class Value>
Result<Value> unless_failed(Database& database, Result<Value> value) {
  if (auto read = database.take_error(); !read) return tl::unexpected(read.error());
  return value;
}

}  // namespace

Result<std::unique_ptr<Journal>> Journal::open(const Options& options, const Clock& clock) {
  auto journal = std::make_unique<Journal>(Key(), options, clock);
  if (options.vfs.empty()) {
    auto lock = take_lock(options);
    if (!lock) return tl::unexpected(lock.error());
    journal->lock_ = std::move(*lock);
    auto head = HeadFile::open(head_path(options.path));
    if (!head) return tl::unexpected(head.error());
    journal->head_ = std::move(*head);
  }
  auto opened = journal->open_file().and_then([&] { return journal->check_chain(); });
  if (!opened) return tl::unexpected(opened.error());
  return journal;
}

Result<void> Journal::reopen() {
  open_.clear();
  database_.reset();
  return open_file();
}

Result<void> Journal::open_file() {
  broken_ = Error{ErrorCode::unavailable, "journal " + options_.path + ": it is not open"};
  const sqlite::Place place{
      .path = options_.path, .busy_timeout = busy_timeout, .what = "journal", .vfs = options_.vfs};
  if (options_.rules.rewrite_log)
    if (auto rewritten = rewrite_log(place); !rewritten) return rewritten;
  auto database = Database::open(place);
  if (!database) return tl::unexpected(database.error());
  database_ = std::move(*database);
  const auto& schema = journal_schema();
  if (auto ready = prepare(*database_, schema, schema.newest()); !ready) return ready;
  if (!options_.rules.synchronous) database_->run("PRAGMA synchronous = OFF");
  if (options_.vfs.empty())
    if (auto synced = sync_folder_of(options_.path); !synced) return synced;
  if (auto found = find_epoch(); !found) return found;
  broken_.reset();
  return take_epoch();
}

Result<void> Journal::find_epoch() {
  if (epoch_ == 0) return {};
  Query query(*database_, "SELECT epoch FROM state WHERE instance = ?");
  if (query.bind(options_.instance).next()) epoch_ = query.integer(0);
  return database_->take_error();
}

Result<void> Journal::take_epoch() {
  std::int64_t epoch = 0;
  auto taken = change([&](NewEntries& entries) -> Result<void> {
    if (auto compared = compare_with_head(); !compared) return compared;
    if (head_) count_change(*database_);
    {
      Query query(*database_, "UPDATE state SET epoch = epoch + 1, instance = ? RETURNING epoch");
      if (query.bind(options_.instance).next()) epoch = query.integer(0);
    }
    entries = NewEntries(*database_);
    entries.add({.when = clock_.wall(), .by = options_.instance}, "epoch", Document::object());
    return {};
  });
  if (taken) epoch_ = epoch;
  return taken;
}

/// In the transaction that takes the epoch. Numbers of what was lost are not given again.
Result<void> Journal::compare_with_head() {
  if (!head_) return {};
  const auto last = head_->read();
  if (!last && last.error().code != ErrorCode::invalid) return tl::unexpected(last.error());
  if (last && !*last && head_of(*database_).changes == 0)
    return head_->write({}).and_then([&] { return head_->sync(); });
  std::string doubt = !last    ? last.error().message
                      : !*last ? head_path(options_.path) + " is gone"
                               : lost_since(**last, *database_);
  if (doubt.empty()) return {};
  if (last && *last)
    Query(*database_, "UPDATE state SET epoch = max(epoch, ?), next_action = max(next_action, ?)")
        .bind((*last)->epoch)
        .bind((*last)->next_action)
        .run();
  Query(*database_, "INSERT OR REPLACE INTO kept VALUES (?, ?)").bind(doubt_name).bind(doubt).run();
  return {};
}

Result<void> Journal::check_chain() {
  if (!head_) return {};
  const auto verdict = verify({.path = options_.path});
  if (!verdict && verdict.error().code != ErrorCode::invalid)
    return tl::unexpected(verdict.error());
  if (verdict && !verdict->fault) return {};
  std::string doubt = verdict ? verdict->fault->what : verdict.error().message;
  if (verdict && verdict->fault->sequence > 0)
    doubt = fmt::format("entry {}: {}", verdict->fault->sequence, doubt);
  const auto before = all_kept();
  if (!before) return tl::unexpected(before.error());
  const auto agreed = before->find(agreed_name);
  if (before->contains(doubt_name) || (agreed != before->end() && agreed->second == doubt))
    return {};
  return append({.kept = {{doubt_name, doubt}}});
}

Result<void> Journal::check_epoch() {
  if (epoch_ == 0 || !options_.rules.check_epoch) return {};
  Query query(*database_, "SELECT epoch, instance FROM state");
  if (!query.next() || query.integer(0) == epoch_) return {};
  return fail(ErrorCode::refused,
              fmt::format("journal {}: instance {} has taken over (epoch {}, this one has {}); "
                          "nothing was written, and this one must not act any more",
                          options_.path, query.text(1), query.integer(0), epoch_));
}

Result<void> Journal::change(const std::function<Result<void>(NewEntries& entries)>& change) {
  if (broken_) return tl::unexpected(*broken_);
  Transaction transaction(*database_);
  if (database_->failed()) return break_by(database_->take_error().error());
  NewEntries entries(*database_);
  auto done = check_epoch().and_then([&] { return change(entries); });
  if (!done && !database_->failed()) return done;
  const bool together = options_.rules.one_transaction;
  if (together) entries.write(*database_);
  done = transaction.commit();
  if (done && !together) {
    Transaction second(*database_);
    entries.write(*database_);
    done = second.commit();
  }
  if (done && head_) done = head_->write(head_of(*database_));
  if (!done) return break_by(done.error());
  return {};
}

tl::unexpected<Error> Journal::break_by(const Error& error) {
  broken_ = Error{ErrorCode::unavailable, error.message};
  return tl::unexpected(*broken_);
}

Result<void> Journal::append(const Batch& batch) {
  auto done = change([&](NewEntries& entries) {
    if (head_) count_change(*database_);
    return write_batch(*database_, batch, entries, open_);
  });
  if (!done) open_.clear();
  return done;
}

Result<std::int64_t> Journal::next_action() {
  if (broken_) return tl::unexpected(*broken_);
  std::int64_t next = 0;
  if (Query query(*database_, "SELECT next_action FROM state"); query.next())
    next = query.integer(0);
  return unless_failed<std::int64_t>(*database_, next);
}

Result<std::vector<Action>> Journal::open_actions() {
  if (broken_) return tl::unexpected(*broken_);
  Query rows(*database_, "SELECT body FROM actions WHERE ended = 0 ORDER BY id");
  return unless_failed(*database_, actions_of(rows));
}

Result<std::vector<Action>> Journal::actions(std::int64_t since, std::size_t limit) {
  if (broken_) return tl::unexpected(*broken_);
  Query rows(*database_, "SELECT body FROM actions WHERE id > ? ORDER BY id LIMIT ?");
  rows.bind(since).bind(static_cast<std::int64_t>(limit));
  return unless_failed(*database_, actions_of(rows));
}

Result<std::optional<Action>> Journal::action(std::int64_t id) {
  if (broken_) return tl::unexpected(*broken_);
  Query rows(*database_, "SELECT body FROM actions WHERE id = ?");
  rows.bind(id);
  return unless_failed(*database_, actions_of(rows)).map([](const std::vector<Action>& found) {
    return found.empty() ? std::nullopt : std::optional(found.front());
  });
}

Result<std::vector<Event>> Journal::events(std::int64_t since, std::size_t limit) {
  if (broken_) return tl::unexpected(*broken_);
  Query rows(*database_, std::string(event_columns) + "WHERE id > ? ORDER BY id LIMIT ?");
  rows.bind(since).bind(static_cast<std::int64_t>(limit));
  std::vector<Event> events;
  while (rows.next()) events.push_back(event_of(rows));
  return unless_failed<std::vector<Event>>(*database_, std::move(events));
}

Result<std::optional<Event>> Journal::last_event(const std::string& kind,
                                                 const std::string& subject) {
  if (broken_) return tl::unexpected(*broken_);
  Query row(*database_,
            std::string(event_columns) + "WHERE kind = ? AND subject = ? ORDER BY id DESC LIMIT 1");
  row.bind(kind).bind(subject);
  std::optional<Event> event;
  if (row.next()) event = event_of(row);
  return unless_failed<std::optional<Event>>(*database_, std::move(event));
}

Result<std::optional<std::string>> Journal::kept(const std::string& name) {
  if (broken_) return tl::unexpected(*broken_);
  Query row(*database_, "SELECT value FROM kept WHERE name = ?");
  row.bind(name);
  std::optional<std::string> value;
  if (row.next()) value = row.text(0);
  return unless_failed<std::optional<std::string>>(*database_, std::move(value));
}

Result<std::map<std::string, std::string>> Journal::all_kept() {
  if (broken_) return tl::unexpected(*broken_);
  Query rows(*database_, "SELECT name, value FROM kept WHERE name != ?");
  rows.bind(counter_name);
  std::map<std::string, std::string> all;
  while (rows.next()) all[rows.text(0)] = rows.text(1);
  return unless_failed<std::map<std::string, std::string>>(*database_, std::move(all));
}

Result<std::vector<Summary>> Journal::summaries() {
  if (broken_) return tl::unexpected(*broken_);
  Query rows(*database_,
             "SELECT what, kind, state, number, first_s, last_s FROM summary "
             "ORDER BY what, kind, state");
  std::vector<Summary> summaries;
  while (rows.next())
    summaries.push_back({rows.text(0), rows.text(1), rows.text(2), rows.integer(3),
                         at(rows.integer(4)), at(rows.integer(5))});
  return unless_failed<std::vector<Summary>>(*database_, std::move(summaries));
}

}  // namespace schedmate::journal
