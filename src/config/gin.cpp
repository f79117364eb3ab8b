// SPDX-License-Identifier: Apache-2.0
#include "config/gin.hpp"

#include <algorithm>

#include "base/text.hpp"
#include "config/places.hpp"

namespace schedmate::config {
namespace {

/// Follows quotes and brackets through a text.
class Nesting {
 public:
  /// False within a comment.
  bool take(char c) {
    if (quote_ != '\0') {
      if (escaped_ || c == '\\') {
        escaped_ = !escaped_;
      } else if (c == quote_) {
        quote_ = '\0';
      }
      return true;
    }
    if (c == '#') return false;
    if (c == '\'' || c == '"') quote_ = c;
    if (c == '(' || c == '[' || c == '{') ++depth_;
    if (c == ')' || c == ']' || c == '}') --depth_;
    return true;
  }
  void end_line() { quote_ = '\0', escaped_ = false; }
  [[nodiscard]] bool open() const { return depth_ > 0; }
  [[nodiscard]] bool plain() const { return depth_ == 0 && quote_ == '\0'; }

 private:
  int depth_ = 0;
  char quote_ = '\0';
  bool escaped_ = false;
};

/// The part of a line before its comment.
std::string_view without_comment(std::string_view line, Nesting& nesting) {
  for (std::size_t i = 0; i < line.size(); ++i) {
    if (!nesting.take(line[i])) return line.substr(0, i);
  }
  return line;
}

std::string_view unquoted(std::string_view text) {
  text = trim(text);
  const bool quoted =
      text.size() >= 2 && (text.front() == '\'' || text.front() == '"') && text.back() == text[0];
  return quoted ? text.substr(1, text.size() - 2) : text;
}

/// "a/b/module.function.parameter" in its parts; one name alone is a macro.
bool read_key(std::string_view key, GinStatement& out) {
  const bool good = !key.empty() && std::ranges::all_of(key, [](unsigned char c) {
    return std::isalnum(c) != 0 || c == '_' || c == '.' || c == '/';
  });
  if (!good) return false;
  if (const auto slash = key.rfind('/'); slash != std::string_view::npos) {
    out.scope = key.substr(0, slash);
    key.remove_prefix(slash + 1);
  }
  const auto dot = key.rfind('.');
  out.parameter = key.substr(dot == std::string_view::npos ? 0 : dot + 1);
  if (dot == std::string_view::npos) {
    out.kind = GinStatement::Kind::macro;
    return true;
  }
  const auto owner = key.substr(0, dot);
  out.selector = owner.substr(owner.rfind('.') + 1);
  // The older form of a macro.
  if (out.selector == "macro" && out.parameter == "value" && !out.scope.empty()) {
    out.kind = GinStatement::Kind::macro;
    out.parameter = std::move(out.scope);
    out.scope.clear();
  }
  return true;
}

}  // namespace

std::vector<GinStatement> parse_gin(std::string_view text, std::string_view file,
                                    const PlacePtr& given) {
  std::vector<GinStatement> all;
  Places places(text, file);
  Nesting nesting;
  std::string held, block;
  int number = 0, first = 1;
  for (const auto raw : split(text, '\n')) {
    ++number;
    const bool begins = trim(held).empty();
    if (begins) held.clear(), first = number;
    const bool indented = !raw.empty() && (raw.front() == ' ' || raw.front() == '\t');
    if (begins && !indented && !trim(raw).empty()) block.clear();
    std::string_view line = trim(without_comment(raw, nesting));
    nesting.end_line();
    const bool continued = line.ends_with('\\');
    if (continued) line.remove_suffix(1);
    held += (held.empty() ? "" : " ") + std::string(line);
    const auto whole = trim(std::string_view(held));
    if (nesting.open() || continued || whole.ends_with('=')) continue;
    GinStatement statement;
    statement.place = given ? given : places.at(first, 0);
    const auto equals = whole.find('=');
    if (whole.starts_with("include ")) {
      statement.kind = GinStatement::Kind::include;
      statement.value = unquoted(whole.substr(8));
      all.push_back(std::move(statement));
    } else if (equals == std::string_view::npos && whole.ends_with(':')) {
      block = std::string(whole.substr(0, whole.size() - 1)) + ".";
    } else if (equals != std::string_view::npos &&
               read_key(block + std::string(trim(whole.substr(0, equals))), statement)) {
      statement.value = trim(whole.substr(equals + 1));
      all.push_back(std::move(statement));
    }
    held.clear();
  }
  return all;
}

std::optional<std::vector<std::string_view>> gin_items(std::string_view text) {
  text = trim(text);
  const bool list = text.size() >= 2 && ((text.front() == '[' && text.back() == ']') ||
                                         (text.front() == '(' && text.back() == ')'));
  if (!list) return std::nullopt;
  text = text.substr(1, text.size() - 2);
  std::vector<std::string_view> items;
  Nesting nesting;
  std::size_t begin = 0;
  for (std::size_t i = 0; i <= text.size(); ++i) {
    const bool divides = i == text.size() || (text[i] == ',' && nesting.plain());
    if (!divides) {
      nesting.take(text[i]);
      continue;
    }
    if (const auto part = trim(text.substr(begin, i - begin)); !part.empty()) items.push_back(part);
    begin = i + 1;
  }
  return items;
}

}  // namespace schedmate::config
