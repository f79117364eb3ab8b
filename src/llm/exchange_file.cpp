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

namespace schedmate::llm {
namespace {

using Json = nlohmann::json;

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
    const std::string line =
        fmt::format("{{\"request\":{},\"reply\":{}}}\n", request_text(request), reply_text(*reply));
    if (const auto kept = append_line(path, line); !kept) {
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
    const Json json = Json::parse(line, nullptr, false);
    const bool whole = json.is_object() && json.contains("request") && json.contains("reply");
    const auto request = read_request(whole ? json["request"].dump() : "");
    auto reply = read_reply(whole ? json["reply"].dump() : "");
    if (!request || !reply) {
      return fail(ErrorCode::invalid,
                  fmt::format("{}:{}: not an exchange: {}", path, number,
                              request ? reply.error().message : request.error().message));
    }
    (*replies)[request_text(*request)] = *std::move(reply);
  }
  return [replies, path](const ChatRequest& request) -> Result<ChatReply> {
    const auto found = replies->find(request_text(request));
    if (found != replies->end()) return found->second;
    return fail(ErrorCode::not_found,
                path + ": this request is not in the recording; record it again");
  };
}

}  // namespace schedmate::llm
