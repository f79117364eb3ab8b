// SPDX-License-Identifier: Apache-2.0
#include "journal/schema.hpp"

#include <array>

namespace schedmate::journal {
namespace {

// An event's number never comes back for another one: AUTOINCREMENT.
constexpr const char* first_version = R"(
CREATE TABLE state (one INTEGER PRIMARY KEY CHECK (one = 1), epoch INTEGER NOT NULL,
  instance TEXT NOT NULL, next_action INTEGER NOT NULL, floor_sequence INTEGER NOT NULL,
  floor_hash TEXT NOT NULL, head_sequence INTEGER NOT NULL, head_hash TEXT NOT NULL) STRICT;
INSERT INTO state VALUES (1, 0, '', 1, 0, '', 0, '');
CREATE TABLE chain_head (one INTEGER PRIMARY KEY CHECK (one = 1), sequence INTEGER NOT NULL,
  hash TEXT NOT NULL) STRICT;
INSERT INTO chain_head VALUES (1, 0, '');
CREATE TABLE audit (sequence INTEGER PRIMARY KEY, entry TEXT NOT NULL, hash TEXT NOT NULL) STRICT;
CREATE TABLE actions (id INTEGER PRIMARY KEY, kind TEXT NOT NULL, state TEXT NOT NULL,
  ended INTEGER NOT NULL, sequence INTEGER NOT NULL, when_s INTEGER NOT NULL,
  body TEXT NOT NULL) STRICT;
CREATE INDEX actions_open ON actions (id) WHERE ended = 0;
CREATE INDEX actions_ended ON actions (sequence) WHERE ended = 1;
CREATE TABLE targets (target TEXT PRIMARY KEY, action INTEGER NOT NULL) STRICT, WITHOUT ROWID;
CREATE TABLE events (id INTEGER PRIMARY KEY AUTOINCREMENT, kind TEXT NOT NULL,
  subject TEXT NOT NULL, body TEXT NOT NULL, when_s INTEGER NOT NULL) STRICT;
CREATE INDEX events_by_subject ON events (kind, subject);
CREATE TABLE kept (name TEXT PRIMARY KEY, value TEXT NOT NULL) STRICT, WITHOUT ROWID;
CREATE TABLE summary (what TEXT NOT NULL, kind TEXT NOT NULL, state TEXT NOT NULL,
  number INTEGER NOT NULL, first_s INTEGER NOT NULL, last_s INTEGER NOT NULL,
  PRIMARY KEY (what, kind, state)) STRICT, WITHOUT ROWID;
)";
constexpr std::array journal_versions = {first_version};

// FULL: what append() acknowledged survives a power cut. The limit is what stays of the write-ahead
// log after it was carried over.
constexpr const char* journal_pragmas = R"(
PRAGMA synchronous = FULL;
PRAGMA journal_mode = WAL;
PRAGMA journal_size_limit = 4194304;
PRAGMA temp_store = MEMORY;
)";

}  // namespace

const sqlite::Schema& journal_schema() {
  static constexpr sqlite::Schema schema{.application_id = 0x53634a6e,  // "ScJn"
                                         .steps = journal_versions,
                                         .pragmas = journal_pragmas};
  return schema;
}

}  // namespace schedmate::journal
