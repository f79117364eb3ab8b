// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include "agent/binding.hpp"
#include "base/text.hpp"

namespace schedmate::agent {
namespace {

constexpr std::size_t most_line = 4000;
constexpr std::size_t most_bindings = 200'000;

/// The line without its comment: '#' (and "//" in JSON) at a word's start, outside quotes.
std::string_view without_comment(std::string_view line) {
  char quote = 0;
  for (std::size_t i = 0; i < line.size(); ++i) {
    const char c = line[i];
    if (quote != 0) {
      if (c == '\\')
        ++i;
      else if (c == quote)
        quote = 0;
      continue;
    }
    if (c == '"' || c == '\'') quote = c;
    const bool word_start = i == 0 || line[i - 1] == ' ' || line[i - 1] == '\t' ||
                            line[i - 1] == ',' || line[i - 1] == ';' || line[i - 1] == '{';
    if (word_start && (c == '#' || (c == ';' && trim(line.substr(0, i)).empty()))) {
      return line.substr(0, i);
    }
    if (word_start && c == '/' && line.substr(i, 2) == "//") return line.substr(0, i);
  }
  return line;
}

std::string unquoted(std::string_view word) {
  if (word.size() >= 2 && (word.front() == '"' || word.front() == '\'') &&
      word.back() == word.front()) {
    word = word.substr(1, word.size() - 2);
  }
  return std::string(word);
}

std::size_t indent_of(std::string_view line) {
  return std::min(line.find_first_not_of(" -\t"), line.size());
}

/// The owner of a dotted key, and the key itself: "model.optimizer.lr" -> "model.optimizer", "lr".
void split_key(Binding& binding) {
  const std::size_t dot = binding.key.rfind('.');
  if (dot == std::string::npos || binding.key.starts_with('-')) return;
  binding.owner = binding.key.substr(0, dot);
  binding.key.erase(0, dot + 1);
}

class ConfigReader {
 public:
  Bindings read(std::string_view text) {
    for (const std::string_view raw : split(text, '\n')) {
      ++line_;
      if (found_.size() > most_bindings) break;
      const std::string_view line = without_comment(raw.substr(0, most_line));
      if (trim(line).empty() || in_comment_block(raw)) continue;
      take(line);
    }
    return std::move(found_);
  }

 private:
  struct Level {
    std::size_t indent;
    std::string key;
    bool prose;  ///< a block scalar: the lines below are one text
  };

  bool in_comment_block(std::string_view line) {
    const bool was = comment_block_;
    const std::size_t opened = line.rfind("/*");
    const std::size_t closed = line.rfind("*/");
    if (opened != std::string_view::npos || closed != std::string_view::npos) {
      comment_block_ =
          closed == std::string_view::npos || (opened != std::string_view::npos && opened > closed);
      return true;
    }
    return was;
  }

  void take(std::string_view line) {
    const std::size_t indent = indent_of(line);
    while (!levels_.empty() && levels_.back().indent >= indent) levels_.pop_back();
    if (!levels_.empty() && levels_.back().prose) return;
    const std::string_view body = trim(line);
    if (body.starts_with('[') && body.ends_with(']') && body.find(',') == std::string_view::npos) {
      section_ = body.substr(1, body.size() - 2);
      return;
    }
    owners_.assign(1, levels_.empty() ? section_ : levels_.back().key);
    last_key_.clear();
    at_ = indent;
    line_text_ = line;
    while (at_ < line.size()) step();
    if (last_key_.empty()) return;
    const char end = body.back();
    const std::size_t mark = body.find_last_of("|>");
    const bool prose = mark != std::string_view::npos && body.size() - mark <= 3 && mark > 0 &&
                       (body[mark - 1] == ' ' || body[mark - 1] == ':');
    const bool opens = end == ':' || end == '{' || end == '[' || prose;
    if (opens) levels_.push_back({indent, last_key_, prose});
  }

  /// One mark, or one `key: value`.
  void step() {
    const char c = line_text_[at_];
    if (c == '{' || c == '(') owners_.push_back(last_key_.empty() ? owners_.back() : last_key_);
    if ((c == '}' || c == ')') && owners_.size() > 1) owners_.pop_back();
    if (std::string_view(" \t,{}[]()-:=\r").find(c) != std::string_view::npos) {
      ++at_;
      return;
    }
    const std::string word = unquoted(next_word(":=,{}[]() \t\r"));
    const std::size_t after = line_text_.find_first_not_of(" \t", at_);
    const bool is_key =
        after != std::string_view::npos && (line_text_[after] == ':' || line_text_[after] == '=');
    if (!is_key) return;
    at_ = after + 1;
    last_key_ = word;
    const std::size_t value = line_text_.find_first_not_of(" \t", at_);
    if (value == std::string_view::npos || line_text_[value] == '{') return;
    at_ = value;
    add(word);
  }

  void add(const std::string& key) {
    if (line_text_[at_] == '[') ++at_;
    const std::size_t before = at_;
    const std::string value = unquoted(trim(next_word(",}])\r")));
    if (at_ == before) return;
    Binding binding{.key = key,
                    .owner = owners_.back(),
                    .values = {value},
                    .callee = {},
                    .key_line = line_,
                    .value_line = line_,
                    .where = levels_where(),
                    .chosen_by = {}};
    split_key(binding);
    found_.push_back(std::move(binding));
  }

  /// Up to one of the marks, quotes respected.
  std::string_view next_word(std::string_view marks) {
    const std::size_t start = at_;
    char quote = 0;
    for (; at_ < line_text_.size(); ++at_) {
      const char c = line_text_[at_];
      if (quote != 0) {
        if (c == '\\')
          ++at_;
        else if (c == quote)
          quote = 0;
      } else if ((c == '"' || c == '\'') && at_ == start) {
        quote = c;
      } else if (marks.find(c) != std::string_view::npos) {
        break;
      }
    }
    at_ = std::min(at_, line_text_.size());
    return line_text_.substr(start, at_ - start);
  }

  [[nodiscard]] std::string levels_where() const {
    std::string where = section_;
    for (const Level& level : levels_) where += ' ' + level.key;
    return where;
  }

  Bindings found_;
  std::vector<Level> levels_;
  std::vector<std::string> owners_;
  std::string section_, last_key_;
  std::string_view line_text_;
  std::size_t at_ = 0;
  int line_ = 0;
  bool comment_block_ = false;
};

std::vector<std::string> shell_words(std::string_view line) {
  std::vector<std::string> words;
  std::string word;
  bool inside = false;
  char quote = 0;
  for (const char c : line) {
    if (quote == 0 && (c == ' ' || c == '\t' || c == '\r' || c == ';')) {
      if (inside) words.push_back(std::move(word));
      word.clear();
      inside = false;
      continue;
    }
    inside = true;
    if (quote != 0 && c == quote)
      quote = 0;
    else if (quote == 0 && (c == '"' || c == '\''))
      quote = c;
    else
      word += c;
  }
  if (inside) words.push_back(std::move(word));
  return words;
}

class ShellReader {
 public:
  Bindings read(std::string_view text) {
    for (const std::string_view raw : split(text, '\n')) {
      ++line_;
      if (found_.size() > most_bindings) break;
      if (!sleeping_until_.empty()) {
        if (trim(raw) == sleeping_until_) sleeping_until_.clear();
        continue;
      }
      const std::string_view line = trim(without_comment(raw.substr(0, most_line)));
      if (puts_to_sleep(line)) continue;
      take(shell_words(line));
    }
    return std::move(found_);
  }

 private:
  /// `: <<'END'` up to END: the usual way to comment out a block.
  bool puts_to_sleep(std::string_view line) {
    if (!line.starts_with(':') || line.find("<<") == std::string_view::npos) return false;
    sleeping_until_ = unquoted(trim(line.substr(line.find("<<") + 2)));
    return true;
  }

  void take(const std::vector<std::string>& words) {
    if (!words.empty() && (words[0] == "echo" || words[0] == "printf")) return;
    for (std::size_t i = 0; i < words.size(); ++i) {
      const std::string& word = words[i];
      const std::size_t equals = word.find('=');
      if (equals != std::string::npos && equals > 0) {
        add(word.substr(0, equals), word.substr(equals + 1));
      } else if (word.starts_with('-') && word.size() > 1) {
        const bool has_value = i + 1 < words.size() && !words[i + 1].starts_with("--");
        add(word, has_value ? words[i + 1] : "true");
      }
    }
  }

  void add(std::string key, std::string value) {
    while (key.starts_with('+')) key.erase(0, 1);
    Binding binding{.key = std::move(key),
                    .owner = {},
                    .values = {std::move(value)},
                    .callee = {},
                    .key_line = line_,
                    .value_line = line_,
                    .where = {},
                    .chosen_by = {}};
    split_key(binding);
    found_.push_back(std::move(binding));
  }

  Bindings found_;
  std::string sleeping_until_;
  int line_ = 0;
};

}  // namespace

Bindings config_bindings(std::string_view text) { return ConfigReader().read(text); }

Bindings shell_bindings(std::string_view text) { return ShellReader().read(text); }

}  // namespace schedmate::agent
