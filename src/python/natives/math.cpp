// SPDX-License-Identifier: Apache-2.0
/// math and the small helpers of numpy, on known numbers.
#include <algorithm>
#include <cmath>
#include <numbers>
#include <numeric>

#include "python/natives/parts.hpp"
#include "python/natives/support.hpp"
#include "python/objects/values.hpp"

namespace schedmate::python::natives {
namespace {

constexpr std::int64_t longest_range = 1000;

/// A whole number where the result is one and fits.
Value whole(double number) {
  constexpr double limit = 9e15;
  if (!std::isfinite(number) || std::abs(number) > limit) return {};
  return {static_cast<std::int64_t>(number)};
}

Native unary(double (*function)(double), bool gives_whole) {
  return [function, gives_whole](Machine&, const Arguments& arguments) {
    const Value* given = arguments.positional.empty() ? nullptr : &arguments.positional[0];
    const auto number = given == nullptr ? std::nullopt : given->number();
    if (!number || given->text() != nullptr) return unknown(arguments.place);
    const double result = function(*number);
    if (std::isnan(result)) return unknown(arguments.place);
    Value value = gives_whole ? whole(result) : Value(result);
    return derived(std::move(value), arguments.place, given->place);
  };
}

Native binary(double (*function)(double, double), bool gives_whole) {
  return [function, gives_whole](Machine&, const Arguments& arguments) {
    if (arguments.positional.size() < 2) return unknown(arguments.place);
    const auto a = arguments.positional[0].number();
    const auto b = arguments.positional[1].number();
    if (!a || !b) return unknown(arguments.place);
    const double result = function(*a, *b);
    if (std::isnan(result)) return unknown(arguments.place);
    return derived(gives_whole ? whole(result) : Value(result), arguments.place,
                   arguments.positional[0].place);
  };
}

Value logarithm(Machine& machine, const Arguments& arguments) {
  const Native one = unary([](double x) { return std::log(x); }, false);
  const Native two =
      binary([](double x, double base) { return std::log(x) / std::log(base); }, false);
  return arguments.positional.size() > 1 ? two(machine, arguments) : one(machine, arguments);
}

/// The numbers of a list (one level of lists within it too); nothing when one is not known.
std::optional<std::vector<double>> numbers_of(const Value& value) {
  std::vector<double> all;
  const List* list = value.items();
  if (list == nullptr) return std::nullopt;
  for (const Value& item : *list) {
    if (item.items() != nullptr) {
      for (const Value& inner : *item.items()) {
        if (!inner.number()) return std::nullopt;
        all.push_back(*inner.number());
      }
    } else if (const auto number = item.number()) {
      all.push_back(*number);
    } else {
      return std::nullopt;
    }
  }
  return all;
}

bool all_whole(const Value& list) {
  return std::ranges::all_of(*list.items(), [](const Value& item) {
    return item.integer() != nullptr || item.items() != nullptr;
  });
}

template <class Fold>
Native over_list(Fold fold) {
  return [fold](Machine&, const Arguments& arguments) {
    if (arguments.positional.empty()) return unknown(arguments.place);
    const Value& list = arguments.positional[0];
    const auto numbers = numbers_of(list);
    if (!numbers || numbers->empty() || arguments.named.find("axis") != nullptr)
      return unknown(arguments.place);
    const double result = fold(*numbers);
    const bool is_whole = all_whole(list) && std::trunc(result) == result;
    return derived(is_whole ? whole(result) : Value(result), arguments.place, list.place);
  };
}

/// np.array(list) and the like stay the list.
Value same_list(Machine&, const Arguments& arguments) {
  if (arguments.positional.empty()) return unknown(arguments.place);
  const Value& given = arguments.positional[0];
  return given.items() != nullptr || given.number() ? given : unknown(arguments.place);
}

/// np.int64(3), np.float32(x).
Value same_number(Machine&, const Arguments& arguments) {
  if (arguments.positional.empty()) return unknown(arguments.place);
  const Value& given = arguments.positional[0];
  return given.number() && given.text() == nullptr ? given : unknown(arguments.place);
}

Value counted(Machine&, const Arguments& arguments) {
  std::vector<double> ends;
  for (const Value& each : arguments.positional) {
    if (!each.number()) return unknown(arguments.place);
    ends.push_back(*each.number());
  }
  if (ends.empty() || ends.size() > 3) return unknown(arguments.place);
  const double first = ends.size() > 1 ? ends[0] : 0;
  const double last = ends.size() > 1 ? ends[1] : ends[0];
  const double step = ends.size() > 2 ? ends[2] : 1;
  const double count = step == 0 ? -1 : std::ceil((last - first) / step);
  if (!(count >= 0) || count > static_cast<double>(longest_range)) return unknown(arguments.place);
  const bool is_whole = std::ranges::all_of(
      arguments.positional, [](const Value& each) { return each.integer() != nullptr; });
  List items;
  for (int i = 0; i < static_cast<int>(count); ++i)
    items.push_back(
        placed(is_whole ? whole(first + i * step) : Value(first + i * step), arguments.place));
  return Value::list(std::move(items), arguments.place);
}

Value spaced(Machine&, const Arguments& arguments) {
  const Value* start = arguments.find("start", 0);
  const Value* stop = arguments.find("stop", 1);
  const Value* number = arguments.find("num", 2);
  const auto count = number == nullptr ? std::optional<double>(50) : number->number();
  if (start == nullptr || stop == nullptr || !start->number() || !stop->number() || !count ||
      *count < 1 || *count > static_cast<double>(longest_range))
    return unknown(arguments.place);
  List items;
  const double step = *count < 2 ? 0 : (*stop->number() - *start->number()) / (*count - 1);
  for (int i = 0; i < static_cast<int>(*count); ++i)
    items.emplace_back(*start->number() + i * step, arguments.place);
  return Value::list(std::move(items), arguments.place);
}

void add_numpy(NativeTable& table) {
  for (const auto* const name : {"numpy.array", "numpy.asarray", "numpy.unique", "numpy.sort"})
    table[name] = same_list;
  for (const auto* const name : {"numpy.int64", "numpy.int32", "numpy.int", "numpy.float32",
                                 "numpy.float64", "numpy.float", "numpy.uint8"})
    table[name] = same_number;
  table["numpy.arange"] = counted;
  table["numpy.linspace"] = spaced;
  const auto product = over_list([](const std::vector<double>& all) {
    return std::accumulate(all.begin(), all.end(), 1.0, std::multiplies<>());
  });
  for (const auto* const name : {"math.prod", "numpy.prod", "numpy.product"}) table[name] = product;
  const auto total = over_list(
      [](const std::vector<double>& all) { return std::accumulate(all.begin(), all.end(), 0.0); });
  for (const auto* const name : {"numpy.sum", "math.fsum"}) table[name] = total;
  table["numpy.mean"] = over_list([](const std::vector<double>& all) {
    return std::accumulate(all.begin(), all.end(), 0.0) / static_cast<double>(all.size());
  });
  table["numpy.max"] =
      over_list([](const std::vector<double>& all) { return *std::ranges::max_element(all); });
  table["numpy.min"] =
      over_list([](const std::vector<double>& all) { return *std::ranges::min_element(all); });
}

}  // namespace

std::optional<Value> math_constant(std::string_view dotted) {
  if (dotted == "math.pi" || dotted == "numpy.pi") return Value(std::numbers::pi);
  if (dotted == "math.e" || dotted == "numpy.e") return Value(std::numbers::e);
  const double infinity = std::numeric_limits<double>::infinity();
  if (dotted == "math.inf" || dotted == "numpy.inf") return Value(infinity);
  if (dotted == "sys.maxsize") return Value(std::numeric_limits<std::int64_t>::max());
  if (dotted == "numpy.newaxis") return Value::none();
  return std::nullopt;
}

/// A number by chance is not known. From the range of ports it is one: which does not matter.
Value by_chance(Machine&, const Arguments& arguments) {
  constexpr double first_port = 1024, last_port = 65536;
  const Value* low = arguments.find("a", 0);
  const Value* high = arguments.find("b", 1);
  const auto from = low == nullptr ? std::nullopt : low->number();
  const auto to = high == nullptr ? std::nullopt : high->number();
  const bool port = from && to && *from >= first_port && *to <= last_port;
  return port ? placed(*low, arguments.place) : unknown(arguments.place);
}

void add_math(NativeTable& table) {
  struct Function {
    std::string_view name;
    double (*run)(double);
    bool whole_in_math;
  };
  static const Function functions[] = {{"ceil", [](double x) { return std::ceil(x); }, true},
                                       {"floor", [](double x) { return std::floor(x); }, true},
                                       {"trunc", [](double x) { return std::trunc(x); }, true},
                                       {"sqrt", [](double x) { return std::sqrt(x); }, false},
                                       {"exp", [](double x) { return std::exp(x); }, false},
                                       {"log2", [](double x) { return std::log2(x); }, false},
                                       {"log10", [](double x) { return std::log10(x); }, false},
                                       {"fabs", [](double x) { return std::fabs(x); }, false},
                                       {"sin", [](double x) { return std::sin(x); }, false},
                                       {"cos", [](double x) { return std::cos(x); }, false},
                                       {"tanh", [](double x) { return std::tanh(x); }, false}};
  for (const Function& function : functions) {
    table["math." + std::string(function.name)] = unary(function.run, function.whole_in_math);
    table["numpy." + std::string(function.name)] = unary(function.run, false);
  }
  table["math.isqrt"] = unary([](double x) { return std::floor(std::sqrt(x)); }, true);
  table["math.log"] = logarithm;
  table["numpy.log"] = logarithm;
  table["math.pow"] = binary([](double a, double b) { return std::pow(a, b); }, false);
  table["math.gcd"] = binary(
      [](double a, double b) {
        return static_cast<double>(std::gcd(static_cast<std::int64_t>(std::fmod(a, 9e15)),
                                            static_cast<std::int64_t>(std::fmod(b, 9e15))));
      },
      true);
  add_numpy(table);
  for (const auto* const name : {"random.randint", "random.randrange"}) table[name] = by_chance;
}

}  // namespace schedmate::python::natives
