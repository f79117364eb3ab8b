// SPDX-License-Identifier: Apache-2.0
#include <nlohmann/json.hpp>

#include "base/json_reader.hpp"
#include "llm/exchange.hpp"

namespace schedmate::llm {
namespace {

using Json = nlohmann::json;

std::string text_of(const Json& json) {
  return json.dump(-1, ' ', false, Json::error_handler_t::replace);
}

/// What others have written is read without trust: it may be deep, or hold a schema that is none.
constexpr JsonBounds bounds{.deepest = 32, .most_values = 10'000};

bool is_schema(const std::string& text) {
  if (text.empty()) return true;
  const auto read = read_json(text, bounds);
  return read && read->is_object();
}

tl::unexpected<Error> senseless(const Json::exception& error) {
  return fail(ErrorCode::bad_reply, quotable(error.what(), 120));
}

}  // namespace

std::string request_text(const ChatRequest& request) {
  Json messages = Json::array();
  for (const ChatMessage& message : request.messages) {
    messages.push_back({{"from_model", message.from_model}, {"text", message.text}});
  }
  return text_of({{"system", request.system},
                  {"tools", request.tools},
                  {"messages", std::move(messages)},
                  {"json_schema", request.json_schema},
                  {"max_tokens", request.max_tokens},
                  {"temperature", request.temperature},
                  {"seed", request.seed}});
}

Result<ChatRequest> read_request(std::string_view text) {
  if (const auto sound = read_json(text, bounds); !sound)
    return fail(ErrorCode::bad_reply, quotable(sound.error().message, 120));
  try {
    const Json json = Json::parse(text);
    ChatRequest request{.system = json.at("system").get<std::string>(),
                        .tools = json.at("tools").get<std::string>(),
                        .messages = {},
                        .json_schema = json.at("json_schema").get<std::string>(),
                        .max_tokens = json.at("max_tokens").get<int>(),
                        .temperature = json.at("temperature").get<double>(),
                        .seed = json.at("seed").get<std::uint64_t>()};
    for (const Json& message : json.at("messages")) {
      request.messages.push_back({.from_model = message.at("from_model").get<bool>(),
                                  .text = message.at("text").get<std::string>()});
    }
    if (!is_schema(request.json_schema))
      return fail(ErrorCode::bad_reply, "json_schema is no JSON object");
    return request;
  } catch (const Json::exception& error) {
    return senseless(error);
  }
}

std::string reply_text(const ChatReply& reply) {
  return text_of({{"text", reply.text},
                  {"prompt_tokens", reply.prompt_tokens},
                  {"completion_tokens", reply.completion_tokens},
                  {"model", reply.model},
                  {"finish_reason", reply.finish_reason}});
}

Result<ChatReply> read_reply(std::string_view text) {
  try {
    const Json json = Json::parse(text);
    return ChatReply{.text = json.at("text").get<std::string>(),
                     .prompt_tokens = json.at("prompt_tokens").get<std::int64_t>(),
                     .completion_tokens = json.at("completion_tokens").get<std::int64_t>(),
                     .model = json.at("model").get<std::string>(),
                     .finish_reason = json.at("finish_reason").get<std::string>()};
  } catch (const Json::exception& error) {
    return senseless(error);
  }
}

}  // namespace schedmate::llm
