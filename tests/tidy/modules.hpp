// SPDX-License-Identifier: Apache-2.0
#pragma once

/// The modules of src/: as CMakeLists.txt declares them, and as their sources use each other. No
/// name of a module is written here; all are read from the tree.

#include <map>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "tests/tidy/tree.hpp"

namespace schedmate::tidy {

/// schedmate_module(NAME LINK ...) in the CMakeLists.txt at the root.
struct Module {
  std::string name;    ///< its folder beneath src/: "trace", "log/lines"
  std::string target;  ///< "schedmate_log_lines"
  int line = 0;
  /// Modules that it links, as they are called there: "schedmate_log_lines" is "log/lines". One
  /// that is not declared keeps its name as a target.
  std::vector<std::string> links;
};

/// In the order of their declaration, which is that of the layers, the lowest first.
[[nodiscard]] std::vector<Module> declared_modules(const Tree& tree);

/// "log/lines" for "src/log/lines/a.cpp"; "" for a file outside src/.
[[nodiscard]] std::string_view module_of(std::string_view path);

/// An #include that leads to a file of the tree.
struct Include {
  const File* file = nullptr;
  int line = 0;
  const File* target = nullptr;
};

/// The files of a tree with what they include.
class Includes {
 public:
  explicit Includes(const Tree& tree);
  [[nodiscard]] const std::vector<Include>& all() const { return all_; }
  /// Public headers that the file reads, those that others of its headers include among them.
  [[nodiscard]] std::set<const File*> public_headers(const File* file) const;

 private:
  [[nodiscard]] const File* resolved(const File& file, std::string_view target) const;

  std::map<std::string_view, const File*> files_;
  std::vector<Include> all_;
  std::multimap<const File*, const File*> targets_;
};

/// What the sources of one module, tests apart, use of another.
struct Use {
  int includes = 0;                      ///< #include lines
  std::set<std::string> public_headers;  ///< whose functions are called here and defined there
};
using Uses = std::map<std::string, std::map<std::string, Use>, std::less<>>;

[[nodiscard]] Uses uses_of_modules(const Tree& tree, const Includes& includes);

}  // namespace schedmate::tidy
