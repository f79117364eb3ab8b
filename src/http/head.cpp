// SPDX-License-Identifier: Apache-2.0
#include "http/head.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <optional>

#include "base/characters.hpp"
#include "base/text.hpp"

namespace schedmate::http {
namespace {

constexpr std::string_view line_end = "\r\n";

bool is_token(std::string_view text) {
  return !text.empty() && std::ranges::all_of(text, [](char c) {
    return is_letter(c) || is_digit(c) || std::string_view("!#$%&'*+-.^_`|~").contains(c);
  });
}

bool is_control(char c) {
  const auto byte = static_cast<unsigned char>(c);
  return byte < 0x20 || byte == 0x7F;
}

Refusal malformed(std::string message) {
  return {
      .status = 400, .message = std::move(message), .mend = "send a request as RFC 9112 has it"};
}

Refusal too_large(const HeadLimits& limits) {
  return {.status = 431,
          .message = fmt::format("the head is over {} bytes, {} headers or {} cookies",
                                 limits.bytes, limits.headers, limits.cookies),
          .mend = "send fewer or shorter headers and cookies, or a shorter path"};
}

/// A line feed alone, a carriage return alone, and other controls than a tab within a line.
std::optional<Refusal> odd_byte(std::string_view bytes) {
  for (std::size_t at = 0; at < bytes.size(); ++at) {
    if (!is_control(bytes[at]) || bytes[at] == '\t') continue;
    if (bytes[at] == '\r' && at + 1 == bytes.size()) break;  // the rest is to come
    if (bytes[at] != '\r' || bytes[at + 1] != '\n')
      return malformed("a control character or a line end that is not CR LF");
    ++at;
  }
  return std::nullopt;
}

/// Headers of which two would have two readings.
constexpr std::array<std::string_view, 10> single{
    "host",   "content-length", "transfer-encoding", "authorization", "origin",
    "expect", "content-type",   "last-event-id",     "if-none-match", "sec-fetch-site"};

class HeadReader {
 public:
  explicit HeadReader(const HeadLimits& limits) : limits_(limits) {}

  std::optional<Refusal> request_line(std::string_view line) {
    const std::size_t first = line.find(' ');
    const std::size_t second = line.find(' ', first == std::string_view::npos ? first : first + 1);
    if (second == std::string_view::npos)
      return malformed("the request line is not METHOD TARGET VERSION");
    head_.method = line.substr(0, first);
    head_.target = line.substr(first + 1, second - first - 1);
    const std::string_view version = line.substr(second + 1);
    if (!is_token(head_.method) || head_.target.empty() || head_.target.contains('\t'))
      return malformed("the request line is not METHOD TARGET VERSION");
    if (version != "HTTP/1.1" && version != "HTTP/1.0") {
      const bool is_other = version.size() == 8 && version.starts_with("HTTP/") &&
                            is_digit(version[5]) && version[6] == '.' && is_digit(version[7]);
      if (!is_other) return malformed("the request line does not end with a version of HTTP");
      return Refusal{.status = 505,
                     .message = fmt::format("{} is not spoken here", version),
                     .mend = "use HTTP/1.1"};
    }
    head_.minor_version = version.back() - '0';
    return std::nullopt;
  }

  std::optional<Refusal> header_line(std::string_view line) {
    if (line.starts_with(' ') || line.starts_with('\t')) return malformed("a folded header line");
    const std::size_t colon = line.find(':');
    if (colon == std::string_view::npos || !is_token(line.substr(0, colon)))
      return malformed("a header line that is not NAME: VALUE");
    if (head_.headers.size() == limits_.headers) return too_large(limits_);
    std::string name = lower_case(line.substr(0, colon));
    if (std::ranges::find(single, name) != single.end() && head_.has(name))
      return malformed(fmt::format("the header {} appears twice", name));
    const std::string_view value = trim(line.substr(colon + 1));
    if (name == "cookie")  // the library cuts it at both
      cookies_ += 1 + static_cast<std::size_t>(std::ranges::count_if(
                          value, [](char c) { return c == ';' || c == ','; }));
    if (cookies_ > limits_.cookies) return too_large(limits_);
    head_.headers.emplace_back(std::move(name), value);
    return std::nullopt;
  }

  std::optional<Refusal> length() {
    if (head_.has("transfer-encoding")) {
      if (head_.has("content-length") || head_.minor_version == 0)
        return malformed("the length of the body is given in two ways");
      return Refusal{.status = 411,
                     .message = "a body without Content-Length is not taken",
                     .mend = "send Content-Length instead of Transfer-Encoding"};
    }
    if (!head_.has("content-length")) return std::nullopt;
    const std::string_view text = head_.header("content-length");
    constexpr std::size_t most_digits = 18;
    const bool is_number = !text.empty() && std::ranges::all_of(text, is_digit);
    if (is_number && text.size() > most_digits)
      return Refusal{.status = 413,
                     .message = "Content-Length is larger than any body may be",
                     .mend = "send less"};
    const auto number = is_number ? parse_number<std::uint64_t>(text) : std::nullopt;
    if (!number) return malformed("Content-Length is not a number");
    head_.content_length = *number;
    return std::nullopt;
  }

  [[nodiscard]] Head take(std::size_t size) {
    head_.size = size;
    return std::move(head_);
  }

 private:
  HeadLimits limits_;
  Head head_;
  std::size_t cookies_ = 0;
};

}  // namespace

std::string_view Head::header(std::string_view name) const {
  for (const auto& [key, value] : headers)
    if (key == name) return value;
  return {};
}

bool Head::has(std::string_view name) const {
  return std::ranges::any_of(headers, [&](const auto& header) { return header.first == name; });
}

std::variant<Incomplete, Head, Refusal> read_head(std::string_view bytes,
                                                  const HeadLimits& limits) {
  const std::size_t end = bytes.find("\r\n\r\n");
  const bool is_whole = end != std::string_view::npos;
  const std::string_view text = is_whole ? bytes.substr(0, end + 4) : bytes;
  if (!text.empty() && !is_token(text.substr(0, 1)))
    return malformed("the first byte cannot begin a method");
  const std::string_view seen = text.substr(0, std::min(text.size(), limits.bytes));
  if (auto refusal = odd_byte(seen)) return *refusal;
  if (text.size() > limits.bytes || (!is_whole && text.size() == limits.bytes)) {
    if (seen.contains(line_end)) return too_large(limits);
    return Refusal{.status = 414,
                   .message = fmt::format("the request line is over {} bytes", limits.bytes),
                   .mend = "send a shorter path and query"};
  }
  if (!is_whole) return Incomplete{};

  HeadReader reader(limits);
  std::string_view rest = text.substr(0, end);
  bool first = true;
  while (first || !rest.empty()) {
    const std::size_t length = std::min(rest.find(line_end), rest.size());
    const std::string_view line = rest.substr(0, length);
    if (auto refusal = first ? reader.request_line(line) : reader.header_line(line))
      return *refusal;
    rest.remove_prefix(std::min(length + line_end.size(), rest.size()));
    first = false;
  }
  if (auto refusal = reader.length()) return *refusal;
  return reader.take(end + 4);
}

}  // namespace schedmate::http
