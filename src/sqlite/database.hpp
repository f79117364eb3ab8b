// SPDX-License-Identifier: Apache-2.0
#pragma once

/// A thin layer over SQLite in which errors stick: after the first one every query gives nothing,
/// and `Transaction::commit` (or `take_error`) says what it was. So a sequence of statements reads
/// without a test behind each line and cannot be half done.

#include <chrono>
#include <concepts>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <schedmate/result.hpp>
#include <string>
#include <string_view>
#include <unordered_map>

struct sqlite3;
struct sqlite3_stmt;

namespace schedmate::sqlite {

struct Place {
  std::string path{};
  std::chrono::milliseconds busy_timeout{0};
  std::string what{};  ///< begins each message: "store"
  /// The file is there, and nothing is written to it. SQLite may lay -wal and -shm beside it.
  bool read_only = false;
  /// A file system of SQLite's by its name ("" = the machine's), for tests on a disk that fails.
  std::string vfs{};
};

class Database {
  struct Key {};

 public:
  /// Opens or makes the file, readable by its owner only. Errors: unavailable; refused (a file or
  /// folder that is not one's own).
  static Result<std::unique_ptr<Database>> open(const Place& place);
  explicit Database(Key) {}  ///< by open() only
  Database(const Database&) = delete;
  Database& operator=(const Database&) = delete;
  ~Database();

  /// Runs statements without parameters or rows.
  void run(const std::string& sql);
  /// Statements that may be repeated, and for which SQLite does not wait by itself while others
  /// have the file: how its journal is kept.
  void run_when_free(const std::string& sql);
  [[nodiscard]] std::int64_t last_row() const;
  [[nodiscard]] std::int64_t changes() const;  ///< rows of the last insert, update or delete
  [[nodiscard]] const Place& place() const { return place_; }
  [[nodiscard]] bool failed() const { return error_.has_value(); }
  /// The first error since the last call, or success.
  Result<void> take_error();
  void set_error(ErrorCode code, const std::string& what);

 private:
  friend class Query;
  sqlite3_stmt* prepared(std::string_view sql);
  void note(int code);
  sqlite3* handle_ = nullptr;
  Place place_;
  std::optional<Error> error_;
  struct TextHash {
    using is_transparent = void;
    std::size_t operator()(std::string_view text) const {
      return std::hash<std::string_view>()(text);
    }
  };
  std::unordered_map<std::string, sqlite3_stmt*, TextHash, std::equal_to<>> statements_;
};

/// Writes what the file's write-ahead log holds over itself, and waits for the disk. Before a file
/// is opened by its only writer: after a sync that failed the system may show what the disk does
/// not have, and a later sync would not write it. Errors: unavailable.
[[nodiscard]] Result<void> rewrite_log(const Place& place);

/// One run of a prepared statement: bind from left to right, then step. Columns from 0.
class Query {
 public:
  Query(Database& database, std::string_view sql);
  Query(const Query&) = delete;
  Query& operator=(const Query&) = delete;
  ~Query();

  Query& bind(std::int64_t value);
  Query& bind(double value);
  /// The bytes must live until the query is gone.
  Query& bind(std::string_view text);
  template <std::same_as<std::string> Temporary>
  Query& bind(Temporary&& text) = delete;  // it is gone before the query
  Query& bind_blob(std::string_view bytes);
  template <std::same_as<std::string> Temporary>
  Query& bind_blob(Temporary&& bytes) = delete;
  Query& bind_null();
  Query& bind(const std::optional<std::int64_t>& value);
  Query& bind(const std::optional<double>& value);

  /// False at the end and after an error.
  bool next();
  /// For statements without rows.
  void run() { next(); }

  [[nodiscard]] bool is_null(int column) const;
  [[nodiscard]] std::int64_t integer(int column) const;
  [[nodiscard]] double number(int column) const;
  [[nodiscard]] std::string text(int column) const;  ///< of a text or a blob

 private:
  Database& database_;
  sqlite3_stmt* statement_ = nullptr;
  int bound_ = 0;
};

/// Takes the write lock at once. Rolled back unless committed.
class Transaction {
 public:
  explicit Transaction(Database& database);
  Transaction(const Transaction&) = delete;
  Transaction& operator=(const Transaction&) = delete;
  ~Transaction();
  /// The first error of the transaction, or of its end.
  Result<void> commit();

 private:
  void roll_back();
  Database& database_;
  bool open_ = false;
};

}  // namespace schedmate::sqlite
