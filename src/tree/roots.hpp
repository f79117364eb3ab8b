// SPDX-License-Identifier: Apache-2.0
#pragma once

/// Names that the tree's folders have elsewhere: "/scratch/ann/proj" for ".", where the job's owner
/// wrote the command.

#include <map>
#include <optional>
#include <schedmate/result.hpp>
#include <string>
#include <string_view>

namespace schedmate::tree {

class RootNames {
 public:
  /// `as` is an absolute path, `folder` one relative to the root.
  void add(std::string_view as, std::string_view folder);
  [[nodiscard]] bool empty() const { return names_.empty(); }
  /// A path below one of the names as a path relative to the root.
  [[nodiscard]] std::optional<std::string> inside(std::string_view path) const;
  /// The text with each name as `mark` and the folder: "--config=/scratch/ann/proj/a.yaml".
  [[nodiscard]] std::string replaced(std::string_view text, std::string_view mark) const;

 private:
  /// The longest name that `path` lies below.
  [[nodiscard]] const std::pair<const std::string, std::string>* match(std::string_view path) const;
  std::map<std::string, std::string, std::less<>> names_;
};

}  // namespace schedmate::tree
