// SPDX-License-Identifier: Apache-2.0
#include "command/bc.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <cmath>

#include "base/text.hpp"

namespace schedmate::command {
namespace {

constexpr int most_depth = 40;
constexpr int most_digits = 20;
constexpr double largest_exact = 9e15;  ///< whole numbers beyond are not exact

struct Decimal {
  double value = 0;
  int scale = 0;  ///< digits behind the point
};
using Maybe = std::optional<Decimal>;

/// As bc cuts: towards zero.
double cut(double value, int scale) {
  const double shift = std::pow(10.0, scale);
  return std::trunc(value * shift) / shift;
}

class Expression {
 public:
  Expression(std::string_view text, int scale) : text_(text), scale_(scale) {}

  Maybe read_all() {
    const auto value = read_sum();
    skip_blanks();
    const bool exact = value && std::abs(value->value) < largest_exact;
    return at_ == text_.size() && exact ? value : std::nullopt;
  }

 private:
  void skip_blanks() {
    while (at_ < text_.size() && std::isspace(static_cast<unsigned char>(text_[at_])) != 0) ++at_;
  }
  /// The next mark when it is one of `marks`; 0 when not.
  char take(std::string_view marks) {
    skip_blanks();
    if (at_ == text_.size() || !marks.contains(text_[at_])) return 0;
    return text_[at_++];
  }

  Maybe read_sum() {
    auto left = read_product();
    while (left) {
      const char mark = take("+-");
      if (mark == 0) return left;
      const auto right = read_product();
      if (!right) return std::nullopt;
      left = Decimal{mark == '+' ? left->value + right->value : left->value - right->value,
                     std::max(left->scale, right->scale)};
    }
    return left;
  }

  Maybe read_product() {
    auto left = read_power();
    while (left) {
      const char mark = take("*/%");
      if (mark == 0) return left;
      const auto right = read_power();
      if (!right || (mark != '*' && right->value == 0)) return std::nullopt;
      left = combined(mark, *left, *right);
    }
    return left;
  }

  Maybe combined(char mark, const Decimal& left, const Decimal& right) const {
    if (mark == '/') return Decimal{cut(left.value / right.value, scale_), scale_};
    if (mark == '*') {
      const int most = std::max({scale_, left.scale, right.scale});
      const int digits = std::min(left.scale + right.scale, most);
      return Decimal{cut(left.value * right.value, digits), digits};
    }
    if (scale_ != 0) return std::nullopt;
    return Decimal{std::fmod(left.value, right.value), std::max(left.scale, right.scale)};
  }

  Maybe read_power() {
    const auto base = read_unary();
    if (!base || take("^") == 0) return base;
    const auto power = read_power();
    if (!power || power->value < 0 || power->scale != 0 || base->scale != 0) return std::nullopt;
    return Decimal{std::pow(base->value, power->value), 0};
  }

  Maybe read_unary() {
    if (++depth_ > most_depth) return std::nullopt;
    Maybe value;
    if (take("-") != 0) {
      value = read_unary();
      if (value) value->value = -value->value;
    } else if (take("(") != 0) {
      value = read_sum();
      if (take(")") == 0) value.reset();
    } else {
      value = read_number();
    }
    --depth_;
    return value;
  }

  Maybe read_number() {
    skip_blanks();
    const auto begin = at_;
    const auto part = [](char c) {
      return std::isdigit(static_cast<unsigned char>(c)) || c == '.';
    };
    while (at_ < text_.size() && part(text_[at_])) ++at_;
    const auto word = text_.substr(begin, at_ - begin);
    const auto value = parse_number<double>(word);
    if (!value) return std::nullopt;
    const auto point = word.find('.');
    return Decimal{*value,
                   point == std::string_view::npos ? 0 : static_cast<int>(word.size() - point - 1)};
  }

  std::string_view text_;
  int scale_;
  std::size_t at_ = 0;
  int depth_ = 0;
};

}  // namespace

std::optional<std::string> calculate_decimal(std::string_view text, int scale) {
  text = trim(text);
  constexpr std::string_view setting = "scale=";
  if (text.starts_with(setting)) {
    const auto end = text.find(';');
    if (end == std::string_view::npos) return std::nullopt;
    const auto digits = parse_number<int>(trim(text.substr(setting.size(), end - setting.size())));
    if (!digits || *digits < 0 || *digits > most_digits) return std::nullopt;
    scale = *digits;
    text = text.substr(end + 1);
  }
  const auto value = Expression(text, scale).read_all();
  if (!value) return std::nullopt;
  std::string made = fmt::format("{:.{}f}", value->value, value->scale);
  // bc leaves out the nought before the point.
  if (made.starts_with("0.")) made.erase(0, 1);
  if (made.starts_with("-0.")) made.erase(1, 1);
  return made;
}

}  // namespace schedmate::command
