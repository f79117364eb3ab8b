// SPDX-License-Identifier: Apache-2.0
#pragma once

/// A job's tree written out in a test: SmallTree files({{"conf/a.yaml", "x: 1\n"}}).

#include <fstream>
#include <initializer_list>
#include <utility>

#include "tests/support/scratch.hpp"
#include "tree/tree.hpp"

namespace schedmate::testing {

class SmallTree {
 public:
  using File = std::pair<std::string, std::string>;
  SmallTree(std::initializer_list<File> files) {
    for (const auto& [name, text] : files) {
      const std::filesystem::path path = folder_.path(name);
      std::filesystem::create_directories(path.parent_path());
      std::ofstream(path, std::ios::binary) << text;
    }
    auto opened = tree::Tree::open(folder_.path());
    if (!opened) std::abort();
    tree_ = std::make_unique<tree::Tree>(*std::move(opened));
  }
  tree::Tree& operator*() { return *tree_; }
  tree::Tree* operator->() { return tree_.get(); }

 private:
  Scratch folder_;
  std::unique_ptr<tree::Tree> tree_;
};

}  // namespace schedmate::testing
