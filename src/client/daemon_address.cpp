// SPDX-License-Identifier: Apache-2.0
#include "client/daemon_address.hpp"

#include <fmt/format.h>
#include <sys/un.h>

#include <algorithm>

#include "base/text.hpp"
#include "base/unix_socket.hpp"
#include "base/words.hpp"
#include "llm/http.hpp"

namespace schedmate::client {
namespace {

constexpr std::string_view unix_scheme = "unix:";
constexpr std::size_t longest_path = sizeof(sockaddr_un::sun_path) - 1;

tl::unexpected<Error> bad_address(std::string_view text, std::string_view why) {
  return fail(ErrorCode::unsupported,
              fmt::format("address '{}': {}; write it as unix:PATH or http://HOST:PORT",
                          printable(text), why));
}

Result<DaemonAddress> read_url(std::string_view text) {
  const auto url = llm::parse_url(text);
  if (!url) return bad_address(text, "it names neither a socket nor a host and port");
  if (!url->base.empty()) return bad_address(text, "it has a path");
  if (!is_printable(url->host)) return bad_address(text, "its host is none");
  const bool six = url->host.contains(':');
  return DaemonAddress{{},
                       fmt::format("{}://{}{}{}:{}", url->secure ? "https" : "http", six ? "[" : "",
                                   url->host, six ? "]" : "", url->port),
                       {}};
}

}  // namespace

Result<DaemonAddress> read_address(std::string_view text) {
  if (!text.starts_with(unix_scheme)) return read_url(text);
  const std::string_view path = text.substr(unix_scheme.size());
  if (path.empty()) return bad_address(text, "the path is missing");
  if (path.size() > longest_path || path.contains('\0'))
    return bad_address(text,
                       fmt::format("a socket's path has at most {} characters", longest_path));
  return DaemonAddress{std::string(path), {}, {}};
}

Result<std::string> read_token(std::string_view text, std::string_view origin) {
  const std::string_view token = trim(text);
  constexpr std::size_t longest = 4096;
  const bool visible =
      std::ranges::all_of(token, [](unsigned char c) { return c > ' ' && c < 127; });
  if (token.empty() || token.size() > longest || !visible)
    return fail(ErrorCode::invalid,
                fmt::format("{} holds no token (`schedmate token add` makes one)", origin));
  return std::string(token);
}

bool takes_connections(const DaemonAddress& address) {
  if (address.unix_path.empty()) return true;
  const auto made = connect_to(address.unix_path);
  // One that does not hear is a daemon, too: it has more to do than it can.
  return made || made.error().code == ErrorCode::timeout;
}

}  // namespace schedmate::client
