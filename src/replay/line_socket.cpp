// SPDX-License-Identifier: Apache-2.0
#include "replay/line_socket.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>

namespace schedmate::replay {
namespace {

tl::unexpected<Error> unavailable(const std::string& what) {
  return fail(ErrorCode::unavailable, fmt::format("{}: {}", what, std::strerror(errno)));
}

tl::unexpected<Error> too_late() { return fail(ErrorCode::timeout, "no answer in time"); }

}  // namespace

Result<void> send_line(const Descriptor& socket, std::string_view line, const Deadline& deadline) {
  std::string text(line);
  text += '\n';
  for (std::size_t sent = 0; sent < text.size();) {
    if (!deadline.wait_writable(socket.number()) || deadline.passed()) return too_late();
    const auto count = ::send(socket.number(), text.data() + sent, text.size() - sent,
                              MSG_NOSIGNAL | MSG_DONTWAIT);
    if (count < 0 && (errno == EAGAIN || errno == EINTR)) continue;
    if (count < 0) return unavailable("the cluster's socket");
    sent += static_cast<std::size_t>(count);
  }
  return {};
}

Result<std::string> receive_line(const Descriptor& socket, std::string& rest,
                                 const Deadline& deadline) {
  constexpr std::size_t longest = std::size_t{1} << 30;
  std::size_t searched = 0;
  for (;;) {
    if (const std::size_t end = rest.find('\n', searched); end != std::string::npos) {
      std::string line = rest.substr(0, end);
      rest.erase(0, end + 1);
      return line;
    }
    searched = rest.size();
    if (rest.size() > longest) return fail(ErrorCode::invalid, "an endless line");
    if (!deadline.wait_readable(socket.number()) || deadline.passed()) return too_late();
    std::array<char, 65536> buffer{};
    const auto count = ::recv(socket.number(), buffer.data(), buffer.size(), MSG_DONTWAIT);
    if (count < 0 && (errno == EAGAIN || errno == EINTR)) continue;
    if (count < 0) return unavailable("the cluster's socket");
    if (count == 0) return fail(ErrorCode::unavailable, "the other side is gone");
    rest.append(buffer.data(), static_cast<std::size_t>(count));
  }
}

}  // namespace schedmate::replay
