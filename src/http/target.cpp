// SPDX-License-Identifier: Apache-2.0
#include "http/target.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <optional>

#include "base/characters.hpp"
#include "base/text.hpp"
#include "base/words.hpp"

namespace schedmate::http {
namespace {

constexpr std::size_t most_parameters = 16;

/// The byte of two hexadecimal digits.
std::optional<char> hex_byte(std::string_view digits) {
  unsigned char byte = 0;
  const auto read = std::from_chars(digits.data(), digits.data() + digits.size(), byte, 16);
  if (digits.size() != 2 || read.ptr != digits.data() + 2) return std::nullopt;
  return static_cast<char>(byte);
}

/// RFC 3986: pchar, and what the place allows besides.
bool is_allowed(char c, std::string_view besides) {
  return is_letter(c) || is_digit(c) || std::string_view("-._~!$&'()*+,;=:@%").contains(c) ||
         besides.contains(c);
}

Result<std::string> decoded(std::string_view text, bool plus_is_blank) {
  std::string out;
  out.reserve(text.size());
  for (std::size_t at = 0; at < text.size(); ++at) {
    if (text[at] == '+' && plus_is_blank) {
      out += ' ';
    } else if (text[at] != '%') {
      out += text[at];
    } else {
      const auto byte = hex_byte(text.substr(at + 1, 2));
      if (!byte)
        return fail(ErrorCode::invalid,
                    fmt::format("a bad escape in the target: {}", text.substr(at, 3)));
      out += *byte;
      at += 2;
    }
  }
  if (!is_printable(out))
    return fail(ErrorCode::invalid,
                "an escape in the target stands for a control character or for no UTF-8");
  return out;
}

Result<void> read_path(std::string_view path, Target& target) {
  for (const std::string_view part : split(path.substr(1), '/')) {
    auto text = decoded(part, false);
    if (!text) return tl::unexpected(text.error());
    if (*text == "." || *text == ".." || text->find_first_of("/\\") != std::string::npos)
      return fail(ErrorCode::invalid, "the path holds '.', '..' or an escaped slash");
    target.parts.push_back(std::move(*text));
  }
  return {};
}

Result<void> read_query(std::string_view query, Target& target) {
  if (query.empty()) return {};
  for (const std::string_view pair : split(query, '&')) {
    const std::size_t equals = std::min(pair.find('='), pair.size());
    auto name = decoded(pair.substr(0, equals), true);
    if (!name) return tl::unexpected(name.error());
    auto value = decoded(pair.substr(std::min(equals + 1, pair.size())), true);
    if (!value) return tl::unexpected(value.error());
    if (name->empty()) return fail(ErrorCode::invalid, "a query parameter has no name");
    if (target.query.contains(*name))
      return fail(ErrorCode::invalid, fmt::format("'{}' appears twice in the query", *name));
    target.query.emplace(std::move(*name), std::move(*value));
    if (target.query.size() > most_parameters)
      return fail(ErrorCode::invalid,
                  fmt::format("the query has more than {} parameters", most_parameters));
  }
  return {};
}

}  // namespace

Result<Target> read_target(std::string_view text) {
  if (!text.starts_with('/'))
    return fail(ErrorCode::invalid, "the target does not begin with '/' (this is no proxy)");
  const auto* const odd = std::ranges::find_if(text, [](char c) { return !is_allowed(c, "/?"); });
  if (odd != text.end())
    return fail(ErrorCode::invalid, fmt::format("the target holds a character that has to be "
                                                "escaped: '{}'",
                                                printable({odd, 1})));
  const std::size_t mark = std::min(text.find('?'), text.size());
  Target target;
  if (auto fine = read_path(text.substr(0, mark), target); !fine)
    return tl::unexpected(fine.error());
  if (auto fine = read_query(text.substr(std::min(mark + 1, text.size())), target); !fine)
    return tl::unexpected(fine.error());
  return target;
}

Result<void> check_query(const Target& target, std::string_view known_names) {
  const auto names = split(known_names, ' ');
  for (const auto& [name, value] : target.query) {
    if (known_names.empty())
      return fail(ErrorCode::invalid,
                  fmt::format("this route takes no query parameters, not even '{}'", name));
    if (std::ranges::find(names, name) == names.end())
      return fail(ErrorCode::invalid, unknown_name("query parameter", name, names));
  }
  return {};
}

}  // namespace schedmate::http
