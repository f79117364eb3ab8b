// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <mutex>
#include <optional>
#include <schedmate/result.hpp>

#include "base/threads.hpp"
#include "settings/progress.hpp"

namespace schedmate::study {

/// work(i), a Result<void>, for each i below `count`, on this thread and `threads` - 1 others;
/// `bar` shows how many have ended. After an error nothing more begins; of several one is returned.
template <class Work>
Result<void> in_parallel(std::size_t count, std::int64_t threads, const settings::ShowProgress& bar,
                         const Work& work) {
  std::atomic<std::size_t> next = 0;
  std::atomic<std::size_t> finished = 0;
  std::mutex mutex;
  std::optional<Error> error;
  run_on_threads(threads, [&](std::int64_t /*number*/) {
    for (std::size_t i = next++; i < count; i = next++) {
      if (const Result<void> done = work(i); !done) {
        const std::scoped_lock lock(mutex);
        error = done.error();
        next = count;
        return;
      }
      bar(static_cast<double>(++finished) / static_cast<double>(count));
    }
  });
  if (error) return tl::unexpected(*error);
  return {};
}

}  // namespace schedmate::study
