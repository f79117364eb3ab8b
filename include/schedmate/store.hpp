// SPDX-License-Identifier: Apache-2.0
#pragma once

/// Where past jobs are remembered (paper 3.1, Vector Store and Version Manager; docs/store.md).
///
/// A store keeps equal embedding texts once, under a number that it never uses again. So a search
/// index (search.hpp) holds one row per distinct text, and catches up by asking for the texts
/// behind its last one. Several threads may use a `Store`, and several processes `sqlite` and
/// `redis`. When a call returns without an error, its change survives a kill of the process. A
/// store makes texts valid UTF-8 without NUL and cuts them at `StoreLimits`.

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <schedmate/job_record.hpp>
#include <schedmate/result.hpp>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace schedmate {

/// Which jobs, newest submission first (equal times: larger id first). Every condition that is set
/// must hold. Without a scan: none, `user`, `user` + `root`, `user` + `entry`, `text_id`,
/// `fingerprint`, each with `since`.
struct JobFilter {
  std::optional<std::string> user{}, root{}, entry{};
  std::optional<std::uint64_t> text_id{};
  /// Of the outcome; not "".
  std::optional<std::string> fingerprint{};
  std::optional<EndState> state{};
  /// Only jobs with an outcome.
  bool finished = false;
  /// Submitted then or later.
  std::optional<SimTime> since{};
  std::size_t limit = 100;
  /// Leaves facts_json, log_summary and progress empty, which is faster.
  bool brief = false;
};

/// A distinct embedding text.
struct StoredText {
  std::uint64_t id = 0;
  std::string text;
};

/// A dense vector of a text, kept because it was paid for.
struct StoredVector {
  std::uint64_t text_id = 0;
  std::vector<float> values;
};

/// A text that was forgotten; its row in every index has to go.
struct ForgottenText {
  /// Rises by time of forgetting.
  std::uint64_t sequence = 0;
  std::uint64_t text_id = 0;
};

/// A value that can be computed again (facts of a file, a model's answer). `group` is the root that
/// it came from: forgetting a job drops the entries of its root.
struct CacheEntry {
  std::string space, key, group, value;
};

/// Longer texts are cut at a character's border, longer documents refused, longer names refused.
struct StoreLimits {
  /// Of id, user, vc, fingerprint, keys, ...
  static constexpr std::size_t name_bytes = 1024;
  /// Of command, text, a field.
  static constexpr std::size_t text_bytes = std::size_t{64} << 10U;
  /// Of facts and log summary.
  static constexpr std::size_t document_bytes = std::size_t{8} << 20U;
  static constexpr std::size_t cache_value_bytes = std::size_t{8} << 20U;
  /// More of them are thinned evenly.
  static constexpr std::size_t progress_points = 10'000;
  /// More of them are left out.
  static constexpr std::size_t fields = 256;
  /// Of more, the last ones are kept.
  static constexpr std::size_t attempts = 256;
  /// Whose use is kept one by one; more nodes, and more GPUs of one, are left out.
  static constexpr std::size_t nodes = 1024, gpus_of_a_node = 64;
};

/// Errors of every call: unavailable (disk full, server away, locked for too long), invalid (the
/// store is damaged, or the argument is beyond StoreLimits).
class Store {
 public:
  virtual ~Store() = default;

  /// Writes all records or none; an id that is there is replaced. One durable transaction, so a
  /// batch of a thousand costs little more than one record. Errors: conflict when another user
  /// holds an id.
  virtual Result<void> put_many(std::span<const JobRecord> records) = 0;
  Result<void> put(const JobRecord& record) { return put_many({&record, 1}); }

  /// Adds or replaces the outcome. Errors: not_found.
  virtual Result<void> finish(const std::string& id, const Outcome& outcome) = 0;

  /// Empty: there is no such job, which is no error.
  virtual Result<std::optional<JobRecord>> get(const std::string& id) = 0;

  /// Visits jobs until `visit` returns false. It must not call the store.
  using Visit = std::function<bool(JobRecord)>;
  virtual Result<void> each(const JobFilter& filter, const Visit& visit) = 0;
  Result<std::vector<JobRecord>> list(const JobFilter& filter);

  /// Removes the job, and what no other job needs: text, facts, vectors; and the cache of its root.
  /// Errors: not_found.
  virtual Result<void> forget(const std::string& id) = 0;

  /// Distinct texts with an id above `after`, rising; and the newest id, 0 = none yet.
  virtual Result<std::vector<StoredText>> texts(std::uint64_t after, std::size_t limit) = 0;
  virtual Result<std::uint64_t> last_text() = 0;
  /// Those forgotten after a sequence number, rising.
  virtual Result<std::vector<ForgottenText>> forgotten(std::uint64_t after, std::size_t limit) = 0;

  /// Vectors by embedder (its full name with version). A vector of an unknown text is left out.
  virtual Result<void> put_vectors(const std::string& embedder,
                                   std::span<const StoredVector> vectors) = 0;
  /// Those of texts above `after`, rising; texts without a vector are not among them.
  virtual Result<std::vector<StoredVector>> vectors(const std::string& embedder,
                                                    std::uint64_t after, std::size_t limit) = 0;

  /// Empty: nobody kept it, or it had to make room.
  virtual Result<std::optional<std::string>> cached(const std::string& space,
                                                    const std::string& key) = 0;
  /// Keeps the entry; the oldest entries of its space go while the values exceed `most_bytes`.
  virtual Result<void> cache(const CacheEntry& entry, std::uint64_t most_bytes) = 0;

  /// Changes with every change of jobs or texts, also one made by another process.
  virtual Result<std::uint64_t> version() = 0;
  /// Distinguishes this store from every other, for files derived from it; "" = gone with the
  /// process.
  [[nodiscard]] virtual std::string identity() const = 0;
  /// Waits until everything is on the disk and shortens the journal; rarely needed.
  virtual Result<void> flush() = 0;
};

struct StoreOptions {
  /// The value of an environment variable, for the Redis password; unset = no password.
  std::function<std::optional<std::string>(const std::string& name)> environment{};
  std::string password_variable = "SCHEDMATE_REDIS_PASSWORD";
  /// How long to wait for other processes.
  std::chrono::milliseconds busy_timeout{5000};
  /// Pages of a file that are held in memory, at most.
  std::int64_t cache_mib = 16;
  /// An import touches most of the indexes with each batch.
  static constexpr std::int64_t import_cache_mib = 256;
};

/// One row of src/store/stores.def.
struct StoreRow {
  std::string_view name;
  std::string_view summary;
};
[[nodiscard]] std::span<const StoreRow> store_rows();

/// Opens "memory", "sqlite:PATH", "redis:unix:PATH" or "redis:HOST:PORT", making what is absent.
/// Errors: not_found (no such kind), invalid (damaged, not ours, or written by a newer version:
/// nothing is changed then), unavailable (no rights, server away).
[[nodiscard]] Result<std::unique_ptr<Store>> open_store(std::string_view spec,
                                                        const StoreOptions& options = {});

}  // namespace schedmate
