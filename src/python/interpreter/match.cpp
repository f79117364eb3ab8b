// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include "python/interpreter/interpreter.hpp"

namespace schedmate::python {
namespace {

using Answer = std::optional<bool>;

/// case_pattern nodes wrap what they hold.
const Code& inner_pattern(const Code& pattern) {
  const Code* at = &pattern;
  while (at->kind == Kind::case_pattern && at->children.size() == 1) at = at->first();
  return *at;
}

bool is_capture(const Code& pattern) {
  const bool one_name = pattern.kind == Kind::dotted_name && pattern.children.size() == 1;
  return one_name || pattern.kind == Kind::identifier || pattern.text == "_";
}

}  // namespace

/// Whether the pattern fits; a name in it is bound.
std::optional<bool> Interpreter::matches(const Code& code, const Value& subject) {
  const Code& pattern = inner_pattern(code);
  if (is_capture(pattern)) {
    if (pattern.text != "_") set_name(pattern.text, subject);
    return true;
  }
  if (pattern.kind == Kind::union_pattern) {
    Answer any = false;
    for (const Code& child : pattern.children) {
      const auto one = matches(child, subject);
      if (one == true) return true;
      if (!one) any = std::nullopt;
    }
    return any;
  }
  if (pattern.kind == Kind::dotted_name) {
    Value value = pattern.first() == nullptr ? Value{} : eval(*pattern.first());
    for (std::size_t i = 1; i < pattern.children.size(); ++i)
      value = attribute(value, pattern.children[i].text);
    return compare("==", subject, value);
  }
  switch (pattern.kind) {
    case Kind::string:
    case Kind::concatenated_string:
    case Kind::integer:
    case Kind::real:
    case Kind::yes:
    case Kind::no:
    case Kind::none:
      return compare("==", subject, eval(pattern));
    default:
      return std::nullopt;
  }
}

void Interpreter::begin_match(const Code& code) {
  Value subject;
  std::size_t subjects = 0;
  std::vector<const Code*> cases;
  for (const Code& child : code.children) {
    if (child.field == Field::subject && subjects++ == 0) subject = eval(child);
    if (child.kind == Kind::case_clause) cases.push_back(&child);
    if (child.kind != Kind::block) continue;
    for (const Code& clause : child.children) {
      if (clause.kind == Kind::case_clause) cases.push_back(&clause);
    }
  }
  // Several subjects are a tuple, which no pattern here decides.
  execute_match(cases, 0, subjects == 1 ? subject : Value{});
}

void Interpreter::execute_match(const std::vector<const Code*>& cases, std::size_t at,
                                const Value& subject) {
  if (at >= cases.size() || flow != Flow::next) return;
  const Code& clause = *cases[at];
  const Code* guard = clause.get(Field::guard);
  const auto pattern = std::ranges::find(clause.children, Kind::case_pattern, &Code::kind);
  const Code* body = clause.get(Field::consequence);
  auto fits = pattern == clause.children.end() ? Answer() : matches(*pattern, subject);
  if (fits == true && guard != nullptr && guard->first() != nullptr)
    fits = truth(eval(*guard->first()));
  if (fits == true) {
    execute_block(body);
  } else if (fits == false) {
    execute_match(cases, at + 1, subject);
  } else {
    run_both([&] { execute_block(body); }, [&] { execute_match(cases, at + 1, subject); });
  }
}

}  // namespace schedmate::python
