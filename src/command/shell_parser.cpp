// SPDX-License-Identifier: Apache-2.0
#include "command/shell_parser.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <iterator>

namespace schedmate::command {
namespace {

constexpr int deepest_compound = 100;
constexpr std::size_t most_syntax_notes = 20;

bool is_compound(std::string_view word) {
  constexpr auto keywords = std::to_array<std::string_view>(
      {"if", "for", "select", "case", "function", "while", "until"});
  return std::ranges::find(keywords, word) != keywords.end();
}

}  // namespace

bool Parser::see_any(Words ends) { return std::ranges::find(ends, peek()) != ends.end(); }

void Parser::note(std::size_t at, std::string text) {
  if (made_.notes.size() < most_syntax_notes) made_.notes.push_back({at, std::move(text)});
}

void Parser::skip_comment() {
  if (see("#")) at_ = std::min(text_.find('\n', at_), text_.size());
}

void Parser::skip_line_end() {
  ++at_;
  read_here_documents();
}

void Parser::skip_lines() {
  while (true) {
    at_ = scanner_.blanks(at_);
    skip_comment();
    if (see("\n")) {
      skip_line_end();
    } else if (see(";") && !see(";;") && !see(";&")) {
      ++at_;
    } else {
      return;
    }
  }
}

std::string_view Parser::peek() {
  Scanner ahead(text_);
  return text_.substr(at_, ahead.word(at_) - at_);
}

bool Parser::take(std::string_view mark) {
  at_ = scanner_.blanks(at_);
  if (!see(mark)) return false;
  at_ += mark.size();
  return true;
}

bool Parser::take_keyword(std::string_view keyword) {
  if (peek() != keyword) return false;
  at_ += keyword.size();
  return true;
}

void Parser::expect(std::string_view keyword) {
  skip_lines();
  if (!take_keyword(keyword)) note(at_, fmt::format("'{}' is missing", keyword));
}

Range Parser::next_word() {
  at_ = scanner_.blanks(at_);
  const Range range{at_, scanner_.word(at_)};
  at_ = range.end;
  return range;
}

void Parser::read_here_documents() {
  for (const std::size_t index : pending_) {
    auto& here = made_.here[index];
    here.body.begin = at_;
    while (!at_end()) {
      const std::size_t line = at_;
      const std::size_t end = std::min(text_.find('\n', at_), text_.size());
      auto content = text_.substr(line, end - line);
      while (here.indented && content.starts_with('\t')) content.remove_prefix(1);
      at_ = std::min(end + 1, text_.size());
      here.body.end = line;
      if (content == here.end) break;
      here.body.end = at_;
      if (at_end()) note(here.body.begin, "the here-document does not end");
    }
  }
  pending_.clear();
}

bool Parser::redirect(Statement& of) {
  std::size_t at = scanner_.blanks(at_);
  Redirect made;
  std::size_t mark = at;
  while (mark < text_.size() && mark < at + 2 && text_[mark] >= '0' && text_[mark] <= '9') ++mark;
  if (mark > at) made.descriptor = text_[at] - '0';
  constexpr auto marks = std::to_array<std::string_view>(
      {"&>>", "&>", "<<<", "<<-", "<<", "<>", "<&", "<", ">>", ">&", ">|", ">"});
  const auto rest = text_.substr(mark);
  const auto found =
      std::ranges::find_if(marks, [&](std::string_view m) { return rest.starts_with(m); });
  if (found == marks.end()) return false;
  if (found->size() == 1 && rest.substr(1).starts_with('(')) return false;  // <(...)
  made.mark = *found;
  at_ = mark + found->size();
  made.target = next_word();
  if (made.mark == "<<" || made.mark == "<<-") {
    HereDocument here;
    here.indented = made.mark == "<<-";
    made.mark = "<<";
    for (const char c : text_.substr(made.target.begin, made.target.end - made.target.begin)) {
      const bool quote = std::string_view("'\"\\").contains(c);
      here.expands = here.expands && !quote;
      if (!quote) here.end += c;
    }
    made.here = static_cast<int>(made_.here.size());
    pending_.push_back(made_.here.size());
    made_.here.push_back(std::move(here));
  }
  of.redirects.push_back(std::move(made));
  return true;
}

void Parser::redirects(Statement& of) {
  while (redirect(of)) {
  }
}

Statement Parser::simple() {
  Statement made;
  made.range.begin = at_;
  while (true) {
    at_ = scanner_.blanks(at_);
    if (at_end() || see("\n") || see("#")) break;
    if (redirect(made)) continue;
    const Range word = next_word();
    if (word.end == word.begin) break;
    made.words.push_back(word);
    if (made.words.size() == 1 && see("(")) {
      const std::size_t end = scanner_.blanks(at_ + 1);
      if (end < text_.size() && text_[end] == ')') {
        at_ = end + 1;
        return function(word);
      }
    }
  }
  skip_comment();
  made.range.end = at_;
  return made;
}

Statement Parser::group(Words ends) {
  Statement made;
  made.kind = Kind::group;
  made.range.begin = at_;
  made.parts = block(ends);
  made.range.end = at_;
  return made;
}

Statement Parser::command() {
  at_ = scanner_.blanks(at_);
  Statement made;
  const std::size_t begin = at_;
  if (++depth_ > deepest_compound) {
    note(at_, "nested too deeply");
    at_ = text_.size();
  }
  const auto word = peek();
  if (is_compound(word)) {
    made = compound(word);
    redirects(made);
  } else if (see("((")) {
    made = inner_text(Kind::arithmetic, "))");
  } else if (word == "[[") {
    made = inner_text(Kind::test, "]]");
  } else if (see("(")) {
    made = enclosed(Kind::subshell, ')');
    redirects(made);
  } else if (word == "{") {
    made = enclosed(Kind::group, '}');
    redirects(made);
  } else {
    made = simple();
  }
  --depth_;
  made.range = {begin, at_};
  return made;
}

Statement Parser::pipeline() {
  at_ = scanner_.blanks(at_);
  const bool negated = take_keyword("!");
  Statement first = command();
  if (see("|") && !see("||")) {
    Statement line;
    line.kind = Kind::pipeline;
    line.range.begin = first.range.begin;
    line.parts.push_back(std::move(first));
    while (at_ = scanner_.blanks(at_), see("|") && !see("||")) {
      if (!take("|&")) take("|");
      skip_lines();
      line.parts.push_back(command());
    }
    line.range.end = at_;
    first = std::move(line);
  }
  if (!negated) return first;
  Statement made;
  made.kind = Kind::negated;
  made.range = first.range;
  made.parts.push_back(std::move(first));
  return made;
}

Statement Parser::chain() {
  Statement first = pipeline();
  Statement made;
  while (true) {
    at_ = scanner_.blanks(at_);
    const bool both = see("&&");
    if (!both && !see("||")) break;
    if (made.parts.empty()) {
      made.kind = Kind::chain;
      made.range.begin = first.range.begin;
      made.parts.push_back(first);
    }
    at_ += 2;
    skip_lines();
    made.marks += both ? '&' : '|';
    made.parts.push_back(pipeline());
  }
  if (made.parts.empty()) return first;
  made.range.end = at_;
  return made;
}

std::vector<Statement> Parser::block(Words ends) {
  std::vector<Statement> made;
  while (true) {
    skip_lines();
    if (at_end() || see(";;") || see(";&") || see(")")) return made;
    if (see_any(ends)) return made;
    const std::size_t before = at_;
    made.push_back(chain());
    at_ = scanner_.blanks(at_);
    if (see("&") && !see("&&")) {
      made.back().background = true;
      ++at_;
    }
    if (at_ == before) {
      note(at_, fmt::format("'{}' is unexpected", text_.substr(at_, 1)));
      ++at_;
    }
  }
}

Syntax Parser::parse() {
  while (!at_end()) {
    auto more = block({});
    std::ranges::move(more, std::back_inserter(made_.body));
    if (at_end()) break;
    note(at_, fmt::format("'{}' is unexpected", text_.substr(at_, 1)));
    ++at_;
  }
  if (!scanner_.closed()) note(text_.size(), "a quote or bracket is not closed");
  return std::move(made_);
}

Syntax parse_shell(std::string_view text) { return Parser(text).parse(); }

}  // namespace schedmate::command
