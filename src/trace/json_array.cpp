// SPDX-License-Identifier: Apache-2.0
#include "trace/json_array.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <utility>

namespace schedmate::trace {
namespace {

constexpr std::size_t chunk_bytes = std::size_t{1} << 16U;
constexpr std::size_t largest_object = std::size_t{1} << 26U;

}  // namespace

JsonArray::JsonArray(std::string start, ReadBytes rest, std::string name, std::string_view key)
    : buffer_(std::move(start)),
      size_(buffer_.size()),
      read_(std::move(rest)),
      name_(std::move(name)),
      key_(key) {
  buffer_.resize(size_ + padding);
}

tl::unexpected<Error> JsonArray::broken(std::string_view what) const {
  const auto lines = std::count(buffer_.data() + keep_, buffer_.data() + at_, '\n');
  return fail(
      ErrorCode::invalid,
      fmt::format("{}:{}: {}", name_, keep_line_ + static_cast<std::uint64_t>(lines), what));
}

// Reads on; what lies before keep_ makes room. False at the end of the text.
Result<bool> JsonArray::more() {
  if (size_ - keep_ > largest_object) {
    return broken("an object of more than 64 MiB (is a quote or a bracket missing?)");
  }
  std::memmove(buffer_.data(), buffer_.data() + keep_, size_ - keep_);
  size_ -= keep_;
  at_ -= std::exchange(keep_, 0);
  if (buffer_.size() < size_ + chunk_bytes + padding) {
    buffer_.resize(std::max(2 * size_, size_ + chunk_bytes) + padding);
  }
  const auto got = read_(std::span(buffer_).subspan(size_, buffer_.size() - size_ - padding));
  if (!got) return tl::unexpected(got.error());
  size_ += *got;
  return *got > 0;
}

// The skip functions go on to the first character that is not part of what they skip; false when
// the text ends before.
Result<bool> JsonArray::skip_blanks() {
  while (true) {
    for (; at_ < size_; ++at_) {
      const char c = here();
      if (c != ' ' && c != '\n' && c != '\r' && c != '\t') return true;
    }
    keep_line_ +=
        static_cast<std::uint64_t>(std::count(buffer_.data() + keep_, buffer_.data() + at_, '\n'));
    keep_ = at_;
    const auto read = more();
    if (!read || !*read) return read;
  }
}

Result<bool> JsonArray::skip_string() {
  for (++at_;; ++at_) {
    while (at_ >= size_) {
      const auto read = more();
      if (!read || !*read) return read;
    }
    if (here() == '\\') {
      ++at_;
    } else if (here() == '"') {
      ++at_;
      return true;
    }
  }
}

// From an opening bracket to behind its partner.
Result<bool> JsonArray::skip_nested() {
  std::uint64_t depth = 0;
  while (true) {
    while (at_ >= size_) {
      const auto read = more();
      if (!read || !*read) return read;
    }
    const char c = here();
    if (c == '"') {
      const auto inside = skip_string();
      if (!inside || !*inside) return inside;
      continue;
    }
    ++at_;
    if (c == '{' || c == '[') ++depth;
    if ((c == '}' || c == ']') && --depth == 0) return true;
  }
}

Result<bool> JsonArray::skip_value() {
  if (here() == '"') return skip_string();
  if (here() == '{' || here() == '[') return skip_nested();
  while (true) {
    for (; at_ < size_; ++at_) {
      const char c = here();
      if (c == ',' || c == '}' || c == ']' || c == ' ' || c == '\n') return true;
    }
    const auto read = more();
    if (!read || !*read) return read;
  }
}

// Goes behind the opening bracket of the wanted array. False when there is none.
Result<bool> JsonArray::find_array() {
  auto step = skip_blanks();
  if (!step || !*step) return step;
  const char opening = key_.empty() ? '[' : '{';
  if (here() != opening) return false;
  ++at_;
  while (!key_.empty()) {
    step = skip_blanks();
    if (!step || !*step || here() != '"') return step ? Result<bool>(false) : step;
    keep_line_ +=
        static_cast<std::uint64_t>(std::count(buffer_.data() + keep_, buffer_.data() + at_, '\n'));
    keep_ = at_;
    step = skip_string();
    if (!step || !*step) return step;
    const bool wanted = std::string_view(buffer_).substr(keep_, at_ - keep_) == '"' + key_ + '"';
    step = skip_blanks();
    if (!step || !*step || here() != ':') return step ? Result<bool>(false) : step;
    ++at_;
    step = skip_blanks();
    if (!step || !*step) return step;
    if (wanted && here() == '[') {
      ++at_;
      return true;
    }
    step = skip_value();
    if (!step || !*step) return step;
    step = skip_blanks();
    if (!step || !*step || here() != ',') return step ? Result<bool>(false) : step;
    ++at_;
  }
  return true;
}

// From behind the array to the end of the outermost object; nothing may follow it. A text that
// ends before has still given all of the array.
Result<bool> JsonArray::check_rest() {
  for (std::uint64_t depth = key_.empty() ? 0 : 1; depth > 0;) {
    auto step = skip_blanks();
    if (!step || !*step) return step;
    if (here() == '"') {
      step = skip_string();
      if (!step || !*step) return step;
      continue;
    }
    const char c = here();
    ++at_;
    if (c == '{' || c == '[') ++depth;
    if (c == '}' || c == ']') --depth;
  }
  auto step = skip_blanks();
  if (!step || !*step) return step;
  return broken(
      "text follows the end of the JSON; are two dumps in one file? Join them with `jq -s '{jobs: "
      "map(.jobs) | add}' FILE` or give each file separately");
}

Result<std::optional<std::string_view>> JsonArray::next() {
  if (!found_) {
    const auto found = find_array();
    if (!found) return tl::unexpected(found.error());
    if (!*found && key_.empty()) return broken("the file must be a JSON array of jobs");
    if (!*found) return broken(fmt::format("the JSON object has no array \"{}\"", key_));
    found_ = true;
  }
  if (done_) return std::nullopt;
  constexpr std::string_view early = "the text ends within the array of jobs; is it truncated?";
  auto step = skip_blanks();
  if (!step) return tl::unexpected(step.error());
  if (!*step) return broken(early);
  if (here() == ',' && !std::exchange(first_, false)) {
    ++at_;
    step = skip_blanks();
    if (!step) return tl::unexpected(step.error());
    if (!*step) return broken(early);
  } else if (here() == ']') {
    done_ = true;
    ++at_;
    const auto rest = check_rest();
    if (!rest) return tl::unexpected(rest.error());
    return std::nullopt;
  }
  first_ = false;
  if (here() != '{') return broken("expected a JSON object here");
  keep_line_ +=
      static_cast<std::uint64_t>(std::count(buffer_.data() + keep_, buffer_.data() + at_, '\n'));
  keep_ = at_;
  line_ = keep_line_;
  step = skip_nested();
  if (!step) return tl::unexpected(step.error());
  if (!*step) return broken(early);
  return std::string_view(buffer_).substr(keep_, at_ - keep_);
}

}  // namespace schedmate::trace
