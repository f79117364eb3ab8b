// SPDX-License-Identifier: Apache-2.0
#include "llm/remote.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <optional>

#include "base/text.hpp"
#include "llm/exchange.hpp"

namespace schedmate::llm {
namespace {

using std::chrono::milliseconds;

constexpr char good = '=';
constexpr char bad = '!';

Result<ChatReply> parse_answer(const std::string& answer) {
  if (answer.starts_with(good)) return read_reply(std::string_view(answer).substr(1));
  if (!answer.starts_with(bad) || answer.size() < 2)
    return fail(ErrorCode::bad_reply, "the model's process gave an invalid answer");
  return fail(static_cast<ErrorCode>(answer[1] - '0'), answer.substr(2));
}

/// The number before the next blank, which is taken off `text`.
std::optional<std::int64_t> take_number(std::string_view& text) {
  const std::size_t blank = std::min(text.find(' '), text.size());
  const auto number = parse_number<std::int64_t>(text.substr(0, blank));
  text.remove_prefix(std::min(blank + 1, text.size()));
  return number;
}

}  // namespace

std::vector<Chat> chats_through(const std::function<std::string(std::string_view)>& ask,
                                std::size_t count) {
  std::vector<Chat> chats;
  for (std::size_t i = 0; i < count; ++i) {
    chats.emplace_back([ask, i](const ChatRequest& request) {
      return parse_answer(
          ask(fmt::format("{} {} {}", i, request.patience.count(), request_text(request))));
    });
  }
  return chats;
}

std::vector<Chat> open_remote(const std::function<std::string(std::string_view)>& ask,
                              std::size_t count, const ChatServices& services) {
  std::vector<Chat> chats = chats_through(ask, count);
  for (Chat& chat : chats) {
    chat = [far = std::move(chat), meter = services.meter](const ChatRequest& request) {
      if (meter) meter->attempt(false);
      return far(request);
    };
    chat = with_redaction(with_meter(std::move(chat), services.meter), services.redact);
  }
  return chats;
}

/// "!" with the number of the error code, and the sentence.
std::string refusal(const Error& error) {
  return fmt::format("{}{}{}", bad, static_cast<char>('0' + static_cast<int>(error.code)),
                     error.message);
}

std::string answer_for(std::span<const Chat> chats, std::string_view question, const Asker& asker) {
  const auto number = take_number(question);
  const auto patience = take_number(question);
  auto request = read_request(question);
  const bool known =
      number && patience && *number >= 0 && static_cast<std::size_t>(*number) < chats.size();
  if (!known || !request)
    return refusal({ErrorCode::invalid, "a request that cannot be understood"});
  request->patience = std::min(milliseconds(*patience), asker.most_patience);
  request->payer = asker.payer;
  const auto reply = chats[static_cast<std::size_t>(*number)](*request);
  return reply ? good + reply_text(*reply) : refusal(reply.error());
}

}  // namespace schedmate::llm
