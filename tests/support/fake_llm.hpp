// SPDX-License-Identifier: Apache-2.0
#pragma once

/// A chat server on loopback that behaves as configured: like vLLM, llama-server, an old Ollama, a
/// hosted gateway (docs/llm.md), or badly.

#include <chrono>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

namespace schedmate::testing {

struct FakeReply {
  int status = 200;
  std::string body{};
  std::string content_type = "application/json";
  std::map<std::string, std::string> headers{};
  std::chrono::milliseconds per_byte{0};  ///< drips the body
};

/// One request as the server saw it.
struct FakeCall {
  std::string path, body, authorization;
  /// Read from the body.
  std::string schema;              ///< of response_format, "" when none came
  std::vector<std::string> texts;  ///< contents of the messages, the system's first
};

using FakeAnswer = std::function<FakeReply(const FakeCall&)>;
/// What the model would say.
using FakeModel = std::function<std::string(const FakeCall&)>;

class FakeLlm {
 public:
  explicit FakeLlm(FakeAnswer answer);
  /// On a given port, for the stand-alone server. A port in use shows as port() == 0.
  FakeLlm(FakeAnswer answer, int port);
  FakeLlm(const FakeLlm&) = delete;
  FakeLlm& operator=(const FakeLlm&) = delete;
  ~FakeLlm();
  [[nodiscard]] int port() const;
  [[nodiscard]] std::string url() const;  ///< "http://127.0.0.1:PORT/v1"
  [[nodiscard]] std::vector<FakeCall> calls() const;

 private:
  struct Inside;
  std::unique_ptr<Inside> inside_;
};

/// A whole answer of the API around the model's text.
[[nodiscard]] FakeReply chat_reply(const std::string& text, const std::string& finish = "stop");

/// Binds output to the schema: the canary's one-value enumeration comes back; otherwise the model.
/// Prompts above `context_bytes` are refused in vLLM's words.
[[nodiscard]] FakeAnswer like_vllm(FakeModel model, std::size_t context_bytes = 1 << 20);
/// Binds; refuses $ref that it cannot resolve, and long prompts, in llama-server's words.
[[nodiscard]] FakeAnswer like_llama_server(FakeModel model, std::size_t context_bytes = 1 << 20);
/// Ignores response_format without a word; the answer stands in a code fence between prose.
[[nodiscard]] FakeAnswer like_old_ollama(FakeModel model);
/// Refuses response_format with 400, wants a token, answers every other request with 429.
[[nodiscard]] FakeAnswer like_gateway(FakeModel model, std::string token);

}  // namespace schedmate::testing
