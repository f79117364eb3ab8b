// SPDX-License-Identifier: Apache-2.0
#include "store/sqlite_schema.hpp"

#include <array>

#include "sqlite/schema.hpp"

namespace schedmate::store {
namespace {

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

constexpr std::array steps = {jobs_schema, cache_schema, failure_schema, accounting_schema};

// WAL: readers do not wait for writers. FULL: a commit is on the disk before it is acknowledged.
// A long journal: an import touches most pages of the indexes with each batch, and would write them
// again and again.
constexpr const char* pragmas = R"(
PRAGMA journal_mode = WAL;
PRAGMA synchronous = FULL;
PRAGMA wal_autocheckpoint = 8192;
PRAGMA temp_store = MEMORY;
)";

constexpr sqlite::Schema store_schema{.application_id = 0x5363684d,  // "SchM"
                                      .steps = steps,
                                      .pragmas = pragmas};

}  // namespace

int newest_schema() { return store_schema.newest(); }

Result<void> prepare_schema(sqlite::Database& database, int up_to) {
  return sqlite::prepare(database, store_schema, up_to);
}

}  // namespace schedmate::store
