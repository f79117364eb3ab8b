// SPDX-License-Identifier: Apache-2.0
#pragma once

/// What schedmate-reader is asked, and what it answers (docs/reader.md): a line of JSON each, both
/// read without trust. What the reader itself needs stands first in both, so that it need not read
/// the rest, which may be large and is for the process of one user.

#include <cstdint>
#include <optional>
#include <schedmate/result.hpp>
#include <string>
#include <string_view>
#include <vector>

#include "base/document.hpp"

namespace schedmate::reader {

enum class What : std::uint8_t { advise, facts, diagnose, track, tail, failure };
[[nodiscard]] std::string_view name_of(What what);

struct Request {
  What what = What::tail;
  /// Whose rights it is read with: a name of the system, or a uid.
  std::string user{};
  /// The models of the settings may be asked for what rules leave open.
  bool models = false;
  // advise and facts
  std::string dir{}, command{}, workdir = ".", gpu_type{}, branch{}, partition{};
  std::optional<std::int64_t> gpus{}, nodes{};
  std::int64_t time_limit_s = 0;  ///< 0: as the command asks, or none
  // diagnose, track, tail and failure
  std::vector<std::string> logs{};    ///< of one job; tail: one
  std::optional<std::string> text{};  ///< diagnose: a log's text, instead of logs
  std::int64_t lines = 100;           ///< tail: how many of the last ones
  bool operator==(const Request&) const = default;
};

inline constexpr std::size_t most_text_bytes = std::size_t{1} << 20U;
inline constexpr std::int64_t most_tail_lines = 10'000;
/// Of a line to the reader. A text may be twice as long when it is quoted.
inline constexpr std::size_t most_request_bytes = (2 * most_text_bytes) + (std::size_t{1} << 18U);
/// Of a line from a child that reads.
inline constexpr std::size_t most_reply_bytes = std::size_t{4} << 20U;

/// The members of a request but for `user` and `models`, as the body of a route holds them. Errors:
/// invalid: what is missing, unknown (with the nearest name), too long, or no absolute path.
[[nodiscard]] Result<Request> read_question(What what, const Document& document);

struct Numbered {
  std::uint64_t id = 0;  ///< the asker's; its answer carries it
  Request request{};
};
/// Errors: as read_question(); an id or user that is none.
[[nodiscard]] Result<Numbered> read_request(std::string_view line);
/// Without a line end.
[[nodiscard]] std::string request_line(const Numbered& asked);

/// What a request's line begins with: {"id":N,"user":"NAME",
struct Head {
  std::uint64_t id = 0;
  std::string user{};
};
/// Looks at the beginning only. Errors: invalid.
[[nodiscard]] Result<Head> read_head(std::string_view line);

/// {"result": ...} or {"error": {"code", "message"}}, as a child writes it; valid JSON without a
/// line end.
[[nodiscard]] std::string reply_line(const Result<Document>& result);
/// The same as the asker gets it. `reply` is taken over as it is where it is one JSON object; else
/// the answer is an error that says so.
[[nodiscard]] std::string answer_line(std::uint64_t id, std::string_view reply);
[[nodiscard]] std::string answer_line(std::uint64_t id, const Error& error);

/// To which request a line is the answer; nothing: it is no answer at all.
[[nodiscard]] std::optional<std::uint64_t> answered_id(std::string_view line);
/// Errors: bad_reply (neither a result nor an error, or none that can be read), and those that the
/// answer tells.
[[nodiscard]] Result<Document> result_in(std::string_view line);

}  // namespace schedmate::reader
