// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <array>
#include <nlohmann/json.hpp>
#include <optional>
#include <utility>

#include "base/error_document.hpp"
#include "http/request.hpp"

namespace schedmate::http {
namespace {

struct Status {
  int number;
  std::string_view reason;
  std::optional<ErrorCode> code{};  ///< of an error with this status
};

/// The first row of a code is the status of its errors.
constexpr std::array statuses{
    Status{400, "Bad Request", ErrorCode::invalid},
    Status{403, "Forbidden", ErrorCode::refused},
    Status{404, "Not Found", ErrorCode::not_found},
    Status{409, "Conflict", ErrorCode::conflict},
    Status{501, "Not Implemented", ErrorCode::unsupported},
    Status{502, "Bad Gateway", ErrorCode::bad_reply},
    Status{503, "Service Unavailable", ErrorCode::unavailable},
    Status{504, "Gateway Timeout", ErrorCode::timeout},
    // Only by their number.
    Status{200, "OK"},
    Status{202, "Accepted"},
    Status{204, "No Content"},
    Status{304, "Not Modified"},
    Status{401, "Unauthorized", ErrorCode::refused},
    Status{405, "Method Not Allowed", ErrorCode::unsupported},
    Status{408, "Request Timeout", ErrorCode::timeout},
    Status{411, "Length Required", ErrorCode::invalid},
    Status{413, "Content Too Large", ErrorCode::invalid},
    Status{414, "URI Too Long", ErrorCode::invalid},
    Status{415, "Unsupported Media Type", ErrorCode::invalid},
    Status{417, "Expectation Failed", ErrorCode::unsupported},
    Status{421, "Misdirected Request", ErrorCode::refused},
    Status{429, "Too Many Requests", ErrorCode::unavailable},
    Status{431, "Request Header Fields Too Large", ErrorCode::invalid},
    Status{500, "Internal Server Error", ErrorCode::unavailable},
    Status{505, "HTTP Version Not Supported", ErrorCode::unsupported},
};

/// Of a status that this server does not send: an error without a name.
Status status_of(int number) {
  const auto* const found = std::ranges::find(statuses, number, &Status::number);
  return found == statuses.end() ? Status{number, "Error", ErrorCode::invalid} : *found;
}

int status_of(ErrorCode code) {
  const auto* const found = std::ranges::find(statuses, code, &Status::code);
  return found == statuses.end() ? 500 : found->number;
}

}  // namespace

std::string_view reason_of(int status) { return status_of(status).reason; }

Reply json_reply(const Document& document, int status) {
  return {.status = status,
          .content_type = "application/json",
          .body = std::make_shared<const std::string>(in_one_line(document) + "\n")};
}

Reply text_reply(std::string text, std::string content_type) {
  return {.status = 200,
          .content_type = std::move(content_type) + "; charset=utf-8",
          .body = std::make_shared<const std::string>(std::move(text))};
}

Reply error_reply(const Refusal& refusal) {
  const ErrorCode code = status_of(refusal.status).code.value_or(ErrorCode::invalid);
  Document document = error_document({code, refusal.message});
  document["mend"] = refusal.mend;
  Reply reply = json_reply(document, refusal.status);
  reply.headers = refusal.headers;
  return reply;
}

Reply busy_reply(std::string message) {
  return error_reply(Refusal{.status = 503,
                             .message = std::move(message),
                             .mend = "try again in a moment",
                             .headers = {{"Retry-After", "1"}}});
}

Reply error_reply(const Error& error) {
  return json_reply(error_document(error), status_of(error.code));
}

}  // namespace schedmate::http
