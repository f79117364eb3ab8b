// SPDX-License-Identifier: Apache-2.0
#include "log/lines/numbers.hpp"

#include <algorithm>
#include <array>
#include <cmath>

#include "base/characters.hpp"
#include "base/text.hpp"
#include "log/lines/number_reader.hpp"

namespace schedmate::lines {
namespace {

bool is_unit_char(char c) { return is_letter(c) || is_digit(c) || c == '_'; }

/// Units that may stand a space away from their number.
bool is_spaced_unit(std::string_view word) {
  constexpr std::array<std::string_view, 13> units = {"s",     "sec", "secs", "seconds", "second",
                                                      "ms",    "us",  "min",  "mins",    "minutes",
                                                      "hours", "wps", "hour"};
  constexpr std::array<std::string_view, 12> ends = {"/s",     "/sec",    "/second", "/it",
                                                     "/step",  "/iter",   "/batch",  "/iteration",
                                                     "/steps", "/update", "/sample", "/min"};
  if (std::ranges::find(units, word) != units.end()) return true;
  return std::ranges::any_of(ends, [&](auto end) { return word.ends_with(end); });
}

bool is_counted(std::string_view word) {
  return word == "iters" || word == "iterations" || word == "steps" || word == "batches" ||
         word == "updates";
}

/// Words that own the digits written right at them: "Epoch3", "Iter100".
bool owns_digits(std::string_view word) {
  constexpr std::array<std::string_view, 8> words = {"epoch", "iter",      "step", "batch",
                                                     "it",    "iteration", "ep",   "loss"};
  return std::ranges::any_of(words, [&](auto each) {
    return std::ranges::equal(each, word, {}, {}, [](char c) { return lower(c); });
  });
}

/// The step words that a time or a count may be "per".
bool is_counted_once(std::string_view word) {
  constexpr std::array<std::string_view, 9> words = {"step",   "iter",   "iteration", "batch", "it",
                                                     "update", "second", "sec",       "minute"};
  return std::ranges::find(words, word) != words.end();
}

double multiplier(char letter) {
  switch (letter) {
    case 'k':
    case 'K':
      return 1e3;
    case 'M':
      return 1e6;
    case 'B':
    case 'G':
      return 1e9;
    default:
      return 0;
  }
}

class Reader {
 public:
  explicit Reader(std::string_view text) : text_(text) {}

  std::vector<Number> read() {
    while (at_ < text_.size() && numbers_.size() < most_numbers) {
      if (!begins_number()) {
        ++at_;
        continue;
      }
      const auto literal = read_literal(text_.substr(at_));
      if (literal.length > 0)
        take(literal);
      else if (is_digit(text_[at_]))
        skip_word();
      else
        ++at_;
    }
    return std::move(numbers_);
  }

 private:
  [[nodiscard]] char peek(std::size_t at) const { return at < text_.size() ? text_[at] : '\0'; }

  /// Digits inside a word ("conv2d", "fp16") begin none; nor does the sign of a range.
  [[nodiscard]] bool begins_number() const {
    const char c = text_[at_];
    const char before = at_ > 0 ? text_[at_ - 1] : ' ';
    if (is_digit(c)) return (!is_unit_char(before) && !(before == '.' && at_ > 1)) || is_owned();
    if ((c == '-' || c == '+') && (is_digit(peek(at_ + 1)) || peek(at_ + 1) == '.' ||
                                   peek(at_ + 1) == 'i' || peek(at_ + 1) == 'n'))
      return !is_unit_char(before) && before != ')' && before != ']';
    if (c == '.') return is_digit(peek(at_ + 1)) && !is_unit_char(before) && before != '.';
    const bool word = c == 'n' || c == 'N' || c == 'i' || c == 'I';
    return word && !is_unit_char(before) && before != '/' && follows_key();
  }

  /// "Iter100(", but not "epoch3.pth" nor "step20b".
  [[nodiscard]] bool is_owned() const {
    std::size_t begin = at_;
    while (begin > 0 && is_letter(text_[begin - 1])) --begin;
    if (begin == at_ || (begin > 0 && (is_unit_char(text_[begin - 1]) || text_[begin - 1] == '/')))
      return false;
    std::size_t end = at_;
    while (is_digit(peek(end)) || (peek(end) == '.' && is_digit(peek(end + 1)))) ++end;
    const bool ends = !is_unit_char(peek(end)) && !(peek(end) == '.' && is_letter(peek(end + 1)));
    return ends && owns_digits(text_.substr(begin, at_ - begin));
  }

  /// "nan" is a number where a value is expected.
  [[nodiscard]] bool follows_key() const {
    std::size_t at = at_;
    while (at > 0 && text_[at - 1] == ' ') --at;
    return at > 0 && std::string_view(":=(|").contains(text_[at - 1]);
  }

  void skip_word() {
    ++at_;
    while (at_ < text_.size() && (is_unit_char(text_[at_]) || text_[at_] == '.')) ++at_;
    from_ = at_;
  }

  void take(const Literal& literal) {
    Number number;
    number.value = literal.value;
    number.whole = literal.whole;
    number.clock = literal.clock;
    number.at = at_;
    const auto between = text_.substr(from_, at_ - from_);
    number.key = key_of(between);
    const auto joined = trim(between);
    number.in_brackets = joined.ends_with('[') || joined.ends_with('(');
    at_ += literal.length;
    if (is_part_of_word()) {
      skip_word();
      return;
    }
    take_range(number);
    take_unit(number);
    take_total(number);
    take_mean(number);
    from_ = at_;
    numbers_.push_back(std::move(number));
  }

  /// "3d", "9f2c1" and other words that begin with a digit; a known unit or "9epoch" is none.
  [[nodiscard]] bool is_part_of_word() const {
    std::size_t end = at_;
    while (end < text_.size() && is_unit_char(text_[end])) ++end;
    const auto tail = text_.substr(at_, end - at_);
    return std::ranges::any_of(tail, is_digit) || tail.starts_with('_') || tail.size() > 12;
  }

  /// "Batch [100-200]", "minibatches 0-9 is": what counts is where it ends.
  void take_range(Number& number) {
    if (!number.whole || number.clock || number.value < 0 || peek(at_) != '-') return;
    const auto end = read_literal(text_.substr(at_ + 1));
    const char behind = peek(at_ + 1 + end.length);
    if (end.length == 0 || !is_digit(peek(at_ + 1)) || !end.whole || end.clock) return;
    if (end.value <= number.value || behind == '-' || behind == '/' || behind == '_') return;
    const bool counts_first = std::fmod(end.value - number.value + 1, 10) == 0;
    number.range = end.value - number.value + (counts_first ? 1 : 0);
    number.value = end.value;
    at_ += 1 + end.length;
  }

  void take_unit(Number& number) {
    if (peek(at_) == '%') {
      number.percent = true;
      ++at_;
      return;
    }
    std::size_t end = at_;
    while (end < text_.size() &&
           (is_letter(text_[end]) || (text_[end] == '/' && end > at_ && is_letter(peek(end + 1)))))
      ++end;
    if (end > at_) {
      set_unit(number, text_.substr(at_, end - at_));
      at_ = end;
      take_per(number);
      return;
    }
    if (peek(at_) != ' ') return;
    end = at_ + 1;
    while (end < text_.size() && (is_letter(text_[end]) || text_[end] == '/')) ++end;
    if (end > at_ + 2 && text_[end - 1] == '/') --end;  // "3.1 s/100 iters"
    const auto word = text_.substr(at_ + 1, end - at_ - 1);
    if (names_next(number, word, end)) return;
    // "0.5 s: next" names what follows, as "loss 0.5 steps 100" does.
    const bool ends = end >= text_.size() || std::string_view("),|;").contains(text_[end]);
    const bool rate = text_.substr(end).starts_with(" per sec");  // "2.1 steps per second"
    const bool counted = (ends || rate) && is_counted(word);
    if (!(is_spaced_unit(word) || counted) || peek(end) == '=') return;
    number.unit = word;
    at_ = end;
    take_per(number);
  }

  /// "loss 3.1 iter/sec 2.0": the rate of the number that follows.
  [[nodiscard]] bool names_next(const Number& number, std::string_view word,
                                std::size_t end) const {
    const bool named = (peek(end) == ':' || peek(end) == '=') && word.contains('/');
    const bool pair = peek(end) == ' ' && is_digit(peek(end + 1));
    return named || (pair && word.contains('/') && number.key.ends_with("loss"));
  }

  /// "s per step", "steps per second" as "s/step", "steps/second".
  void take_per(Number& number) {
    constexpr std::string_view per = " per ";
    if (!text_.substr(at_).starts_with(per)) return;
    const auto begin = at_ + per.size();
    auto end = begin;
    while (is_letter(peek(end))) ++end;
    const auto word = text_.substr(begin, end - begin);
    if (!is_counted_once(word) || peek(end) == '=') return;
    number.unit += '/';
    number.unit += word;
    at_ = end;
  }

  static void set_unit(Number& number, std::string_view unit) {
    const double factor = multiplier(unit[0]);
    const bool scaled = factor > 0 && (unit.size() == 1 || unit.starts_with("kit") ||
                                       unit.starts_with("Mit") || unit.starts_with("kB"));
    if (scaled && unit != "kB") {
      number.value *= factor;
      if (unit.size() > 1) number.value = std::round(number.value);  // "1.31kit"
      number.whole = number.whole || unit.size() > 1;
      unit.remove_prefix(1);
    }
    number.unit = unit;
  }

  void take_total(Number& number) {
    std::size_t at = at_;
    while (peek(at) == ' ') ++at;
    if (peek(at) == '/') {
      ++at;
    } else if (text_.substr(at).starts_with("of ")) {
      at += 3;
    } else {
      return;
    }
    while (peek(at) == ' ') ++at;
    if (!is_digit(peek(at)) || number.clock) return;
    const auto literal = read_literal(text_.substr(at));
    if (literal.length == 0 || literal.clock) return;
    Number total;
    total.value = literal.value;
    at_ = at + literal.length;
    if (is_letter(peek(at_)) || peek(at_) == ' ') take_unit(total);
    number.total = total.value;
    number.total_unit = total.unit;
  }

  void take_mean(Number& number) {
    std::size_t at = at_;
    while (peek(at) == ' ') ++at;
    if (peek(at) != '(' || number.total) return;
    const auto inside = at + 1 + (peek(at + 1) == ' ' ? 1U : 0U);
    const auto literal = read_literal(text_.substr(std::min(inside, text_.size())));
    auto end = inside + literal.length;
    if (end < text_.size() && text_.substr(end).starts_with(number.unit)) end += number.unit.size();
    while (peek(end) == ' ') ++end;
    if (literal.length == 0 || literal.clock || peek(end) != ')') return;
    number.mean = literal.value;
    at_ = end + 1;
  }

  /// The words right before a number: behind the last separator, without what joins them to it.
  static std::string key_of(std::string_view between) {
    const auto ends = [](char c) { return std::string_view(" \t:=([{'\"<#|").contains(c); };
    while (!between.empty() && ends(between.back())) between.remove_suffix(1);
    std::string in_parentheses;  // "time [ms]" as "time (ms)"
    const auto open = between.rfind(" [");
    if (between.ends_with(']') && open != std::string_view::npos && between.size() - open <= 6) {
      in_parentheses = between;
      in_parentheses[open + 1] = '(';
      in_parentheses.back() = ')';
      between = in_parentheses;
    }
    const bool unit_name = between.ends_with(')');  // "iteration (ms)": the bracket belongs to it
    std::size_t begin = between.size();
    while (begin > 0 && !is_separator(between, begin - 1, unit_name)) --begin;
    std::string key;
    for (const char c : trim(between.substr(begin))) key += lower(c);
    while (!key.empty() && std::string_view("-.*>)/&").contains(key.front())) key.erase(0, 1);
    if (key.ends_with(" is")) key.resize(key.size() - 3);
    return std::string(trim(key));
  }

  static bool is_separator(std::string_view text, std::size_t at, bool unit_name) {
    const char c = text[at];
    if (c == '(' || c == ')') return !unit_name;
    if (c == ' ') return at > 0 && (text[at - 1] == ' ' || text[at - 1] == ':');
    switch (c) {
      case ',':
      case '|':
      case ';':
      case '{':
      case '}':
      case '[':
      case ']':
      case '"':
      case '\'':
      case '\t':
        return true;
      default:
        return false;
    }
  }

  std::string_view text_;
  std::size_t at_ = 0;
  std::size_t from_ = 0;  ///< behind the last number
  std::vector<Number> numbers_;
};

}  // namespace

std::vector<Number> numbers_of(std::string_view text) { return Reader(text).read(); }

}  // namespace schedmate::lines
