// SPDX-License-Identifier: Apache-2.0
#include "code/syntax.hpp"

namespace schedmate::code {
namespace {

struct DeleteParser {
  void operator()(TSParser* parser) const { ts_parser_delete(parser); }
};
struct DeleteCursor {
  TSTreeCursor cursor;
  ~DeleteCursor() { ts_tree_cursor_delete(&cursor); }
};

// One pass with a cursor: asking for child N by number is linear in N.
template <class Use>
void each_child(TSNode node, Use use) {
  DeleteCursor at{ts_tree_cursor_new(node)};
  if (!ts_tree_cursor_goto_first_child(&at.cursor)) return;
  do {
    use(ts_tree_cursor_current_node(&at.cursor), ts_tree_cursor_current_field_name(&at.cursor));
  } while (ts_tree_cursor_goto_next_sibling(&at.cursor));
}

}  // namespace

std::string_view Node::text() const { return text_.substr(begin(), end() - begin()); }

int Node::line() const { return *this ? static_cast<int>(ts_node_start_point(node_).row) + 1 : 0; }

Node Node::field(std::string_view name) const {
  if (!*this) return {};
  const auto length = static_cast<std::uint32_t>(name.size());
  const char* const start = name.data();  // goes with its length, needs no end
  return {ts_node_child_by_field_name(node_, start, length), text_};
}

std::vector<Node> Node::fields(std::string_view name) const {
  std::vector<Node> found;
  if (!*this) return found;
  each_child(node_, [&](TSNode child, const char* field) {
    if (field != nullptr && name == field) found.emplace_back(child, text_);
  });
  return found;
}

std::vector<Node> Node::children() const {
  std::vector<Node> found;
  if (!*this) return found;
  each_child(node_, [&](TSNode child, const char*) {
    const Node node(child, text_);
    if (ts_node_is_named(child) && !node.is("comment")) found.push_back(node);
  });
  return found;
}

std::vector<Node> Node::all_children() const {
  std::vector<Node> found;
  if (!*this) return found;
  each_child(node_, [&](TSNode child, const char*) { found.emplace_back(child, text_); });
  return found;
}

Node Node::child(std::size_t index) const {
  const auto all = children();
  return index < all.size() ? all[index] : Node();
}

Node Node::parent() const { return *this ? Node(ts_node_parent(node_), text_) : Node(); }

Result<SyntaxTree> SyntaxTree::parse(std::string_view text, const TSLanguage* language,
                                     std::uint64_t limit_us) {
  const std::unique_ptr<TSParser, DeleteParser> parser(ts_parser_new());
  if (!ts_parser_set_language(parser.get(), language))
    return fail(ErrorCode::invalid, "the grammar and the parser library have different versions");
  ts_parser_set_timeout_micros(parser.get(), limit_us);
  SyntaxTree made;
  made.text_ = text;
  made.tree_.reset(ts_parser_parse_string(parser.get(), nullptr, text.data(),
                                          static_cast<std::uint32_t>(text.size())));
  if (!made.tree_) return fail(ErrorCode::timeout, "parsing took too long: nested too deeply");
  return made;
}

}  // namespace schedmate::code
