// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include "base/text.hpp"
#include "llm/http.hpp"

namespace schedmate::llm {
namespace {

tl::unexpected<Error> bad_url(std::string_view text, std::string_view why) {
  return fail(ErrorCode::invalid,
              fmt::format("url '{}': {}; write it as https://host:port/v1", text, why));
}

}  // namespace

bool Url::is_local() const {
  return host == "localhost" || host == "::1" || host.starts_with("127.");
}

Result<Url> parse_url(std::string_view text) {
  Url url;
  std::string_view rest = trim(text);
  if (rest.starts_with("https://")) {
    url.secure = true;
    rest.remove_prefix(8);
  } else if (rest.starts_with("http://")) {
    rest.remove_prefix(7);
  } else {
    return bad_url(text, "it starts neither with http:// nor with https://");
  }
  if (rest.find_first_of("?#@ \t\r\n") != std::string_view::npos) {
    return bad_url(text, "it contains a user, query, fragment or space");
  }
  const std::size_t slash = std::min(rest.find('/'), rest.size());
  std::string_view base = rest.substr(slash);
  while (base.ends_with('/')) base.remove_suffix(1);
  url.base = base;
  std::string_view host = rest.substr(0, slash);
  url.port = url.secure ? 443 : 80;
  const std::size_t colon = host.rfind(':');
  if (colon != std::string_view::npos && host.find(']', colon) == std::string_view::npos) {
    const auto port = parse_number<int>(host.substr(colon + 1));
    if (!port || *port < 1 || *port > 65535)
      return bad_url(text, "the port is not a valid port number");
    url.port = *port;
    host = host.substr(0, colon);
  }
  if (host.starts_with('[') && host.ends_with(']')) host = host.substr(1, host.size() - 2);
  if (host.empty()) return bad_url(text, "it has no host");
  url.host = host;
  return url;
}

}  // namespace schedmate::llm
