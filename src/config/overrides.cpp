// SPDX-License-Identifier: Apache-2.0

/// Values in overrides: `3`, `'a b'`, `[1,2]`, `{a:1,b:[x]}`. The grammar is that of Hydra; YAML's
/// flow style, which OmegaConf reads, differs from it only in words.

#include <algorithm>

#include "base/text.hpp"
#include "config/scalars.hpp"

namespace schedmate::config {
namespace {

class OverrideReader {
 public:
  OverrideReader(std::string_view text, Dialect dialect, PlacePtr place)
      : text_(text), dialect_(dialect), place_(std::move(place)) {}

  std::optional<Value> read_all() {
    auto value = read_value(0);
    skip_blank();
    if (!value || at_ != text_.size()) return std::nullopt;
    return value;
  }

 private:
  void skip_blank() {
    while (at_ < text_.size() && (text_[at_] == ' ' || text_[at_] == '\t')) ++at_;
  }
  bool take(char wanted) {
    skip_blank();
    if (at_ == text_.size() || text_[at_] != wanted) return false;
    ++at_;
    return true;
  }

  std::optional<Value> read_value(int depth) {
    skip_blank();
    if (depth > most_nesting) return std::nullopt;
    if (at_ == text_.size()) return read_plain(depth);
    const char first = text_[at_];
    if (first == '[') return read_list(depth);
    if (first == '{') return read_dict(depth);
    if (first == '\'' || first == '"') {
      auto quoted = read_quoted();
      if (!quoted) return std::nullopt;
      return Value(*std::move(quoted), place_);
    }
    return read_plain(depth);
  }

  std::optional<Value> read_list(int depth) {
    List items;
    ++at_;
    while (!take(']')) {
      auto item = read_value(depth + 1);
      if (!item) return std::nullopt;
      items.push_back(*std::move(item));
      if (take(',')) continue;
      if (!take(']')) return std::nullopt;
      break;
    }
    return Value::list(std::move(items), place_);
  }

  std::optional<Value> read_dict(int depth) {
    Dict entries;
    ++at_;
    while (!take('}')) {
      const auto key = read_key();
      if (!key || !take(':')) return std::nullopt;
      auto value = read_value(depth + 1);
      if (!value) return std::nullopt;
      entries.set(*key, *std::move(value));
      if (take(',')) continue;
      if (!take('}')) return std::nullopt;
      break;
    }
    return Value::dict(std::move(entries), place_);
  }

  std::optional<std::string> read_key() {
    skip_blank();
    if (at_ < text_.size() && (text_[at_] == '\'' || text_[at_] == '"')) return read_quoted();
    const auto end = std::min(text_.find_first_of(":,{}[]", at_), text_.size());
    const auto key = trim(text_.substr(at_, end - at_));
    at_ = end;
    if (key.empty()) return std::nullopt;
    return std::string(key);
  }

  std::optional<std::string> read_quoted() {
    const char quote = text_[at_++];
    std::string out;
    for (; at_ < text_.size() && text_[at_] != quote; ++at_) {
      if (text_[at_] == '\\' && at_ + 1 < text_.size() && text_[at_ + 1] == quote) ++at_;
      out += text_[at_];
    }
    if (at_ == text_.size()) return std::nullopt;
    ++at_;
    return out;
  }

  // Up to the comma or bracket that ends it; ${...} and (...) may hold any of these.
  std::optional<Value> read_plain(int depth) {
    const auto start = at_;
    int inside = 0;
    for (; at_ < text_.size(); ++at_) {
      const char c = text_[at_];
      const bool opens = c == '(' || (c == '{' && at_ > start && text_[at_ - 1] == '$');
      if (opens) ++inside;
      if (inside == 0 && depth > 0 && (c == ',' || c == ']' || c == '}')) break;
      if (inside > 0 && (c == ')' || c == '}')) --inside;
    }
    const auto word = trim(text_.substr(start, at_ - start));
    if (word.empty() && depth > 0) return std::nullopt;
    auto data = read_word(word, dialect_);
    return std::make_optional<Value>(std::move(data), place_);
  }

  std::string_view text_;
  Dialect dialect_;
  PlacePtr place_;
  std::size_t at_ = 0;
};

}  // namespace

Value read_override(std::string_view text, Dialect dialect, const PlacePtr& place) {
  if (auto value = OverrideReader(text, dialect, place).read_all()) return *std::move(value);
  return {std::string(text), place};
}

}  // namespace schedmate::config
