// SPDX-License-Identifier: Apache-2.0
#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <nlohmann/json.hpp>
#include <unordered_map>

#include "base/descriptor.hpp"
#include "base/input.hpp"
#include "base/text.hpp"
#include "llm/exchange.hpp"

namespace schedmate::llm {
namespace {

using Json = nlohmann::json;

/// How each line begins.
constexpr std::string_view opening = R"({"request":)";

Result<void> append_exchange(const std::string& path, const std::string& line) {
  const Descriptor file(
      ::open(path.c_str(), O_RDWR | O_CREAT | O_APPEND | O_CLOEXEC | O_NOFOLLOW, 0600));
  if (file && ::fchmod(file.number(), 0600) == 0 &&
      append_lines(file.number(), line) == line.size())
    return {};
  return fail(ErrorCode::unavailable, path + ": the exchange cannot be recorded there");
}

}  // namespace

std::size_t append_lines(int file, std::string_view lines) {
  struct stat status{};
  char last = '\n';
  if (::fstat(file, &status) == 0 && status.st_size > 0)
    static_cast<void>(::pread(file, &last, 1, status.st_size - 1));
  // With a blank, so that the beginning of a user's name is no name.
  const std::string_view end = last == '\n' ? "" : " \n";
  const std::string text = fmt::format("{}{}", end, lines);
  const ssize_t done = ::write(file, text.data(), text.size());
  if (done <= std::ssize(end)) return 0;
  return lines.substr(0, static_cast<std::size_t>(done) - end.size()).rfind('\n') + 1;
}

Chat with_recording(Chat chat, std::string path) {
  return [chat = std::move(chat),
          path = std::move(path)](const ChatRequest& request) -> Result<ChatReply> {
    auto reply = chat(request);
    if (!reply) return reply;
    const std::string line =
        fmt::format("{}{},\"reply\":{}}}\n", opening, request_text(request), reply_text(*reply));
    if (const auto kept = append_exchange(path, line); !kept) {
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
  for (const std::string_view each : split(*text, '\n')) {
    ++number;
    const std::string_view line = trim(each);
    if (line.empty()) continue;
    const Json json = Json::parse(line, nullptr, false);
    const bool is_torn = json.is_discarded() && opening.starts_with(line.substr(0, opening.size()));
    if (is_torn) continue;
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
