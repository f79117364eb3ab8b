// SPDX-License-Identifier: Apache-2.0
#include "python/natives/type_hint.hpp"

#include <algorithm>
#include <array>

#include "base/text.hpp"

namespace schedmate::python::natives {
namespace {

constexpr int deepest_annotation = 20;

/// Parts between separators that stand outside brackets and quotes.
std::vector<std::string_view> outer_parts(std::string_view text, char separator) {
  std::vector<std::string_view> parts;
  int depth = 0;
  char quote = 0;
  std::size_t start = 0;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    if (quote != 0) {
      if (c == quote) quote = 0;
    } else if (c == '"' || c == '\'') {
      quote = c;
    } else if (c == '[' || c == '(') {
      ++depth;
    } else if (c == ']' || c == ')') {
      --depth;
    } else if (c == separator && depth == 0) {
      parts.push_back(trim(text.substr(start, i - start)));
      start = i + 1;
    }
  }
  parts.push_back(trim(text.substr(start)));
  std::erase(parts, std::string_view{});
  return parts;
}

std::string_view unquoted(std::string_view text) {
  text = trim(text);
  const bool quoted = text.size() > 1 && (text.front() == '"' || text.front() == '\'') &&
                      text.back() == text.front();
  return quoted ? trim(text.substr(1, text.size() - 2)) : text;
}

std::string_view last_name(std::string_view dotted) { return dotted.substr(dotted.rfind('.') + 1); }

TypeHint simple(std::string_view name) {
  TypeHint hint;
  const std::string_view last = last_name(name);
  if (last == "int" || last.ends_with("Int")) {
    hint.type = FlagType::integer;
  } else if (last == "float" || last.ends_with("Float")) {
    hint.type = FlagType::real;
  } else if (last == "bool") {
    hint.type = FlagType::yes_no;
  } else if (last == "str" || last.ends_with("Path") || last.ends_with("Str")) {
    hint.type = FlagType::text;
  } else if (last == "list" || last == "List" || last == "tuple" || last == "Tuple" ||
             last == "Sequence") {
    hint.is_list = true;
  } else if (last != "Any" && last != "dict" && last != "Dict" && last != "object") {
    hint.class_name = std::string(name);
  }
  return hint;
}

TypeHint read(std::string_view annotation, int depth);

TypeHint read_union(const std::vector<std::string_view>& parts, int depth) {
  TypeHint result;
  bool found = false;
  bool optional = false;
  for (const auto part : parts) {
    if (part == "None" || part == "NoneType") {
      optional = true;
      continue;
    }
    const TypeHint hint = read(part, depth);
    if (found && (hint.type != result.type || hint.is_list != result.is_list)) {
      result = TypeHint{};  // several types: whatever the word looks like
    } else {
      result = hint;
    }
    found = true;
  }
  result.optional = result.optional || optional;
  return result;
}

TypeHint read_subscript(std::string_view head, std::string_view inside, int depth) {
  static constexpr std::array sequences{"List",  "list",     "Sequence", "Tuple",
                                        "tuple", "Iterable", "Set",      "set"};
  const std::string_view name = last_name(head);
  const auto parts = outer_parts(inside, ',');
  if (parts.empty()) return simple(head);
  if (name == "Literal") {
    TypeHint hint;
    const bool texts = parts[0].front() == '"' || parts[0].front() == '\'';
    hint.type = texts ? FlagType::text : FlagType::literal;
    for (const auto part : parts) hint.choices.emplace_back(unquoted(part));
    return hint;
  }
  if (name == "Union") return read_union(parts, depth);
  if (std::ranges::find(sequences, name) != sequences.end()) {
    TypeHint hint = read(parts[0], depth);
    if (hint.is_list) hint.type = FlagType::literal;
    hint.is_list = true;
    const bool fixed =
        (name == "Tuple" || name == "tuple") && inside.find("...") == std::string_view::npos;
    hint.count = fixed ? static_cast<int>(parts.size()) : 0;
    return hint;
  }
  if (name == "Dict" || name == "dict" || name == "Mapping") return {};
  TypeHint hint = read(parts[0], depth);  // Optional, Annotated, Final, Positional, ...
  hint.optional = hint.optional || name == "Optional";
  hint.positional = hint.positional || name == "Positional" ||
                    inside.find("typer.Argument") != std::string_view::npos ||
                    inside.find("conf.Positional") != std::string_view::npos;
  return hint;
}

TypeHint read(std::string_view annotation, int depth) {
  const std::string_view text = unquoted(annotation);
  if (text.empty() || depth > deepest_annotation) return {};
  const auto alternatives = outer_parts(text, '|');
  if (alternatives.size() > 1) return read_union(alternatives, depth + 1);
  const auto bracket = text.find('[');
  if (bracket == std::string_view::npos || text.back() != ']') return simple(text);
  return read_subscript(trim(text.substr(0, bracket)),
                        text.substr(bracket + 1, text.size() - bracket - 2), depth + 1);
}

}  // namespace

TypeHint read_type_hint(std::string_view annotation) { return read(annotation, 0); }

TypeHint hint_of_value(const Value& fallback) {
  TypeHint hint;
  if (fallback.boolean() != nullptr) hint.type = FlagType::yes_no;
  if (fallback.integer() != nullptr) hint.type = FlagType::integer;
  if (fallback.real() != nullptr) hint.type = FlagType::real;
  if (fallback.text() != nullptr) hint.type = FlagType::text;
  hint.is_list = fallback.items() != nullptr;
  return hint;
}

}  // namespace schedmate::python::natives
