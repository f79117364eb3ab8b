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

/// Until then a connection is not waited for: there is none to be had, or it is there at once.
Result<void> let_nothing_block(const Descriptor& socket) {
  if (::fcntl(socket.number(), F_SETFL, O_NONBLOCK) != 0) return unavailable("socket");
  return {};
}

/// Makes room where a socket was left behind.
Result<void> clear_place(const std::string& path) {
  struct stat found{};
  if (::lstat(path.c_str(), &found) != 0) return {};
  if (!S_ISSOCK(found.st_mode))
    return fail(ErrorCode::conflict, fmt::format("{}: there is a file that is no socket", path));
  if (::unlink(path.c_str()) != 0) return unavailable(path);
  return {};
}

bool bind_or_connect(int socket, const sockaddr_un& address,
                     int (*call)(int, const sockaddr*, socklen_t)) {
  return call(socket, reinterpret_cast<const sockaddr*>(&address), sizeof address) == 0;
}

tl::unexpected<Error> too_late() { return fail(ErrorCode::timeout, "no answer in time"); }

}  // namespace

Result<Descriptor> connect_to(const std::string& path) {
  const auto address = address_of(path);
  if (!address) return tl::unexpected(address.error());
  auto made = make_socket();
  if (!made) return made;
  if (auto set = let_nothing_block(*made); !set) return tl::unexpected(set.error());
  if (bind_or_connect(made->number(), *address, ::connect)) return made;
  if (errno == EAGAIN)
    return fail(ErrorCode::timeout, fmt::format("{}: too many wait to be heard", path));
  return unavailable(path);
}

Result<Descriptor> listen_on(const std::string& path) {
  const auto address = address_of(path);
  if (!address) return tl::unexpected(address.error());
  if (const auto other = connect_to(path); other || other.error().code == ErrorCode::timeout)
    return fail(ErrorCode::conflict, fmt::format("{}: another process listens there", path));
  if (auto cleared = clear_place(path); !cleared) return tl::unexpected(cleared.error());
  auto made = make_socket();
  if (!made) return made;
  if (!bind_or_connect(made->number(), *address, ::bind) || ::listen(made->number(), 4) != 0)
    return unavailable(path);
  return made;
}

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
