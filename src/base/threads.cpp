// SPDX-License-Identifier: Apache-2.0
#include "base/threads.hpp"

#include <exception>
#include <mutex>
#include <system_error>
#include <thread>
#include <vector>

namespace schedmate {

void run_on_threads(std::int64_t threads, const std::function<void(std::int64_t)>& work) {
  std::mutex mutex;
  std::exception_ptr first;
  const auto run = [&](std::int64_t number) {
    try {
      work(number);
    } catch (...) {
      const std::scoped_lock lock(mutex);
      if (!first) first = std::current_exception();
    }
  };
  {
    std::vector<std::jthread> helpers;
    const auto begins = [&](std::int64_t number) {
      try {
        helpers.emplace_back(run, number);
        return true;
      } catch (const std::system_error&) {  // the system gives no more of them
        return false;
      }
    };
    std::int64_t begun = 1;
    while (begun < threads && begins(begun)) ++begun;
    run(0);
    for (; begun < threads; ++begun) run(begun);
  }
  if (first) std::rethrow_exception(first);
}

}  // namespace schedmate
