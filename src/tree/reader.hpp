// SPDX-License-Identifier: Apache-2.0
#pragma once

/// A job's tree for a child that reads it: the root is opened as base/foreign_file.hpp says before
/// the child begins, and the child has the rights that it was opened with. Whatever is renamed
/// meanwhile, the child reads beneath that folder.

#include "base/foreign_file.hpp"
#include "tree/confine.hpp"
#include "tree/tree.hpp"

namespace schedmate::tree {

class TreeReader {
 public:
  /// `base` with the reader's identity. Errors: as ForeignFile::open for a folder.
  static Result<TreeReader> open(const std::string& root, const Identity& who,
                                 Confinement base = {},
                                 std::chrono::milliseconds answer = ReadBudget().answer);

  /// For run_confined().
  [[nodiscard]] const Confinement& confinement() const { return confinement_; }
  /// In the child. Errors: as Tree::open.
  [[nodiscard]] Result<Tree> tree(TreeLimits limits = {}) const;

 private:
  TreeReader(std::string root, ForeignFile folder, Confinement confinement)
      : root_(std::move(root)), folder_(std::move(folder)), confinement_(std::move(confinement)) {}
  std::string root_;
  ForeignFile folder_;
  Confinement confinement_;
};

}  // namespace schedmate::tree
