// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <array>
#include <nlohmann/json.hpp>

#include "base/error_document.hpp"
#include "http/request.hpp"

namespace schedmate::http {
namespace {

struct Status {
  int number;
  std::string_view reason;
  std::string_view code;  ///< of schedmate.error.v1
};

constexpr std::array statuses{
    Status{200, "OK", ""},
    Status{202, "Accepted", ""},
    Status{204, "No Content", ""},
    Status{304, "Not Modified", ""},
    Status{400, "Bad Request", "invalid"},
    Status{401, "Unauthorized", "refused"},
    Status{403, "Forbidden", "refused"},
    Status{404, "Not Found", "not_found"},
    Status{405, "Method Not Allowed", "unsupported"},
    Status{408, "Request Timeout", "timeout"},
    Status{409, "Conflict", "conflict"},
    Status{411, "Length Required", "invalid"},
    Status{413, "Content Too Large", "invalid"},
    Status{414, "URI Too Long", "invalid"},
    Status{415, "Unsupported Media Type", "invalid"},
    Status{417, "Expectation Failed", "unsupported"},
    Status{421, "Misdirected Request", "refused"},
    Status{429, "Too Many Requests", "unavailable"},
    Status{431, "Request Header Fields Too Large", "invalid"},
    Status{500, "Internal Server Error", "unavailable"},
    Status{501, "Not Implemented", "unsupported"},
    Status{502, "Bad Gateway", "bad_reply"},
    Status{503, "Service Unavailable", "unavailable"},
    Status{504, "Gateway Timeout", "timeout"},
    Status{505, "HTTP Version Not Supported", "unsupported"},
};

const Status* status_of(int number) {
  const auto* const found = std::ranges::find(statuses, number, &Status::number);
  return found == statuses.end() ? nullptr : found;
}

int status_of(ErrorCode code) {
  switch (code) {
    case ErrorCode::invalid:
      return 400;
    case ErrorCode::not_found:
      return 404;
    case ErrorCode::refused:
      return 403;
    case ErrorCode::conflict:
      return 409;
    case ErrorCode::unsupported:
      return 501;
    case ErrorCode::bad_reply:
      return 502;
    case ErrorCode::unavailable:
      return 503;
    case ErrorCode::timeout:
      return 504;
  }
  return 500;
}

}  // namespace

std::string_view reason_of(int status) {
  const Status* const row = status_of(status);
  return row == nullptr ? "Error" : row->reason;
}

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
  const Status* const row = status_of(refusal.status);
  Reply reply = json_reply({{"schema", "schedmate.error.v1"},
                            {"code", row == nullptr ? "invalid" : row->code},
                            {"message", refusal.message},
                            {"mend", refusal.mend}},
                           refusal.status);
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
