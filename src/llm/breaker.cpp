// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include "llm/exchange.hpp"

namespace schedmate::llm {
namespace {

/// Closed, open (nothing is sent until the rest is over), or trying (one request is out); of each
/// payer one, so that nobody's requests, however they fail, close a server to others.
class Breaker {
 public:
  Breaker(const ChatSettings& settings, Clock clock)
      : most_(settings.breaker_failures), rest_(settings.breaker_rest), clock_(std::move(clock)) {}

  bool admit(const std::string& payer) {
    const std::lock_guard lock(mutex_);
    const auto found = circuits_.find(payer);
    if (found == circuits_.end() || found->second.failures < most_) return true;
    Circuit& circuit = found->second;
    if (circuit.trying || clock_.now() < circuit.open_until) return false;
    circuit.trying = true;
    return true;
  }

  void learn(const std::string& payer, bool worked) {
    const std::lock_guard lock(mutex_);
    if (worked) {
      circuits_.erase(payer);
      return;
    }
    Circuit& circuit = circuits_[payer];
    circuit.trying = false;
    if (++circuit.failures >= most_) circuit.open_until = clock_.now() + rest_;
  }

  [[nodiscard]] Error error() const {
    return {ErrorCode::unavailable,
            fmt::format("the model's server failed {} times in a row; nothing is sent for {} s",
                        most_, rest_.count())};
  }

 private:
  struct Circuit {
    std::int64_t failures = 0;
    bool trying = false;
    std::chrono::nanoseconds open_until{0};
  };
  std::int64_t most_;
  std::chrono::seconds rest_;
  Clock clock_;
  std::mutex mutex_;
  std::map<std::string, Circuit> circuits_;  // of payers whose last request has failed
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
    if (!breaker->admit(request.payer)) return tl::unexpected(breaker->error());
    auto reply = chat(request);
    breaker->learn(request.payer, reply || !is_servers_fault(reply.error().code));
    return reply;
  };
}

}  // namespace schedmate::llm
