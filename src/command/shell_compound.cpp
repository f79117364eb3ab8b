// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>

#include "command/shell_parser.hpp"

namespace schedmate::command {

Statement Parser::function(Range name) {
  Statement made;
  made.kind = Kind::function;
  made.words.push_back(name);
  skip_lines();
  made.parts.push_back(command());
  return made;
}

Statement Parser::branch() {
  Statement made;
  made.kind = Kind::branch;
  while (true) {
    made.parts.push_back(group({"then", "fi"}));
    expect("then");
    made.parts.push_back(group({"elif", "else", "fi"}));
    if (take_keyword("elif")) continue;
    if (take_keyword("else")) made.parts.push_back(group({"fi"}));
    expect("fi");
    return made;
  }
}

Statement Parser::while_loop(Kind kind) {
  Statement made;
  made.kind = kind;
  made.parts.push_back(group({"do", "done"}));
  expect("do");
  made.parts.push_back(group({"done"}));
  expect("done");
  return made;
}

Statement Parser::for_loop() {
  Statement made;
  if (take("((")) {
    made.kind = Kind::loop_count;
    const std::size_t end = scanner_.parentheses(at_);  // behind the inner bracket
    std::size_t from = at_;
    for (int i = 0; i < 3; ++i) {
      const std::size_t last = end == 0 ? 0 : end - 1;
      const std::size_t stop = std::min(i < 2 ? text_.find(';', from) : last, last);
      made.words.push_back({from, std::max(stop, from)});
      from = std::min(stop + 1, last);
    }
    at_ = std::min(end, text_.size());
    take(")");
  } else {
    made.kind = Kind::loop_over;
    made.words.push_back(next_word());
    skip_lines();
    if (take_keyword("in")) {
      made.lists_items = true;
      for (Range word = next_word(); word.end > word.begin; word = next_word())
        made.words.push_back(word);
    }
  }
  skip_lines();
  if (see("{")) {
    made.parts.push_back(command());
    return made;
  }
  expect("do");
  made.parts.push_back(group({"done"}));
  expect("done");
  return made;
}

void Parser::choice_item(Statement& into) {
  take("(");
  std::vector<Range> patterns;
  while (!at_end()) {
    const Range word = next_word();
    if (word.end > word.begin) patterns.push_back(word);
    if (take("|")) continue;
    if (take(")")) break;
    note(at_, "a pattern of case is not understood");
    at_ = std::min(text_.find('\n', at_), text_.size());
    break;
  }
  into.patterns.push_back(std::move(patterns));
  into.parts.push_back(group({"esac"}));
  into.marks += take(";;&") ? 't' : take(";;") ? ';' : take(";&") ? '&' : ';';
}

Statement Parser::choice() {
  Statement made;
  made.kind = Kind::choice;
  made.words.push_back(next_word());
  skip_lines();
  expect("in");
  for (skip_lines(); !at_end() && peek() != "esac"; skip_lines()) {
    const std::size_t before = at_;
    choice_item(made);
    if (at_ == before) break;
  }
  expect("esac");
  return made;
}

Statement Parser::enclosed(Kind kind, char last) {
  ++at_;
  Statement made = group({"}"});
  made.kind = kind;
  if (!take(std::string_view(&last, 1))) note(at_, fmt::format("'{}' is missing", last));
  return made;
}

Statement Parser::inner_text(Kind kind, std::string_view last) {
  Statement made;
  made.kind = kind;
  at_ += 2;
  const std::size_t begin = at_;
  if (kind == Kind::arithmetic) {
    const std::size_t end = scanner_.parentheses(at_);
    made.words.push_back({begin, end == 0 ? 0 : end - 1});
    at_ = end;
    if (!take(")")) note(begin, "'))' is missing");
    return made;
  }
  while (!at_end() && !(see(last) && scanner_.blanks(at_ - 1) == at_)) at_ = scanner_.unit(at_);
  if (at_end()) note(begin, fmt::format("'{}' is missing", last));
  at_ = std::min(at_, text_.size());
  made.words.push_back({begin, at_});
  take(last);
  return made;
}

Statement Parser::compound(std::string_view keyword) {
  at_ += keyword.size();
  if (keyword == "if") return branch();
  if (keyword == "for" || keyword == "select") return for_loop();
  if (keyword == "case") return choice();
  if (keyword == "function") {
    const Range name = next_word();
    if (take("(")) take(")");
    return function(name);
  }
  return while_loop(keyword == "while" ? Kind::loop_while : Kind::loop_until);
}

}  // namespace schedmate::command
