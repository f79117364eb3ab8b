// SPDX-License-Identifier: Apache-2.0
#include "sqlite/schema.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace schedmate::sqlite {
namespace {

std::int64_t pragma(Database& database, const std::string& name) {
  Query query(database, "PRAGMA " + name);
  return query.next() ? query.integer(0) : 0;
}

tl::unexpected<Error> left_unchanged(const Database& database, const std::string& why) {
  return fail(ErrorCode::invalid,
              fmt::format("{} {}: {}", database.place().what, database.place().path, why));
}

/// Version of the file: 0 for a new one. Refuses everything that is not ours before it writes.
/// Whose it is comes last: another may make it ours between the readings, and nobody undoes that.
Result<int> version_of(Database& database, const Schema& schema) {
  std::int64_t tables = 0;
  {
    Query query(database, "SELECT count(*) FROM sqlite_schema");
    if (query.next()) tables = query.integer(0);
  }
  const auto version = pragma(database, "user_version");
  const auto application = pragma(database, "application_id");
  if (auto error = database.take_error(); !error) return tl::unexpected(error.error());
  if (application != schema.application_id && (tables > 0 || version != 0))
    return left_unchanged(
        database, "an SQLite database of another program, left unchanged: give another path");
  if (version < 0 || version > schema.newest())
    return left_unchanged(
        database, fmt::format("written by a newer version (schema {}, this program knows {}), left "
                              "unchanged: use the newer program",
                              version, schema.newest()));
  return static_cast<int>(version);
}

/// Another process may have done it while we waited for the lock, so the version is read again.
Result<void> migrate(Database& database, const Schema& schema, int up_to) {
  Transaction transaction(database);
  const auto version = version_of(database, schema);
  if (!version) return tl::unexpected(version.error());
  for (int step = *version; step < up_to; ++step)
    database.run(schema.steps[static_cast<std::size_t>(step)]);
  database.run(fmt::format("PRAGMA application_id = {}", schema.application_id));
  database.run(fmt::format("PRAGMA user_version = {}", std::max(up_to, *version)));
  return transaction.commit();
}

}  // namespace

Result<void> prepare(Database& database, const Schema& schema, int up_to) {
  const auto version = version_of(database, schema);
  if (!version) return tl::unexpected(version.error());
  database.run_when_free(schema.pragmas);
  if (auto error = database.take_error(); !error) return error;
  if (*version >= up_to) return {};
  return migrate(database, schema, up_to);
}

Result<void> check_newest(Database& database, const Schema& schema) {
  const auto version = version_of(database, schema);
  if (!version) return tl::unexpected(version.error());
  if (*version == schema.newest()) return {};
  return left_unchanged(
      database, fmt::format("of schema {}, this program reads {}", *version, schema.newest()));
}

}  // namespace schedmate::sqlite
