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

/// The other side: what the chat that the question names says to it. A senseless question has an
/// error as its answer.
[[nodiscard]] std::string answer_for(std::span<const Chat> chats, std::string_view question);

}  // namespace schedmate::llm
