// SPDX-License-Identifier: Apache-2.0
#include "ray_live/head.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "base/own_files.hpp"
#include "base/text.hpp"

namespace schedmate::ray_live {
namespace {

/// A listing of ten thousand jobs with long ends of logs; Ray sends no part of one.
constexpr std::size_t most_bytes = std::size_t{64} << 20U;

}  // namespace

bool Head::wait(std::chrono::milliseconds time, Until until) const {
  if (clock_.now() + time >= until) return false;
  clock_.sleep(time);
  return true;
}

Result<llm::HttpReply> Head::ask(const llm::HttpRequest& request, Until until) const {
  auto reply =
      llm::ask_server(target_, request, {.deadline = left(until), .reply_bytes = most_bytes});
  if (!reply) return reply;
  constexpr int no_token = 401, wrong_token = 403;
  if (reply->status != no_token && reply->status != wrong_token) return reply;
  return fail(ErrorCode::refused,
              fmt::format("Ray does not take the token ({}): setting cluster.ray.token_file is to "
                          "name a file with that of RAY_AUTH_TOKEN",
                          said(reply->body)));
}

Result<std::string> Head::get(const std::string& path, Until until) const {
  auto reply = ask({.method = "GET", .path = path}, until);
  if (!reply) return tl::unexpected(reply.error());
  constexpr int found = 200, no_such = 404;
  if (reply->status == found) return std::move(reply->body);
  const std::string why = fmt::format("{}: status {}: {}", path, reply->status, said(reply->body));
  return fail(reply->status == no_such ? ErrorCode::not_found : ErrorCode::unavailable, why);
}

Result<std::string> read_token(const std::string& path) {
  auto token = read_private_file(path);
  if (token && token->empty()) return fail(ErrorCode::invalid, path + ": it is empty");
  return token;
}

tl::unexpected<Error> unread(const Error& error) {
  const bool is_garbled = error.code == ErrorCode::bad_reply || error.code == ErrorCode::invalid;
  return fail(is_garbled ? ErrorCode::invalid : ErrorCode::unavailable, error.message);
}

std::string said(const std::string& body) {
  constexpr std::size_t longest = 300;
  std::string_view text = trim(body);
  const bool is_traceback = text.starts_with("Traceback") || text.contains("\nTraceback");
  text = is_traceback ? text.substr(text.rfind('\n') + 1) : text.substr(0, text.find('\n'));
  std::string made(text.substr(0, longest));
  std::ranges::replace_if(made, [](unsigned char c) { return c < 0x20 || c >= 0x7f; }, ' ');
  return made;
}

}  // namespace schedmate::ray_live
