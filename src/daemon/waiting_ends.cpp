// SPDX-License-Identifier: Apache-2.0
#include "daemon/waiting_ends.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <filesystem>
#include <optional>
#include <system_error>

#include "base/own_files.hpp"
#include "sqlite/schema.hpp"

namespace schedmate::daemon {
namespace {

using sqlite::Database;
using sqlite::Query;
using sqlite::Transaction;

// A place never comes back for another end: AUTOINCREMENT.
constexpr const char* first_ends = R"(
CREATE TABLE ends (place INTEGER PRIMARY KEY AUTOINCREMENT, job TEXT NOT NULL,
  submitted_s INTEGER NOT NULL, body BLOB NOT NULL) STRICT;
CREATE UNIQUE INDEX ends_by_job ON ends (job, submitted_s);
)";
constexpr std::array ends_versions = {first_ends};

constexpr const char* ends_pragmas = R"(
PRAGMA synchronous = FULL;
PRAGMA journal_mode = WAL;
PRAGMA journal_size_limit = 4194304;
PRAGMA temp_store = MEMORY;
)";

constexpr sqlite::Schema ends_schema{.application_id = 0x5363456e,  // "ScEn"
                                     .steps = ends_versions,
                                     .pragmas = ends_pragmas};

}  // namespace

template <class Work>
auto WaitingEnds::on_file(const Work& work) -> decltype(work()) {
  for (bool is_first = true;; is_first = false) {
    auto done = open().and_then(work);
    if (done) return done;
    database_.reset();
    const bool is_useless =
        done.error().code == ErrorCode::invalid || done.error().code == ErrorCode::refused;
    if (!is_useless || !is_first || !set_aside(done.error())) return done;
  }
}

Result<void> WaitingEnds::open() {
  constexpr std::chrono::milliseconds longest_wait{5'000};
  if (database_) return {};
  const sqlite::Place place{.path = options_.path,
                            .busy_timeout = longest_wait,
                            .what = "ends of jobs",
                            .vfs = options_.vfs};
  if (options_.vfs.empty())
    if (auto made = make_own_file(options_.path); !made) return made;
  if (auto rewritten = rewrite_log(place); !rewritten) return rewritten;
  auto database = Database::open(place);
  if (!database) return tl::unexpected(database.error());
  if (auto ready = prepare(**database, ends_schema, ends_schema.newest()); !ready) return ready;
  std::int64_t last = 0;
  if (Query row(**database, "SELECT seq FROM sqlite_sequence WHERE name = 'ends'"); row.next())
    last = row.integer(0);
  given_ = std::min(given_, last);  // of a file that somebody has removed
  Totals totals;
  if (Query row(**database,
                "SELECT count(*), coalesce(sum(length(body)), 0) FROM ends WHERE place > ?");
      row.bind(given_).next())
    totals = {row.integer(0), row.integer(1)};
  if (auto read = (*database)->take_error(); !read) return read;
  totals_ = totals;
  database_ = std::move(*database);
  return {};
}

/// Beside its place, with its log.
bool WaitingEnds::set_aside(const Error& why) {
  namespace fs = std::filesystem;
  constexpr int most_names = 9;  // the last one is replaced
  if (!options_.vfs.empty()) return false;
  std::error_code error;
  std::string name;
  for (int i = 1; i <= most_names; ++i) {
    name = fmt::format("{}.damaged.{}", options_.path, i);
    if (!fs::exists(fs::symlink_status(name, error))) break;
  }
  fs::rename(options_.path + "-wal", name + "-wal", error);
  fs::rename(options_.path, name, error);
  if (error) return false;
  fs::remove(options_.path + "-shm", error);
  dropped_ += size();
  totals_ = {};
  given_ = 0;
  if (report_)
    report_(fmt::format("ends of jobs that waited for the history were set aside as {}: {}", name,
                        why.message));
  return true;
}

Result<void> WaitingEnds::look() {
  std::error_code error;
  const bool is_absent =
      options_.vfs.empty() && std::filesystem::symlink_status(options_.path, error).type() ==
                                  std::filesystem::file_type::not_found;
  if (is_absent) return {};
  auto done = on_file([] { return Result<void>(); });
  if (done) leave_no_file();
  return done;
}

Result<void> WaitingEnds::add(std::span<const EndRecord> ends) {
  return on_file([&] { return write(ends); });
}

Result<void> WaitingEnds::write(std::span<const EndRecord> ends) {
  Transaction transaction(*database_);
  forget_given();
  Totals totals = totals_;
  for (const EndRecord& end : ends) put(end, totals);
  const std::uint64_t dropped = make_room(totals);
  if (auto done = transaction.commit(); !done) return done;
  totals_ = totals;
  dropped_ += dropped;
  return {};
}

void WaitingEnds::put(const EndRecord& end, Totals& totals) {
  const std::int64_t submitted_s = seconds_of(end.record.submit);
  {
    Query same(*database_, "SELECT length(body) FROM ends WHERE job = ? AND submitted_s = ?");
    if (same.bind(end.record.id).bind(submitted_s).next()) {
      if (end.is_old) return;
      totals.ends -= 1;
      totals.bytes -= same.integer(0);
    }
  }
  const std::string body = end_text(end);
  Query row(*database_, "INSERT OR REPLACE INTO ends (job, submitted_s, body) VALUES (?, ?, ?)");
  row.bind(end.record.id).bind(submitted_s).bind_blob(body).run();
  totals.ends += 1;
  totals.bytes += std::ssize(body);
}

/// How many had to go.
std::uint64_t WaitingEnds::make_room(Totals& totals) {
  std::uint64_t dropped = 0;
  while (totals.ends > options_.most_ends || totals.bytes > options_.most_bytes) {
    std::int64_t place = 0;
    {
      Query row(*database_, "SELECT place, length(body) FROM ends ORDER BY place LIMIT 1");
      if (!row.next()) break;
      place = row.integer(0);
      totals.bytes -= row.integer(1);
    }
    Query(*database_, "DELETE FROM ends WHERE place = ?").bind(place).run();
    totals.ends -= 1;
    ++dropped;
  }
  return dropped;
}

Result<WaitingEnds::Batch> WaitingEnds::oldest(std::size_t most) {
  if (size() == 0) return Batch();
  return on_file([&] { return read(most); });
}

Result<WaitingEnds::Batch> WaitingEnds::read(std::size_t most) {
  Batch batch;
  read_.clear();
  {
    Query rows(*database_, "SELECT place, body FROM ends WHERE place > ? ORDER BY place LIMIT ?");
    rows.bind(given_).bind(static_cast<std::int64_t>(most));
    while (rows.next()) {
      const std::string body = rows.text(1);
      batch.last = rows.integer(0);
      read_.emplace_back(batch.last, std::ssize(body));
      auto end = read_end(body);
      if (!end) {
        ++batch.unreadable;
        continue;
      }
      end->place = batch.last;
      batch.ends.push_back(*std::move(end));
    }
  }
  if (auto done = database_->take_error(); !done) return tl::unexpected(done.error());
  return batch;
}

Result<void> WaitingEnds::remove(std::int64_t place) {
  given_ = std::max(given_, place);
  const auto is_given = [&](const auto& each) { return each.first <= place; };
  for (const auto& each : read_)
    if (is_given(each)) {
      totals_.ends -= 1;
      totals_.bytes -= each.second;
    }
  std::erase_if(read_, is_given);
  auto done = on_file([&] {
    Transaction transaction(*database_);
    forget_given();
    return transaction.commit();
  });
  if (done) leave_no_file();
  return done;
}

/// A part of any change.
void WaitingEnds::forget_given() {
  if (given_ > 0) Query(*database_, "DELETE FROM ends WHERE place <= ?").bind(given_).run();
}

void WaitingEnds::leave_no_file() {
  if (size() > 0 || !options_.vfs.empty()) return;
  database_.reset();
  std::error_code error;
  if (std::filesystem::exists(options_.path + "-wal", error)) return;  // it could not be closed
  if (std::filesystem::remove(options_.path, error)) given_ = 0;
}

}  // namespace schedmate::daemon
