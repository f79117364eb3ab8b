// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <array>

#include "command/expand.hpp"
#include "command/pattern.hpp"

namespace schedmate::command {
namespace {

bool is_special(char c) { return std::string_view("@*#?$!-0123456789").contains(c) && c != 0; }

bool is_whole(std::string_view subscript) { return subscript == "@" || subscript == "*"; }

std::string cased(std::string text, bool upper, bool first_only) {
  for (char& c : text) {
    if (upper && c >= 'a' && c <= 'z') c = static_cast<char>(c - 32);
    if (!upper && c >= 'A' && c <= 'Z') c = static_cast<char>(c + 32);
    if (first_only) break;
  }
  return text;
}

std::string without_start(const std::string& text, std::string_view pattern, bool longest) {
  for (std::size_t i = 0; i <= text.size(); ++i) {
    const std::size_t size = longest ? text.size() - i : i;
    if (matches(pattern, std::string_view(text).substr(0, size))) return text.substr(size);
  }
  return text;
}

std::string without_end(const std::string& text, std::string_view pattern, bool longest) {
  for (std::size_t i = 0; i <= text.size(); ++i) {
    const std::size_t at = longest ? i : text.size() - i;
    if (matches(pattern, std::string_view(text).substr(at))) return text.substr(0, at);
  }
  return text;
}

struct Replacement {
  std::string_view pattern;
  std::string_view by;
  bool all = false;
};

std::string replaced(std::string_view text, const Replacement& what) {
  std::string made;
  bool done = false;
  for (std::size_t at = 0; at < text.size();) {
    std::size_t size = done ? 0 : text.size() - at;
    while (size > 0 && !matches(what.pattern, text.substr(at, size))) --size;
    if (size == 0) {
      made += text[at++];
      continue;
    }
    made += what.by;
    at += size;
    done = !what.all;
  }
  return made;
}

}  // namespace

std::optional<Expander::Parameter> Expander::split_parameter(std::string_view inner) {
  Parameter made;
  if (inner.size() > 1 && (inner[0] == '#' || inner[0] == '!')) {
    made.prefix = inner[0];
    inner.remove_prefix(1);
  }
  std::size_t length = name_length(inner);
  if (length == 0 && !inner.empty() && is_special(inner[0])) {
    length = 1;
    while (length < inner.size() && inner[0] >= '0' && inner[0] <= '9' && inner[length] >= '0' &&
           inner[length] <= '9')
      ++length;
  }
  if (length == 0) return std::nullopt;
  made.name = inner.substr(0, length);
  inner.remove_prefix(length);
  if (inner.starts_with('[')) {
    const std::size_t end = inner.find(']');
    if (end == std::string_view::npos) return std::nullopt;
    made.subscript = inner.substr(1, end - 1);
    inner.remove_prefix(end + 1);
  }
  constexpr auto operations = std::to_array<std::string_view>(
      {":-", ":=", ":+", ":?", "##", "%%", "//", "/#", "/%", "^^", ",,",
       "-",  "=",  "+",  "?",  "#",  "%",  "/",  "^",  ",",  ":",  "@"});
  const auto found = std::ranges::find_if(
      operations, [&](std::string_view mark) { return inner.starts_with(mark); });
  if (found != operations.end()) {
    made.operation = *found;
    made.operand = inner.substr(found->size());
  } else if (!inner.empty()) {
    return std::nullopt;
  }
  return made;
}

std::optional<Expander::Found> Expander::special(std::string_view name) {
  State& state = around_.state;
  const auto one = [&](std::string text) {
    return Found{.items = {literal(std::move(text), use_)}, .set = true};
  };
  if (name == "@" || name == "*") {
    if (!state.positional_known) return Found{.sure = false};
    return Found{.items = state.positional, .is_list = true, .set = !state.positional.empty()};
  }
  if (name == "#") {
    if (!state.positional_known) return Found{.sure = false};
    return one(std::to_string(state.positional.size()));
  }
  if (name == "0" || name == "BASH_SOURCE")
    return one(state.script.empty() ? "bash" : std::string(tree_root) + "/" + state.script);
  if (name == "PWD") return one(std::string(tree_root) + (state.cwd == "." ? "" : "/" + state.cwd));
  if (name == "?" && state.status != Truth::unknown)
    return one(state.status == Truth::yes ? "0" : "1");
  if (name[0] >= '0' && name[0] <= '9') {
    if (!state.positional_known) return Found{.sure = false};
    const auto index = shell_number(name);
    if (!index || *index > static_cast<std::int64_t>(state.positional.size())) return Found{};
    return Found{.items = {state.positional[static_cast<std::size_t>(*index - 1)]}, .set = true};
  }
  if (name.size() == 1 && is_special(name[0])) return Found{.sure = false};
  return std::nullopt;
}

Expander::Found Expander::look_up_variable(const Parameter& parameter) {
  const auto variable = around_.state.variables.find(parameter.name);
  if (variable == around_.state.variables.end())
    return {.is_list = parameter.subscript && is_whole(*parameter.subscript),
            .sure = !is_surrounding(parameter.name)};
  const Variable& found = variable->second;
  if (parameter.subscript && is_whole(*parameter.subscript))
    return {.items = found.items, .is_list = true, .set = !found.items.empty()};
  std::string subscript = "0";
  if (parameter.subscript) {
    const auto key = plain(operand_pattern(*parameter.subscript));
    if (!key) return {.sure = false};
    subscript = *key;
    if (!found.associative) {
      const auto number = calculate(subscript, numbers());
      if (!number) return {.sure = false};
      subscript = std::to_string(*number);
    }
  }
  const auto index = item_index(found, subscript);
  if (index) return {.items = {found.items[*index]}, .set = true};
  // An array that came out of an undecided branch is one unknown piece.
  const bool decided = std::ranges::all_of(found.items, [](const Text& t) { return known(t); });
  return {.sure = decided};
}

Expander::Found Expander::look_up(const Parameter& parameter) {
  if (auto found = special(parameter.name)) return *found;
  return look_up_variable(parameter);
}

Expander::Found Expander::counted(const Parameter& of, const Found& found) {
  std::size_t count = found.items.size();
  const bool all = std::ranges::all_of(found.items, [](const Text& t) { return known(t); });
  if (!found.sure || !all) return {.sure = false};
  if (!found.set && !found.is_list) return {.sure = false};
  const bool whole = found.is_list || (of.subscript && is_whole(*of.subscript));
  if (!whole && !found.items.empty()) count = written(found.items.front()).size();
  return {.items = {literal(std::to_string(count), use_)}, .set = true};
}

Expander::Found Expander::named_by(const Parameter& of, const Found& found) {
  if (of.subscript && is_whole(*of.subscript)) {
    const auto variable = around_.state.variables.find(of.name);
    Found keys{.is_list = true, .set = true};
    for (std::size_t i = 0; i < found.items.size(); ++i) {
      const bool named = variable->second.associative && i < variable->second.keys.size();
      keys.items.push_back(literal(named ? variable->second.keys[i] : std::to_string(i), use_));
    }
    return keys;
  }
  const auto name = found.items.empty() ? std::nullopt : plain(found.items.front());
  if (!name) return {.sure = false};
  const auto inner = split_parameter(*name);
  if (!inner || inner->prefix != 0 || !inner->operation.empty()) return {.sure = false};
  return look_up(*inner);
}

bool Expander::substitute_default(const Parameter& of, const Found& found, Quoting quoting,
                                  Parts& into) {
  if (of.operation.empty() || !std::string_view("-=+?").contains(of.operation.back())) return false;
  const bool colon = of.operation.starts_with(':');
  const bool unknown_value = !found.items.empty() && !std::ranges::all_of(found.items, known);
  const bool empty = found.items.empty() || (colon && !unknown_value && found.items.size() == 1 &&
                                             written(found.items.front()).empty());
  const bool there = found.set && !empty;
  const char kind = of.operation.back();
  if (!found.sure || (unknown_value && kind == '+')) {
    into.push_back({{std::string(of.raw), use_, false}, Origin::quoted});
  } else if (kind == '+' ? there : (!there && kind != '?')) {
    const std::size_t first = into.size();
    walk(of.operand, quoting, into);
    Parts value(into.begin() + static_cast<std::ptrdiff_t>(first), into.end());
    for (std::size_t i = first; i < into.size(); ++i) {
      if (into[i].origin == Origin::literal) into[i].origin = Origin::expanded;
    }
    if (kind == '=') around_.state.variables[std::string(of.name)].items = {text_of(value)};
  } else if (kind != '+' && there) {
    add_found(found, of, quoting, into);
  }
  return true;
}

std::optional<std::string> Expander::changed(const Parameter& of, const std::string& value) {
  const auto& operation = of.operation;
  const char kind = operation[0];
  if (kind == '^' || kind == ',') return cased(value, kind == '^', operation.size() == 1);
  if (kind == '/') {
    Scanner scanner(of.operand);
    std::size_t at = 0;
    while (at < of.operand.size() && of.operand[at] != '/') at = scanner.unit(at);
    const auto pattern = plain(operand_pattern(of.operand.substr(0, at)));
    Parts parts;
    if (at < of.operand.size()) walk(of.operand.substr(at + 1), Quoting::none, parts);
    const auto by = plain(text_of(parts));
    if (!pattern || !by || value.size() * value.size() > most_text_bytes * 100) return std::nullopt;
    if (operation == "/#") {
      const auto rest = without_start(value, *pattern, true);
      return rest.size() < value.size() || pattern->empty() ? *by + rest : value;
    }
    if (operation == "/%") {
      const auto rest = without_end(value, *pattern, true);
      return rest.size() < value.size() || pattern->empty() ? rest + *by : value;
    }
    return replaced(value, {*pattern, *by, operation == "//"});
  }
  const auto pattern = plain(operand_pattern(of.operand));
  if (!pattern || value.size() > 10'000) return std::nullopt;
  if (kind == '#') return without_start(value, *pattern, operation == "##");
  if (kind == '%') return without_end(value, *pattern, operation == "%%");
  return std::nullopt;
}

bool Expander::slice(const Parameter& of, Found& found) {
  const std::size_t colon = of.operand.find(':');
  const auto offset = number(of.operand.substr(0, colon), use_);
  if (!offset) return false;
  const bool positional = of.name == "@" || of.name == "*";
  const bool all = std::ranges::all_of(found.items, known);
  if (!all && (!found.is_list || *offset < 0)) return false;
  const std::string text = found.is_list ? "" : written(found.items.front());
  const auto size = static_cast<std::int64_t>(found.is_list ? found.items.size() : text.size());
  std::int64_t from = *offset < 0 ? size + *offset : *offset - (positional && *offset > 0 ? 1 : 0);
  from = std::clamp<std::int64_t>(from, 0, size);
  std::int64_t length = size - from;
  if (colon != std::string_view::npos) {
    const auto wanted = number(of.operand.substr(colon + 1), use_);
    if (!wanted) return false;
    length = std::clamp<std::int64_t>(*wanted < 0 ? length + *wanted : *wanted, 0, length);
  }
  if (found.is_list) {
    found.items = {found.items.begin() + from, found.items.begin() + from + length};
  } else {
    const auto place = place_of(found.items.front());
    found.items = {literal(
        text.substr(static_cast<std::size_t>(from), static_cast<std::size_t>(length)), place)};
  }
  return true;
}

bool Expander::change(const Parameter& of, Found& found) {
  if (of.operation.empty()) return true;
  if (of.operation == ":") return slice(of, found);
  if (of.operation == "@") return false;
  for (auto& item : found.items) {
    const auto value = plain(item);
    const auto made = value ? changed(of, *value) : std::nullopt;
    if (!made) return false;
    item = literal(*made, place_of(item));
  }
  return true;
}

void Expander::add_found(const Found& found, const Parameter& of, Quoting quoting, Parts& into) {
  const bool separate =
      found.is_list && quoting != Quoting::here_document &&
      !(quoting == Quoting::quotes && (of.name == "*" || (of.subscript && *of.subscript == "*")));
  for (std::size_t i = 0; i < found.items.size(); ++i) {
    if (i > 0 && !separate) add_literal(" ", quoting, into);
    const std::size_t first = into.size();
    add(found.items[i], quoting, into);
    if (into.size() == first && quoting != Quoting::none) add_literal("", quoting, into);
    if (separate && i > 0 && first < into.size()) into[first].starts_field = true;
  }
}

void Expander::parameter(std::string_view inner, std::string_view raw, Quoting quoting,
                         Parts& into) {
  const auto as_written = [&] {
    into.push_back({{std::string(raw), use_, false}, Origin::quoted});
  };
  auto split = split_parameter(inner);
  if (!split) return as_written();
  split->raw = raw;
  Found found = look_up(*split);
  if (split->prefix == '!') found = named_by(*split, found);
  if (split->prefix == '#') found = counted(*split, found);
  if (substitute_default(*split, found, quoting, into)) return;
  if (!found.set) {
    const bool positional = !is_name(split->name) && found.sure;
    if (positional || found.is_list || (around_.unset_is_empty && found.sure)) {
      // "$@" of nothing is no word at all, "$1" an empty one.
      if (found.is_list && into.size() == 1 && into[0].piece.text.empty()) into.clear();
      return;
    }
    return as_written();
  }
  if (!change(*split, found)) return as_written();
  add_found(found, *split, quoting, into);
}

Numbers Expander::numbers() {
  return {[this](std::string_view name) -> std::optional<std::int64_t> {
            const auto found = look_up({.name = name});
            const auto text = found.items.empty() ? std::nullopt : plain(found.items.front());
            if (!text) return std::nullopt;
            return text->empty() ? 0 : shell_number(*text);
          },
          [this](std::string_view name, std::optional<std::int64_t> value) {
            auto& variable = around_.state.variables[std::string(name)];
            variable.items = {value ? literal(std::to_string(*value), use_)
                                    : unknown("$" + std::string(name), use_)};
          }};
}

std::optional<std::int64_t> Expander::number(std::string_view expression, const PlacePtr& use) {
  use_ = use;
  Parts parts;
  walk(expression, Quoting::quotes, parts);
  return calculate(written(text_of(parts)), numbers());
}

}  // namespace schedmate::command
