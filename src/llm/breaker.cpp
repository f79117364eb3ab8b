// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include "llm/exchange.hpp"

namespace schedmate::llm {
namespace {

/// Closed, open (nothing is sent until the rest is over), or trying (one request is out).
class Breaker {
 public:
  Breaker(const ChatSettings& settings, Clock clock)
      : most_(settings.breaker_failures), rest_(settings.breaker_rest), clock_(std::move(clock)) {}

  bool admit() {
    const std::lock_guard lock(mutex_);
    if (failures_ < most_) return true;
    if (trying_ || clock_.now() < open_until_) return false;
    trying_ = true;
    return true;
  }

  void learn(bool worked) {
    const std::lock_guard lock(mutex_);
    trying_ = false;
    failures_ = worked ? 0 : failures_ + 1;
    if (failures_ >= most_) open_until_ = clock_.now() + rest_;
  }

  [[nodiscard]] Error error() const {
    return {ErrorCode::unavailable,
            fmt::format("the model's server failed {} times in a row; nothing is sent for {} s",
                        most_, rest_.count())};
  }

 private:
  std::int64_t most_;
  std::chrono::seconds rest_;
  Clock clock_;
  std::mutex mutex_;
  std::int64_t failures_ = 0;
  bool trying_ = false;
  std::chrono::nanoseconds open_until_{0};
};

/// A request that was wrong by itself says nothing about the server's health.
bool is_servers_fault(ErrorCode code) {
  return code == ErrorCode::unavailable || code == ErrorCode::timeout ||
         code == ErrorCode::bad_reply;
}

}  // namespace

Chat with_breaker(Chat chat, const ChatSettings& settings, Clock clock) {
  if (settings.breaker_failures <= 0) return chat;
  auto breaker = std::make_shared<Breaker>(settings, std::move(clock));
  return [chat = std::move(chat), breaker](const ChatRequest& request) -> Result<ChatReply> {
    if (!breaker->admit()) return tl::unexpected(breaker->error());
    auto reply = chat(request);
    breaker->learn(reply || !is_servers_fault(reply.error().code));
    return reply;
  };
}

}  // namespace schedmate::llm
