// SPDX-License-Identifier: Apache-2.0
#pragma once

/// Who and what may come in: decides on a head alone, before a byte of the body is read. Values in
/// and out; no I/O, no clock.

#include <string>
#include <variant>
#include <vector>

#include "http/head.hpp"
#include "http/metrics.hpp"
#include "http/request.hpp"
#include "http/tokens.hpp"

namespace schedmate::http {

/// Who is known by the uid of a peer on the unix socket.
struct AccessRules {
  std::vector<std::string> operators{"root"};
  std::vector<std::string> viewers{};
  bool viewers_see_all = false;
  /// Names by which the TCP door may be called, without a port, in small letters. Against DNS
  /// rebinding: a page of another site whose name was pointed at this address is refused.
  std::vector<std::string> hosts{"localhost", "127.0.0.1", "[::1]"};
};

/// The other end of a connection, as the system tells it.
struct Peer {
  bool is_unix = false;
  std::string user;     ///< on the unix socket: the name of its uid, or "uid:1234" without one
  std::string address;  ///< "uid 1000", or the IP address (of IPv6 the first 64 bits): who it
                        ///< counts as where connections and failures are limited
};

struct Refused {
  Cause cause{};
  Reply reply;
  bool is_login_failure = false;
};

/// What goes on to the handler. The body is still to come.
struct Admitted {
  Request request;
  std::size_t body_bytes = 0;
  bool head_only = false;
  std::string token_hash;  ///< by which it came in; "": by its uid, or as nobody
};

struct AccessState {
  const AccessRules& rules;
  const std::vector<Token>& tokens;
};

[[nodiscard]] std::variant<Admitted, Refused> admit(const Head& head, const Peer& peer,
                                                    const AccessState& access);

}  // namespace schedmate::http
