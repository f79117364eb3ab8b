// SPDX-License-Identifier: Apache-2.0
#pragma once

/// Talking to a language model (docs/llm.md). A `Chat` is a function from a request to a reply.
/// `open_chat` makes one from settings: any server that speaks the OpenAI chat API, a recording of
/// it, a replay, or none. Around the bare exchange it adds redaction, a token budget, a limit on
/// calls at once, a circuit breaker, retries within a deadline, a canary that finds out whether the
/// server binds its output to a schema, and a record of what was used. Question (question.hpp) is
/// what callers build on; no result needs a model.

#include <chrono>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <schedmate/clock.hpp>
#include <schedmate/result.hpp>
#include <span>
#include <stop_token>
#include <string>
#include <string_view>
#include <vector>

namespace schedmate {

struct ChatMessage {
  bool from_model = false;
  std::string text;
};

struct ChatRequest {
  /// The same for all requests of one kind: servers cache the prefix.
  std::string system;
  /// What the model may ask for, as plain text; follows `system`.
  std::string tools;
  std::vector<ChatMessage> messages;
  /// The reply is bound to it; "" = free text.
  std::string json_schema;
  int max_tokens = 1024;
  double temperature = 0;
  /// Distinguishes samples; 0 is not sent.
  std::uint64_t seed = 0;
  /// For the answer, retries included; 0 = the setting `deadline_s`.
  std::chrono::milliseconds patience{0};
  /// Whose budget and circuit breaker; "" = ChatServices::user. Never sent.
  std::string payer{};
};

struct ChatReply {
  std::string text;
  /// 0 where the server does not count.
  std::int64_t prompt_tokens = 0;
  std::int64_t completion_tokens = 0;
  std::string model;
  /// "stop", "length" (cut off at max_tokens), ...
  std::string finish_reason;
};

/// Waits for the answer; threads may call it at once. Errors: timeout (no answer within the
/// patience), unavailable (no connection, 429, 5xx, circuit open, tokens that cannot be recorded),
/// refused (401, 403, redirect, budget spent, TLS), not_found (404, no recording of this request),
/// bad_reply (no JSON, no UTF-8, too large, wrong type), conflict (the prompt does not fit the
/// server's context), unsupported (the server cannot take the schema), invalid (other 4xx).
using Chat = std::function<Result<ChatReply>(const ChatRequest&)>;

/// What the calls of one process cost. Safe to share between threads.
class ChatMeter {
 public:
  struct Sums {
    /// Requests that went to a server, retries included.
    std::int64_t calls = 0;
    std::int64_t retries = 0;
    /// Requests that ended in an error.
    std::int64_t failures = 0;
    std::int64_t prompt_tokens = 0;
    std::int64_t completion_tokens = 0;
    /// What is wrong with the server, each once.
    std::vector<std::string> notes;
  };
  [[nodiscard]] Sums sums() const;
  /// A chat reports here: each try, its end, and what it finds wrong with the server.
  void attempt(bool again);
  void finish(const Result<ChatReply>& reply);
  void note(std::string text);

 private:
  mutable std::mutex mutex_;
  Sums sums_;
};

/// Tokens spent, by day and user, kept beyond the process. Threads may share one.
class TokenLedger {
 public:
  virtual ~TokenLedger() = default;
  /// `day` as 2026-01-31. 0 when nothing was spent. Errors: those of the place where it is kept.
  virtual Result<std::int64_t> spent(std::string_view day, std::string_view user) = 0;
  /// Where it fails, the tokens count as long as the ledger lives.
  virtual Result<void> add(std::string_view day, std::string_view user, std::int64_t tokens) = 0;
};
/// Ends with the process.
[[nodiscard]] std::shared_ptr<TokenLedger> memory_ledger();
/// One small file a day in `folder`; several processes may append at once.
[[nodiscard]] std::shared_ptr<TokenLedger> file_ledger(std::string folder);

/// Table [llm.NAME] of the settings file; "" = not set. docs/llm.md explains each key.
struct ChatSettings {
  std::string name{};
  /// Row of src/llm/chats.def.
  std::string kind = "openai";
  /// Up to and with /v1.
  std::string url{};
  std::string model{};
  /// The first line of this file, or the value of this variable, is the bearer token.
  std::string token_file{};
  std::string token_env{};
  /// http://host:port; never used for the machine itself.
  std::string proxy{};
  /// Certificates to trust instead of the system's.
  std::string ca_file{};
  /// File of the kinds record and replay.
  std::string recording{};
  /// Some gateways want max_completion_tokens.
  std::string max_tokens_key = "max_tokens";
  /// False: the schema goes into the prompt, in words.
  bool send_schema = true;
  /// Prompt and reply together.
  std::int64_t context_tokens = 8192;
  /// For one request, retries included; and how many tries it may take.
  std::chrono::seconds deadline{60};
  std::int64_t attempts = 3;
  /// Requests in flight in one process.
  std::int64_t at_once = 4;
  /// Beyond them requests are refused until the next day.
  std::int64_t tokens_per_day = 2'000'000;
  std::int64_t tokens_per_user = 500'000;
  /// After so many failures in a row nothing is sent for so long; then one request tries.
  std::int64_t breaker_failures = 5;
  std::chrono::seconds breaker_rest{60};
  /// A longer answer is an error.
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
struct ChatServices {
  Clock clock;
  /// Variable -> value, "" = not set.
  std::function<std::string(std::string_view)> environment;
  /// Takes secrets out of all that goes out, recordings included.
  std::function<std::string(std::string_view)> redact;
  /// Null: the budget holds for this process only.
  std::shared_ptr<TokenLedger> ledger;
  /// Null: nothing is counted.
  std::shared_ptr<ChatMeter> meter;
  /// Whose budget, where a request names nobody. The day is that of the clock, in UTC; without
  /// one all days are the same.
  std::string user;
  /// When it is asked for, requests in flight end with an error.
  std::stop_token stop{};
  /// Of the jitter between retries.
  std::uint64_t seed = 1;
};

/// Sends nothing yet. Errors: not_found (unknown kind), invalid (url, token or recording cannot be
/// used), unavailable (kind `none`: "no model").
[[nodiscard]] Result<Chat> open_chat(const ChatSettings& settings, const ChatServices& services);

/// One row of chats.def.
struct ChatKind {
  std::string_view name, summary;
};
[[nodiscard]] std::span<const ChatKind> chat_kinds();

}  // namespace schedmate
