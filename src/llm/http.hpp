// SPDX-License-Identifier: Apache-2.0
#pragma once

/// One POST of JSON over HTTP or HTTPS with a total deadline and caps on headers and
/// body of the reply.

#include <chrono>
#include <optional>
#include <schedmate/result.hpp>
#include <stop_token>
#include <string>

namespace schedmate::llm {

/// "https://host:port/base": what a URL is made of. `base` has no slash at its end.
struct Url {
  bool secure = false;
  std::string host;
  int port = 0;
  std::string base;
  [[nodiscard]] bool is_local() const;  ///< this machine by its loopback address or name
};
/// Errors: invalid (another scheme, no host, a bad port, user or query in it).
[[nodiscard]] Result<Url> parse_url(std::string_view text);

struct HttpTarget {
  Url url;
  std::string token;         ///< bearer token; "" = none
  std::optional<Url> proxy;  ///< not used for a local URL
  std::string ca_file;       ///< certificates to trust; "" = the system's
};

struct HttpLimits {
  std::chrono::milliseconds deadline{60'000};  ///< for everything: connect, TLS, send, receive
  std::size_t reply_bytes = 1 << 20;           ///< after decompression
  std::size_t header_bytes = std::size_t{64} << 10U;
  std::stop_token stop{};  ///< ends it within a second
};

struct HttpReply {
  int status = 0;
  std::string content_type;
  std::string retry_after;  ///< the header as it came
  std::string body;
};

/// Redirects are not followed; any status is a reply. Errors: unavailable (no connection), timeout,
/// refused (certificate), bad_reply (no HTTP, reply beyond a cap).
[[nodiscard]] Result<HttpReply> post_json(const HttpTarget& target, const std::string& path,
                                          const std::string& body, const HttpLimits& limits);

}  // namespace schedmate::llm
