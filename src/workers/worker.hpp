// SPDX-License-Identifier: Apache-2.0
#pragma once

/// What a worker does: some threads claim, do and finish; one says that they live, and looks
/// whether it is time to go. A worker that is told to stop claims nothing more, ends what it has
/// begun, and goes. A server that is away is asked again until it is back, and no result is thrown
/// away meanwhile.

#include <functional>

#include "workers/deeds.hpp"
#include "workers/queue.hpp"

namespace schedmate::workers {

/// Asked several times a second: go on, end what was begun, or leave everything at once.
enum class Wish : std::uint8_t { go_on, drain, leave };

struct WorkerOptions {
  std::string name{};        ///< of its own among all workers
  std::int64_t threads = 1;  ///< requests at a time
  std::chrono::milliseconds lease{60'000};
  /// After that a request counts as hung: it is kept no longer, so that another worker gets it.
  std::chrono::seconds most_time{900};
  bool until_empty = false;  ///< ends when nothing waits
  Clock clock{};
  std::function<Wish()> wish{};
  /// Any thread, but none while another one reports or abandons; a line for its log.
  std::function<void(const std::string&)> report{};
  /// Told to leave while something is still being done, which nothing in this process can end: ends
  /// the process, with this error. Called once; where it comes back, the end is waited for.
  std::function<void(const Error&)> abandon = [](const Error& /*error*/) {};
};

struct Done {
  std::int64_t kept = 0;      ///< results
  std::int64_t late = 0;      ///< that another worker had given before
  std::int64_t given_up = 0;  ///< for another try
};

/// Until it is told to go. Errors: timeout (told to leave at once, or the server was away for too
/// long while it drained: what it held is delivered to others).
Result<Done> run_worker(Queue& queue, const Deed& deed, const WorkerOptions& options);

}  // namespace schedmate::workers
