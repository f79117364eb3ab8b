// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>

#include "base/text.hpp"
#include "base/utf8.hpp"
#include "python/interpreter/interpreter.hpp"

namespace schedmate::python {
namespace {

constexpr std::size_t longest_result = 1'000'000;

/// The character written as \xhh, \uhhhh or \Uhhhhhhhh; how far it reaches.
std::size_t append_numbered(std::string& out, std::string_view rest) {
  const std::size_t digits = rest[1] == 'x' ? 2 : rest[1] == 'u' ? 4 : 8;
  std::uint32_t point = 0;
  const auto text = rest.substr(2, digits);
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), point, 16);
  if (error != std::errc() || text.size() != digits) {
    out += '\\';
    return 1;
  }
  constexpr std::uint32_t beyond = 0x110000;  // no character
  if (point < beyond) append_utf8(out, point);
  return 2 + digits;
}

std::string unescaped(std::string_view text) {
  static constexpr std::string_view marks = "ntr\\'\"0abfv\n";
  static constexpr std::string_view means{"\n\t\r\\'\"\0\a\b\f\v", 11};
  std::string out;
  for (std::size_t i = 0; i < text.size();) {
    if (text[i] != '\\' || i + 1 == text.size()) {
      out += text[i++];
      continue;
    }
    const char mark = text[i + 1];
    if (mark == 'x' || mark == 'u' || mark == 'U') {
      i += append_numbered(out, text.substr(i));
      continue;
    }
    const auto at = marks.find(mark);
    if (at == std::string_view::npos) {
      out += {'\\', mark};
    } else if (at < means.size()) {
      out += means[at];
    }
    i += 2;
  }
  return out;
}

bool is_raw(const Code& string) {
  const auto prefix = string.text.substr(0, string.text.find_first_of("'\""));
  return prefix.find_first_of("rR") != std::string_view::npos;
}

bool is_format_string(const Code& string) {
  const auto prefix = string.text.substr(0, string.text.find_first_of("'\""));
  return prefix.find_first_of("fF") != std::string_view::npos;
}

/// In an f-string `{{` stands for a brace.
std::string without_double_braces(std::string_view text) {
  std::string out;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const bool doubled =
        (text[i] == '{' || text[i] == '}') && text.substr(i + 1, 1) == text.substr(i, 1);
    out += text[i];
    if (doubled) ++i;
  }
  return out;
}

}  // namespace

/// The text of one string node so far as it is known; `from` is the place of the first part.
struct TextParts {
  std::string text;
  bool known = true;
  PlacePtr from;
};

void Interpreter::append_interpolation(TextParts& parts, const Code& code) {
  const Code* expression = code.get(Field::expression);
  if (expression == nullptr) expression = code.first();
  if (expression == nullptr) return;
  const Value value = eval(*expression);
  if (!parts.from) parts.from = value.place;
  const Code* how = code.get(Field::format_specifier);
  const Code* conversion = code.get(Field::type_conversion);
  std::string format;
  if (how != nullptr) {
    format = how->text.substr(std::min<std::size_t>(1, how->text.size()));
    if (!how->children.empty()) parts.known = false;  // a width that is computed
  }
  if (conversion != nullptr && conversion->text == "!r") {
    const bool plain = !value.is_unknown() && value.object() == nullptr && is_bounded(value);
    if (plain) parts.text += repr(value);
    parts.known = parts.known && plain;
    return;
  }
  bool known = true;
  std::string shown = to_text(value, &known);
  if (known && !format.empty()) {
    auto formatted = format_value(value, format);
    known = formatted.has_value();
    if (formatted) shown = std::move(*formatted);
  }
  parts.known = parts.known && known;
  parts.text += shown;
}

void Interpreter::append_string(TextParts& parts, const Code& code) {
  const bool raw = is_raw(code);
  const bool format = is_format_string(code);
  for (const Code& child : code.children) {
    if (child.kind == Kind::interpolation) {
      append_interpolation(parts, child);
    } else if (child.kind != Kind::string_start && child.kind != Kind::string_end) {
      std::string text = raw ? std::string(child.text) : unescaped(child.text);
      parts.text += format ? without_double_braces(text) : text;
    }
  }
}

Value Interpreter::eval_string(const Code& code) {
  TextParts parts;
  if (code.kind == Kind::concatenated_string) {
    for (const Code& child : code.children) append_string(parts, child);
  } else {
    append_string(parts, code);
  }
  if (parts.text.size() > longest_result) parts.known = false;
  if (!parts.known) return derived({Unknown{}}, place(code), parts.from);
  return derived(Value(std::move(parts.text)), place(code), parts.from);
}

std::string Interpreter::to_text(const Value& value, bool* known) {
  if (const auto* text = value.text()) return *text;
  if (value.is_unknown()) {
    *known = false;
    return "";
  }
  const Value plain = as_plain(value);
  if (const auto* text = plain.text()) return *text;
  if (plain.object() == nullptr && is_bounded(plain)) return repr(plain);
  if (const auto* thing = as<Thing>(plain); thing != nullptr && thing->type_of != nullptr) {
    if (auto method = special_method(plain, "__str__")) {
      const Value text = call(*method, {});
      if (text.text() != nullptr) return *text.text();
    } else if (thing->type_of->enumeration) {
      const Value* held = thing->fields.find("value");
      const Value* name = thing->fields.find("name");
      const bool plain_text = thing->type_of->is_a("StrEnum");
      if (plain_text && held != nullptr && held->text() != nullptr) return *held->text();
      if (name != nullptr && name->text() != nullptr) return thing->type + "." + *name->text();
    }
  }
  *known = false;
  return "";
}

namespace {

/// "{}", "{0}", "{name}", "{a.b}", "{a[0]}": what a replacement field names.
std::optional<Value> field_value(Interpreter& in, std::string_view name,
                                 const Arguments& arguments) {
  const auto end = std::min(name.find_first_of(".["), name.size());
  const auto head = name.substr(0, end);
  std::optional<Value> value;
  if (const auto index = parse_number<std::size_t>(head)) {
    if (*index < arguments.positional.size()) value = arguments.positional[*index];
  } else if (const Value* named = arguments.named.find(head)) {
    value = *named;
  }
  for (auto rest = name.substr(end); value && !rest.empty();) {
    const bool dotted = rest.front() == '.';
    const auto stop = std::min(rest.find_first_of(dotted ? ".[" : "]", 1), rest.size());
    const auto part = rest.substr(1, stop - 1);
    const auto index = parse_number<std::int64_t>(part);
    if (dotted) {
      value = in.attribute(*value, part);
    } else {
      value = in.item(*value, index ? Value(*index) : Value(std::string(part)));
    }
    rest.remove_prefix(std::min(dotted ? stop : stop + 1, rest.size()));
  }
  return value;
}

}  // namespace

Value Interpreter::format_call(const Value& self, const Arguments& arguments) {
  const std::string& format = *self.text();
  std::string out;
  std::size_t automatic = 0;
  for (std::size_t i = 0; i < format.size(); ++i) {
    const char c = format[i];
    if ((c == '{' || c == '}') && i + 1 < format.size() && format[i + 1] == c) {
      out += c;
      ++i;
    } else if (c != '{') {
      out += c;
    } else {
      const auto end = format.find('}', i);
      if (end == std::string::npos) return {};
      const auto field = std::string_view(format).substr(i + 1, end - i - 1);
      const auto colon = std::min(field.find(':'), field.size());
      const bool quoted = field.substr(0, colon).ends_with("!r");
      std::string name(field.substr(0, std::min(field.find('!'), colon)));
      if (name.empty()) name = fmt::format("{}", automatic++);
      const auto value = field_value(*this, name, arguments);
      bool known = value.has_value();
      std::string shown = value ? to_text(*value, &known) : "";
      if (quoted && known) shown = repr(*value);
      if (known && colon < field.size()) {
        auto formatted = format_value(*value, field.substr(colon + 1));
        if (!formatted) return {};
        shown = std::move(*formatted);
      }
      if (!known) return {Unknown{}, self.place};
      out += shown;
      i = end;
    }
    if (out.size() > longest_result) return {};
  }
  return {std::move(out), self.place};
}

}  // namespace schedmate::python
