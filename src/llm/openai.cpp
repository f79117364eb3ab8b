// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <nlohmann/json.hpp>

#include "base/check.hpp"
#include "base/text.hpp"
#include "llm/exchange.hpp"

namespace schedmate::llm {
namespace {

using Json = nlohmann::json;
using Reply = tl::expected<ChatReply, Failure>;

tl::unexpected<Failure> final_failure(ErrorCode code, std::string message) {
  return tl::unexpected(Failure{.error = {code, std::move(message)}, .again = false, .wait = {}});
}

tl::unexpected<Failure> passing_failure(ErrorCode code, std::string message) {
  return tl::unexpected(Failure{.error = {code, std::move(message)}, .again = true, .wait = {}});
}

/// The member of an object; nullptr when it is none or has no such member.
const Json* member(const Json* json, const char* key) {
  if (json == nullptr || !json->is_object()) return nullptr;
  const auto found = json->find(key);
  return found == json->end() ? nullptr : &*found;
}

std::string text_at(const Json& object, const char* key) {
  const Json* text = member(&object, key);
  return text != nullptr && text->is_string() ? text->get<std::string>() : std::string();
}

/// Servers say what is wrong as {"error": {"message"}}, {"error": "..."}, {"message"}, {"detail"},
/// or in plain text.
std::string complaint_of(const std::string& body) {
  const Json json = Json::parse(body, nullptr, false);
  const Json* error = member(&json, "error");
  if (error != nullptr && error->is_object()) {
    return fmt::format("{} {} {}", text_at(*error, "message"), text_at(*error, "type"),
                       text_at(*error, "code"));
  }
  for (const char* key : {"error", "message", "detail"}) {
    if (std::string text = text_at(json, key); !text.empty()) return text;
  }
  return body;
}

bool mentions(const std::string& text, std::initializer_list<std::string_view> words) {
  std::string lower = text;
  std::ranges::transform(lower, lower.begin(), [](unsigned char c) { return std::tolower(c); });
  return std::ranges::any_of(
      words, [&](std::string_view word) { return lower.find(word) != std::string::npos; });
}

std::optional<std::chrono::milliseconds> retry_after(const HttpReply& reply) {
  const auto seconds = parse_number<double>(trim(reply.retry_after));
  if (!seconds || !(*seconds >= 0) || *seconds > 86'400) return std::nullopt;
  return std::chrono::milliseconds(static_cast<std::int64_t>(*seconds * 1000));
}

tl::unexpected<Failure> explain_client_error(int status, const std::string& complaint) {
  const std::string complaint_text =
      fmt::format("the server says {}: {}", status, quotable(complaint));
  if (status == 413 || (mentions(complaint, {"context"}) &&
                        mentions(complaint, {"exceed", "maximum", "length", "size", "long"}))) {
    return final_failure(ErrorCode::conflict,
                         "the prompt does not fit the context; " + complaint_text);
  }
  if (mentions(complaint, {"schema", "$ref", "response_format", "grammar", "guided"})) {
    return final_failure(ErrorCode::unsupported,
                         "the server cannot take the schema; " + complaint_text);
  }
  return final_failure(ErrorCode::invalid, complaint_text);
}

tl::unexpected<Failure> explain_status(const HttpReply& reply) {
  const std::string complaint = complaint_of(reply.body);
  const std::string complaint_text =
      fmt::format("the server says {}: {}", reply.status, quotable(complaint));
  if (reply.status == 401 || reply.status == 403) {
    return final_failure(ErrorCode::refused, complaint_text + "; check token_file or token_env");
  }
  if (reply.status == 404) {
    return final_failure(ErrorCode::not_found,
                         complaint_text + "; check url (it ends in /v1) and model");
  }
  if (reply.status == 429 && mentions(complaint, {"insufficient_quota", "billing"})) {
    return final_failure(ErrorCode::refused, complaint_text);
  }
  if (reply.status == 408 || reply.status == 429 || reply.status >= 500) {
    auto failure = passing_failure(ErrorCode::unavailable, complaint_text);
    failure.value().wait = retry_after(reply);
    return failure;
  }
  if (reply.status >= 300 && reply.status < 400) {
    return final_failure(ErrorCode::refused,
                         fmt::format("the server redirects to another address ({}), which is not "
                                     "followed; set url to that address",
                                     reply.status));
  }
  if (reply.status >= 400) return explain_client_error(reply.status, complaint);
  return passing_failure(ErrorCode::bad_reply, complaint_text);
}

std::int64_t count_at(const Json* json, const char* key) {
  const Json* count = member(json, key);
  if (count == nullptr || !count->is_number_integer()) return 0;
  return std::clamp<std::int64_t>(count->get<std::int64_t>(), 0, 1'000'000'000);
}

}  // namespace

std::string quotable(std::string_view text, std::size_t most) {
  std::string safe;
  for (const char c : text.substr(0, most)) {
    const bool plain = c >= ' ' && c < '\x7f';
    safe += plain ? c : (c == '\n' || c == '\t' || c == '\r') ? ' ' : '?';
  }
  if (text.size() > most) safe += "...";
  return std::string(trim(safe));
}

std::string chat_body(const ChatSettings& settings, const ChatRequest& request) {
  std::string system = request.system;
  if (!request.tools.empty()) system += "\n\n" + request.tools;
  Json messages = Json::array();
  if (!system.empty()) messages.push_back({{"role", "system"}, {"content", system}});
  for (const ChatMessage& message : request.messages) {
    messages.push_back(
        {{"role", message.from_model ? "assistant" : "user"}, {"content", message.text}});
  }
  Json body = {{"model", settings.model},
               {"messages", std::move(messages)},
               {settings.max_tokens_key, request.max_tokens},
               {"temperature", request.temperature},
               {"stream", false}};
  if (request.seed != 0) body["seed"] = request.seed % 2'147'483'647;
  if (!request.json_schema.empty() && settings.send_schema) {
    Json schema = Json::parse(request.json_schema, nullptr, false);
    SCHEDMATE_CHECK(!schema.is_discarded(), "a request's schema is JSON");
    body["response_format"] = {
        {"type", "json_schema"},
        {"json_schema", {{"name", "answer"}, {"strict", true}, {"schema", std::move(schema)}}}};
  }
  return body.dump(-1, ' ', false, Json::error_handler_t::replace);
}

Reply read_chat_reply(const HttpReply& reply) {
  if (reply.status != 200) return explain_status(reply);
  if (reply.content_type.find("json") == std::string::npos) {
    return final_failure(ErrorCode::bad_reply,
                         fmt::format("the answer is '{}', not JSON; check the url",
                                     quotable(reply.content_type, 60)));
  }
  const Json json = Json::parse(reply.body, nullptr, false);
  if (!json.is_object()) {
    return passing_failure(ErrorCode::bad_reply, "the answer is not JSON in UTF-8");
  }
  const Json* choices = member(&json, "choices");
  if (choices == nullptr || !choices->is_array() || choices->empty()) {
    return passing_failure(ErrorCode::bad_reply, "the answer has no `choices`");
  }
  const Json& choice = choices->front();
  const Json* content = member(member(&choice, "message"), "content");
  if (content == nullptr || !content->is_string()) {
    return passing_failure(ErrorCode::bad_reply, "the answer has no text as message.content");
  }
  const Json* usage = member(&json, "usage");
  return ChatReply{.text = content->get<std::string>(),
                   .prompt_tokens = count_at(usage, "prompt_tokens"),
                   .completion_tokens = count_at(usage, "completion_tokens"),
                   .model = text_at(json, "model"),
                   .finish_reason = text_at(choice, "finish_reason")};
}

}  // namespace schedmate::llm
