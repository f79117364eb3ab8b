// SPDX-License-Identifier: Apache-2.0
#include "replay/line_socket.hpp"

#include <fmt/format.h>
#include <poll.h>
#include <sys/socket.h>
#include <sys/un.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>

namespace schedmate::replay {
namespace {

Result<sockaddr_un> address_of(const std::string& path) {
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  if (path.size() >= sizeof address.sun_path)
    return fail(ErrorCode::invalid, fmt::format("{}: too long for a socket's path", path));
  std::ranges::copy(path, static_cast<char*>(address.sun_path));
  return address;
}

tl::unexpected<Error> unavailable(const std::string& what) {
  return fail(ErrorCode::unavailable, fmt::format("{}: {}", what, std::strerror(errno)));
}

Result<Descriptor> make_socket() {
  Descriptor made(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0));
  if (!made) return unavailable("socket");
  return made;
}

bool bind_or_connect(int socket, const sockaddr_un& address,
                     int (*call)(int, const sockaddr*, socklen_t)) {
  return call(socket, reinterpret_cast<const sockaddr*>(&address), sizeof address) == 0;
}

/// Until it can be read or written.
Result<void> wait_for(int socket, short events, std::chrono::milliseconds within) {
  pollfd wanted{socket, events, 0};
  const int ready = ::poll(&wanted, 1, static_cast<int>(within.count()));
  if (ready > 0) return {};
  if (ready == 0) return fail(ErrorCode::timeout, "no answer in time");
  if (errno == EINTR) return fail(ErrorCode::timeout, "interrupted");
  return unavailable("poll");
}

}  // namespace

Result<Descriptor> connect_to(const std::string& path) {
  const auto address = address_of(path);
  if (!address) return tl::unexpected(address.error());
  auto made = make_socket();
  if (made && !bind_or_connect(made->number(), *address, ::connect)) return unavailable(path);
  return made;
}

Result<Descriptor> listen_on(const std::string& path) {
  const auto address = address_of(path);
  if (!address) return tl::unexpected(address.error());
  if (connect_to(path))
    return fail(ErrorCode::conflict, fmt::format("{}: another process listens there", path));
  ::unlink(path.c_str());
  auto made = make_socket();
  if (!made) return made;
  if (!bind_or_connect(made->number(), *address, ::bind) || ::listen(made->number(), 4) != 0)
    return unavailable(path);
  return made;
}

Result<void> send_line(const Descriptor& socket, std::string_view line,
                       std::chrono::milliseconds within) {
  std::string text(line);
  text += '\n';
  for (std::size_t sent = 0; sent < text.size();) {
    if (auto ready = wait_for(socket.number(), POLLOUT, within); !ready) return ready;
    const auto count = ::send(socket.number(), text.data() + sent, text.size() - sent,
                              MSG_NOSIGNAL | MSG_DONTWAIT);
    if (count < 0 && (errno == EAGAIN || errno == EINTR)) continue;
    if (count < 0) return unavailable("the cluster's socket");
    sent += static_cast<std::size_t>(count);
  }
  return {};
}

Result<std::string> receive_line(const Descriptor& socket, std::string& rest,
                                 std::chrono::milliseconds within) {
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
    if (auto ready = wait_for(socket.number(), POLLIN, within); !ready)
      return tl::unexpected(ready.error());
    std::array<char, 65536> buffer{};
    const auto count = ::recv(socket.number(), buffer.data(), buffer.size(), MSG_DONTWAIT);
    if (count < 0 && (errno == EAGAIN || errno == EINTR)) continue;
    if (count < 0) return unavailable("the cluster's socket");
    if (count == 0) return fail(ErrorCode::unavailable, "the other side is gone");
    rest.append(buffer.data(), static_cast<std::size_t>(count));
  }
}

}  // namespace schedmate::replay
