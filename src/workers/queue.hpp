// SPDX-License-Identifier: Apache-2.0
#pragma once

/// Requests that wait for whichever machine has time, and their results (docs/workers.md). An
/// operation has an id, which whoever puts it may choose: putting it twice is putting it once. A
/// worker claims an operation and says again and again that it still works on it; what a dead
/// worker held is given to another one once its lease has passed. Two may so work on the same, but
/// the first result is kept and the second one is not.

#include <chrono>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <schedmate/clock.hpp>
#include <schedmate/store.hpp>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace schedmate::workers {

/// What is urgent is claimed before anything that is not: a failure that holds GPUs up, before a
/// submission that waits anyway.
enum class Priority : std::uint8_t { urgent, usual };

struct Operation {
  std::string id{};
  Priority priority = Priority::usual;
  std::string request{};
  bool operator==(const Operation&) const = default;
};

struct Claim {
  Operation operation{};
  std::string receipt{};      ///< of the queue
  std::int64_t delivery = 1;  ///< how often it was claimed, this time included
};

enum class State : std::uint8_t { unknown, waiting, running, done, dead };
[[nodiscard]] std::string_view name_of(State state);
/// It has a result.
[[nodiscard]] bool is_over(State state);

struct Status {
  State state = State::unknown;  ///< unknown: never put, or its result is no longer kept
  std::string result{};          ///< of done and dead
  std::string worker{};          ///< that had it last
  std::int64_t deliveries = 0;
};

enum class Put : std::uint8_t { put, there };

/// A name and its value: "waiting_urgent", "waiting_usual", "running", "workers", "dead" as they
/// are, and "put", "claimed", "redelivered", "done", "late" (results that came second), "refused",
/// "buried" since the queue was made. What is not there is 0.
using Figures = std::map<std::string, std::int64_t>;

struct QueueLimits {
  static constexpr std::size_t id_bytes = 128;  ///< letters, digits and "-_.:"
  static constexpr std::size_t request_bytes = std::size_t{3} << 20U;
  static constexpr std::size_t result_bytes = std::size_t{5} << 20U;
};

struct QueueOptions {
  /// How long a worker may be silent before another one gets what it holds.
  std::chrono::milliseconds lease{60'000};
  /// An operation that was claimed so often without a result is dead.
  std::int64_t most_deliveries = 3;
  std::int64_t most_waiting = 10'000;  ///< of each priority, what is running included
  std::chrono::seconds keep{86'400};   ///< how long a result is there
  Clock clock{};                       ///< of the row `memory`
  StoreOptions server{};               ///< password and patience of the row `redis`
};

/// Any thread may call. Errors of every call: unavailable, timeout, bad_reply (the server), refused
/// (its password), invalid (beyond QueueLimits).
class Queue {
 public:
  virtual ~Queue() = default;

  /// `there`: an operation of that id and request was put before. When it returns without an error
  /// the operation is as safe as the row keeps anything. Errors: unavailable when the queue is
  /// full; conflict: the id stands for another request.
  virtual Result<Put> put(const Operation& operation) = 0;
  /// The next one for this worker, urgent ones first, the oldest first; nothing: none waits.
  virtual Result<std::optional<Claim>> claim(const std::string& worker) = 0;
  /// "I still work on these": false for each that the worker does not hold any more.
  virtual Result<std::vector<bool>> keep(const std::string& worker,
                                         std::span<const Claim> claims) = 0;
  /// False: another result was kept before.
  virtual Result<bool> finish(const std::string& worker, const Claim& claim,
                              const std::string& result) = 0;
  /// It could not be done now: it is delivered again once the lease has passed from here on. `why`
  /// is its result if it dies of that.
  virtual Result<void> give_up(const std::string& worker, const Claim& claim,
                               const std::string& why) = 0;
  virtual Result<Status> look(const std::string& id) = 0;
  /// Nobody asks for it any more: it is not claimed, and its result is not kept.
  virtual Result<void> forget(const std::string& id) = 0;
  /// The dead ones that are still kept, the latest first, at most a thousand.
  virtual Result<std::vector<std::string>> dead() = 0;
  /// A dead one waits again, as if it had just been put. Errors: not_found.
  virtual Result<void> revive(const std::string& id) = 0;
  /// Of a worker that has ended: forgets its name if it holds nothing.
  virtual Result<void> leave(const std::string& worker) = 0;
  virtual Result<Figures> figures() = 0;
  /// What is wrong with how the server keeps what it is told, as sentences.
  virtual Result<std::vector<std::string>> doubts() = 0;
};

struct QueueRow {
  std::string_view name, summary;
};
[[nodiscard]] std::span<const QueueRow> queue_rows();

/// "memory", "redis:unix:PATH", "redis:HOST:PORT", and "redis://HOST[:PORT]" or "unix:PATH" for
/// them. Errors: not_found (no such row), invalid (no such place; a password in the address),
/// unavailable, refused.
[[nodiscard]] Result<std::unique_ptr<Queue>> open_queue(std::string_view spec,
                                                        const QueueOptions& options);

}  // namespace schedmate::workers
