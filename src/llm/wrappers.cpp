// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <semaphore>

#include "llm/exchange.hpp"

namespace schedmate {

Chat llm::with_limit(Chat chat, std::int64_t at_once) {
  const auto places = std::max<std::int64_t>(at_once, 1);
  auto free = std::make_shared<std::counting_semaphore<>>(places);
  return [chat = std::move(chat), free](const ChatRequest& request) -> Result<ChatReply> {
    if (!free->try_acquire_for(request.patience)) {
      return fail(ErrorCode::timeout, "too many requests to the model at once (at_once)");
    }
    const std::unique_ptr<std::counting_semaphore<>, void (*)(std::counting_semaphore<>*)> place(
        free.get(), [](std::counting_semaphore<>* places_left) { places_left->release(); });
    return chat(request);
  };
}

Chat llm::with_redaction(Chat chat, std::function<std::string(std::string_view)> redact) {
  if (!redact) return chat;
  return [chat = std::move(chat), redact = std::move(redact)](const ChatRequest& request) {
    ChatRequest clean = request;
    clean.system = redact(request.system);
    clean.tools = redact(request.tools);
    for (ChatMessage& message : clean.messages) message.text = redact(message.text);
    return chat(clean);
  };
}

Chat llm::with_meter(Chat chat, std::shared_ptr<ChatMeter> meter) {
  if (!meter) return chat;
  return [chat = std::move(chat), meter = std::move(meter)](const ChatRequest& request) {
    auto reply = chat(request);
    meter->finish(reply);
    return reply;
  };
}

ChatMeter::Sums ChatMeter::sums() const {
  const std::lock_guard lock(mutex_);
  return sums_;
}

void ChatMeter::attempt(bool again) {
  const std::lock_guard lock(mutex_);
  ++sums_.calls;
  if (again) ++sums_.retries;
}

void ChatMeter::finish(const Result<ChatReply>& reply) {
  const std::lock_guard lock(mutex_);
  if (!reply) {
    ++sums_.failures;
    return;
  }
  sums_.prompt_tokens += reply->prompt_tokens;
  sums_.completion_tokens += reply->completion_tokens;
}

void ChatMeter::note(std::string text) {
  const std::lock_guard lock(mutex_);
  if (std::ranges::find(sums_.notes, text) == sums_.notes.end()) {
    sums_.notes.push_back(std::move(text));
  }
}

}  // namespace schedmate
