// SPDX-License-Identifier: Apache-2.0
#include "workers/worker.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <mutex>
#include <nlohmann/json.hpp>

#include "base/threads.hpp"
#include "workers/request.hpp"

namespace schedmate::workers {
namespace {

using std::chrono_literals::operator""ms;
using std::chrono_literals::operator""s;

constexpr auto look_every = 50ms;   ///< for a wish
constexpr auto first_pause = 10ms;  ///< of a thread that has nothing to do
constexpr auto longest_pause = 200ms;
constexpr auto longest_retry = 5s;     ///< of one whose server is away
constexpr auto patience_at_end = 20s;  ///< with it, while draining
constexpr auto patience_to_leave = 500ms;

/// The server, not what was asked of it.
bool is_trouble(const Error& error) {
  return error.code == ErrorCode::unavailable || error.code == ErrorCode::timeout ||
         error.code == ErrorCode::bad_reply || error.code == ErrorCode::refused;
}

/// What a second try on another machine, or later, may mend.
bool may_pass(const Error& error) {
  return error.code == ErrorCode::unavailable || error.code == ErrorCode::timeout;
}

class Worker {
 public:
  Worker(Queue& queue, const Deed& deed, const WorkerOptions& options)
      : queue_(queue), deed_(deed), options_(options) {}

  Result<Done> run() {
    run_on_threads(options_.threads + 1, [this](std::int64_t number) {
      if (number == 0)
        watch();
      else
        work();
    });
    if (left_)
      return fail(ErrorCode::timeout,
                  "ended with results that the queue did not take: other workers will do these "
                  "requests");
    static_cast<void>(queue_.leave(options_.name));
    return done_;
  }

 private:
  struct Held {
    Claim claim;
    std::chrono::nanoseconds since{};
  };

  /// The first thread: life signs and wishes.
  void watch() {
    auto last = options_.clock.now();
    while (!are_gone()) {
      options_.clock.sleep(look_every);
      const Wish wish = options_.wish();
      if (wish != Wish::go_on && !draining_) draining_since_ = options_.clock.now();
      if (wish != Wish::go_on) draining_ = true;
      const auto now = options_.clock.now();
      if (wish == Wish::leave) leave(now);
      if (now - last < options_.lease / 4) continue;
      last = now;
      show_life(now);
    }
  }

  /// Whoever only waits for the server goes by himself.
  void leave(std::chrono::nanoseconds now) {
    if (!leaving_.exchange(true)) leaving_since_ = now;
    if (now - leaving_since_ < patience_to_leave || are_gone() || abandoned_) return;
    abandoned_ = true;
    const std::lock_guard lock(saying_);
    options_.abandon(
        {ErrorCode::timeout, "ended while requests were being done: other workers will do them"});
  }

  void show_life(std::chrono::nanoseconds now) {
    std::vector<Claim> claims;
    {
      const std::lock_guard lock(mutex_);
      for (const auto& [number, held] : held_)
        if (now - held.since <= options_.most_time) claims.push_back(held.claim);
    }
    // The requests themselves may be large.
    for (Claim& claim : claims) claim.operation.request.clear();
    if (const auto kept = queue_.keep(options_.name, claims); !kept) trouble(kept.error());
  }

  /// Where the system gives fewer threads, the rest begins when it is time to go.
  [[nodiscard]] bool are_gone() const {
    return ended_ == begun_ && (begun_ == options_.threads || draining_);
  }

  void work() {
    ++begun_;
    auto pause = std::chrono::milliseconds(first_pause);
    while (!draining_) {
      const auto claim = queue_.claim(options_.name);
      if (!claim) trouble(claim.error());
      if (claim && !*claim && options_.until_empty) break;
      if (claim && *claim) {
        well();
        pause = first_pause;
        handle(**claim);
        continue;
      }
      if (claim) well();
      rest(pause);
      pause = std::min<std::chrono::milliseconds>(2 * pause, claim ? longest_pause : longest_retry);
    }
    ++ended_;
  }

  /// No longer than until somebody wishes it to go.
  void rest(std::chrono::milliseconds time) {
    for (; time > 0ms && !draining_; time -= look_every)
      options_.clock.sleep(std::min<std::chrono::milliseconds>(time, look_every));
  }

  void handle(const Claim& claim) {
    std::uint64_t number = 0;
    {
      const std::lock_guard lock(mutex_);
      number = ++count_;
      held_[number] = {claim, options_.clock.now()};
    }
    deliver(claim, answer_to(claim));
    const std::lock_guard lock(mutex_);
    held_.erase(number);
  }

  Result<Document> answer_to(const Claim& claim) {
    const auto request = request_of(claim.operation.request);
    if (!request) return tl::unexpected(request.error());
    try {
      return deed_(*request);
    } catch (const std::bad_alloc&) {
      return fail(ErrorCode::unavailable, "the worker has too little memory for this");
    } catch (const std::exception& error) {  // a library's, which its module did not catch
      return fail(ErrorCode::invalid, fmt::format("internal error: {}", error.what()));
    }
  }

  /// Again and again: a result is not thrown away because the server restarts.
  void deliver(const Claim& claim, const Result<Document>& answer) {
    const std::string text = result_text(answer);
    const bool again = !answer && may_pass(answer.error());
    auto pause = std::chrono::milliseconds(first_pause);
    for (;;) {
      const auto said = again ? queue_.give_up(options_.name, claim, text).map([] { return true; })
                              : queue_.finish(options_.name, claim, text);
      if (said) return count(again, *said);
      trouble(said.error());
      if (!is_trouble(said.error())) return;
      const bool too_long =
          draining_ && options_.clock.now() - draining_since_.load() > patience_at_end;
      if (leaving_ || too_long) {
        left_ = true;
        return;
      }
      options_.clock.sleep(pause);
      pause = std::min<std::chrono::milliseconds>(2 * pause, draining_ ? longest_pause : 1000ms);
    }
  }

  void count(bool again, bool kept) {
    const std::lock_guard lock(mutex_);
    ++(again ? done_.given_up : kept ? done_.kept : done_.late);
  }

  /// Said once, however often it is seen.
  void trouble(const Error& error) {
    if (!troubled_.exchange(true)) say(fmt::format("{}; trying again", error.message));
  }
  void well() {
    if (troubled_.exchange(false)) say("the queue answers again");
  }
  void say(const std::string& line) {
    const std::lock_guard lock(saying_);
    options_.report(line);
  }

  Queue& queue_;
  const Deed& deed_;
  const WorkerOptions& options_;
  std::atomic<std::int64_t> begun_{0}, ended_{0};
  std::atomic<bool> draining_{false}, leaving_{false}, left_{false}, troubled_{false};
  std::atomic<std::chrono::nanoseconds> draining_since_{std::chrono::nanoseconds(0)};
  std::chrono::nanoseconds leaving_since_{0};  ///< of the first thread alone
  bool abandoned_ = false;                     ///< the same
  std::mutex saying_;                          ///< one thread at a time
  std::mutex mutex_;
  std::uint64_t count_ = 0;
  std::map<std::uint64_t, Held> held_;
  Done done_;
};

}  // namespace

Result<Done> run_worker(Queue& queue, const Deed& deed, const WorkerOptions& options) {
  return Worker(queue, deed, options).run();
}

}  // namespace schedmate::workers
