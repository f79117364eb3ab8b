// SPDX-License-Identifier: Apache-2.0
#include "log/lines/template.hpp"

#include <algorithm>
#include <cstring>

namespace schedmate::lines {
namespace {

enum CharKind : std::uint8_t { other_mark = 0, letter = 1, digit = 2, slash = 4, space = 8 };

constexpr std::array<std::uint8_t, 256> make_kinds() {
  std::array<std::uint8_t, 256> kinds{};
  for (std::size_t c = 0; c < kinds.size(); ++c) {
    const bool is_letter = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c >= 0x80;
    kinds[c] = is_letter ? letter : other_mark;
  }
  for (const char c : std::string_view("_.-+@%$~*&^?!"))
    kinds[static_cast<unsigned char>(c)] = letter;
  for (unsigned char c = '0'; c <= '9'; ++c) kinds[c] = digit;
  for (const char c : std::string_view("/\\")) kinds[static_cast<unsigned char>(c)] = slash;
  for (const char c : std::string_view(" \t\r")) kinds[static_cast<unsigned char>(c)] = space;
  return kinds;
}
constexpr auto byte_kinds = make_kinds();

std::uint8_t kind_at(std::string_view text, std::size_t at) {
  return byte_kinds[static_cast<unsigned char>(text[at])];
}

/// Block elements and box drawing of bars and rules: three bytes, E2 94..96 xx.
bool is_bar(std::string_view text, std::size_t at) {
  return at + 2 < text.size() && static_cast<unsigned char>(text[at]) == 0xE2 &&
         static_cast<unsigned char>(text[at + 1]) >= 0x94 &&
         static_cast<unsigned char>(text[at + 1]) <= 0x96;
}

/// Marks without any letter: "-----", "***", "-".
bool is_rule(std::string_view word) {
  const bool same = word.size() == 1 || word[0] == word[1];
  return same && std::string_view("-*.~_").contains(word[0]) &&
         word.find_first_not_of(word[0]) == std::string_view::npos;
}

/// "/data/x", "a/b/c", "x/y.py", "~/x", "C:\\x": not "Input/output", "it/s".
bool is_path(std::string_view word) {
  const auto first = word.find_first_of("/\\");
  return first == 0 || word[0] == '.' || word[0] == '~' || word.contains('.') ||
         word.find_first_of("/\\", first + 1) != std::string_view::npos;
}

/// "E0813" of glog: the level belongs to the template.
bool is_glog_day(std::string_view word) {
  return word.size() == 5 && std::string_view("IWEFC").contains(word[0]) &&
         word.find_first_not_of("0123456789", 1) == std::string_view::npos;
}

bool keeps_number(std::string_view word) {
  constexpr std::array<std::string_view, 9> words = {
      "Xid", "code", "Errno", "errno", "error", "signal", "status", "Signal", "exitcode"};
  if (word.size() < 3 || word.size() > 8 || !std::string_view("XcEesS").contains(word[0]))
    return false;
  return std::ranges::find(words, word) != words.end();
}

/// Calls `sink` with the pieces of the template.
template <class Sink>
class Masker {
 public:
  Masker(std::string_view text, Sink& sink) : text_(text), sink_(sink) {}

  void run() {
    while (at_ < text_.size()) {
      if (is_bar(text_, at_)) {
        at_ += 3;
        put_mark('|');
      } else if (const auto kind = kind_at(text_, at_); kind == space) {
        ++at_;
        if (last_ != 0 && last_ != ' ') spaced_ = true;
      } else if (kind == other_mark) {
        take_mark();
      } else {
        take_word();
      }
    }
  }

 private:
  void take_mark() {
    const char mark = text_[at_];
    if ((mark == '\'' || mark == '"' || mark == '`') && take_quoted(mark)) return;
    ++at_;
    put_mark(mark);
  }

  /// A quoted name without spaces; what is quoted and longer is a text of its own.
  bool take_quoted(char mark) {
    const auto end = text_.find(mark, at_ + 1);
    if (end == std::string_view::npos || end - at_ > 200) return false;
    if (text_.substr(at_, end - at_).find_first_of(" \t") != std::string_view::npos) return false;
    at_ = end + 1;
    put_mark('\'');
    return true;
  }

  void take_word() {
    const auto begin = at_;
    std::uint8_t seen = 0;
    while (at_ < text_.size()) {
      const auto kind = kind_at(text_, at_);
      if (kind == other_mark || kind == space || is_bar(text_, at_)) break;
      seen |= kind;
      ++at_;
    }
    const auto word = text_.substr(begin, at_ - begin);
    const bool counts = (seen & digit) != 0;
    if ((seen & slash) != 0 && !(counts && kind_at(word, 0) == digit) && is_path(word))
      return put_mark(word.size() == 1 ? word[0] : '/');
    if (counts) return take_number(word);
    if (is_rule(word)) return put_mark(word[0]);
    keep_ = keeps_number(word);
    put_word(word);
  }

  void take_number(std::string_view word) {
    if (keep_ && word.size() <= 4) return put_word(word);
    if (is_glog_day(word)) put_word(word.substr(0, 1));
    put_mark('#');
  }

  void put_space() {
    if (spaced_) sink_.mark(' ');
    spaced_ = false;
  }
  void put_mark(char mark) {
    if (mark == last_ && !(mark == '#' && !spaced_)) {
      spaced_ = false;
      return;
    }
    put_space();
    sink_.mark(mark);
    last_ = mark;
  }
  void put_word(std::string_view word) {
    put_space();
    sink_.word(word);
    last_ = 'a';
  }

  std::string_view text_;
  Sink& sink_;
  std::size_t at_ = 0;
  char last_ = 0;
  bool spaced_ = false;
  bool keep_ = false;
};

struct HashSink {
  std::uint64_t state = 0x9E3779B97F4A7C15U;

  void add(std::uint64_t value) {
    state = (state ^ value) * 0xD6E8FEB86659FD93U;
    state ^= state >> 32U;
  }
  void mark(char c) { add(static_cast<unsigned char>(c)); }
  void word(std::string_view word) {
    while (word.size() >= 8) {
      std::uint64_t part = 0;
      std::memcpy(&part, word.data(), 8);
      add(part);
      word.remove_prefix(8);
    }
    std::uint64_t rest = std::uint64_t{word.size()} << 56U;
    std::memcpy(&rest, word.data(), word.size());
    add(rest + 0x100);
  }
};

struct TextSink {
  std::string text;
  void mark(char c) { text += c; }
  void word(std::string_view word) { text += word; }
};

}  // namespace

std::uint64_t template_hash(std::string_view line) {
  HashSink sink;
  Masker<HashSink>(line, sink).run();
  return sink.state;
}

std::string template_of(std::string_view line) {
  TextSink sink;
  Masker<TextSink>(line, sink).run();
  return std::move(sink.text);
}

}  // namespace schedmate::lines
