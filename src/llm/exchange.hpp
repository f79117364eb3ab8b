// SPDX-License-Identifier: Apache-2.0
#pragma once

/// Within the module: one try at a server, and what wraps it into a Chat.

#include <optional>
#include <schedmate/llm.hpp>

#include "llm/http.hpp"

namespace schedmate::llm {

/// Why a try failed, and whether another may help.
struct Failure {
  Error error;
  bool again = false;
  std::optional<std::chrono::milliseconds> wait;  ///< as the server asks (Retry-After)
};
using Exchange = std::function<tl::expected<ChatReply, Failure>(const ChatRequest&)>;

/// chats.cpp: where a server is and what opens it. Errors: invalid (url, token).
[[nodiscard]] Result<HttpTarget> target_of(const ChatSettings& settings,
                                           const ChatServices& services);

/// openai.cpp: the body of POST /chat/completions and what its answer means.
[[nodiscard]] std::string chat_body(const ChatSettings& settings, const ChatRequest& request);
[[nodiscard]] tl::expected<ChatReply, Failure> read_chat_reply(const HttpReply& reply);

/// Tries until an answer, a failure that no repetition fixes, `attempts` tries, or the end of the
/// request's patience. Waits grow twofold from half a second, with jitter.
[[nodiscard]] Chat with_retries(Exchange exchange, const ChatSettings& settings,
                                const ChatServices& services);
/// After `breaker_failures` failures of the server in a row nothing is sent for `breaker_rest`;
/// then one request tries. Each payer's are counted by themselves.
[[nodiscard]] Chat with_breaker(Chat chat, const ChatSettings& settings, Clock clock);
/// Refuses when the day or the user has used up its tokens, or they cannot be recorded.
[[nodiscard]] Chat with_budget(Chat chat, const ChatSettings& settings,
                               const ChatServices& services);
/// At most `at_once` requests in flight; others wait as long as their patience lasts.
[[nodiscard]] Chat with_limit(Chat chat, std::int64_t at_once);
/// Before the first request that carries a schema: does the server bind output to it? Where it does
/// not, the schema is sent as text; where it refuses schemas, none is sent.
[[nodiscard]] Chat with_canary(Chat chat, std::shared_ptr<ChatMeter> meter);
[[nodiscard]] Chat with_redaction(Chat chat, std::function<std::string(std::string_view)> redact);
[[nodiscard]] Chat with_meter(Chat chat, std::shared_ptr<ChatMeter> meter);

/// exchange_text.cpp: JSON of one line. Of a request everything that decides the answer, so neither
/// patience nor payer. Errors: bad_reply.
[[nodiscard]] std::string request_text(const ChatRequest& request);
[[nodiscard]] Result<ChatRequest> read_request(std::string_view text);
[[nodiscard]] std::string reply_text(const ChatReply& reply);
[[nodiscard]] Result<ChatReply> read_reply(std::string_view text);

/// exchange_file.cpp: one JSON line per exchange; the file is made with mode 0600, and a line that
/// is torn is skipped.
[[nodiscard]] Chat with_recording(Chat chat, std::string path);
[[nodiscard]] Result<Chat> open_recording(const std::string& path);
/// Ends a last line of the file that is torn, then appends these; the file is open for reading and
/// appending. Gives the bytes of the lines that are written whole.
[[nodiscard]] std::size_t append_lines(int file, std::string_view lines);

/// Cut to a length that fits a message; control characters and broken UTF-8 become '?'.
[[nodiscard]] std::string quotable(std::string_view text, std::size_t most = 200);

}  // namespace schedmate::llm
