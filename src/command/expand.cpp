// SPDX-License-Identifier: Apache-2.0
#include "command/expand.hpp"

#include <algorithm>

#include "base/text.hpp"
#include "command/paths.hpp"
#include "command/pattern.hpp"

namespace schedmate::command {
namespace {

constexpr int deepest_expansion = 40;

char escape_of(char c) {
  switch (c) {
    case 'n':
      return '\n';
    case 't':
      return '\t';
    case 'r':
      return '\r';
    default:
      return c;
  }
}

/// Inside of $'...'.
std::string with_escapes(std::string_view text) {
  std::string made;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const bool escape = text[i] == '\\' && i + 1 < text.size();
    made += escape ? escape_of(text[++i]) : text[i];
  }
  return made;
}

std::string_view inside(std::string_view text, std::size_t begin, std::size_t end) {
  return text.substr(begin, end > begin ? end - begin - 1 : 0);
}

}  // namespace

void Expander::add_literal(std::string text, Quoting quoting, Parts& into) {
  const Origin origin = quoting == Quoting::none ? Origin::literal : Origin::quoted;
  const bool merges = !into.empty() && into.back().origin == origin && into.back().piece.known &&
                      into.back().piece.place == use_;
  if (merges) {
    into.back().piece.text += text;
  } else {
    into.push_back({{std::move(text), use_, true}, origin});
  }
}

/// Text of the script itself: where it goes over several lines, each keeps its own place.
void Expander::add_lines(std::string_view text, Quoting quoting, Parts& into) {
  if (!several_lines_ || !around_.place_of) return add_literal(std::string(text), quoting, into);
  const PlacePtr use = use_;
  for (const std::string_view line : whole_lines(text)) {
    if (PlacePtr own = around_.place_of(line)) use_ = std::move(own);
    add_literal(std::string(line), quoting, into);
  }
  use_ = use;
}

void Expander::add(const Text& text, Quoting quoting, Parts& into) {
  const Origin origin = quoting == Quoting::none ? Origin::expanded : Origin::quoted;
  for (const auto& piece : text) into.push_back({piece, origin});
}

std::size_t Expander::dollar(std::string_view raw, std::size_t at, Quoting quoting, Parts& into) {
  Scanner scanner(raw);
  const char next = at + 1 < raw.size() ? raw[at + 1] : '\0';
  if (raw.substr(at).starts_with("$((")) {
    const std::size_t end = scanner.unit(at);
    const auto inner = raw.substr(at + 3, end >= at + 5 ? end - at - 5 : 0);
    const auto value = number(inner, use_);
    const std::string as_written(raw.substr(at, end - at));
    add(value ? literal(std::to_string(*value), use_) : unknown(as_written, use_), quoting, into);
    return end;
  }
  if (next == '(') {
    const std::size_t end = scanner.unit(at);
    add(around_.output_of(inside(raw, at + 2, end), use_), quoting, into);
    return end;
  }
  if (next == '{') {
    const std::size_t end = scanner.unit(at);
    parameter(inside(raw, at + 2, end), raw.substr(at, end - at), quoting, into);
    return end;
  }
  if (quoting == Quoting::none && (next == '\'' || next == '"')) {
    const std::size_t end = scanner.unit(at);
    const auto inner = inside(raw, at + 2, end);
    if (next == '"') {
      walk(inner, Quoting::quotes, into);
    } else {
      add_literal(with_escapes(inner), Quoting::quotes, into);
    }
    return end;
  }
  std::size_t length = name_length(raw.substr(at + 1));
  if (length == 0 && std::string_view("@*#?$!-0123456789").contains(next) && next != '\0')
    length = 1;
  if (length == 0) {
    add_literal("$", quoting, into);
    return at + 1;
  }
  parameter(raw.substr(at + 1, length), raw.substr(at, length + 1), quoting, into);
  return at + 1 + length;
}

void Expander::walk(std::string_view raw, Quoting quoting, Parts& into) {
  if (++depth_ > deepest_expansion) {
    into.push_back({{std::string(raw), use_, false}, Origin::quoted});
    --depth_;
    return;
  }
  Scanner scanner(raw);
  for (std::size_t at = 0; at < raw.size();) {
    const char c = raw[at];
    if (c == '\\') {
      const char next = at + 1 < raw.size() ? raw[at + 1] : '\\';
      const bool special = quoting == Quoting::none || std::string_view("$`\\\n").contains(next) ||
                           (next == '"' && quoting == Quoting::quotes);
      if (!special) add_literal("\\", quoting, into);
      if (next != '\n') add_literal({next}, Quoting::quotes, into);
      at += 2;
    } else if (c == '\'' && quoting == Quoting::none) {
      const std::size_t end = scanner.unit(at);
      add_lines(inside(raw, at + 1, end), Quoting::quotes, into);
      at = end;
    } else if (c == '"' && quoting != Quoting::here_document) {
      const std::size_t end = scanner.unit(at);
      add_literal("", Quoting::quotes, into);
      walk(inside(raw, at + 1, end), Quoting::quotes, into);
      at = end;
    } else if (c == '`') {
      const std::size_t end = scanner.unit(at);
      add(around_.output_of(with_escapes(inside(raw, at + 1, end)), use_), quoting, into);
      at = end;
    } else if (c == '$') {
      at = dollar(raw, at, quoting, into);
    } else if (quoting == Quoting::none && at + 1 < raw.size() && raw[at + 1] == '(' &&
               (c == '<' || c == '>')) {
      into.push_back({{std::string(raw), use_, false}, Origin::quoted});
      at = raw.size();
    } else if (quoting == Quoting::none && c == '~' && at == 0 &&
               (raw.size() == 1 || raw[1] == '/')) {
      into.push_back({{"~", use_, false}, Origin::quoted});
      ++at;
    } else {
      const std::size_t end = std::min(raw.find_first_of("\\'\"`$<>", at + 1), raw.size());
      add_lines(raw.substr(at, end - at), quoting, into);
      at = end;
    }
  }
  --depth_;
}

std::vector<Expander::Parts> Expander::fields_of(const Parts& parts) {
  std::vector<Parts> made;
  bool open = false;
  const auto put = [&](Part part) {
    if (!open) made.emplace_back();
    open = true;
    made.back().push_back(std::move(part));
  };
  for (const auto& part : parts) {
    if (part.starts_field) open = false;
    if (part.origin != Origin::expanded || !part.piece.known) {
      put(part);
      continue;
    }
    const std::string_view text = part.piece.text;
    constexpr std::string_view blanks = " \t\n";
    for (std::size_t at = 0; at < text.size();) {
      const std::size_t begin = text.find_first_not_of(blanks, at);
      if (begin != at) open = false;
      if (begin == std::string_view::npos) break;
      at = std::min(text.find_first_of(blanks, begin), text.size());
      put({{std::string(text.substr(begin, at - begin)), part.piece.place, true}, part.origin});
    }
  }
  return made;
}

Text Expander::text_of(const Parts& parts) {
  Text text;
  for (const auto& part : parts) append(text, {part.piece});
  return text;
}

std::vector<Text> Expander::with_files(const Parts& field) {
  Text text = text_of(field);
  std::string pattern;
  bool wild = false;
  for (const auto& part : field) {
    const bool quoted = part.origin == Origin::quoted;
    pattern += quoted ? escaped_pattern(part.piece.text) : part.piece.text;
    wild = wild || (!quoted && has_pattern_marks(part.piece.text));
  }
  if (!wild || !known(text)) return {text};
  std::vector<Text> found;
  for (auto& path : matching_paths(around_.tree, around_.state.cwd, pattern))
    found.push_back(literal(std::move(path), place_of(text)));
  if (!found.empty()) return found;
  // Files that only exist when the job runs may match; brackets alone are mostly no pattern.
  const bool may_match = pattern.find_first_of("*?") != std::string::npos;
  if (may_match) text = unknown(written(text), place_of(text));
  return {text};
}

std::vector<Text> Expander::fields(std::string_view raw, const PlacePtr& use) {
  use_ = use;
  several_lines_ = raw.contains('\n');
  std::vector<Text> made;
  for (const auto& word : expand_braces(raw)) {
    Parts parts;
    // Without braces it is the script's own text, whose places are known.
    walk(word == raw ? raw : std::string_view(word), Quoting::none, parts);
    for (const auto& field : fields_of(parts)) {
      auto texts = with_files(field);
      std::ranges::move(texts, std::back_inserter(made));
    }
  }
  return made;
}

Text Expander::single(std::string_view raw, const PlacePtr& use) {
  use_ = use;
  several_lines_ = raw.contains('\n');
  Parts parts;
  walk(raw, Quoting::none, parts);
  for (std::size_t i = 1; i < parts.size(); ++i) {
    if (parts[i].starts_field) parts[i].piece.text.insert(0, " ");
  }
  return text_of(parts);
}

Text Expander::pattern(std::string_view raw, const PlacePtr& use) {
  use_ = use;
  return operand_pattern(raw);
}

Text Expander::operand_pattern(std::string_view raw) {
  Parts parts;
  walk(raw, Quoting::none, parts);
  for (auto& part : parts) {
    if (part.origin == Origin::quoted) part.piece.text = escaped_pattern(part.piece.text);
  }
  return text_of(parts);
}

Text Expander::here_document(std::string_view raw, const PlacePtr& use) {
  use_ = use;
  Parts parts;
  walk(raw, Quoting::here_document, parts);
  return text_of(parts);
}

}  // namespace schedmate::command
