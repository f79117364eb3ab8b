// SPDX-License-Identifier: Apache-2.0
#include <charconv>

#include "base/text.hpp"
#include "python/interpreter/interpreter.hpp"

namespace schedmate::python {
namespace {

/// C++ frames of evaluation on the stack; each is a few hundred bytes.
constexpr int deepest_evaluation = 3000;

std::string without_underscores(std::string_view text) {
  std::string digits(text);
  std::erase(digits, '_');
  return digits;
}

Value integer_literal(std::string_view text, PlacePtr place) {
  const std::string digits = without_underscores(text);
  int base = 10;
  std::size_t start = 0;
  if (digits.size() > 2 && digits[0] == '0') {
    const char mark = static_cast<char>(digits[1] | 0x20);
    base = mark == 'x' ? 16 : mark == 'b' ? 2 : mark == 'o' ? 8 : 10;
    start = base == 10 ? 0 : 2;
  }
  std::int64_t number = 0;
  const char* end = digits.data() + digits.size();
  const auto [stop, error] = std::from_chars(digits.data() + start, end, number, base);
  if (error == std::errc::result_out_of_range) {
    const auto real = parse_number<double>(digits);
    return real ? Value(*real, std::move(place)) : Value(Unknown{}, std::move(place));
  }
  if (error != std::errc() || stop == digits.data() + start) return {Unknown{}, std::move(place)};
  return {number, std::move(place)};
}

Value real_literal(std::string_view text, PlacePtr place) {
  std::string digits = without_underscores(text);
  if (digits.starts_with('.')) digits.insert(0, 1, '0');
  const auto number = parse_number<double>(digits);
  return number ? Value(*number, std::move(place)) : Value(Unknown{}, std::move(place));
}

/// Numbers, True, False and None; nothing for what is none of these.
std::optional<Value> literal_value(const Code& code) {
  const auto place = [&] { return code.source->place(code.line); };
  switch (code.kind) {
    case Kind::integer:
      return integer_literal(code.text, place());
    case Kind::real:
      return real_literal(code.text, place());
    case Kind::yes:
      return Value(true, place());
    case Kind::no:
      return Value(false, place());
    case Kind::none:
      return Value::none(place());
    default:
      return std::nullopt;
  }
}

}  // namespace

bool Interpreter::step() {
  if (flow != Flow::next) return false;
  if (++steps_ <= limit_) return true;
  flow = Flow::over_budget;
  return false;
}

Value Interpreter::eval(const Code& code) {
  if (!step()) return {};
  if (depth > deepest_evaluation) {
    tree_.degrade("code nested too deeply was left out");
    return {};
  }
  struct Deeper {
    int& depth;
    explicit Deeper(int& at) : depth(at) { ++depth; }
    ~Deeper() { --depth; }
  } const deeper(depth);
  if (code.kind == Kind::identifier) return eval_identifier(code);
  if (auto literal = literal_value(code)) return std::move(*literal);
  return eval_compound(code);
}

Value Interpreter::eval_compound(const Code& code) {
  switch (code.kind) {
    case Kind::string:
    case Kind::concatenated_string:
      return eval_string(code);
    case Kind::list:
    case Kind::tuple:
    case Kind::set:
    case Kind::expression_list:
    case Kind::pattern_list:
      return eval_display(code);
    case Kind::dictionary:
      return eval_dictionary(code);
    case Kind::parenthesized:
    case Kind::await:
    case Kind::type:
    case Kind::list_splat:
      return code.first() == nullptr ? Value{} : eval(*code.first());
    case Kind::attribute:
      return eval_attribute(code);
    case Kind::subscript:
      return eval_subscript(code);
    case Kind::call:
      return eval_call(code);
    case Kind::binary:
      return eval_binary(code);
    case Kind::unary:
    case Kind::negation:
      return eval_unary(code);
    case Kind::boolean:
      return eval_boolean(code);
    case Kind::comparison:
      return eval_comparison(code);
    case Kind::conditional:
      return eval_conditional(code);
    case Kind::lambda:
      return define_function(code);
    case Kind::named_expression: {
      const Code* name = code.get(Field::name);
      const Code* value = code.get(Field::value);
      if (name == nullptr || value == nullptr) return {};
      Value result = eval(*value);
      assign(*name, result);
      return result;
    }
    case Kind::yield:
      return eval_yield(code);
    case Kind::list_comprehension:
    case Kind::set_comprehension:
    case Kind::generator_expression:
    case Kind::dictionary_comprehension:
      return eval_comprehension(code);
    default:
      return {Unknown{}, place(code)};
  }
}

Value Interpreter::eval_identifier(const Code& code) {
  if (const Value* found = find_name(code.text)) return *found;
  if (find_builtin(code.text) != nullptr || is_builtin_name(code.text))
    return symbol(std::string(code.text), place(code));
  const auto& here = frame().scope;
  const auto& stars = (here->globals ? here->globals : here)->outside_stars;
  if (!stars.empty()) {
    // `from torch.nn import *`: the last one that could have it.
    return symbol(canonical(stars.back() + "." + std::string(code.text)), place(code));
  }
  return {Unknown{}, place(code)};
}

Value Interpreter::eval_display(const Code& code) {
  // mmengine's {{_base_.x}} parses as a set in a set.
  if (code.kind == Kind::set && config_bases != nullptr && code.children.size() == 1 &&
      code.first()->kind == Kind::set && code.first()->children.size() == 1) {
    return eval(*code.first()->first());
  }
  return Value::list(eval_items(code), place(code));
}

List Interpreter::eval_items(const Code& code) {
  List items;
  for (const Code& child : code.children) {
    if (child.kind != Kind::list_splat) {
      items.push_back(eval(child));
      continue;
    }
    const Value spread = eval(child);
    if (auto inner = iterate(spread)) {
      items.insert(items.end(), inner->begin(), inner->end());
    } else {
      items.emplace_back(Unknown{}, place(child));
    }
  }
  return items;
}

Value Interpreter::eval_dictionary(const Code& code) {
  Dict dict;
  for (const Code& child : code.children) {
    if (child.kind == Kind::pair) {
      const Code* key = child.get(Field::key);
      const Code* value = child.get(Field::value);
      if (key == nullptr || value == nullptr) continue;
      const Value name = eval(*key);
      Value held = eval(*value);
      if (!name.is_unknown()) dict.set(dict_key(name), std::move(held));
    } else if (child.kind == Kind::dictionary_splat && child.first() != nullptr) {
      const Value spread = eval(*child.first());
      const Value plain = as_plain(spread);
      if (const Dict* entries = plain.entries()) {
        for (const auto& [key, value] : entries->all()) dict.set(key, value);
      }
    }
  }
  return Value::dict(std::move(dict), place(code));
}

Value Interpreter::eval_attribute(const Code& code) {
  const Code* object = code.get(Field::object);
  const Code* name = code.get(Field::attribute);
  if (object == nullptr || name == nullptr) return {};
  if (config_bases != nullptr && object->text == "_base_") {
    const Dict* bases = config_bases->entries();
    const Value* found = bases == nullptr ? nullptr : bases->find(name->text);
    return found == nullptr || !is_bounded(*found) ? Value{} : found->deep_copy();
  }
  const Value of = eval(*object);
  Value value = attribute(of, name->text);
  if (!value.place) value.place = place(code);
  return value;
}

Value Interpreter::eval_conditional(const Code& code) {
  if (code.children.size() < 3) return {};
  const auto decided = truth(eval(code.children[1]));
  if (decided) return eval(code.children[*decided ? 0 : 2]);
  Value yes, no;
  run_both([&] { yes = eval(code.children[0]); }, [&] { no = eval(code.children[2]); });
  return joined(yes, no);
}

Value Interpreter::eval_yield(const Code& code) {
  Value value = code.first() == nullptr ? Value::none() : eval(*code.first());
  if (code.text.starts_with("yield from")) {
    if (auto inner = iterate(value)) {
      for (Value& item : *inner) frame().yielded.push_back(std::move(item));
    } else {
      frame().endless = true;
    }
  } else {
    frame().yielded.push_back(std::move(value));
  }
  return {};
}

Value Interpreter::eval_subscript(const Code& code) {
  const Code* object = code.get(Field::value);
  if (object == nullptr) return {};
  const Value of = eval(*object);
  List keys;
  for (const Code& child : code.children) {
    if (child.field != Field::subscript) continue;
    if (child.kind == Kind::slice) return eval_slice(of, child);
    keys.push_back(eval(child));
  }
  if (keys.empty()) return {};
  // x[1, 2] is one key that is a tuple.
  const Value key = keys.size() == 1 ? keys[0] : Value::list(keys);
  Value value = item(of, key);
  if (!value.place) value.place = place(code);
  return value;
}

Value Interpreter::eval_slice(const Value& of, const Code& slice) {
  // Up to three expressions between colons.
  std::array<std::optional<Value>, 3> ends;
  std::size_t at = 0;
  for (const Code& child : slice.children) {
    if (child.kind == Kind::colon) {
      at = std::min<std::size_t>(at + 1, 2);
    } else {
      ends[at] = eval(child);
    }
  }
  std::array<std::optional<std::int64_t>, 3> numbers;
  for (std::size_t i = 0; i < 3; ++i) {
    if (!ends[i] || ends[i]->is_none()) continue;
    if (ends[i]->integer() == nullptr) return {Unknown{}, of.place};
    numbers[i] = *ends[i]->integer();
  }
  charge(size_of(of));
  return sliced(of, {numbers[0], numbers[1], numbers[2].value_or(1)});
}

}  // namespace schedmate::python
