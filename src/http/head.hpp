// SPDX-License-Identifier: Apache-2.0
#pragma once

/// The head of a request, from its first byte to the empty line, read by the letter of RFC 9112:
/// every leniency that lets two readers see two requests in the same bytes is refused (line feeds
/// alone, folded lines, blanks before a colon, lengths given twice or in two ways, NUL).

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "http/request.hpp"

namespace schedmate::http {

struct HeadLimits {
  std::size_t bytes = 8192;
  std::size_t headers = 64;
  std::size_t cookies = 128;  ///< which nobody reads, but the library notes each
};

/// Views into the bytes it was read from.
struct Head {
  std::string_view method;
  std::string_view target;
  int minor_version = 1;                                          ///< HTTP/1.x
  std::vector<std::pair<std::string, std::string_view>> headers;  ///< names in small letters
  std::uint64_t content_length = 0;
  std::size_t size = 0;  ///< bytes of the head; the body begins there

  /// Of the header with this name, in small letters; "": there is none, or it is empty.
  [[nodiscard]] std::string_view header(std::string_view name) const;
  [[nodiscard]] bool has(std::string_view name) const;
};

/// More bytes are needed.
struct Incomplete {};

/// `bytes` are all that came so far. What is wrong is found as soon as its bytes are there.
[[nodiscard]] std::variant<Incomplete, Head, Refusal> read_head(std::string_view bytes,
                                                                const HeadLimits& limits);

}  // namespace schedmate::http
