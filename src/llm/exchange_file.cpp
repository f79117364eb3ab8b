// SPDX-License-Identifier: Apache-2.0
#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <nlohmann/json.hpp>
#include <unordered_map>

#include "base/input.hpp"
#include "base/text.hpp"
#include "llm/exchange.hpp"

namespace schedmate {
namespace {

using Json = nlohmann::json;

std::string text_of(const Json& json) {
  return json.dump(-1, ' ', false, Json::error_handler_t::replace);
}

/// What decides the answer: everything but the patience.
Json request_json(const ChatRequest& request) {
  Json messages = Json::array();
  for (const ChatMessage& message : request.messages) {
    messages.push_back({{"from_model", message.from_model}, {"text", message.text}});
  }
  return {{"system", request.system},
          {"tools", request.tools},
          {"messages", std::move(messages)},
          {"json_schema", request.json_schema},
          {"max_tokens", request.max_tokens},
          {"temperature", request.temperature},
          {"seed", request.seed}};
}

Json reply_json(const ChatReply& reply) {
  return {{"text", reply.text},
          {"prompt_tokens", reply.prompt_tokens},
          {"completion_tokens", reply.completion_tokens},
          {"model", reply.model},
          {"finish_reason", reply.finish_reason}};
}

ChatReply read_reply(const Json& json) {
  return {.text = json.at("text").get<std::string>(),
          .prompt_tokens = json.at("prompt_tokens").get<std::int64_t>(),
          .completion_tokens = json.at("completion_tokens").get<std::int64_t>(),
          .model = json.at("model").get<std::string>(),
          .finish_reason = json.at("finish_reason").get<std::string>()};
}

Result<void> append_line(const std::string& path, const std::string& line) {
  const int file =
      ::open(path.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC | O_NOFOLLOW, 0600);
  const bool written = file >= 0 && ::fchmod(file, 0600) == 0 &&
                       ::write(file, line.data(), line.size()) == static_cast<ssize_t>(line.size());
  if (file >= 0) ::close(file);
  if (written) return {};
  return fail(ErrorCode::unavailable, path + ": the exchange cannot be recorded there");
}

}  // namespace

Chat with_recording(Chat chat, std::string path) {
  return [chat = std::move(chat),
          path = std::move(path)](const ChatRequest& request) -> Result<ChatReply> {
    auto reply = chat(request);
    if (!reply) return reply;
    const Json line = {{"request", request_json(request)}, {"reply", reply_json(*reply)}};
    if (const auto kept = append_line(path, text_of(line) + "\n"); !kept) {
      return tl::unexpected(kept.error());
    }
    return reply;
  };
}

Result<Chat> open_recording(const std::string& path) {
  const auto text = read_file(path, std::uint64_t{1} << 30U);
  if (!text) return tl::unexpected(text.error());
  auto replies = std::make_shared<std::unordered_map<std::string, ChatReply>>();
  int number = 0;
  for (const std::string_view line : split(*text, '\n')) {
    ++number;
    if (trim(line).empty()) continue;
    try {
      const Json json = Json::parse(line);
      (*replies)[text_of(json.at("request"))] = read_reply(json.at("reply"));
    } catch (const Json::exception& error) {
      return fail(ErrorCode::invalid, fmt::format("{}:{}: not an exchange: {}", path, number,
                                                  quotable(error.what(), 120)));
    }
  }
  return [replies, path](const ChatRequest& request) -> Result<ChatReply> {
    const auto found = replies->find(text_of(request_json(request)));
    if (found != replies->end()) return found->second;
    return fail(ErrorCode::not_found,
                path + ": this request is not in the recording; record it again");
  };
}

}  // namespace schedmate
