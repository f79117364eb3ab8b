// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <nlohmann/json.hpp>

#include "journal/chain.hpp"
#include "journal/journal.hpp"

namespace schedmate::journal {
namespace {

using sqlite::Database;
using sqlite::Query;

std::int64_t number_of(Database& database, const char* sql) {
  Query query(database, sql);
  return query.next() ? query.integer(0) : 0;
}

std::int64_t bytes_in_use(Database& database) {
  return (number_of(database, "PRAGMA page_count") - number_of(database, "PRAGMA freelist_count")) *
         number_of(database, "PRAGMA page_size");
}

/// Adds rows to their summaries. `rows` gives what, kind, state and when_s of each.
void summarise(Database& database, const std::string& rows, std::int64_t last) {
  Query(database,
        "INSERT INTO summary SELECT what, kind, state, count(*), min(when_s), max(when_s) FROM (" +
            rows +
            ") GROUP BY what, kind, state "
            "ON CONFLICT DO UPDATE SET number = number + excluded.number, "
            "first_s = min(first_s, excluded.first_s), last_s = max(last_s, excluded.last_s)")
      .bind(last)
      .run();
}

std::int64_t compact_events(Database& database, int rows) {
  const std::int64_t last =
      number_of(database, "SELECT coalesce(min(id), 0) FROM events") + rows - 1;
  summarise(database, "SELECT 'event' AS what, kind, '' AS state, when_s FROM events WHERE id <= ?",
            last);
  Query(database, "DELETE FROM events WHERE id <= ?").bind(last).run();
  return database.changes();
}

struct AuditStep {
  int rows;
  ActionStep told;         ///< what the entry about it says
  bool keeps_open = true;  ///< Rules::keeps_open
};

/// The oldest entries but the last, with the actions that ended there.
std::int64_t compact_audit(Database& database, const AuditStep& step, NewEntries& entries) {
  std::int64_t floor = 0;
  std::string hash;
  {
    Query query(database,
                "SELECT sequence, hash FROM audit WHERE sequence = "
                "(SELECT min(floor_sequence + ?, head_sequence - 1) FROM state)");
    if (!query.bind(std::int64_t{step.rows}).next()) return 0;
    floor = query.integer(0);
    hash = query.text(1);
  }
  summarise(database,
            "SELECT 'action' AS what, kind, state, when_s FROM actions WHERE ended = 1 AND "
            "sequence <= ?",
            floor);
  Query(database, step.keeps_open ? "DELETE FROM actions WHERE ended = 1 AND sequence <= ?"
                                  : "DELETE FROM actions WHERE sequence <= ?")
      .bind(floor)
      .run();
  std::int64_t gone = database.changes();
  Query(database, "DELETE FROM audit WHERE sequence <= ?").bind(floor).run();
  gone += database.changes();
  Query(database, "UPDATE state SET floor_sequence = ?, floor_hash = ?")
      .bind(floor)
      .bind(hash)
      .run();
  entries.add(step.told, "compacted", {{"floor", floor}, {"floor_hash", hash}});
  return gone;
}

}  // namespace

Result<std::int64_t> Journal::compact(int rows) {
  std::int64_t gone = 0;
  rows = std::max(rows, 2);  // one entry tells of the others that went
  const auto done = change([&](NewEntries& entries) -> Result<void> {
    if (bytes_in_use(*database_) <= options_.most_bytes) return {};
    // Both tables have gaps at their beginning only; min() and max() in one query would scan.
    const std::int64_t events = number_of(
        *database_, "SELECT (SELECT max(id) FROM events) - (SELECT min(id) FROM events) + 1");
    const std::int64_t audit =
        number_of(*database_, "SELECT head_sequence - floor_sequence FROM state");
    if (events == 0 && audit <= 2) return {};  // the last entry and the checkpoint's stay
    if (events >= audit)
      gone = compact_events(*database_, rows);
    else
      gone = compact_audit(
          *database_,
          {rows, {.when = clock_.wall(), .by = options_.instance}, options_.rules.keeps_open},
          entries);
    return {};
  });
  if (!done) return tl::unexpected(done.error());
  return gone;
}

}  // namespace schedmate::journal
