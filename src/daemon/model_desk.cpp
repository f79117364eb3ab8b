// SPDX-License-Identifier: Apache-2.0
#include "daemon/model_desk.hpp"

#include <fmt/format.h>

#include <utility>

#include "llm/remote.hpp"

namespace schedmate::daemon {
namespace {

/// The reader lets fewer wait.
constexpr std::size_t most_questions_waiting = 256;

std::string payer_of(const reader::Question& question) {
  return fmt::format("uid-{}", question.head.user);
}

/// Whose sleep ends when the daemon does: a chat waits before it tries again.
Clock woken_by(const std::stop_token& stop, Clock clock) {
  clock.sleep = [stop](std::chrono::nanoseconds time) {
    std::mutex mutex;
    std::unique_lock lock(mutex);
    std::condition_variable_any nobody_rings;
    nobody_rings.wait_for(lock, stop, time, [] { return false; });
  };
  return clock;
}

Result<service::Models> models_for(const settings::Session& session, const std::stop_token& stop) {
  ChatServices services = service::chat_services(session, "");
  services.clock = woken_by(stop, session.clock);
  services.stop = stop;
  return service::models_of(session, services);
}

}  // namespace

ModelDesk::ModelDesk(const settings::Session& session)
    : clock_(session.clock), models_(models_for(session, stop_.get_token())) {
  for (std::jthread& each : threads_)
    each = std::jthread([this, stop = stop_.get_token()] { work(stop); });
}

ModelDesk::~ModelDesk() { stop_.request_stop(); }

void ModelDesk::ask(reader::Question question, std::function<void(std::string)> give) {
  const auto due = clock_.now() + question.head.within;
  const std::string payer = payer_of(question);
  {
    const std::lock_guard lock(mutex_);
    if (count_ < most_questions_waiting) {
      ++count_;
      waiting_.put(payer, {std::move(question), due, std::move(give)});
      filled_.notify_one();
      return;
    }
  }
  give(llm::refusal({ErrorCode::unavailable, "too many questions wait for a model"}));
}

void ModelDesk::work(const std::stop_token& stop) {
  for (;;) {
    std::unique_lock lock(mutex_);
    if (!filled_.wait(lock, stop, [this] { return !waiting_.empty(); })) return;
    const auto asked = waiting_.next();
    --count_;
    lock.unlock();
    if (stop.stop_requested()) return;
    asked->give(answer_to(*asked));
  }
}

std::string ModelDesk::answer_to(const Waiting& asked) const {
  const auto left = std::chrono::duration_cast<std::chrono::milliseconds>(asked.due - clock_.now());
  if (left <= std::chrono::milliseconds(0))
    return llm::refusal({ErrorCode::timeout, "other questions to a model took all the time"});
  if (!models_) return llm::refusal(models_.error());
  return llm::answer_for(models_->chats, asked.question.text,
                         {.payer = payer_of(asked.question), .most_patience = left});
}

}  // namespace schedmate::daemon
