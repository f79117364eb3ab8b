// SPDX-License-Identifier: Apache-2.0
#include "daemon/worker_desk.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <utility>
#include <vector>

#include "workers/request.hpp"

namespace schedmate::daemon {
namespace {

using reader::What;
using std::chrono_literals::operator""ms;

/// While something is out, and while nothing is.
constexpr auto soon = 50ms;
constexpr auto idle = 500ms;
/// A reading is looked at again after a part of the time that it has taken, at most this.
constexpr std::chrono::nanoseconds longest_look = 1'000ms;
constexpr int part = 4;

}  // namespace

bool is_for_workers(const reader::Request& request) {
  if (request.models || request.text) return false;
  return request.what == What::facts || request.what == What::failure ||
         request.what == What::diagnose;
}

WorkerDesk::WorkerDesk(WorkerDeskOptions options)
    : options_(std::move(options)), thread_([this](const std::stop_token& stop) { run(stop); }) {}

WorkerDesk::~WorkerDesk() {
  thread_.request_stop();
  thread_.join();
  const Error ended{ErrorCode::unavailable, "the daemon ends"};
  for (auto& [id, out] : std::exchange(out_, {})) out.asked.take(tl::unexpected(ended));
  // Whoever is told may ask for more.
  for (auto left = inbox_.take(0ms); !left.empty(); left = inbox_.take(0ms))
    for (Asked& asked : left) asked.take(tl::unexpected(ended));
}

void WorkerDesk::ask(reader::Request request, reader::Take take) {
  inbox_.put({std::move(request), std::move(take)});
}

void WorkerDesk::run(const std::stop_token& stop) {
  while (!stop.stop_requested()) {
    (void)is_there();  // what is wrong with its address is said at once
    for (Asked& asked : inbox_.take(out_.empty() ? idle : soon)) {
      if (is_there() && is_served())
        put(std::move(asked));
      else
        read_instead(std::move(asked));
    }
    look_at_all();
    say();
  }
}

bool WorkerDesk::is_there() {
  if (queue_) return true;
  if (now() < try_at_) return false;
  auto opened = options_.open();
  if (!opened) {
    lose_queue(opened.error());
    return false;
  }
  queue_ = *std::move(opened);
  lost_.clear();
  count_at_ = {};
  return true;
}

/// Whether there is a worker that lives, as of a second ago.
bool WorkerDesk::is_served() {
  if (now() < count_at_) return has_workers_;
  auto figures = queue_->figures();
  if (!figures) {
    lose_queue(figures.error());
    return false;
  }
  count_at_ = now() + 1'000ms;
  has_workers_ = (*figures)["workers"] > 0;
  return has_workers_;
}

void WorkerDesk::put(Asked asked) {
  const auto operation =
      workers::operation_of(asked.request, fmt::format("{}.{}", options_.name, ++asked_), "");
  if (!operation) return read_instead(std::move(asked));
  if (const auto done = queue_->put(*operation); !done) {
    lose_queue(done.error());
    return read_instead(std::move(asked));
  }
  out_.emplace(operation->id, Out{std::move(asked), now(), now()});
}

void WorkerDesk::look_at_all() {
  if (out_.empty()) return;
  if (!queue_ || !is_served()) {
    for (auto& [id, out] : std::exchange(out_, {})) {
      forget(id);
      read_instead(std::move(out.asked));
    }
    return;
  }
  for (auto here = out_.begin(); here != out_.end();) {
    if (!queue_) return look_at_all();  // lost meanwhile
    here = look(here->first, here->second) ? out_.erase(here) : std::next(here);
  }
}

/// Whether it has come to an end here.
bool WorkerDesk::look(const std::string& id, Out& out) {
  if (now() < out.look_at) return false;
  const auto status = queue_->look(id);
  if (!status) {
    lose_queue(status.error());
    return false;
  }
  const auto age = now() - out.since;
  const bool is_done = status->state == workers::State::done;
  const bool is_on_its_way =
      status->state == workers::State::waiting || status->state == workers::State::running;
  if (is_on_its_way && age <= options_.patience) {
    out.look_at = now() + std::min(longest_look, age / part);
    return false;
  }
  forget(id);
  auto result = is_done ? workers::result_of(status->result)
                        : Result<Document>(fail(ErrorCode::timeout, "no worker has answered"));
  if (result || (is_done && !options_.reads_itself)) {
    ++by_workers_;
    out.asked.take(std::move(result));
  } else {
    read_instead(std::move(out.asked));
  }
  return true;
}

/// Its result would stay for a day, and what is left in the queue is work for nobody.
void WorkerDesk::forget(const std::string& id) {
  if (!queue_) return;
  if (const auto done = queue_->forget(id); !done) lose_queue(done.error());
}

void WorkerDesk::lose_queue(const Error& error) {
  lost_ = error.message.empty() ? "it is lost" : error.message;
  queue_ = nullptr;
  try_at_ = now() + options_.retry;
}

/// A queue that is lost again and again does not fill the log.
void WorkerDesk::say() {
  if (was_lost_ != lost_.empty() || now() < say_at_) return;
  was_lost_ = !lost_.empty();
  say_at_ = now() + options_.quiet;
  options_.report(was_lost_ ? "no workers are asked, this machine reads itself: " + lost_
                            : "workers are asked again");
}

void WorkerDesk::read_instead(Asked asked) {
  ++instead_;
  options_.instead(std::move(asked.request), std::move(asked.take));
}

}  // namespace schedmate::daemon
