// SPDX-License-Identifier: Apache-2.0
#pragma once

/// What the front door hands in and what it takes back: values only.

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <schedmate/caller.hpp>
#include <schedmate/result.hpp>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/document.hpp"

namespace schedmate::http {

struct Route;
class EventLog;

using Headers = std::vector<std::pair<std::string, std::string>>;

/// One request that a row of the table allows to this caller. Everything in it is valid UTF-8
/// without control characters, but for `body`.
struct Request {
  const Route* route = nullptr;
  std::vector<std::string> ids{};  ///< what stands for each {ID} of the row's path
  std::map<std::string, std::string, std::less<>> query{};  ///< names that the row knows
  /// Names in small letters: content-type, if-none-match, idempotency-key and x-schedmate-...; no
  /// others.
  Headers headers{};
  std::optional<std::uint64_t> last_event_id{};
  std::string body{};
  /// The body as read. Null: there is none, or the row is for whoever has `sealed` it: then nobody
  /// has proved anything yet, and the handler reads it once it has checked the seal.
  std::shared_ptr<const Document> json{};
  Caller caller{};
  std::string
      by{};  ///< how the caller is known, for records: "ann (uid 1000)", "token LABEL", "nobody"
};

struct Reply {
  int status = 200;
  std::string content_type = "application/json";
  /// Shared, so that one text may answer many; null: no body.
  std::shared_ptr<const std::string> body{};
  Headers headers{};  ///< besides those of every reply
  /// Instead of a body: the events of this log after `last_event_id`, as the caller may see them.
  std::shared_ptr<EventLog> events{};
};

[[nodiscard]] Reply json_reply(const Document& document, int status = 200);
[[nodiscard]] Reply text_reply(std::string text, std::string content_type = "text/plain");

/// An error as the caller gets it: "schedmate.error.v1" with `code`, `message` and `mend`.
struct Refusal {
  int status = 400;
  std::string message;
  std::string mend;
  Headers headers{};
};
[[nodiscard]] Reply error_reply(const Refusal& refusal);
/// The status goes by the code: invalid 400, not_found 404, refused 403, conflict 409, unsupported
/// 501, bad_reply 502, unavailable 503, timeout 504.
[[nodiscard]] Reply error_reply(const Error& error);

/// 503 that asks to try again in a moment.
[[nodiscard]] Reply busy_reply(std::string message);

/// "Not Found" of 404; "Error" of a status that this server does not send.
[[nodiscard]] std::string_view reason_of(int status);

}  // namespace schedmate::http
