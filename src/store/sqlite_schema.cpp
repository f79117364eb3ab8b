// SPDX-License-Identifier: Apache-2.0
#include "store/sqlite_schema.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>

namespace schedmate::store {
namespace {

constexpr std::int64_t our_application_id = 0x5363684d;  // "SchM"

// What is searched for is in `jobs`; what is only shown, and may be long, in `details` under the
// same key. AUTOINCREMENT, since a number of a text must never come back for another one.
constexpr const char* jobs_schema = R"(
CREATE TABLE meta (name TEXT PRIMARY KEY, value ANY NOT NULL) STRICT, WITHOUT ROWID;
INSERT INTO meta VALUES ('version', 0), ('identity', lower(hex(randomblob(16))));
CREATE TABLE texts (id INTEGER PRIMARY KEY AUTOINCREMENT, hash INTEGER NOT NULL,
  text TEXT NOT NULL) STRICT;
CREATE INDEX texts_by_hash ON texts (hash);
CREATE TABLE forgotten (sequence INTEGER PRIMARY KEY AUTOINCREMENT,
  text_id INTEGER NOT NULL) STRICT;
CREATE TABLE jobs (key INTEGER PRIMARY KEY, id TEXT NOT NULL UNIQUE, user TEXT NOT NULL,
  vc TEXT NOT NULL, submit_s INTEGER NOT NULL, root TEXT NOT NULL, workdir TEXT NOT NULL,
  command TEXT NOT NULL, branch TEXT NOT NULL, gpus INTEGER NOT NULL, nodes INTEGER NOT NULL,
  gpu_type TEXT NOT NULL, time_limit_s INTEGER, text_id INTEGER NOT NULL, entry TEXT NOT NULL,
  closure TEXT NOT NULL, state TEXT, start_s INTEGER, end_s INTEGER, duration_s INTEGER,
  gpu_util_pct REAL, gpu_memory_mib REAL) STRICT;
CREATE INDEX jobs_by_submit ON jobs (submit_s);
CREATE INDEX jobs_by_user ON jobs (user, submit_s);
CREATE INDEX jobs_by_root ON jobs (user, root, submit_s);
CREATE INDEX jobs_by_entry ON jobs (user, entry, submit_s);
CREATE INDEX jobs_by_text ON jobs (text_id, submit_s);
CREATE TABLE details (key INTEGER PRIMARY KEY, fields TEXT NOT NULL, facts TEXT NOT NULL,
  advice TEXT NOT NULL, log_summary TEXT NOT NULL, progress TEXT NOT NULL) STRICT;
)";

constexpr const char* cache_schema = R"(
CREATE TABLE vectors (embedder TEXT NOT NULL, text_id INTEGER NOT NULL, floats BLOB NOT NULL,
  PRIMARY KEY (embedder, text_id)) STRICT, WITHOUT ROWID;
CREATE INDEX vectors_by_text ON vectors (text_id);
CREATE TABLE cache (sequence INTEGER PRIMARY KEY AUTOINCREMENT, space TEXT NOT NULL,
  name TEXT NOT NULL, owner TEXT NOT NULL, value BLOB NOT NULL, UNIQUE (space, name)) STRICT;
CREATE INDEX cache_by_owner ON cache (owner);
CREATE INDEX cache_by_age ON cache (space, sequence);
CREATE TABLE cache_spaces (space TEXT PRIMARY KEY, bytes INTEGER NOT NULL) STRICT, WITHOUT ROWID;
)";

// Most jobs have no failure, and so no row in the index.
constexpr const char* failure_schema = R"(
ALTER TABLE jobs ADD COLUMN fingerprint TEXT;
CREATE INDEX jobs_by_failure ON jobs (fingerprint, submit_s) WHERE fingerprint IS NOT NULL;
)";

constexpr const char* accounting_schema = R"(
ALTER TABLE details ADD COLUMN request TEXT NOT NULL DEFAULT '';
ALTER TABLE details ADD COLUMN use TEXT NOT NULL DEFAULT '';
)";

/// Step i brings a file from version i to i + 1.
constexpr std::array steps = {jobs_schema, cache_schema, failure_schema, accounting_schema};

std::int64_t pragma(Database& database, const std::string& name) {
  Query query(database, "PRAGMA " + name);
  return query.next() ? query.integer(0) : 0;
}

/// Version of the file: 0 for a new one. Refuses everything that is not ours before it writes.
Result<int> version_of(Database& database, const std::string& path) {
  const auto application = pragma(database, "application_id");
  const auto version = pragma(database, "user_version");
  std::int64_t tables = 0;
  {
    Query query(database, "SELECT count(*) FROM sqlite_schema");
    if (query.next()) tables = query.integer(0);
  }
  if (auto error = database.take_error(); !error) return tl::unexpected(error.error());
  if (application != our_application_id && (tables > 0 || version > 0)) {
    return fail(
        ErrorCode::invalid,
        fmt::format(
            "store {}: an SQLite database of another program, left unchanged: give another path",
            path));
  }
  if (version > newest_schema()) {
    return fail(ErrorCode::invalid,
                fmt::format("store {}: written by a newer version (schema {}, this program knows "
                            "{}), left unchanged: use the newer program",
                            path, version, newest_schema()));
  }
  return static_cast<int>(version);
}

/// Another process may have done it while we waited for the lock, so the version is read again.
Result<void> migrate(Database& database, const std::string& path, int up_to) {
  Transaction transaction(database);
  const auto version = version_of(database, path);
  if (!version) return tl::unexpected(version.error());
  for (int step = *version; step < up_to; ++step) {
    database.run(steps.at(static_cast<std::size_t>(step)));
  }
  database.run(fmt::format("PRAGMA application_id = {}", our_application_id));
  database.run(fmt::format("PRAGMA user_version = {}", std::max(up_to, *version)));
  return transaction.commit();
}

}  // namespace

int newest_schema() { return static_cast<int>(steps.size()); }

Result<void> prepare_schema(Database& database, const std::string& path, int up_to) {
  const auto version = version_of(database, path);
  if (!version) return tl::unexpected(version.error());
  // WAL: readers do not wait for writers. FULL: a commit is on the disk before it is acknowledged.
  database.run("PRAGMA journal_mode = WAL");
  database.run("PRAGMA synchronous = FULL");
  // 256 MiB of pages and a long journal: an import touches most pages of the indexes with each
  // batch, and would write them again and again.
  database.run("PRAGMA cache_size = -262144");
  database.run("PRAGMA wal_autocheckpoint = 8192");
  database.run("PRAGMA temp_store = MEMORY");
  if (auto error = database.take_error(); !error) return error;
  if (*version >= up_to) return {};
  return migrate(database, path, up_to);
}

}  // namespace schedmate::store
