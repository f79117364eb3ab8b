// SPDX-License-Identifier: Apache-2.0
#include "python/objects/source.hpp"

#include <algorithm>

#include "base/text.hpp"
#include "code/syntax.hpp"

namespace schedmate::python {
namespace {

/// Deeper nesting is left out: it is never written by hand, and evaluation recurses.
constexpr int deepest_syntax = 200;
/// Longer lines are cut in evidence.
constexpr std::size_t longest_place_text = 400;

struct Numbers {
  std::vector<Kind> kinds;    ///< by tree-sitter symbol
  std::vector<Field> fields;  ///< by tree-sitter field id
};

Numbers read_numbers() {
  constexpr std::array kinds = {
#define KIND(name, text) text,
#include "python/objects/kinds.inc"
#undef KIND
  };
  constexpr std::array fields = {
      "",
#define FIELD(name, text) text,
#include "python/objects/fields.inc"
#undef FIELD
  };
  const TSLanguage* language = tree_sitter_python();
  Numbers numbers;
  const auto symbols = ts_language_symbol_count(language);
  numbers.kinds.resize(symbols, Kind::other);
  for (std::uint32_t symbol = 0; symbol < symbols; ++symbol) {
    const std::string_view name = ts_language_symbol_name(language, static_cast<TSSymbol>(symbol));
    const auto found = std::ranges::find(kinds, name);
    const auto type = ts_language_symbol_type(language, static_cast<TSSymbol>(symbol));
    const bool named = type == TSSymbolTypeRegular || name == ":";
    if (found != kinds.end() && named)
      numbers.kinds[symbol] = static_cast<Kind>(found - kinds.begin());
  }
  numbers.fields.resize(ts_language_field_count(language) + 1, Field::none);
  for (std::uint32_t id = 1; id < numbers.fields.size(); ++id) {
    const std::string_view name =
        ts_language_field_name_for_id(language, static_cast<TSFieldId>(id));
    const auto found = std::ranges::find(fields, name);
    if (found != fields.end()) numbers.fields[id] = static_cast<Field>(found - fields.begin());
  }
  return numbers;
}

}  // namespace

struct Source::Builder {
  Source& source;
  const Numbers& numbers;
  TSTreeCursor cursor;

  [[nodiscard]] Code here() const {
    const TSNode node = ts_tree_cursor_current_node(&cursor);
    const auto symbol = ts_node_symbol(node);
    Code code;
    if (symbol < numbers.kinds.size()) code.kind = numbers.kinds[symbol];
    constexpr TSSymbol error = 0xFFFF;  // as tree-sitter numbers it
    if (symbol == error) code.kind = Kind::error;
    code.field = numbers.fields[ts_tree_cursor_current_field_id(&cursor)];
    code.line = static_cast<int>(ts_node_start_point(node).row) + 1;
    code.text = source.text_.substr(ts_node_start_byte(node),
                                    ts_node_end_byte(node) - ts_node_start_byte(node));
    code.source = &source;
    return code;
  }
  [[nodiscard]] bool wanted(const Code& code, Kind parent) const {
    const TSNode node = ts_tree_cursor_current_node(&cursor);
    if (ts_node_is_extra(node) && code.kind != Kind::error) return false;
    if (ts_node_is_named(node)) return true;
    return code.field != Field::none || (parent == Kind::slice && code.kind == Kind::colon);
  }
  /// The children of the node that the cursor is at.
  void fill(Code& code, int depth) {
    if (depth > deepest_syntax || !ts_tree_cursor_goto_first_child(&cursor)) return;
    std::vector<Code> children;
    do {
      Code child = here();
      if (!wanted(child, code.kind)) continue;
      if (child.kind != Kind::string_content) fill(child, depth + 1);
      children.push_back(child);
    } while (ts_tree_cursor_goto_next_sibling(&cursor));
    ts_tree_cursor_goto_parent(&cursor);
    if (children.empty()) return;
    code.children = source.arena_.emplace_back(std::move(children));
  }
};

Result<std::unique_ptr<Source>> Source::parse(std::string path, std::string_view text) {
  static const Numbers numbers = read_numbers();
  auto tree = code::SyntaxTree::parse(text, tree_sitter_python());
  if (!tree) return tl::unexpected(tree.error());
  auto made = std::make_unique<Source>();
  made->path_ = std::move(path);
  made->text_ = text;
  made->broken_ = tree->root().has_error();
  made->line_starts_.push_back(0);
  for (std::size_t at = text.find('\n'); at != std::string_view::npos; at = text.find('\n', at + 1))
    made->line_starts_.push_back(at + 1);
  made->places_.resize(made->line_starts_.size());
  Builder builder{*made, numbers, ts_tree_cursor_new(tree->root().raw())};
  made->root_ = builder.here();
  builder.fill(made->root_, 0);
  ts_tree_cursor_delete(&builder.cursor);
  return made;
}

Result<std::unique_ptr<Source>> Source::parse_text(std::string text, PlacePtr at) {
  auto kept = std::make_unique<const std::string>(std::move(text));
  auto made = parse(at ? at->file : std::string(), *kept);
  if (!made) return made;
  (*made)->own_text_ = std::move(kept);
  (*made)->at_ = std::move(at);
  return made;
}

PlacePtr Source::place(int line) const {
  if (at_) return at_;
  const auto index = static_cast<std::size_t>(std::max(line, 1) - 1);
  if (index >= places_.size()) return nullptr;
  if (!places_[index]) {
    const auto start = line_starts_[index];
    const auto end = index + 1 < line_starts_.size() ? line_starts_[index + 1] : text_.size();
    auto place = std::make_shared<Place>();
    place->file = path_;
    place->line = line;
    place->text = trim(text_.substr(start, end - start)).substr(0, longest_place_text);
    place->source = source;
    places_[index] = std::move(place);
  }
  return places_[index];
}

}  // namespace schedmate::python
