// SPDX-License-Identifier: Apache-2.0
/// The store of one machine. One connection behind a mutex: calls are short, and SQLite's own lock
/// serves the other processes.
#include <fmt/format.h>

#include <algorithm>
#include <mutex>
#include <set>

#include "base/hash.hpp"
#include "sqlite/database.hpp"
#include "store/admit.hpp"
#include "store/codec.hpp"
#include "store/rows.hpp"
#include "store/sqlite_cache.hpp"
#include "store/sqlite_record.hpp"
#include "store/sqlite_schema.hpp"

namespace schedmate::store {
namespace {

using sqlite::Database;
using sqlite::Query;
using sqlite::Transaction;

std::string where_of(const JobFilter& filter) {
  std::string where = "WHERE 1";
  if (filter.user) where += " AND user = ?";
  if (filter.root) where += " AND root = ?";
  if (filter.entry) where += " AND entry = ?";
  if (filter.text_id) where += " AND text_id = ?";
  if (filter.fingerprint) where += " AND fingerprint = ?";
  if (filter.state) where += " AND state = ?";
  if (filter.finished) where += " AND state IS NOT NULL";
  if (filter.since) where += " AND submit_s >= ?";
  return where + " ORDER BY submit_s DESC, jobs.id DESC LIMIT ?";
}

void bind_filter(Query& query, const JobFilter& filter) {
  if (filter.user) query.bind(*filter.user);
  if (filter.root) query.bind(*filter.root);
  if (filter.entry) query.bind(*filter.entry);
  if (filter.text_id) query.bind(static_cast<std::int64_t>(*filter.text_id));
  if (filter.fingerprint) query.bind(*filter.fingerprint);
  if (filter.state) query.bind(to_string(*filter.state));
  if (filter.since) query.bind(seconds_of(*filter.since));
  query.bind(static_cast<std::int64_t>(filter.limit));
}

class SqliteStore final : public Store {
 public:
  SqliteStore(std::unique_ptr<Database> database, std::string identity)
      : database_(std::move(database)), identity_(std::move(identity)) {}

  Result<void> put_many(std::span<const JobRecord> records) override {
    std::vector<JobRecord> clean;
    for (const auto& record : records) {
      auto admitted = admit(record);
      if (!admitted) return tl::unexpected(admitted.error());
      clean.push_back(std::move(*admitted));
    }
    const std::scoped_lock lock(mutex_);
    Transaction transaction(*database_);
    for (auto& record : clean) record.text_id = static_cast<std::uint64_t>(intern(record.text));
    // By user, so that neighbours in a large batch touch the same pages of the indexes; the order
    // of what has the same id stays.
    std::ranges::stable_sort(clean, {}, &JobRecord::user);
    std::set<std::int64_t> old_texts;
    for (const auto& record : clean) write(record, old_texts);
    for (const auto text_id : old_texts) drop_unused(text_id);
    touch();
    return transaction.commit();
  }

  Result<void> finish(const std::string& id, const Outcome& outcome) override {
    const auto clean = admit(outcome);
    if (!clean) return tl::unexpected(clean.error());
    const std::scoped_lock lock(mutex_);
    Transaction transaction(*database_);
    const auto row = find(clean_name(id));
    if (row.key == 0) database_->set_error(ErrorCode::not_found, no_such_job(id));
    Query(*database_, "UPDATE details SET log_summary = '', progress = '' WHERE key = ?")
        .bind(row.key)
        .run();
    write_outcome(*database_, row.key, *clean);
    touch();
    return transaction.commit();
  }

  Result<std::optional<JobRecord>> get(const std::string& id) override {
    const std::scoped_lock lock(mutex_);
    const auto name = clean_name(id);
    Query query(*database_, select_jobs(false, "WHERE jobs.id = ?"));
    if (query.bind(name).next()) return read_job(query);
    if (auto error = database_->take_error(); !error) return tl::unexpected(error.error());
    return std::nullopt;
  }

  Result<void> each(const JobFilter& wanted, const Visit& visit) override {
    const auto filter = admit(wanted);
    const std::scoped_lock lock(mutex_);
    Query query(*database_, select_jobs(filter.brief, where_of(filter)));
    bind_filter(query, filter);
    while (query.next()) {
      auto record = read_job(query);
      if (!record) return tl::unexpected(record.error());
      if (!visit(std::move(*record))) break;
    }
    return database_->take_error();
  }

  Result<void> forget(const std::string& id) override {
    const std::scoped_lock lock(mutex_);
    Transaction transaction(*database_);
    const auto row = find(clean_name(id));
    if (row.key == 0) database_->set_error(ErrorCode::not_found, no_such_job(id));
    drop_cache_of(*database_, row.root);
    Query(*database_, "DELETE FROM jobs WHERE key = ?").bind(row.key).run();
    Query(*database_, "DELETE FROM details WHERE key = ?").bind(row.key).run();
    drop_unused(row.text_id);
    touch();
    return transaction.commit();
  }

  Result<std::vector<StoredText>> texts(std::uint64_t after, std::size_t limit) override {
    const std::scoped_lock lock(mutex_);
    Query query(*database_, "SELECT id, text FROM texts WHERE id > ? ORDER BY id LIMIT ?");
    query.bind(static_cast<std::int64_t>(after)).bind(static_cast<std::int64_t>(limit));
    std::vector<StoredText> found;
    while (query.next()) {
      found.push_back({static_cast<std::uint64_t>(query.integer(0)), query.text(1)});
    }
    if (auto error = database_->take_error(); !error) return tl::unexpected(error.error());
    return found;
  }

  Result<std::vector<ForgottenText>> forgotten(std::uint64_t after, std::size_t limit) override {
    const std::scoped_lock lock(mutex_);
    Query query(*database_,
                "SELECT sequence, text_id FROM forgotten WHERE sequence > ? "
                "ORDER BY sequence LIMIT ?");
    query.bind(static_cast<std::int64_t>(after)).bind(static_cast<std::int64_t>(limit));
    std::vector<ForgottenText> found;
    while (query.next()) {
      found.push_back({static_cast<std::uint64_t>(query.integer(0)),
                       static_cast<std::uint64_t>(query.integer(1))});
    }
    if (auto error = database_->take_error(); !error) return tl::unexpected(error.error());
    return found;
  }

  Result<void> put_vectors(const std::string& embedder,
                           std::span<const StoredVector> vectors) override {
    const std::scoped_lock lock(mutex_);
    Transaction transaction(*database_);
    for (const auto& vector : vectors) {
      Query query(*database_,
                  "INSERT OR REPLACE INTO vectors SELECT ?, id, ? FROM texts WHERE id = ?");
      query.bind(embedder).bind_blob(bytes_of_floats(vector.values));
      query.bind(static_cast<std::int64_t>(vector.text_id)).run();
    }
    return transaction.commit();
  }

  Result<std::vector<StoredVector>> vectors(const std::string& embedder, std::uint64_t after,
                                            std::size_t limit) override {
    const std::scoped_lock lock(mutex_);
    Query query(*database_,
                "SELECT text_id, floats FROM vectors WHERE embedder = ? AND text_id > ? "
                "ORDER BY text_id LIMIT ?");
    query.bind(embedder).bind(static_cast<std::int64_t>(after));
    query.bind(static_cast<std::int64_t>(limit));
    std::vector<StoredVector> found;
    while (query.next()) {
      found.push_back(
          {static_cast<std::uint64_t>(query.integer(0)), floats_of_bytes(query.text(1))});
    }
    if (auto error = database_->take_error(); !error) return tl::unexpected(error.error());
    return found;
  }

  Result<std::optional<std::string>> cached(const std::string& space,
                                            const std::string& key) override {
    const std::scoped_lock lock(mutex_);
    return read_cache(*database_, space, key);
  }

  Result<void> cache(const CacheEntry& entry, std::uint64_t most_bytes) override {
    if (auto checked = check(entry); !checked) return checked;
    const std::scoped_lock lock(mutex_);
    return write_cache(*database_, entry, most_bytes);
  }

  Result<std::uint64_t> last_text() override { return number("SELECT max(id) FROM texts"); }

  Result<std::uint64_t> version() override {
    return number("SELECT value FROM meta WHERE name = 'version'");
  }

  [[nodiscard]] std::string identity() const override { return identity_; }

  Result<void> flush() override {
    const std::scoped_lock lock(mutex_);
    database_->run("PRAGMA wal_checkpoint(TRUNCATE)");
    return database_->take_error();
  }

 private:
  Result<std::uint64_t> number(const std::string& sql) {
    const std::scoped_lock lock(mutex_);
    Query query(*database_, sql);
    const auto found = query.next() ? query.integer(0) : 0;
    if (auto error = database_->take_error(); !error) return tl::unexpected(error.error());
    return static_cast<std::uint64_t>(found);
  }

  struct Row {
    std::int64_t key = 0, text_id = 0;
    std::string user, root;
  };

  Row find(const std::string& id) {
    Query query(*database_, "SELECT key, text_id, user, root FROM jobs WHERE id = ?");
    if (!query.bind(id).next()) return {};
    return {query.integer(0), query.integer(1), query.text(2), query.text(3)};
  }

  /// Adds the text that a replaced record had to those that may be unused now.
  void write(const JobRecord& record, std::set<std::int64_t>& old_texts) {
    if (database_->failed()) return;
    const auto old = find(record.id);
    if (old.key != 0 && old.user != record.user) {
      database_->set_error(ErrorCode::conflict, held_by_another(record.id));
      return;
    }
    write_job(*database_, old.key, record);
    if (old.text_id != 0) old_texts.insert(old.text_id);
  }

  std::int64_t intern(const std::string& text) {
    if (text.empty()) return 0;
    const auto hash = static_cast<std::int64_t>(hash_bytes(text));
    Query known(*database_, "SELECT id FROM texts WHERE hash = ? AND text = ?");
    if (known.bind(hash).bind(text).next()) return known.integer(0);
    Query(*database_, "INSERT INTO texts (hash, text) VALUES (?, ?)").bind(hash).bind(text).run();
    return database_->last_row();
  }

  void drop_unused(std::int64_t text_id) {
    if (text_id == 0) return;
    if (Query(*database_, "SELECT 1 FROM jobs WHERE text_id = ? LIMIT 1").bind(text_id).next()) {
      return;
    }
    Query(*database_, "DELETE FROM texts WHERE id = ?").bind(text_id).run();
    Query(*database_, "DELETE FROM vectors WHERE text_id = ?").bind(text_id).run();
    Query(*database_, "INSERT INTO forgotten (text_id) VALUES (?)").bind(text_id).run();
  }

  void touch() { database_->run("UPDATE meta SET value = value + 1 WHERE name = 'version'"); }

  std::mutex mutex_;
  std::unique_ptr<Database> database_;
  std::string identity_;
};

}  // namespace

Result<std::unique_ptr<Store>> open_sqlite(const std::string& where, const StoreOptions& options) {
  if (where.empty()) {
    return fail(ErrorCode::invalid, "store sqlite: write sqlite:PATH, the path of its file");
  }
  auto database =
      Database::open({.path = where, .busy_timeout = options.busy_timeout, .what = "store"});
  if (!database) return tl::unexpected(database.error());
  if (auto ready = prepare_schema(**database); !ready) return tl::unexpected(ready.error());
  (*database)->run(fmt::format("PRAGMA cache_size = -{}", options.cache_mib << 10U));
  std::string identity;
  {
    Query query(**database, "SELECT value FROM meta WHERE name = 'identity'");
    if (query.next()) identity = query.text(0);
  }
  if (auto error = (*database)->take_error(); !error) return tl::unexpected(error.error());
  return std::make_unique<SqliteStore>(std::move(*database), std::move(identity));
}

}  // namespace schedmate::store
