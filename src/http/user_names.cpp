// SPDX-License-Identifier: Apache-2.0
#include "http/user_names.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <condition_variable>
#include <deque>
#include <map>
#include <mutex>
#include <thread>
#include <utility>

#include "base/words.hpp"

namespace schedmate::http {
namespace {

constexpr std::chrono::minutes asked_again{10};
constexpr std::chrono::minutes served{60};
constexpr std::size_t most_known = 16384;
constexpr std::size_t most_queued = 1024;

}  // namespace

struct UserNames::Book {
  struct Known {
    std::string name;
    std::chrono::nanoseconds since;
  };

  explicit Book(Ways given) : ways(std::move(given)) {}
  void work();

  const Ways ways;
  std::mutex mutex;
  std::condition_variable wanted;
  std::map<uid_t, Known> known;
  std::deque<uid_t> queue;
  bool closed = false;
};

void UserNames::Book::work() {
  while (true) {
    uid_t uid = 0;
    {
      std::unique_lock lock(mutex);
      wanted.wait(lock, [this] { return closed || !queue.empty(); });
      if (closed) return;
      uid = queue.front();
    }
    std::string name = ways.ask ? ways.ask(uid) : "";
    if (name.empty() || !is_printable(name)) name = fmt::format("uid:{}", uid);
    {
      const std::scoped_lock lock(mutex);
      if (known.size() >= most_known) known.clear();
      known.insert_or_assign(uid, Known{std::move(name), ways.clock.now()});
      queue.pop_front();
    }
    ways.found();
  }
}

UserNames::UserNames(Ways ways) : book_(std::make_shared<Book>(std::move(ways))) {
  // Not waited for: it may be in a call that does not return.
  std::thread([book = book_] { book->work(); }).detach();
}

UserNames::~UserNames() {
  const std::scoped_lock lock(book_->mutex);
  book_->closed = true;
  book_->wanted.notify_all();
}

std::optional<std::string> UserNames::find(uid_t uid) {
  const std::scoped_lock lock(book_->mutex);
  const auto found = book_->known.find(uid);
  const auto age = found == book_->known.end() ? std::chrono::nanoseconds::max()
                                               : book_->ways.clock.now() - found->second.since;
  auto& queue = book_->queue;
  if (age > asked_again && queue.size() < most_queued &&
      std::ranges::find(queue, uid) == queue.end()) {
    queue.push_back(uid);
    book_->wanted.notify_one();
  }
  if (age > served) return std::nullopt;
  return found->second.name;
}

}  // namespace schedmate::http
