// SPDX-License-Identifier: Apache-2.0
#include <cmath>

#include "base/text.hpp"
#include "python/interpreter/builtins.hpp"

namespace schedmate::python {
namespace {

constexpr double largest_whole = 9e18;

Value whole_of(double number, const PlacePtr& place) {
  if (!(std::abs(number) < largest_whole)) return {Unknown{}, place};
  return {static_cast<std::int64_t>(number), place};
}

Value make_int(Interpreter& in, const Arguments& arguments) {
  const Value* given = argument_at(arguments, 0);
  if (given == nullptr) return {std::int64_t{0}, arguments.place};
  Value value = in.as_plain(*given);
  if (value.integer() != nullptr) return value;
  if (const auto* real = value.real()) return whole_of(std::trunc(*real), value.place);
  if (const auto* flag = value.boolean()) return {std::int64_t{*flag ? 1 : 0}, value.place};
  if (const auto* text = value.text()) {
    std::string digits(trim(*text));
    std::erase(digits, '_');
    if (digits.starts_with('+')) digits.erase(0, 1);
    const auto number = parse_number<std::int64_t>(digits);
    const bool decimal = argument_at(arguments, 1) == nullptr;
    if (number && decimal) return {*number, value.place};
    if (!number && decimal) in.throw_error("ValueError");
  }
  return {Unknown{}, value.place};
}

Value make_float(Interpreter& in, const Arguments& arguments) {
  const Value* given = argument_at(arguments, 0);
  if (given == nullptr) return {0.0, arguments.place};
  const Value value = in.as_plain(*given);
  const auto number = value.number();
  if (number) return {*number, value.place};
  if (value.text() != nullptr) in.throw_error("ValueError");
  return {Unknown{}, value.place};
}

Value make_bool(Interpreter& in, const Arguments& arguments) {
  const Value* given = argument_at(arguments, 0);
  if (given == nullptr) return {false, arguments.place};
  const auto truth = in.truth(*given);
  return truth ? Value(*truth, given->place) : Value(Unknown{}, given->place);
}

Value absolute(Interpreter& in, const Arguments& arguments) {
  const Value* given = argument_at(arguments, 0);
  if (given == nullptr) return {};
  if (const auto* number = given->integer())
    return *number < 0 ? in.binary("-", whole(0), *given) : *given;
  if (const auto* real = given->real()) return {std::abs(*real), given->place};
  return {Unknown{}, given->place};
}

Value rounded(Interpreter&, const Arguments& arguments) {
  const Value* given = argument_at(arguments, 0);
  const Value* digits = arguments.find("ndigits", 1);
  if (given == nullptr || given->text() != nullptr || !given->number()) return {};
  if (digits == nullptr || digits->is_none()) {
    if (given->integer() != nullptr) return *given;
    return whole_of(std::nearbyint(*given->number()), given->place);
  }
  const auto places = digits->number();
  if (!places || std::abs(*places) > 15) return {};
  const double scale = std::pow(10, *places);
  return {std::nearbyint(*given->number() * scale) / scale, given->place};
}

/// max() and min() of several arguments or of one list.
Value extreme(Interpreter& in, const Arguments& arguments, std::string_view better) {
  std::optional<List> items = arguments.positional;
  if (items->size() == 1) items = in.iterate(arguments.positional[0]);
  if (!items) return {};
  if (const Value* key = arguments.named.find("key"); key != nullptr && !items->empty()) {
    return in.sort(*items, key, better == ">") ? items->front() : Value{};
  }
  if (items->empty()) {
    const Value* fallback = arguments.named.find("default");
    return fallback == nullptr ? Value{} : *fallback;
  }
  const Value* best = &items->front();
  std::shared_ptr<List> open;
  for (const Value& item : *items) {
    const auto is_better = in.compare(better, item, *best);
    if (&item == best) continue;
    if (!is_better) open = std::make_shared<List>(*items);
    if (is_better == true) best = &item;
  }
  // max(1, unknown): one of these.
  if (open) {
    open->emplace_back();
    return {Unknown{std::move(open)}, best->place};
  }
  return *best;
}

Value largest(Interpreter& in, const Arguments& arguments) { return extreme(in, arguments, ">"); }
Value smallest(Interpreter& in, const Arguments& arguments) { return extreme(in, arguments, "<"); }

Value total(Interpreter& in, const Arguments& arguments) {
  const Value* given = argument_at(arguments, 0);
  const auto items = given == nullptr ? std::nullopt : in.iterate(*given);
  if (!items) return {Unknown{}, arguments.place};
  const Value* start = arguments.find("start", 1);
  Value sum = start == nullptr ? whole(0) : *start;
  PlacePtr place = given->place;
  for (const Value& item : *items) {
    if (!place) place = item.place;
    sum = in.binary("+", sum, item);
  }
  sum.place = place;
  return sum;
}

Value length(Interpreter& in, const Arguments& arguments) {
  const Value* given = argument_at(arguments, 0);
  if (given == nullptr) return {};
  const Value plain = in.as_plain(*given);
  std::optional<std::int64_t> size;
  if (const auto* text = plain.text()) size = static_cast<std::int64_t>(text->size());
  if (const auto* list = std::get_if<std::shared_ptr<List>>(&plain.data)) {
    if (in.journal.open.contains(*list)) return {Unknown{}, given->place};
    size = static_cast<std::int64_t>((*list)->size());
  }
  if (const Dict* dict = plain.entries()) size = static_cast<std::int64_t>(dict->size());
  if (const auto* range = as<Range>(plain)) size = range->count();
  if (size) return {*size, given->place};
  if (auto method = in.special_method(*given, "__len__")) return in.call(*method, {});
  return {Unknown{}, given->place};
}

Value make_range(Interpreter&, const Arguments& arguments) {
  auto range = std::make_shared<Range>();
  const auto number_at = [&](std::size_t position) -> std::optional<std::int64_t> {
    const Value& value = arguments.positional[position];
    return value.integer() == nullptr ? std::nullopt : std::optional(*value.integer());
  };
  const std::size_t count = arguments.positional.size();
  if (count == 0) return {};
  const std::size_t end = count == 1 ? 0 : 1;
  range->bound = arguments.positional[end];
  range->last = number_at(end);
  if (count > 1) {
    range->start = arguments.positional[0];
    range->first = number_at(0);
  }
  if (count > 2) {
    const auto step = number_at(2);
    if (!step || *step == 0) {
      range->first.reset();
    } else {
      range->step = *step;
    }
  }
  return wrap(std::move(range), arguments.place);
}

Value power(Interpreter& in, const Arguments& arguments) {
  if (arguments.positional.size() < 2) return {};
  return in.binary("**", arguments.positional[0], arguments.positional[1]);
}

Value divided(Interpreter& in, const Arguments& arguments) {
  if (arguments.positional.size() < 2) return {};
  const Value& a = arguments.positional[0];
  const Value& b = arguments.positional[1];
  return Value::list({in.binary("//", a, b), in.binary("%", a, b)}, arguments.place);
}

}  // namespace

void add_number_builtins(BuiltinTable& table) {
  table["int"] = make_int;
  table["float"] = make_float;
  table["bool"] = make_bool;
  table["abs"] = absolute;
  table["round"] = rounded;
  table["max"] = largest;
  table["min"] = smallest;
  table["sum"] = total;
  table["len"] = length;
  table["range"] = make_range;
  table["xrange"] = make_range;
  table["tqdm.trange"] = make_range;
  table["tqdm.auto.trange"] = make_range;
  table["tqdm.notebook.trange"] = make_range;
  table["pow"] = power;
  table["divmod"] = divided;
}

}  // namespace schedmate::python
