// SPDX-License-Identifier: Apache-2.0

/// JSON as people write it: comments (//, /* */, #), commas before a closing bracket, NaN and
/// Infinity as Python's json reads them. Own code, since libraries keep no lines.

#include <fmt/format.h>

#include <cmath>
#include <limits>

#include "base/text.hpp"
#include "base/utf8.hpp"
#include "config/places.hpp"
#include "config/readers.hpp"
#include "config/scalars.hpp"

namespace schedmate::config {
namespace {

class JsonReader {
 public:
  explicit JsonReader(const ConfigText& config)
      : text_(without_bom(config.text)), file_(config.file), places_(text_, config.file) {}

  Result<Value> read() {
    auto value = read_value(0);
    if (!value) return value;
    skip_blank();
    if (at_ < text_.size()) return stop("more text after the end of the value");
    return value;
  }

 private:
  tl::unexpected<Error> stop(std::string_view why) const {
    return fail_at(file_, places_.line_of(std::min(at_, text_.size())), why);
  }

  void skip_blank() {
    while (at_ < text_.size()) {
      const auto rest = text_.substr(at_);
      if (std::string_view(" \t\r\n\f\v").contains(rest[0])) {
        ++at_;
      } else if (rest[0] == '#' || rest.starts_with("//")) {
        at_ = std::min(text_.find('\n', at_), text_.size());
      } else if (rest.starts_with("/*")) {
        const auto end = text_.find("*/", at_ + 2);
        at_ = end == std::string_view::npos ? text_.size() : end + 2;
      } else {
        return;
      }
    }
  }

  bool take(char wanted) {
    skip_blank();
    if (at_ == text_.size() || text_[at_] != wanted) return false;
    ++at_;
    return true;
  }

  Result<Value> read_value(int depth) {
    if (depth > most_nesting) return stop("nested more than 200 levels deep");
    if (++nodes_ > most_nodes) return stop("more than a million values");
    skip_blank();
    if (at_ == text_.size()) return stop("the text ends where a value is expected");
    const auto place = places_.at_offset(at_);
    const char first = text_[at_];
    if (first == '{') return read_object(depth, place);
    if (first == '[') return read_array(depth, place);
    if (first != '"' && first != '\'') return read_bare(place);
    auto text = read_text();
    if (!text) return tl::unexpected(text.error());
    return Value(*std::move(text), place);
  }

  Result<Value> read_array(int depth, const PlacePtr& place) {
    List items;
    ++at_;
    while (!take(']')) {
      auto item = read_value(depth + 1);
      if (!item) return item;
      items.push_back(*std::move(item));
      if (take(',')) continue;
      if (!take(']')) return stop("expected ',' or ']' in a list");
      break;
    }
    return Value::list(std::move(items), place);
  }

  Result<Value> read_object(int depth, const PlacePtr& place) {
    Dict entries;
    ++at_;
    while (!take('}')) {
      const auto key = read_key();
      if (!key) return tl::unexpected(key.error());
      if (!take(':')) return stop("expected ':' after the key '" + key->substr(0, 60) + "'");
      auto value = read_value(depth + 1);
      if (!value) return value;
      entries.set(*key, *std::move(value));
      if (take(',')) continue;
      if (!take('}')) return stop("expected ',' or '}' in an object");
      break;
    }
    return Value::dict(std::move(entries), place);
  }

  Result<std::string> read_key() {
    skip_blank();
    if (at_ < text_.size() && (text_[at_] == '"' || text_[at_] == '\'')) return read_text();
    const auto word = take_bare();
    if (word.empty()) return stop("expected a key in quotes");
    return std::string(word);
  }

  Result<std::string> read_text() {
    const char quote = text_[at_++];
    std::string out;
    while (at_ < text_.size() && text_[at_] != quote) {
      if (text_[at_] == '\\') {
        if (!read_escape(out)) return stop("unknown escape in a string");
      } else {
        out += text_[at_++];
      }
    }
    if (at_ >= text_.size()) return stop("a quoted string has no end");
    ++at_;
    return out;
  }

  bool read_escape(std::string& out) {
    constexpr std::string_view letters = "\"\\/'bfnrt\n";
    constexpr std::string_view meant = "\"\\/'\b\f\n\r\t\n";
    if (at_ + 1 >= text_.size()) return false;
    const char letter = text_[at_ + 1];
    at_ += 2;
    if (letter == 'u') return read_unicode(out);
    const auto found = letters.find(letter);
    if (found == std::string_view::npos) return false;
    out += meant[found];
    return true;
  }

  std::optional<std::uint32_t> read_hex() {
    std::uint32_t code = 0;
    if (at_ + 4 > text_.size()) return std::nullopt;
    const auto* const start = text_.data() + at_;
    const auto [end, error] = std::from_chars(start, start + 4, code, 16);
    if (error != std::errc() || end != start + 4) return std::nullopt;
    at_ += 4;
    return code;
  }

  bool read_unicode(std::string& out) {
    auto code = read_hex();
    if (!code) return false;
    const bool is_first_half = *code >= 0xD800U && *code < 0xDC00U;
    if (is_first_half && text_.substr(at_).starts_with("\\u")) {
      at_ += 2;
      const auto low = read_hex();
      if (!low) return false;
      code = 0x10000U + ((*code - 0xD800U) << 10U) + ((*low - 0xDC00U) & 0x3FFU);
    } else if (*code >= 0xD800U && *code < 0xE000U) {
      code = 0xFFFDU;  // half a character stands for none
    }
    append_utf8(out, *code);
    return true;
  }

  std::string_view take_bare() {
    const auto start = at_;
    at_ = std::min(text_.find_first_of(" \t\r\n,:{}[]\"'#", at_), text_.size());
    return text_.substr(start, at_ - start);
  }

  Result<Value> read_bare(const PlacePtr& place) {
    const auto word = take_bare();
    constexpr auto infinity = std::numeric_limits<double>::infinity();
    if (word == "true") return Value(true, place);
    if (word == "false") return Value(false, place);
    if (word == "null") return Value::none(place);
    if (word == "NaN") return Value(std::nan(""), place);
    if (word == "Infinity") return Value(infinity, place);
    if (word == "-Infinity") return Value(-infinity, place);
    if (const auto whole = parse_number<std::int64_t>(word)) return Value(*whole, place);
    if (const auto real = parse_number<double>(word)) return Value(*real, place);
    return stop(fmt::format("'{}' is not a JSON value", word.substr(0, 60)));
  }

  std::string_view text_;
  std::string_view file_;
  Places places_;
  std::size_t at_ = 0;
  std::size_t nodes_ = 0;
};

}  // namespace

Result<Value> read_json(const ConfigText& config) { return JsonReader(config).read(); }

}  // namespace schedmate::config
