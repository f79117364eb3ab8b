// SPDX-License-Identifier: Apache-2.0
#include "command/sed.hpp"

#include <regex.h>

#include <algorithm>
#include <array>
#include <memory>
#include <vector>

#include "base/text.hpp"

namespace schedmate::command {
namespace {

constexpr std::size_t most_output = 1 << 18;
constexpr std::size_t most_line_bytes = 2000;
constexpr std::size_t most_pattern_bytes = 200;
constexpr std::size_t most_commands = 50;

using Pattern = std::shared_ptr<regex_t>;
using Groups = std::array<regmatch_t, 10>;

/// Nothing for patterns that a matcher may take forever over: counted repeats, back references.
Pattern compiled(const std::string& pattern, bool extended, bool any_case) {
  const bool counted = pattern.contains(extended ? "{" : "\\{");
  bool refers_back = false;
  for (std::size_t i = 0; i + 1 < pattern.size(); ++i) {
    if (pattern[i] != '\\') continue;
    ++i;
    refers_back = refers_back || (pattern[i] >= '1' && pattern[i] <= '9');
  }
  if (counted || refers_back || pattern.empty() || pattern.size() > most_pattern_bytes) return {};
  auto made = std::make_unique<regex_t>();
  const int flags = (extended ? REG_EXTENDED : 0) | (any_case ? REG_ICASE : 0);
  if (regcomp(made.get(), pattern.c_str(), flags) != 0) return {};
  return {made.release(), [](regex_t* old) {
            regfree(old);
            delete old;
          }};
}

/// Which lines are meant: all, one by number, the last, or those that fit.
struct Address {
  enum class Kind : std::uint8_t { all, number, last, pattern } kind = Kind::all;
  std::size_t number = 0;
  Pattern pattern;

  [[nodiscard]] bool picks(const std::string& line, std::size_t at, std::size_t lines) const {
    switch (kind) {
      case Kind::all:
        return true;
      case Kind::number:
        return at == number;
      case Kind::last:
        return at == lines;
      case Kind::pattern:
        return regexec(pattern.get(), line.c_str(), 0, nullptr, 0) == 0;
    }
    return false;
  }
};

struct SedCommand {
  Address from, to;  ///< `to` picks all where only one address stands
  bool negated = false;
  bool inside = false;  ///< of the range, while the lines go by
  char what = 's';
  Pattern pattern;
  std::string by;
  bool all = false;

  bool picks(const std::string& line, std::size_t at, std::size_t lines) {
    if (to.kind == Address::Kind::all) return from.picks(line, at, lines) != negated;
    const bool begins = !inside && from.picks(line, at, lines);
    const bool ends =
        to.kind == Address::Kind::number ? at >= to.number : inside && to.picks(line, at, lines);
    const bool picked = inside || begins;
    inside = picked && !ends;
    return picked != negated;
  }
};

class SedReader {
 public:
  SedReader(std::string_view text, bool extended) : text_(text), extended_(extended) {}

  bool read(std::vector<SedCommand>& commands) {
    for (skip(" ;\n\t"); at_ < text_.size(); skip(" ;\n\t")) {
      auto command = read_command();
      if (!command || commands.size() == most_commands) return false;
      commands.push_back(std::move(*command));
    }
    return !commands.empty();
  }

 private:
  void skip(std::string_view these) {
    while (at_ < text_.size() && these.contains(text_[at_])) ++at_;
  }
  [[nodiscard]] char next() const { return at_ < text_.size() ? text_[at_] : '\0'; }

  std::optional<SedCommand> read_command() {
    SedCommand command;
    if (!read_address(command.from)) return std::nullopt;
    skip(" ");
    if (next() == ',') {
      ++at_;
      skip(" ");
      if (!read_address(command.to) || command.to.kind == Address::Kind::all) return std::nullopt;
    }
    skip(" ");
    if (next() == '!') command.negated = true, ++at_;
    skip(" ");
    command.what = next();
    ++at_;
    const bool fine = command.what == 's' ? read_substitution(command) : command.what == 'd';
    skip(" \t");
    if (!fine || (at_ < text_.size() && next() != ';' && next() != '\n')) return std::nullopt;
    return command;
  }

  bool read_address(Address& address) {
    const auto digits = text_.find_first_not_of("0123456789", at_);
    const std::string_view number = text_.substr(at_, digits - std::min(at_, digits));
    if (const auto line = parse_number<std::size_t>(number)) {
      address.kind = Address::Kind::number;
      address.number = *line;
      at_ += number.size();
    } else if (next() == '$') {
      address.kind = Address::Kind::last;
      ++at_;
    } else if (next() == '/' || next() == '\\') {
      if (next() == '\\') ++at_;
      const auto pattern = read_part(next());
      ++at_;
      address.kind = Address::Kind::pattern;
      if (pattern) address.pattern = compiled(*pattern, extended_, false);
      return address.pattern != nullptr;
    }
    return true;
  }

  /// From the mark at the reader's place to the next one, which the next part begins with.
  std::optional<std::string> read_part(char mark) {
    if (mark == '\0' || mark == '\n' || mark == '\\') return std::nullopt;
    std::string part;
    for (++at_; at_ < text_.size() && text_[at_] != mark; ++at_) {
      const bool escape = text_[at_] == '\\' && at_ + 1 < text_.size();
      if (escape && text_[at_ + 1] != mark) part += text_[at_];
      if (escape) ++at_;
      part += text_[at_];
    }
    if (at_ >= text_.size()) return std::nullopt;
    return part;
  }

  /// Behind the `s`; at its end stands what follows the flags.
  bool read_substitution(SedCommand& command) {
    const char mark = next();
    const auto pattern = read_part(mark);
    const auto by = pattern ? read_part(mark) : std::nullopt;
    if (!by) return false;
    bool any_case = false;
    for (++at_; at_ < text_.size() && std::string_view("gIi").contains(next()); ++at_) {
      command.all = command.all || next() == 'g';
      any_case = any_case || next() != 'g';
    }
    command.by = *by;
    command.pattern = compiled(*pattern, extended_, any_case);
    return command.pattern != nullptr;
  }

  std::string_view text_;
  std::size_t at_ = 0;
  bool extended_;
};

std::string_view group(const std::string& line, const Groups& groups, std::size_t index) {
  const regmatch_t& found = groups[index];
  if (found.rm_so < 0) return {};
  const auto begin = static_cast<std::size_t>(found.rm_so);
  return std::string_view(line).substr(begin, static_cast<std::size_t>(found.rm_eo) - begin);
}

/// The replacement with `&` and `\1` filled in.
void put(std::string& made, std::string_view by, const std::string& line, const Groups& groups) {
  for (std::size_t i = 0; i < by.size(); ++i) {
    const bool escape = by[i] == '\\' && i + 1 < by.size();
    const char mark = escape ? by[++i] : by[i];
    if (escape && mark >= '0' && mark <= '9') {
      made += group(line, groups, static_cast<std::size_t>(mark - '0'));
    } else if (!escape && mark == '&') {
      made += group(line, groups, 0);
    } else {
      made += escape && mark == 'n' ? '\n' : escape && mark == 't' ? '\t' : mark;
    }
  }
}

std::string substituted(const std::string& line, const SedCommand& command) {
  std::string rest = line;
  std::string made;
  Groups groups;
  bool first = true;
  while (regexec(command.pattern.get(), rest.c_str(), groups.size(), groups.data(),
                 first ? 0 : REG_NOTBOL) == 0) {
    made += rest.substr(0, static_cast<std::size_t>(groups[0].rm_so));
    put(made, command.by, rest, groups);
    const bool empty = groups[0].rm_eo == groups[0].rm_so;
    rest.erase(0, static_cast<std::size_t>(groups[0].rm_eo));
    first = false;
    if (!command.all || empty || rest.empty() || made.size() > most_output) break;
  }
  return made + rest;
}

}  // namespace

std::optional<std::string> edited(std::string_view text, std::span<const std::string> expressions,
                                  bool extended) {
  std::vector<SedCommand> commands;
  for (const std::string& expression : expressions) {
    if (!SedReader(expression, extended).read(commands)) return std::nullopt;
  }
  if (text.size() > most_output) return std::nullopt;
  const bool ended = text.ends_with('\n');
  if (ended) text.remove_suffix(1);
  const auto lines = split(text, '\n');
  std::string made;
  for (std::size_t at = 0; at < lines.size(); ++at) {
    std::string line(lines[at]);
    bool kept = true;
    for (SedCommand& command : commands) {
      const bool fits = line.size() <= most_line_bytes;
      if (!kept || !fits || !command.picks(line, at + 1, lines.size())) continue;
      kept = command.what != 'd';
      if (kept) line = substituted(line, command);
    }
    if (made.size() > most_output) return std::nullopt;
    if (kept) made += line + "\n";
  }
  if (!ended && !made.empty()) made.pop_back();
  return made;
}

}  // namespace schedmate::command
