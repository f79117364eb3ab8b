// SPDX-License-Identifier: Apache-2.0
#pragma once

/// A Python file as a compact tree for the interpreter: kinds and fields are small numbers,
/// children stand side by side, and each line has one shared Place. Made from tree-sitter's tree in
/// one pass.

#include <array>
#include <deque>
#include <memory>
#include <span>

#include "python/objects/kinds.hpp"
#include "python/objects/value_names.hpp"
#include "tree/tree.hpp"

namespace schedmate::python {

class Source;

struct Code {
  Kind kind = Kind::other;
  Field field = Field::none;
  int line = 0;
  std::string_view text;
  std::span<const Code> children;  ///< named ones without comments, and marks that have a field
  const Source* source = nullptr;

  [[nodiscard]] const Code* get(Field wanted) const {
    for (const Code& child : children) {
      if (child.field == wanted) return &child;
    }
    return nullptr;
  }
  [[nodiscard]] const Code* first() const { return children.empty() ? nullptr : children.data(); }
};

class Source {
 public:
  /// `text` has to outlive the source. Errors: timeout, invalid.
  static Result<std::unique_ptr<Source>> parse(std::string path, std::string_view text);
  /// The same with a text of its own (exec of a text); its places are those of `at`.
  static Result<std::unique_ptr<Source>> parse_text(std::string text, PlacePtr at);

  [[nodiscard]] const Code& root() const { return root_; }
  [[nodiscard]] const std::string& path() const { return path_; }
  [[nodiscard]] bool broken() const { return broken_; }
  /// The place of a line, one object per line.
  [[nodiscard]] PlacePtr place(int line) const;
  FactSource source = FactSource::code;  ///< what its places say

 private:
  struct Builder;
  std::string path_;
  std::unique_ptr<const std::string> own_text_;
  std::string_view text_;
  PlacePtr at_;
  Code root_;
  std::deque<std::vector<Code>> arena_;
  bool broken_ = false;
  std::vector<std::size_t> line_starts_;
  mutable std::vector<PlacePtr> places_;
};

}  // namespace schedmate::python
