// SPDX-License-Identifier: Apache-2.0
#pragma once

/// What is remembered of past jobs (paper 3.1, Vector Store and Version Manager; docs/store.md).
///
/// A `JobRecord` is written at submission and gains its `Outcome` at the end; only jobs with an
/// outcome can teach. Equal embedding texts are kept once and have a number that is never used
/// again, so a search index (search.hpp) holds one row per distinct text and catches up by asking
/// for the texts behind its last one. A `Store` may be used from several threads, and `sqlite` and
/// `redis` from several processes. When a call returns without an error, its change survives a
/// kill of the process. Texts are made valid UTF-8 without NUL, and cut at `StoreLimits`.

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <schedmate/job.hpp>
#include <schedmate/result.hpp>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace schedmate {

/// One point of a job's progress, as read from its log.
struct ProgressPoint {
  Seconds since_start{0};
  double step = 0;
  std::optional<double> loss;
  bool operator==(const ProgressPoint&) const = default;
};

/// How a job ended. Absent figures were not measured.
struct Outcome {
  EndState state = EndState::unknown;
  std::optional<SimTime> start, end;
  Seconds duration{0};
  std::optional<double> gpu_util_pct, gpu_memory_mib;
  std::string log_summary;  ///< JSON, "" = none
  std::string fingerprint;  ///< of its failure (diagnosis.hpp), "" = none
  std::vector<ProgressPoint> progress;
  bool operator==(const Outcome&) const = default;
};

struct Neighbour {
  std::string id;
  double score = 0;  ///< 0 to 1
  bool operator==(const Neighbour&) const = default;
};

/// The advice that was given at submission, kept to see later how good it was.
struct GivenAdvice {
  std::string source;  ///< resubmission, similar, user_history, none
  FractionalSeconds mean{0}, p10{0}, p50{0}, p90{0};
  std::optional<double> gpu_util_pct, gpu_memory_mib;
  std::vector<Neighbour> neighbours;  ///< best first
  bool operator==(const GivenAdvice&) const = default;
};

struct JobRecord {
  std::string id;    ///< unique in the store, not empty
  std::string user;  ///< a name for the history
  std::string vc;    ///< virtual cluster or partition
  SimTime submit;
  std::string root, workdir, command, branch;
  std::int64_t gpus = 0;  ///< total over all nodes
  std::int64_t nodes = 0;
  std::string gpu_type;
  std::optional<Seconds> time_limit;
  std::map<std::string, std::string, std::less<>> fields;  ///< fact -> normalised value
  std::string facts_json;                                  ///< the schedmate.facts.v1 document
  std::string text;           ///< what is embedded; "" = not to be found by similarity
  std::uint64_t text_id = 0;  ///< given by the store, ignored by put; 0 = no text
  std::string entry;          ///< key of the command without its flags (admission)
  std::string closure;        ///< hash of the files that the facts came from
  std::optional<GivenAdvice> advice;
  std::optional<Outcome> outcome;
  bool operator==(const JobRecord&) const = default;
};

/// Which jobs, newest submission first (equal times: larger id first). Every condition that is set
/// must hold. Without a scan: none, `user`, `user` + `root`, `user` + `entry`, `text_id`,
/// `fingerprint`, each with `since`.
struct JobFilter {
  std::optional<std::string> user{}, root{}, entry{};
  std::optional<std::uint64_t> text_id{};
  std::optional<std::string> fingerprint{};  ///< of the outcome; not ""
  std::optional<EndState> state{};           ///< of the outcome
  bool finished = false;                     ///< only jobs with an outcome
  std::optional<SimTime> since{};            ///< submitted then or later
  std::size_t limit = 100;
  bool brief = false;  ///< leaves facts_json, log_summary and progress empty, which is faster
};

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
  std::uint64_t sequence = 0;  ///< rises by time of forgetting
  std::uint64_t text_id = 0;
};

/// A value that can be computed again (facts of a file, a model's answer). `group` is the root that
/// it came from: forgetting a job drops the entries of its root.
struct CacheEntry {
  std::string space, key, group, value;
};

/// Longer texts are cut at a character's border, longer documents refused, longer names refused.
struct StoreLimits {
  static constexpr std::size_t name_bytes = 1024;  ///< id, user, vc, fingerprint, keys, ...
  static constexpr std::size_t text_bytes = std::size_t{64} << 10U;     ///< command, text, a field
  static constexpr std::size_t document_bytes = std::size_t{8} << 20U;  ///< facts, log summary
  static constexpr std::size_t cache_value_bytes = std::size_t{8} << 20U;
  static constexpr std::size_t progress_points = 10'000;  ///< thinned evenly beyond
  static constexpr std::size_t fields = 256;              ///< further ones are left out
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
  virtual Result<std::vector<ForgottenText>> forgotten(std::uint64_t after, std::size_t limit) = 0;

  /// Vectors by embedder (its full name with version). A vector of an unknown text is left out.
  virtual Result<void> put_vectors(const std::string& embedder,
                                   std::span<const StoredVector> vectors) = 0;
  virtual Result<std::vector<StoredVector>> vectors(const std::string& embedder,
                                                    std::uint64_t after, std::size_t limit) = 0;

  virtual Result<std::optional<std::string>> cached(const std::string& space,
                                                    const std::string& key) = 0;
  /// Keeps the entry; the oldest entries of its space go while the values exceed `most_bytes`.
  virtual Result<void> cache(const CacheEntry& entry, std::uint64_t most_bytes) = 0;

  /// Changes with every change of jobs or texts, also one made by another process.
  virtual Result<std::uint64_t> version() = 0;
  /// Tells this store from every other, for files derived from it; "" = gone with the process.
  [[nodiscard]] virtual std::string identity() const = 0;
  /// Waits until everything is on the disk and shortens the journal; rarely needed.
  virtual Result<void> flush() = 0;
};

struct StoreOptions {
  /// The value of an environment variable, for the Redis password; unset = no password.
  std::function<std::optional<std::string>(const std::string& name)> environment{};
  std::string password_variable = "SCHEDMATE_REDIS_PASSWORD";
  std::chrono::milliseconds busy_timeout{5000};  ///< waiting for other processes
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
