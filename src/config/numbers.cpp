// SPDX-License-Identifier: Apache-2.0
#include "config/numbers.hpp"

#include <algorithm>
#include <cmath>

#include "base/text.hpp"

namespace schedmate::config {
namespace {

using Data = Value::Data;
using Maybe = std::optional<Data>;

std::optional<std::int64_t> whole_of(const Data& value) {
  if (const auto* whole = std::get_if<std::int64_t>(&value)) return *whole;
  if (const auto* flag = std::get_if<bool>(&value)) return *flag ? 1 : 0;
  return std::nullopt;
}

// Texts count as numbers only where a resolver was given "1e-3", which PyYAML leaves a text.
std::optional<double> real_of(const Data& value) { return Value(value).number(); }

std::optional<Data> as_whole(double value) {
  constexpr double beyond = 9e18;
  if (!(std::abs(value) < beyond)) return std::nullopt;
  return Data(static_cast<std::int64_t>(value));
}

Maybe apply_whole(std::int64_t a, char mark, std::int64_t b) {
  std::int64_t result = 0;
  switch (mark) {
    case '+':
      return __builtin_add_overflow(a, b, &result) ? Maybe() : Maybe(result);
    case '-':
      return __builtin_sub_overflow(a, b, &result) ? Maybe() : Maybe(result);
    case '*':
      return __builtin_mul_overflow(a, b, &result) ? Maybe() : Maybe(result);
    case 'f':
    case '%': {
      if (b == 0 || b == -1) return b == 0 ? Maybe() : apply_whole(0, mark == 'f' ? '-' : '*', a);
      const bool rounds_down = a % b != 0 && (a < 0) != (b < 0);
      return Data(mark == 'f' ? a / b - (rounds_down ? 1 : 0) : a % b + (rounds_down ? b : 0));
    }
    case 'p': {
      if (b < 0 || b > 64) return std::nullopt;
      result = 1;
      for (std::int64_t i = 0; i < b; ++i)
        if (__builtin_mul_overflow(result, a, &result)) return std::nullopt;
      return Data(result);
    }
    default:
      return std::nullopt;
  }
}

Maybe apply_real(double a, char mark, double b) {
  switch (mark) {
    case '+':
      return Data(a + b);
    case '-':
      return Data(a - b);
    case '*':
      return Data(a * b);
    case 'p':
      return Data(std::pow(a, b));
    default:
      break;
  }
  if (b == 0) return std::nullopt;
  if (mark == '/') return Data(a / b);
  if (mark == 'f') return Data(std::floor(a / b));
  return Data(a - b * std::floor(a / b));
}

// Python rounds halves to even.
double round_half_even(double value) { return value - std::remainder(value, 1.0); }

Maybe round_value(const List& arguments, double value) {
  if (arguments.size() < 2) return as_whole(round_half_even(value));
  const auto digits = real_of(arguments[1].data);
  if (!digits || std::abs(*digits) > 15) return std::nullopt;
  const double scale = std::pow(10.0, *digits);
  return Data(round_half_even(value * scale) / scale);
}

Maybe pick(std::string_view name, const List& arguments) {
  const bool one_list = arguments.size() == 1 && arguments[0].items() != nullptr;
  const List& all = one_list ? *arguments[0].items() : arguments;
  if (all.empty()) return std::nullopt;
  const Value* best = nullptr;
  for (const Value& each : all) {
    const auto number = real_of(each.data);
    if (!number) return std::nullopt;
    const bool better =
        best == nullptr || (name == "min" ? *number < *best->number() : *number > *best->number());
    if (better) best = &each;
  }
  return best->data;
}

Maybe length_of(const Value& value) {
  if (const List* items = value.items()) return Data(static_cast<std::int64_t>(items->size()));
  if (const Dict* dict = value.entries()) return Data(static_cast<std::int64_t>(dict->size()));
  if (const auto* text = value.text()) return Data(static_cast<std::int64_t>(text->size()));
  return std::nullopt;
}

}  // namespace

std::optional<Value::Data> apply(const Value::Data& left, char mark, const Value::Data& right) {
  const auto* a_text = std::get_if<std::string>(&left);
  const auto* b_text = std::get_if<std::string>(&right);
  const auto a = real_of(left);
  const auto b = real_of(right);
  if (mark == '+' && a_text != nullptr && b_text != nullptr && !(a && b))
    return Data(*a_text + *b_text);
  const auto a_whole = whole_of(left);
  const auto b_whole = whole_of(right);
  const bool stays_whole = a_whole && b_whole && mark != '/' && !(mark == 'p' && *b_whole < 0);
  if (stays_whole) return apply_whole(*a_whole, mark, *b_whole);
  return a && b ? apply_real(*a, mark, *b) : std::nullopt;
}

std::optional<Value::Data> compare(const Value::Data& left, std::string_view mark,
                                   const Value::Data& right) {
  const auto a = real_of(left);
  const auto b = real_of(right);
  if (mark == "==" || mark == "!=") {
    const bool equal = a && b ? *a == *b : repr(left) == repr(right);
    return Data(equal == (mark == "=="));
  }
  if (!a || !b) return std::nullopt;
  if (mark == "<") return Data(*a < *b);
  if (mark == "<=") return Data(*a <= *b);
  if (mark == ">") return Data(*a > *b);
  return Data(*a >= *b);
}

std::optional<Value::Data> call_function(std::string_view name, const List& arguments) {
  if (arguments.empty()) return std::nullopt;
  if (name == "min" || name == "max") return pick(name, arguments);
  if (name == "len") return length_of(arguments[0]);
  if (name == "str") {
    const auto* text = arguments[0].text();
    return Data(text != nullptr ? *text : repr(arguments[0]));
  }
  const auto number = real_of(arguments[0].data);
  if (!number) return std::nullopt;
  const auto whole = whole_of(arguments[0].data);
  if (name == "float") return Data(*number);
  if (name == "int") return whole ? Maybe(*whole) : as_whole(std::trunc(*number));
  if (name == "ceil") return whole ? Maybe(*whole) : as_whole(std::ceil(*number));
  if (name == "floor") return whole ? Maybe(*whole) : as_whole(std::floor(*number));
  if (name == "round") return whole ? Maybe(*whole) : round_value(arguments, *number);
  if (name == "abs")
    return whole ? (*whole < 0 ? apply_whole(0, '-', *whole) : Maybe(*whole))
                 : Maybe(std::abs(*number));
  if (name == "sqrt" && *number >= 0) return Data(std::sqrt(*number));
  return std::nullopt;
}

}  // namespace schedmate::config
