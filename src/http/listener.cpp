// SPDX-License-Identifier: Apache-2.0
#include "http/listener.hpp"

#include <arpa/inet.h>
#include <fmt/format.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <optional>

#include "base/text.hpp"

namespace schedmate::http {
namespace {

constexpr int backlog = 512;
constexpr int kind = SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK;

sockaddr* generic(auto& address) { return reinterpret_cast<sockaddr*>(&address); }  // NOLINT

tl::unexpected<Error> system_error(const std::string& where) {
  const ErrorCode code = errno == EADDRINUSE ? ErrorCode::conflict : ErrorCode::unavailable;
  return fail(code, fmt::format("cannot listen on {}: {}", where, std::strerror(errno)));
}

struct IpAddress {
  sockaddr_storage bytes{};
  socklen_t size = 0;
};

constexpr const char* loopback = "127.0.0.1";

/// This machine has 16 million addresses of its own.
std::string network_of(const in_addr& four) {
  constexpr std::uint32_t loopback_net = 127;
  if (ntohl(four.s_addr) >> 24U == loopback_net) return loopback;
  std::array<char, INET_ADDRSTRLEN> text{};
  ::inet_ntop(AF_INET, &four, text.data(), text.size());
  return text.data();
}

std::optional<IpAddress> ip_address(const std::string& text) {
  const std::size_t colon = text.rfind(':');
  if (colon == std::string::npos) return std::nullopt;
  const auto port = parse_number<std::uint16_t>(std::string_view(text).substr(colon + 1));
  std::string host = text.substr(0, colon);
  if (!port) return std::nullopt;
  IpAddress made;
  if (host.starts_with('[') && host.ends_with(']')) {
    sockaddr_in6 six{};
    six.sin6_family = AF_INET6;
    six.sin6_port = htons(*port);
    host = host.substr(1, host.size() - 2);
    if (::inet_pton(AF_INET6, host.c_str(), &six.sin6_addr) != 1) return std::nullopt;
    std::memcpy(&made.bytes, &six, made.size = sizeof six);
  } else {
    sockaddr_in four{};
    four.sin_family = AF_INET;
    four.sin_port = htons(*port);
    if (::inet_pton(AF_INET, host.c_str(), &four.sin_addr) != 1) return std::nullopt;
    std::memcpy(&made.bytes, &four, made.size = sizeof four);
  }
  return made;
}

}  // namespace

Result<Descriptor> listen_unix(const std::string& path) {
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  if (path.size() >= sizeof address.sun_path || path.find('\0') != std::string::npos)
    return fail(ErrorCode::invalid, fmt::format("{}: the path of a socket has at most {} bytes",
                                                path, sizeof address.sun_path - 1));
  std::memcpy(static_cast<void*>(address.sun_path), path.c_str(), path.size() + 1);
  struct stat status{};
  if (::lstat(path.c_str(), &status) == 0) {
    if (!S_ISSOCK(status.st_mode))
      return fail(ErrorCode::invalid, path + ": is there and is no socket; give another path");
    const Descriptor probe(::socket(AF_UNIX, kind, 0));
    const bool is_taken = ::connect(probe.number(), generic(address), sizeof address) == 0 ||
                          (errno != ECONNREFUSED && errno != ENOENT);
    if (is_taken)
      return fail(ErrorCode::conflict, path + ": another process listens there; stop it first");
    ::unlink(path.c_str());
  }
  Descriptor listener(::socket(AF_UNIX, kind, 0));
  constexpr mode_t everybody = 0666;  // who it is decides, not who may connect
  if (!listener || ::bind(listener.number(), generic(address), sizeof address) != 0 ||
      ::chmod(path.c_str(), everybody) != 0 || ::listen(listener.number(), backlog) != 0)
    return system_error(path);
  return listener;
}

Result<Descriptor> listen_tcp(const std::string& address) {
  const auto ip = ip_address(address);
  if (!ip)
    return fail(ErrorCode::invalid,
                fmt::format("'{}' is not ADDRESS:PORT in digits, as in 127.0.0.1:8642", address));
  Descriptor listener(::socket(ip->bytes.ss_family, kind, 0));
  const int on = 1;
  auto bytes = ip->bytes;
  if (!listener || ::setsockopt(listener.number(), SOL_SOCKET, SO_REUSEADDR, &on, sizeof on) != 0 ||
      ::bind(listener.number(), generic(bytes), ip->size) != 0 ||
      ::listen(listener.number(), backlog) != 0)
    return system_error(address);
  return listener;
}

int port_of(const Descriptor& listener) {
  sockaddr_storage bytes{};
  socklen_t size = sizeof bytes;
  if (!listener || ::getsockname(listener.number(), generic(bytes), &size) != 0) return 0;
  sockaddr_in four{};  // the port is at one place in both
  std::memcpy(&four, &bytes, sizeof four);
  return ntohs(four.sin_port);
}

std::string network_of(const Descriptor& connection) {
  sockaddr_storage bytes{};
  socklen_t size = sizeof bytes;
  if (::getpeername(connection.number(), generic(bytes), &size) != 0) return "unknown";
  if (bytes.ss_family == AF_INET) {
    sockaddr_in four{};
    std::memcpy(&four, &bytes, sizeof four);
    return network_of(four.sin_addr);
  }
  if (bytes.ss_family != AF_INET6) return "unknown";
  sockaddr_in6 six{};
  std::memcpy(&six, &bytes, sizeof six);
  if (IN6_IS_ADDR_LOOPBACK(&six.sin6_addr)) return loopback;
  if (IN6_IS_ADDR_V4MAPPED(&six.sin6_addr)) {
    in_addr four{};
    std::memcpy(&four, static_cast<unsigned char*>(six.sin6_addr.s6_addr) + 12, sizeof four);
    return network_of(four);
  }
  std::array<char, INET6_ADDRSTRLEN> text{};
  auto* const last = static_cast<unsigned char*>(six.sin6_addr.s6_addr) + 8;
  std::fill_n(last, 8, static_cast<unsigned char>(0));
  ::inet_ntop(AF_INET6, &six.sin6_addr, text.data(), text.size());
  return text.data();
}

}  // namespace schedmate::http
