// SPDX-License-Identifier: Apache-2.0
#include "sqlite/database.hpp"

#include <fmt/format.h>
#include <sqlite3.h>

#include <algorithm>
#include <cstddef>

#include "base/own_files.hpp"

namespace schedmate::sqlite {
namespace {

/// What the caller can do about it.
ErrorCode code_of(int code) {
  switch (code & 0xFF) {
    case SQLITE_CORRUPT:
    case SQLITE_NOTADB:
    case SQLITE_MISMATCH:
    case SQLITE_CONSTRAINT:
    case SQLITE_ERROR:
    case SQLITE_TOOBIG:
      return ErrorCode::invalid;
    default:
      return ErrorCode::unavailable;
  }
}

std::string_view remedy(int code) {
  switch (code) {
    case SQLITE_IOERR_READ:
    case SQLITE_IOERR_SHORT_READ:
    case SQLITE_IOERR_CORRUPTFS:
      return "it cannot be read as it was written: look at the disk, or restore a backup";
    default:
      break;
  }
  switch (code & 0xFF) {
    case SQLITE_CORRUPT:
      return "the file is damaged and was left unchanged: restore a backup, or move it away";
    case SQLITE_NOTADB:
      return "the file is not an SQLite database and was left unchanged: give another path";
    case SQLITE_FULL:
    case SQLITE_IOERR:
      return "this change was not saved: free disk space and try again";
    case SQLITE_BUSY:
    case SQLITE_LOCKED:
      return "another process kept it locked for too long: try again";
    case SQLITE_CANTOPEN:
    case SQLITE_READONLY:
    case SQLITE_PERM:
      return "the folder and the file must be writable";
    default:
      return "this should not happen; run `schedmate doctor`";
  }
}

/// SQLite gives new files the rights of the umask; past commands concern their owner only. The
/// journal inherits the rights of the file; nobody else can lay one beside it, since the folder is
/// one's own.
Result<void> make_private_file(const Place& place) {
  auto file = make_own_file(place.path);
  if (file) return {};
  const bool refused = file.error().code == ErrorCode::refused;
  return fail(file.error().code,
              place.what + " " + file.error().message +
                  (refused ? "; give another path" : "; the folder must exist and be writable"));
}

/// Of an open file of a file system of SQLite's.
int write_over_itself(sqlite3_file* file) {
  constexpr sqlite3_int64 part = 1 << 16;
  std::string bytes;
  sqlite3_int64 size = 0;
  int code = file->pMethods->xFileSize(file, &size);
  for (sqlite3_int64 at = 0; code == SQLITE_OK && at < size; at += part) {
    bytes.resize(static_cast<std::size_t>(std::min(part, size - at)));
    const int count = static_cast<int>(bytes.size());
    code = file->pMethods->xRead(file, bytes.data(), count, at);
    if (code == SQLITE_OK) code = file->pMethods->xWrite(file, bytes.data(), count, at);
  }
  if (code == SQLITE_OK && size > 0) code = file->pMethods->xSync(file, SQLITE_SYNC_NORMAL);
  return code;
}

}  // namespace

Result<void> rewrite_log(const Place& place) {
  sqlite3_vfs* const vfs = sqlite3_vfs_find(place.vfs.empty() ? nullptr : place.vfs.c_str());
  if (vfs == nullptr) return fail(ErrorCode::unavailable, place.vfs + ": no such file system");
  std::string full(static_cast<std::size_t>(vfs->mxPathname) + 1, '\0');
  int code = vfs->xFullPathname(vfs, place.path.c_str(), vfs->mxPathname, full.data());
  if ((code & 0xFF) == SQLITE_OK) code = SQLITE_OK;  // SQLITE_OK_SYMLINK: the path led over a link
  full.resize(full.find('\0'));
  const std::string log = full + "-wal";
  int there = 0;
  if (code == SQLITE_OK) code = vfs->xAccess(vfs, log.c_str(), SQLITE_ACCESS_EXISTS, &there);
  if (code == SQLITE_OK && there != 0) {
    const char* const name =
        sqlite3_create_filename(full.c_str(), (full + "-journal").c_str(), log.c_str(), 0, nullptr);
    const auto room = std::make_unique<std::max_align_t[]>(
        static_cast<std::size_t>(vfs->szOsFile) / sizeof(std::max_align_t) + 1);
    auto* const file = reinterpret_cast<sqlite3_file*>(room.get());
    code = vfs->xOpen(vfs, sqlite3_filename_wal(name), file,
                      SQLITE_OPEN_READWRITE | SQLITE_OPEN_WAL, nullptr);
    if (code == SQLITE_OK) code = write_over_itself(file);
    if (file->pMethods != nullptr) file->pMethods->xClose(file);
    sqlite3_free_filename(const_cast<char*>(name));
  }
  if (code == SQLITE_OK) return {};
  return fail(code_of(code),
              fmt::format("{} {}: {} ({})", place.what, log, sqlite3_errstr(code), remedy(code)));
}

Result<std::unique_ptr<Database>> Database::open(const Place& place) {
  const bool on_machine = place.vfs.empty();
  if (on_machine && !place.read_only)
    if (auto made = make_private_file(place); !made) return tl::unexpected(made.error());
  auto database = std::make_unique<Database>(Key());
  database->place_ = place;
  const int rights = place.read_only ? SQLITE_OPEN_READONLY
                     : on_machine    ? SQLITE_OPEN_READWRITE
                                     : SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE;
  const int code =
      sqlite3_open_v2(place.path.c_str(), &database->handle_, rights | SQLITE_OPEN_NOMUTEX,
                      on_machine ? nullptr : place.vfs.c_str());
  if (code != SQLITE_OK) {
    database->note(code);
    return tl::unexpected(database->take_error().error());
  }
  sqlite3_extended_result_codes(database->handle_, 1);
  sqlite3_busy_timeout(database->handle_, static_cast<int>(place.busy_timeout.count()));
  return database;
}

Database::~Database() {
  for (const auto& [sql, statement] : statements_) sqlite3_finalize(statement);
  sqlite3_close(handle_);
}

void Database::run(const std::string& sql) {
  if (failed()) return;
  note(sqlite3_exec(handle_, sql.c_str(), nullptr, nullptr, nullptr));
}

void Database::run_when_free(const std::string& sql) {
  constexpr std::chrono::milliseconds pause{5};
  if (failed()) return;
  int code = SQLITE_OK;
  for (auto left = place_.busy_timeout;; left -= pause) {
    code = sqlite3_exec(handle_, sql.c_str(), nullptr, nullptr, nullptr);
    if ((code & 0xFF) != SQLITE_BUSY || left < pause) break;
    sqlite3_sleep(static_cast<int>(pause.count()));
  }
  note(code);
}

std::int64_t Database::last_row() const { return sqlite3_last_insert_rowid(handle_); }

std::int64_t Database::changes() const { return sqlite3_changes64(handle_); }

Result<void> Database::take_error() {
  if (!error_) return {};
  auto error = std::move(*error_);
  error_.reset();
  return tl::unexpected(std::move(error));
}

void Database::set_error(ErrorCode code, const std::string& what) {
  if (!error_) error_ = Error{code, what};
}

void Database::note(int code) {
  if (code == SQLITE_OK || code == SQLITE_ROW || code == SQLITE_DONE) return;
  const char* const text = handle_ == nullptr ? sqlite3_errstr(code) : sqlite3_errmsg(handle_);
  const int exact = handle_ == nullptr ? code : sqlite3_extended_errcode(handle_);
  set_error(code_of(code),
            fmt::format("{} {}: {} ({})", place_.what, place_.path, text, remedy(exact)));
}

sqlite3_stmt* Database::prepared(std::string_view sql) {
  if (failed()) return nullptr;
  if (const auto found = statements_.find(sql); found != statements_.end()) return found->second;
  sqlite3_stmt* statement = nullptr;
  note(sqlite3_prepare_v3(handle_, sql.data(), static_cast<int>(sql.size()),
                          SQLITE_PREPARE_PERSISTENT, &statement, nullptr));
  if (statement != nullptr) statements_.emplace(sql, statement);
  return statement;
}

Query::Query(Database& database, std::string_view sql)
    : database_(database), statement_(database.prepared(sql)) {}

Query::~Query() {
  if (statement_ == nullptr) return;
  sqlite3_reset(statement_);
  sqlite3_clear_bindings(statement_);
}

Query& Query::bind(std::int64_t value) {
  if (statement_ != nullptr) database_.note(sqlite3_bind_int64(statement_, ++bound_, value));
  return *this;
}

Query& Query::bind(double value) {
  if (statement_ != nullptr) database_.note(sqlite3_bind_double(statement_, ++bound_, value));
  return *this;
}

Query& Query::bind(std::string_view text) {
  // A null pointer would be bound as NULL.
  const char* const data = text.empty() ? "" : text.data();
  if (statement_ != nullptr) {
    database_.note(sqlite3_bind_text(statement_, ++bound_, data, static_cast<int>(text.size()),
                                     SQLITE_STATIC));
  }
  return *this;
}

Query& Query::bind_blob(std::string_view bytes) {
  const char* const data = bytes.empty() ? "" : bytes.data();
  if (statement_ != nullptr) {
    database_.note(sqlite3_bind_blob(statement_, ++bound_, data, static_cast<int>(bytes.size()),
                                     SQLITE_STATIC));
  }
  return *this;
}

Query& Query::bind_null() {
  ++bound_;
  return *this;
}

Query& Query::bind(const std::optional<std::int64_t>& value) {
  return value ? bind(*value) : bind_null();
}

Query& Query::bind(const std::optional<double>& value) {
  return value ? bind(*value) : bind_null();
}

bool Query::next() {
  if (statement_ == nullptr || database_.failed()) return false;
  const int code = sqlite3_step(statement_);
  database_.note(code);
  return code == SQLITE_ROW;
}

bool Query::is_null(int column) const {
  return sqlite3_column_type(statement_, column) == SQLITE_NULL;
}

std::int64_t Query::integer(int column) const { return sqlite3_column_int64(statement_, column); }

double Query::number(int column) const { return sqlite3_column_double(statement_, column); }

std::string Query::text(int column) const {
  const auto* const data = static_cast<const char*>(sqlite3_column_blob(statement_, column));
  const auto size = static_cast<std::size_t>(sqlite3_column_bytes(statement_, column));
  return data == nullptr ? std::string() : std::string(data, size);
}

Transaction::Transaction(Database& database) : database_(database) {
  Query(database_, "BEGIN IMMEDIATE").run();
  open_ = !database_.failed();
}

Transaction::~Transaction() {
  if (open_) roll_back();
}

// SQLite has rolled back by itself after some errors; then its complaint means nothing.
void Transaction::roll_back() {
  open_ = false;
  (void)database_.take_error();
  database_.run("ROLLBACK");
  (void)database_.take_error();
}

Result<void> Transaction::commit() {
  if (open_) Query(database_, "COMMIT").run();
  auto result = database_.take_error();
  if (!result && open_) roll_back();
  open_ = false;
  return result;
}

}  // namespace schedmate::sqlite
