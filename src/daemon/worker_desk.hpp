// SPDX-License-Identifier: Apache-2.0
#pragma once

/// Readings that are left to the workers of other machines (docs/workers.md). What they do not
/// answer in time, or cannot be put to them, is read as if there were none.

#include <atomic>
#include <chrono>
#include <functional>
#include <map>
#include <memory>
#include <stop_token>
#include <string>
#include <thread>

#include "daemon/worker.hpp"
#include "reader/client.hpp"
#include "workers/queue.hpp"

namespace schedmate::daemon {

/// A log that is followed is read too often, and too little of it, to be sent around; and whoever
/// asks a model has a budget in this process.
[[nodiscard]] bool is_for_workers(const reader::Request& request);

struct WorkerDeskOptions {
  /// Asked again where the queue is lost. Errors: it is away for now.
  std::function<Result<std::unique_ptr<workers::Queue>>()> open{};
  reader::Ask instead{};
  /// Whether `instead` reads: else the error of a worker is the answer. With it a worker that lacks
  /// a folder, or has trouble of its own, is not believed.
  bool reads_itself = false;
  std::string name{};                         ///< of this daemon's operations, unlike others'
  std::chrono::milliseconds patience{8'000};  ///< with a reading that workers have
  std::chrono::milliseconds retry{2'000};     ///< until a queue that is away is looked for again
  Clock clock{};
  /// When the queue is lost and when it is back, a line, by the desk's thread; `quiet` apart.
  std::function<void(const std::string&)> report{};
  std::chrono::milliseconds quiet{60'000};
};

class WorkerDesk {
 public:
  explicit WorkerDesk(WorkerDeskOptions options);
  WorkerDesk(const WorkerDesk&) = delete;
  WorkerDesk& operator=(const WorkerDesk&) = delete;
  /// Whoever still waits gets `unavailable`.
  ~WorkerDesk();

  /// For requests that are for workers. Any thread; waits for nobody. `take` is called once, by
  /// another thread, with an answer as that of reader::Client::ask().
  void ask(reader::Request request, reader::Take take);

  struct Counts {
    std::uint64_t by_workers = 0, instead = 0;
  };
  [[nodiscard]] Counts counts() const { return {by_workers_, instead_}; }

 private:
  struct Asked {
    reader::Request request;
    reader::Take take;
  };
  struct Out {
    Asked asked;
    std::chrono::nanoseconds since{0}, look_at{0};
  };
  void run(const std::stop_token& stop);
  void put(Asked asked);
  void look_at_all();
  bool look(const std::string& id, Out& out);
  bool is_there();
  bool is_served();
  void lose_queue(const Error& error);
  void forget(const std::string& id);
  void say();
  void read_instead(Asked asked);
  [[nodiscard]] std::chrono::nanoseconds now() const { return options_.clock.now(); }

  WorkerDeskOptions options_;
  std::unique_ptr<workers::Queue> queue_;
  std::map<std::string, Out> out_;  // by operation
  std::chrono::nanoseconds try_at_{0}, count_at_{0}, say_at_{0};
  bool has_workers_ = false, was_lost_ = false;
  std::string lost_{};  // why; "": it is not
  std::uint64_t asked_ = 0;
  std::atomic<std::uint64_t> by_workers_ = 0, instead_ = 0;
  Inbox<Asked> inbox_;
  std::jthread thread_;  // last: it uses what stands above
};

}  // namespace schedmate::daemon
