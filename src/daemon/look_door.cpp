// SPDX-License-Identifier: Apache-2.0
#include "daemon/look_door.hpp"

#include <arpa/inet.h>
#include <fmt/format.h>
#include <netinet/in.h>
#include <sys/socket.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>

namespace schedmate::daemon {

bool Pace::due(Time now, std::chrono::milliseconds poll, bool is_idle) {
  constexpr std::chrono::seconds fair{1};
  const Time cost = std::min<Time>(fair, poll);
  const bool in_turn = now - last_ >= poll && paid_until_ <= now;
  const bool early = wanted_ > 0 && is_idle && paid_until_ <= now + 2 * cost;
  if (!in_turn && !early) return false;
  last_ = now;
  paid_until_ = std::max(paid_until_, now) + cost;
  wanted_ = std::max(wanted_ - 1, 0);
  return true;
}

Result<void> LookDoor::open(std::int64_t port) {
  if (port == 0) return {};
  Descriptor made(::socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_port = htons(static_cast<std::uint16_t>(port));
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  if (!made || ::bind(made.number(), reinterpret_cast<const sockaddr*>(&address),  // NOLINT
                      sizeof address) != 0)
    return fail(errno == EADDRINUSE ? ErrorCode::conflict : ErrorCode::unavailable,
                fmt::format("the setting listen.look_port={}: {}", port, std::strerror(errno)));
  socket_ = std::move(made);
  return {};
}

bool LookDoor::knocked() {
  constexpr int most = 1024;  // of one call; a flood fills what the kernel keeps, no more
  std::array<char, 1> unread{};
  bool any = false;
  for (int i = 0; socket_ && i < most; ++i) {
    if (::recv(socket_.number(), unread.data(), unread.size(), MSG_DONTWAIT) < 0) break;
    any = true;
  }
  return any;
}

}  // namespace schedmate::daemon
