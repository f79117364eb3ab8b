// SPDX-License-Identifier: Apache-2.0
#pragma once

/// The two sockets of the front door.

#include <schedmate/result.hpp>
#include <string>

#include "base/descriptor.hpp"

namespace schedmate::http {

/// A unix socket with mode 0666 at `path`. A socket that nobody listens on is replaced. Errors:
/// conflict (a process listens there), invalid (too long, or no socket), unavailable.
[[nodiscard]] Result<Descriptor> listen_unix(const std::string& path);

/// "127.0.0.1:8642", "[::1]:0". Errors: invalid (no address and port in digits), conflict (in use),
/// unavailable.
[[nodiscard]] Result<Descriptor> listen_tcp(const std::string& address);
[[nodiscard]] int port_of(const Descriptor& listener);

/// "10.1.2.3", of IPv6 the first 64 bits: "2001:db8:0:1::"; "127.0.0.1" of all that is this
/// machine. "unknown" for what is no IP.
[[nodiscard]] std::string network_of(const Descriptor& connection);

}  // namespace schedmate::http
