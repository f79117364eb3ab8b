// SPDX-License-Identifier: Apache-2.0
#pragma once

/// One request of any method; post_json() of http.hpp is one.

#include <string>

#include "llm/http.hpp"

namespace schedmate::llm {

struct HttpRequest {
  std::string method{};                           ///< GET, POST, PUT, DELETE
  std::string path{};                             ///< behind the URL's base, with its query
  std::string body{};                             ///< of POST and PUT
  std::string content_type = "application/json";  ///< of the body
};

/// Redirects are not followed; any status is a reply. Errors: those of post_json().
[[nodiscard]] Result<HttpReply> ask_server(const HttpTarget& target, const HttpRequest& request,
                                           const HttpLimits& limits);

}  // namespace schedmate::llm
