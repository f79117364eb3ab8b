// SPDX-License-Identifier: Apache-2.0
#pragma once

/// Syntax trees of Python code: a thin, owning face of tree-sitter. A node is good as
/// long as its tree and text are. Broken code still gives a tree; `has_error` says so.

#include <tree_sitter/api.h>

#include <memory>
#include <schedmate/result.hpp>
#include <string_view>
#include <vector>

extern "C" {
const TSLanguage* tree_sitter_python();
}

namespace schedmate::code {

class Node {
 public:
  Node() = default;
  Node(TSNode node, std::string_view text) : node_(node), text_(text) {}

  explicit operator bool() const { return node_.id != nullptr && !ts_node_is_null(node_); }
  /// Grammar name such as "call" or "if_statement"; "" for no node.
  [[nodiscard]] std::string_view type() const { return *this ? ts_node_type(node_) : ""; }
  [[nodiscard]] bool is(std::string_view name) const { return type() == name; }
  [[nodiscard]] bool has_error() const { return *this && ts_node_has_error(node_); }
  [[nodiscard]] std::string_view text() const;
  [[nodiscard]] int line() const;  ///< 1-based
  [[nodiscard]] std::size_t begin() const { return *this ? ts_node_start_byte(node_) : 0; }
  [[nodiscard]] std::size_t end() const { return *this ? ts_node_end_byte(node_) : 0; }
  /// The child in a named field of the grammar; no node when absent.
  [[nodiscard]] Node field(std::string_view name) const;
  /// All children in that field, in order.
  [[nodiscard]] std::vector<Node> fields(std::string_view name) const;
  [[nodiscard]] std::vector<Node> children() const;      ///< named ones, comments left out
  [[nodiscard]] std::vector<Node> all_children() const;  ///< keywords and marks too
  [[nodiscard]] Node child(std::size_t index) const;     ///< of children()
  [[nodiscard]] Node parent() const;
  /// Same for equal nodes of one tree: a key for maps.
  [[nodiscard]] const void* id() const { return node_.id; }
  /// For readers that walk with a cursor of their own.
  [[nodiscard]] TSNode raw() const { return node_; }

 private:
  TSNode node_{};
  std::string_view text_;
};

class SyntaxTree {
 public:
  /// Parses within `limit_us` microseconds. Errors: timeout (too deep or too large),
  /// invalid (the grammar does not load). `text` has to outlive the tree.
  static Result<SyntaxTree> parse(std::string_view text, const TSLanguage* language,
                                  std::uint64_t limit_us = 2'000'000);
  [[nodiscard]] Node root() const { return {ts_tree_root_node(tree_.get()), text_}; }

 private:
  struct Delete {
    void operator()(TSTree* tree) const { ts_tree_delete(tree); }
  };
  std::unique_ptr<TSTree, Delete> tree_;
  std::string_view text_;
};

}  // namespace schedmate::code
