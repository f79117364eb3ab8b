// SPDX-License-Identifier: Apache-2.0
#pragma once

/// Chats for a process that may not open a socket: requests and replies go as texts to and from one
/// that may.

#include <functional>
#include <schedmate/llm.hpp>
#include <span>

namespace schedmate::llm {

/// `count` chats that put each request to `ask`.
[[nodiscard]] std::vector<Chat> chats_through(
    const std::function<std::string(std::string_view)>& ask, std::size_t count);

/// The same as open_chat() gives them, in so far as that is this side's: redacted and counted, a
/// call for each question. Budget, circuit breaker and canary are the other side's.
[[nodiscard]] std::vector<Chat> open_remote(const std::function<std::string(std::string_view)>& ask,
                                            std::size_t count, const ChatServices& services);

/// Whose question it is, where several users ask, and how long its answer is waited for.
struct Asker {
  std::string payer{};
  std::chrono::milliseconds most_patience = std::chrono::hours(24);
};
/// The other side: what the chat that the question names says to it. A senseless question has an
/// error as its answer.
[[nodiscard]] std::string answer_for(std::span<const Chat> chats, std::string_view question,
                                     const Asker& asker = {});
/// The answer where no chat is asked.
[[nodiscard]] std::string refusal(const Error& error);

}  // namespace schedmate::llm
