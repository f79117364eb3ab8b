// SPDX-License-Identifier: Apache-2.0
#include "store/sqlite_cache.hpp"

namespace schedmate::store {
namespace {

using sqlite::Database;
using sqlite::Query;
using sqlite::Transaction;

void add_bytes(Database& database, const std::string& space, std::int64_t bytes) {
  Query query(database,
              "INSERT INTO cache_spaces VALUES (?1, ?2) "
              "ON CONFLICT (space) DO UPDATE SET bytes = bytes + ?2");
  query.bind(space).bind(bytes).run();
}

std::int64_t bytes_of(Database& database, const std::string& space) {
  Query query(database, "SELECT bytes FROM cache_spaces WHERE space = ?");
  return query.bind(space).next() ? query.integer(0) : 0;
}

struct Row {
  std::int64_t sequence = 0, bytes = 0;
  std::string space;
};

void drop(Database& database, const Row& row) {
  Query(database, "DELETE FROM cache WHERE sequence = ?").bind(row.sequence).run();
  add_bytes(database, row.space, -row.bytes);
}

std::optional<Row> first_row(Query& query) {
  if (!query.next()) return std::nullopt;
  return Row{query.integer(0), query.integer(1), query.text(2)};
}

std::optional<Row> named(Database& database, const CacheEntry& entry) {
  Query query(database,
              "SELECT sequence, length(value), space FROM cache WHERE space = ? AND name = ?");
  return first_row(query.bind(entry.space).bind(entry.key));
}

std::optional<Row> oldest(Database& database, const std::string& space) {
  Query query(database,
              "SELECT sequence, length(value), space FROM cache INDEXED BY cache_by_age "
              "WHERE space = ? ORDER BY sequence LIMIT 1");
  return first_row(query.bind(space));
}

std::optional<Row> of_group(Database& database, const std::string& group) {
  Query query(database, "SELECT sequence, length(value), space FROM cache WHERE owner = ? LIMIT 1");
  return first_row(query.bind(group));
}

}  // namespace

Result<std::optional<std::string>> read_cache(Database& database, const std::string& space,
                                              const std::string& key) {
  Query query(database, "SELECT value FROM cache WHERE space = ? AND name = ?");
  if (query.bind(space).bind(key).next()) return query.text(0);
  if (auto error = database.take_error(); !error) return tl::unexpected(error.error());
  return std::nullopt;
}

Result<void> write_cache(Database& database, const CacheEntry& entry, std::uint64_t most_bytes) {
  Transaction transaction(database);
  if (const auto old = named(database, entry)) drop(database, *old);
  {
    Query query(database, "INSERT INTO cache (space, name, owner, value) VALUES (?, ?, ?, ?)");
    query.bind(entry.space).bind(entry.key).bind(entry.group).bind_blob(entry.value).run();
  }
  add_bytes(database, entry.space, static_cast<std::int64_t>(entry.value.size()));
  while (bytes_of(database, entry.space) > static_cast<std::int64_t>(most_bytes)) {
    const auto old = oldest(database, entry.space);
    if (!old) break;
    drop(database, *old);
  }
  return transaction.commit();
}

void drop_cache_of(Database& database, const std::string& group) {
  while (const auto row = of_group(database, group)) drop(database, *row);
}

}  // namespace schedmate::store
