// SPDX-License-Identifier: Apache-2.0
#pragma once

/// Talking to a language model (docs/llm.md). A `Chat` is a function from a request to a
/// reply; `open_chat` makes one from settings: any server that speaks the OpenAI chat API, a
/// recording of it, a replay, or none. What it adds around the bare exchange: redaction, a token
/// budget, a limit on calls at once, a circuit breaker, retries within a deadline, a canary that
/// finds out whether the server binds its output to a schema, and a record of what was used.

#include <chrono>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <schedmate/clock.hpp>
#include <schedmate/result.hpp>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace schedmate {

struct ChatMessage {
  bool from_model = false;
  std::string text;
};

struct ChatRequest {
  std::string system;  ///< the same for all requests of one kind: servers cache the prefix
  std::string tools;   ///< what the model may ask for, as plain text; follows `system`
  std::vector<ChatMessage> messages;
  std::string json_schema;  ///< the reply is bound to it; "" = free text
  int max_tokens = 1024;
  double temperature = 0;
  std::uint64_t seed = 0;                 ///< tells samples apart; 0 is not sent
  std::chrono::milliseconds patience{0};  ///< retries included; 0 = the setting `deadline_s`
};

struct ChatReply {
  std::string text;
  std::int64_t prompt_tokens = 0;  ///< 0 where the server does not count
  std::int64_t completion_tokens = 0;
  std::string model;
  std::string finish_reason;  ///< "stop", "length" (cut off at max_tokens), ...
};

/// Errors: timeout (no answer within the patience), unavailable (no connection, 429, 5xx, circuit
/// open), refused (401, 403, redirect, budget spent, TLS), not_found (404, no recording of this
/// request), bad_reply (no JSON, no UTF-8, too large, wrong type), conflict (the prompt does not
/// fit the server's context), unsupported (the server cannot take the schema), invalid (other 4xx).
using Chat = std::function<Result<ChatReply>(const ChatRequest&)>;

/// What the calls of one process cost. Safe to share between threads.
class ChatMeter {
 public:
  struct Sums {
    std::int64_t calls = 0;  ///< requests that went to a server, retries included
    std::int64_t retries = 0;
    std::int64_t failures = 0;  ///< requests that ended in an error
    std::int64_t prompt_tokens = 0;
    std::int64_t completion_tokens = 0;
    std::vector<std::string> notes;  ///< what is wrong with the server, each once
  };
  [[nodiscard]] Sums sums() const;
  void attempt(bool again);
  void finish(const Result<ChatReply>& reply);
  void note(std::string text);

 private:
  mutable std::mutex mutex_;
  Sums sums_;
};

/// Tokens spent, by day and user, kept beyond the process.
class TokenLedger {
 public:
  virtual ~TokenLedger() = default;
  virtual Result<std::int64_t> spent(std::string_view day, std::string_view user) = 0;
  virtual Result<void> add(std::string_view day, std::string_view user, std::int64_t tokens) = 0;
};
[[nodiscard]] std::shared_ptr<TokenLedger> memory_ledger();
/// One small file a day in `folder`; several processes may append at once.
[[nodiscard]] std::shared_ptr<TokenLedger> file_ledger(std::string folder);

/// Table [llm.NAME] of the settings file. docs/llm.md explains each key.
struct ChatSettings {
  std::string name{};
  std::string kind = "openai";  ///< row of src/llm/chats.def
  std::string url{};            ///< up to and with /v1
  std::string model{};
  std::string token_file{};  ///< first line is the bearer token
  std::string token_env{};   ///< or the variable that holds it
  std::string proxy{};       ///< http://host:port; never used for the machine itself
  std::string ca_file{};     ///< certificates to trust instead of the system's
  std::string recording{};   ///< file of the kinds record and replay
  std::string max_tokens_key = "max_tokens";
  bool send_schema = true;
  std::int64_t context_tokens = 8192;
  std::chrono::seconds deadline{60};
  std::int64_t attempts = 3;
  std::int64_t at_once = 4;
  std::int64_t tokens_per_day = 2'000'000;
  std::int64_t tokens_per_user = 500'000;
  std::int64_t breaker_failures = 5;
  std::chrono::seconds breaker_rest{60};
  std::int64_t reply_bytes = 1 << 20;
};

/// One key of [llm.NAME], for `schedmate config` and the reader of the settings file.
struct ChatSettingRow {
  std::string_view key, unit, fallback, effect;
};
[[nodiscard]] std::span<const ChatSettingRow> chat_setting_rows();
/// Errors: not_found (unknown key, with the nearest), unsupported (a value of the wrong kind).
[[nodiscard]] Result<ChatSettings> read_chat_settings(
    std::string_view name, const std::map<std::string, std::string>& table);

/// What a chat needs of the process around it.
struct ChatSurroundings {
  Clock clock;
  std::function<std::string(std::string_view)> environment;  ///< variable -> value, "" = not set
  std::function<std::string(std::string_view)> redact;       ///< over all that goes out
  std::shared_ptr<TokenLedger> ledger;                       ///< none = this process only
  std::shared_ptr<ChatMeter> meter;                          ///< none = not counted
  std::string user;                                          ///< whose budget
  std::string today;                                         ///< of the budget, such as 2026-01-31
  std::uint64_t seed = 1;                                    ///< of the jitter
};

/// Errors: not_found (unknown kind), invalid (url, token or recording cannot be used), unavailable
/// (kind `none`: "no model").
[[nodiscard]] Result<Chat> open_chat(const ChatSettings& settings, const ChatSurroundings& around);

struct ChatKind {
  std::string_view name, summary;
};
[[nodiscard]] std::span<const ChatKind> chat_kinds();

}  // namespace schedmate
