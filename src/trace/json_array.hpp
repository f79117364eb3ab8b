// SPDX-License-Identifier: Apache-2.0
#pragma once

/// Finds the objects of one JSON array in a text of any length and holds one of them at a time, so
/// that a log of gigabytes needs the memory of its largest object. It looks at brackets and quotes
/// only; whether an object is good JSON is for the parser that gets it.

#include <optional>
#include <string>
#include <string_view>

#include "base/input.hpp"

namespace schedmate::trace {

class JsonArray {
 public:
  /// Bytes that may be read (not used) behind an object, as simdjson needs.
  static constexpr std::size_t padding = 64;

  /// The array under `key` of the outermost object, or with an empty key the outermost array
  /// itself. The text begins with `start`; `name` is for messages.
  JsonArray(std::string start, ReadBytes rest, std::string name, std::string_view key);

  /// The next object, valid until the next call, or nothing at the array's end. Errors: invalid
  /// when there is no such array, the text ends within it, more text follows the outermost value,
  /// or an object exceeds 64 MiB.
  Result<std::optional<std::string_view>> next();
  /// The line where the latest object begins.
  [[nodiscard]] std::uint64_t line() const { return line_; }

 private:
  Result<bool> find_array();
  Result<bool> check_rest();
  Result<bool> more();
  Result<bool> skip_blanks();
  Result<bool> skip_string();
  Result<bool> skip_value();
  Result<bool> skip_nested();
  [[nodiscard]] char here() const { return buffer_[at_]; }
  [[nodiscard]] tl::unexpected<Error> broken(std::string_view what) const;

  std::string buffer_;
  std::size_t size_;      // of the text in the buffer; padding follows
  std::size_t at_ = 0;    // next character
  std::size_t keep_ = 0;  // characters before it are no longer needed
  ReadBytes read_;
  std::string name_;
  std::string key_;
  std::uint64_t line_ = 0;
  std::uint64_t keep_line_ = 1;  // line at keep_
  bool found_ = false;
  bool first_ = true;
  bool done_ = false;
};

}  // namespace schedmate::trace
