// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include "base/text.hpp"
#include "llm/exchange.hpp"

namespace schedmate::llm {
namespace {

/// No model says this word unless the schema leaves it no other. Nothing else in the prompt names
/// it.
constexpr std::string_view canary_word = "quorvelash";
constexpr std::string_view canary_schema =
    R"({"type":"object","properties":{"word":{"type":"string","enum":["quorvelash"]}},)"
    R"("required":["word"],"additionalProperties":false})";

enum class Binding : std::uint8_t { unknown, bound, ignored, refused };

ChatRequest canary_request(const ChatRequest& before) {
  return {.system = "You answer with one JSON object.",
          .tools = {},
          .messages = {{.from_model = false, .text = "Give a colour as {\"word\": COLOUR}."}},
          .json_schema = std::string(canary_schema),
          .max_tokens = 40,
          .patience = before.patience,
          .payer = before.payer};
}

class Canary {
 public:
  Canary(Chat chat, std::shared_ptr<ChatMeter> meter)
      : chat_(std::move(chat)), meter_(std::move(meter)) {}

  Result<ChatReply> ask(const ChatRequest& request) {
    if (request.json_schema.empty()) return chat_(request);
    const auto binding = find_out(request);
    if (!binding) return tl::unexpected(binding.error());
    if (*binding == Binding::bound) {
      auto reply = chat_(request);
      if (reply || reply.error().code != ErrorCode::unsupported) return reply;
      note("the server refuses this schema: it is sent as text");
      return chat_(in_words(request, false));
    }
    return chat_(in_words(request, *binding == Binding::ignored));
  }

 private:
  /// Asked once; a server that cannot be reached is asked again by the next request.
  Result<Binding> find_out(const ChatRequest& request) {
    const std::unique_lock lock(mutex_, request.patience);
    if (!lock) return fail(ErrorCode::timeout, "another request is finding out about the server");
    if (binding_ != Binding::unknown) return binding_;
    const auto reply = chat_(canary_request(request));
    if (!reply && reply.error().code != ErrorCode::unsupported) {
      return tl::unexpected(reply.error());
    }
    if (!reply) {
      binding_ = Binding::refused;
      note("the server refuses schemas: they are sent as text");
    } else if (reply->text.find(canary_word) != std::string::npos) {
      binding_ = Binding::bound;
    } else {
      binding_ = Binding::ignored;
      note("the server does not bind its output to the schema: it is sent as text");
    }
    return binding_;
  }

  /// The schema as a part of the system text, whose prefix stays the same for server caches.
  static ChatRequest in_words(const ChatRequest& request, bool keep_schema) {
    ChatRequest with_schema_text = request;
    with_schema_text.tools = fmt::format(
        "{}\n\nAnswer with one JSON object and nothing else: no prose, no code fence. It has to "
        "satisfy this JSON schema:\n{}",
        request.tools, request.json_schema);
    if (!keep_schema) with_schema_text.json_schema.clear();
    return with_schema_text;
  }

  void note(std::string text) const {
    if (meter_) meter_->note(std::move(text));
  }

  Chat chat_;
  std::shared_ptr<ChatMeter> meter_;
  std::timed_mutex mutex_;
  Binding binding_ = Binding::unknown;
};

}  // namespace

Chat with_canary(Chat chat, std::shared_ptr<ChatMeter> meter) {
  auto canary = std::make_shared<Canary>(std::move(chat), std::move(meter));
  return [canary](const ChatRequest& request) { return canary->ask(request); };
}

}  // namespace schedmate::llm
