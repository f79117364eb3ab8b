// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cmath>
#include <limits>

#include "python/interpreter/builtins.hpp"

namespace schedmate::python {
namespace {

constexpr std::size_t longest_product = 100'000;

/// Python rounds down where C++ rounds to zero.
std::int64_t floor_divide(std::int64_t a, std::int64_t b) {
  const auto quotient = a / b;
  return (a % b != 0 && ((a < 0) != (b < 0))) ? quotient - 1 : quotient;
}

std::optional<std::int64_t> whole_power(std::int64_t base, std::int64_t exponent) {
  std::int64_t result = 1;
  for (std::int64_t i = 0; i < exponent; ++i) {
    if (__builtin_mul_overflow(result, base, &result)) return std::nullopt;
    if (result == 0 || (result == 1 && base == 1)) return result;
    if (i > 128)
      return base == -1 ? std::optional<std::int64_t>(exponent % 2 == 0 ? 1 : -1) : std::nullopt;
  }
  return result;
}

std::optional<Value> whole_arithmetic(std::string_view operation, std::int64_t a, std::int64_t b) {
  std::int64_t result = 0;
  if (operation == "+" && !__builtin_add_overflow(a, b, &result)) return Value(result);
  if (operation == "-" && !__builtin_sub_overflow(a, b, &result)) return Value(result);
  if (operation == "*" && !__builtin_mul_overflow(a, b, &result)) return Value(result);
  // The one division that does not fit: the smallest number by -1.
  const bool divisible = b != 0 && !(b == -1 && a == std::numeric_limits<std::int64_t>::min());
  if (operation == "//" && divisible) return Value(floor_divide(a, b));
  if (operation == "%" && divisible) return Value(a - floor_divide(a, b) * b);
  if (operation == "**" && b >= 0) {
    if (const auto power = whole_power(a, b)) return Value(*power);
  }
  if (operation == "&") return Value(a & b);
  if (operation == "|") return Value(a | b);
  if (operation == "^") return Value(a ^ b);
  if (operation == "<<" && b >= 0 && b < 62 && a >= 0 && a < (std::int64_t{1} << (62 - b)))
    return Value(a << b);
  if (operation == ">>" && b >= 0 && b < 63) return Value(a >> b);
  return std::nullopt;
}

std::optional<Value> real_arithmetic(std::string_view operation, double a, double b) {
  if (operation == "+") return Value(a + b);
  if (operation == "-") return Value(a - b);
  if (operation == "*") return Value(a * b);
  if (operation == "**") return Value(std::pow(a, b));
  if (b == 0) return std::nullopt;
  if (operation == "/") return Value(a / b);
  if (operation == "//") return Value(std::floor(a / b));
  if (operation == "%") return Value(a - std::floor(a / b) * b);
  return std::nullopt;
}

bool is_number(const Value& value) {
  return value.integer() != nullptr || value.real() != nullptr || value.boolean() != nullptr;
}

std::optional<std::int64_t> whole_number(const Value& value) {
  if (const auto* number = value.integer()) return *number;
  if (const auto* flag = value.boolean()) return *flag ? 1 : 0;
  return std::nullopt;
}

std::optional<Value> repeated(const Value& what, std::int64_t count) {
  const auto times = static_cast<std::size_t>(std::clamp<std::int64_t>(count, 0, longest_product));
  if (const auto* text = what.text()) {
    if (text->size() * times > longest_product) return std::nullopt;
    std::string all;
    for (std::size_t i = 0; i < times; ++i) all += *text;
    return Value(std::move(all));
  }
  const List* list = what.items();
  if (list == nullptr || list->size() * times > longest_product) return std::nullopt;
  List all;
  for (std::size_t i = 0; i < times; ++i) all.insert(all.end(), list->begin(), list->end());
  return Value::list(std::move(all));
}

bool holds(const List& list, const Value& value) {
  return std::ranges::any_of(list, [&](const Value& each) { return same(each, value); });
}

/// Lists stand for sets too: union, difference and the like.
std::optional<Value> list_arithmetic(std::string_view operation, const List& a, const List& b) {
  List result;
  if (operation == "+") {
    if (a.size() + b.size() > longest_product) return std::nullopt;
    result = a;
    result.insert(result.end(), b.begin(), b.end());
    return Value::list(std::move(result));
  }
  if (operation != "|" && operation != "-" && operation != "&") return std::nullopt;
  for (const Value& each : a) {
    if (operation == "|" || holds(b, each) == (operation == "&")) result.push_back(each);
  }
  for (const Value& each : b) {
    if (operation == "|" && !holds(a, each)) result.push_back(each);
  }
  return Value::list(std::move(result));
}

std::optional<Value> arithmetic(std::string_view operation, const Value& a, const Value& b) {
  if (is_number(a) && is_number(b)) {
    const auto left = whole_number(a);
    const auto right = whole_number(b);
    if (left && right) {
      if (a.boolean() != nullptr && b.boolean() != nullptr && operation == "|")
        return Value((*left | *right) != 0);
      if (a.boolean() != nullptr && b.boolean() != nullptr && operation == "&")
        return Value((*left & *right) != 0);
      if (auto result = whole_arithmetic(operation, *left, *right)) return result;
    }
    return real_arithmetic(operation, *a.number(), *b.number());
  }
  if (operation == "+" && a.text() != nullptr && b.text() != nullptr) {
    if (a.text()->size() + b.text()->size() > longest_product) return std::nullopt;
    return Value(*a.text() + *b.text());
  }
  if (operation == "*" && b.integer() != nullptr) return repeated(a, *b.integer());
  if (operation == "*" && a.integer() != nullptr) return repeated(b, *a.integer());
  if (a.items() != nullptr && b.items() != nullptr)
    return list_arithmetic(operation, *a.items(), *b.items());
  if (operation == "|" && a.entries() != nullptr && b.entries() != nullptr) {
    Dict both = *a.entries();
    for (const auto& [key, value] : b.entries()->all()) both.set(key, value);
    return Value::dict(std::move(both));
  }
  return std::nullopt;
}

struct Dunder {
  std::string_view operation, name;
};
constexpr Dunder dunders[] = {{"+", "__add__"},     {"-", "__sub__"},       {"*", "__mul__"},
                              {"/", "__truediv__"}, {"//", "__floordiv__"}, {"%", "__mod__"},
                              {"|", "__or__"},      {"&", "__and__"},       {"**", "__pow__"}};

}  // namespace

Value Interpreter::binary(std::string_view operation, const Value& a, const Value& b) {
  if (a.is_unknown() || b.is_unknown()) {
    const auto lefts = possibilities(a);
    const auto rights = possibilities(b);
    if (lefts.empty() || rights.empty() || lefts.size() * rights.size() > 8) return {};
    std::optional<Value> all;
    for (const Value& left : lefts) {
      for (const Value& right : rights) {
        const Value each = binary(operation, left, right);
        all = all ? joined(*all, each) : each;
      }
    }
    return *all;
  }
  if (operation == "%" && a.text() != nullptr) {
    auto text = percent_format(*this, *a.text(), b);
    return text ? Value(std::move(*text)) : Value{};
  }
  if (a.object() != nullptr) {
    const auto* found = std::ranges::find(dunders, operation, &Dunder::operation);
    if (found != std::end(dunders)) {
      if (auto method = special_method(a, found->name)) {
        Arguments arguments;
        arguments.positional.push_back(b);
        return call(*method, std::move(arguments));
      }
    }
    if (operation == "|") return a;  // a union of types
  }
  auto result = arithmetic(operation, as_plain(a), as_plain(b));
  charge(result ? size_of(*result) : 0);
  return result ? std::move(*result) : Value{};
}

Value Interpreter::eval_binary(const Code& code) {
  const Code* left = code.get(Field::left);
  const Code* right = code.get(Field::right);
  const Code* operation = code.get(Field::operation);
  if (left == nullptr || right == nullptr || operation == nullptr) return {};
  const Value a = eval(*left);
  const Value b = eval(*right);
  const PlacePtr at = place(code);
  // What was written elsewhere says more than a literal of this line.
  const bool from_left = a.place && (a.place != at || !b.place || b.place == at);
  return derived(binary(operation->text, a, b), at, from_left ? a.place : b.place);
}

Value Interpreter::eval_unary(const Code& code) {
  const Code* argument = code.get(Field::argument);
  const Code* operation = code.get(Field::operation);
  if (argument == nullptr) return {};
  Value value = eval(*argument);
  if (code.kind == Kind::negation) {
    const auto decided = truth(value);
    return decided ? derived(Value(!*decided), place(code), value.place)
                   : Value(Unknown{}, value.place);
  }
  if (operation == nullptr) return {};
  const Value zero = whole(0);
  if (operation->text == "-" && value.integer() != nullptr)
    return derived(binary("-", zero, value), place(code), value.place);
  if (operation->text == "-" && value.real() != nullptr)
    return derived(Value(-*value.real()), place(code), value.place);
  if (operation->text == "+") return value;
  if (operation->text == "~" && value.integer() != nullptr)
    return derived(Value(~*value.integer()), place(code), value.place);
  return {Unknown{}, value.place};
}

Value Interpreter::eval_boolean(const Code& code) {
  const Code* left = code.get(Field::left);
  const Code* right = code.get(Field::right);
  const Code* operation = code.get(Field::operation);
  if (left == nullptr || right == nullptr || operation == nullptr) return {};
  const bool is_and = operation->text == "and";
  const Value a = eval(*left);
  const auto decided = truth(a);
  if (decided) return *decided == is_and ? eval(*right) : a;
  Value b;
  run_both([&] { b = eval(*right); }, [] {});
  if (!is_and) return joined(a, b);
  // `unknown and False` is false in any case.
  const auto second = truth(b);
  return second == false ? Value(false, b.place) : joined(Value(false, a.place), b);
}

}  // namespace schedmate::python
