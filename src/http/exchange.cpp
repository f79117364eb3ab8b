// SPDX-License-Identifier: Apache-2.0
#include "http/exchange.hpp"

#include <utility>

#include "http/options.hpp"

namespace schedmate::http {

void Exchange::attach(void* connection, Halt halt) {
  const std::scoped_lock lock(mutex_);
  connection_ = connection;
  halt_ = halt;
  attached_ = true;
}

bool Exchange::await(std::chrono::nanoseconds due) {
  const std::scoped_lock lock(mutex_);
  if (ended_ || answered_) return false;
  stage_ = Stage::answer;
  due_ = due;
  suspended_ = true;
  halt_.suspend(connection_);
  return true;
}

std::optional<Reply> Exchange::take_reply() {
  const std::scoped_lock lock(mutex_);
  return std::exchange(reply_, std::nullopt);
}

void Exchange::enter(Stage stage, std::chrono::nanoseconds due) {
  const std::scoped_lock lock(mutex_);
  stage_ = stage;
  due_ = due;
}

Stage Exchange::stage() const {
  const std::scoped_lock lock(mutex_);
  return stage_;
}

std::optional<Stage> Exchange::overdue(std::chrono::nanoseconds now) const {
  const std::scoped_lock lock(mutex_);
  return now >= due_ ? std::optional(stage_) : std::nullopt;
}

void Exchange::resume() {
  if (std::exchange(suspended_, false)) halt_.resume(connection_);
}

bool Exchange::answer(Reply reply) {
  const std::scoped_lock lock(mutex_);
  if (std::exchange(answered_, true)) return false;
  reply_ = std::move(reply);
  resume();
  return true;
}

void Exchange::end() {
  const std::scoped_lock lock(mutex_);
  ended_ = true;
  resume();
}

void Exchange::wake(bool heartbeat) {
  const std::scoped_lock lock(mutex_);
  woken_ = true;
  heartbeat_ = heartbeat_ || heartbeat;
  resume();
}

bool Exchange::rest() {
  const std::scoped_lock lock(mutex_);
  if (std::exchange(woken_, false) || ended_) return false;
  suspended_ = true;
  halt_.suspend(connection_);
  return true;
}

bool Exchange::take_heartbeat() {
  const std::scoped_lock lock(mutex_);
  return std::exchange(heartbeat_, false);
}

Answer::~Answer() {
  if (exchange_)
    exchange_->answer(error_reply(Refusal{.status = 500,
                                          .message = "the daemon dropped this request",
                                          .mend = "report this with the daemon's log"}));
}

bool Answer::operator()(Reply reply) {
  if (!exchange_) return false;
  const bool is_first = exchange_->answer(std::move(reply));
  exchange_ = nullptr;
  room_ = nullptr;
  return is_first;
}

}  // namespace schedmate::http
