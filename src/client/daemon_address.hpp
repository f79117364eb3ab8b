// SPDX-License-Identifier: Apache-2.0
#pragma once

/// Where a daemon answers, and with which token it is asked.

#include <schedmate/result.hpp>
#include <string>
#include <string_view>

namespace schedmate::client {

struct DaemonAddress {
  std::string unix_path;  ///< its socket; "": it answers at `url`
  std::string url;        ///< "http://HOST:PORT", without a slash at its end
  std::string token;      ///< "": none is sent
  bool operator==(const DaemonAddress&) const = default;

  /// "unix:PATH" or the URL, as it is given on a command line.
  [[nodiscard]] std::string text() const { return unix_path.empty() ? url : "unix:" + unix_path; }
};

/// Of "unix:PATH", "http://HOST:PORT" or "https://HOST[:PORT]". Errors: unsupported.
[[nodiscard]] Result<DaemonAddress> read_address(std::string_view text);

/// What a file with one token, or an environment variable, holds. Errors: invalid (no token's text
/// is in it); `origin` names the place.
[[nodiscard]] Result<std::string> read_token(std::string_view text, std::string_view origin);

/// Whether somebody takes connections on the socket now. Of a URL: true, it is not tried.
[[nodiscard]] bool takes_connections(const DaemonAddress& address);

}  // namespace schedmate::client
