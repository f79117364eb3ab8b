// SPDX-License-Identifier: Apache-2.0
#include "base/unix_socket.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

namespace schedmate {
namespace {

Result<sockaddr_un> address_of(const std::string& path) {
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  if (path.size() >= sizeof address.sun_path)
    return fail(ErrorCode::invalid, fmt::format("{}: too long for a socket's path", path));
  std::ranges::copy(path, static_cast<char*>(address.sun_path));
  return address;
}

tl::unexpected<Error> no_socket(const std::string& what) {
  return fail(ErrorCode::unavailable, fmt::format("{}: {}", what, std::strerror(errno)));
}

Result<Descriptor> make_socket() {
  Descriptor made(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0));
  if (!made) return no_socket("socket");
  return made;
}

/// Until then a connection is not waited for: there is none to be had, or it is there at once.
Result<void> let_nothing_block(const Descriptor& socket) {
  if (::fcntl(socket.number(), F_SETFL, O_NONBLOCK) != 0) return no_socket("socket");
  return {};
}

/// Makes room where a socket was left behind.
Result<void> clear_place(const std::string& path) {
  struct stat found{};
  if (::lstat(path.c_str(), &found) != 0) return {};
  if (!S_ISSOCK(found.st_mode))
    return fail(ErrorCode::conflict, fmt::format("{}: there is a file that is no socket", path));
  if (::unlink(path.c_str()) != 0) return no_socket(path);
  return {};
}

bool bind_or_connect(int socket, const sockaddr_un& address,
                     int (*call)(int, const sockaddr*, socklen_t)) {
  return call(socket, reinterpret_cast<const sockaddr*>(&address), sizeof address) == 0;
}

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
  return no_socket(path);
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
    return no_socket(path);
  return made;
}

}  // namespace schedmate
