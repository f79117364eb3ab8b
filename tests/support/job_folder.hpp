// SPDX-License-Identifier: Apache-2.0
#pragma once

/// A job's folder for one test: files, folders and links by name.

#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <string_view>

#include "tests/support/scratch.hpp"

namespace schedmate::testing {

class JobFolder {
 public:
  [[nodiscard]] std::string path(const std::string& name = "") const { return scratch_.path(name); }

  /// Makes the folders it needs; gives the absolute path.
  std::string write(const std::string& name, std::string_view text) const {
    const std::filesystem::path place = path(name);
    std::filesystem::create_directories(place.parent_path());
    std::ofstream(place, std::ios::binary) << text;
    return place.string();
  }
  std::string folder(const std::string& name) const {
    std::filesystem::create_directories(path(name));
    return path(name);
  }
  void link(const std::string& target, const std::string& name) const {
    const std::filesystem::path place = path(name);
    std::filesystem::create_directories(place.parent_path());
    std::filesystem::create_symlink(target, place);
  }
  [[nodiscard]] std::string read(const std::string& name) const {
    std::ifstream in(path(name), std::ios::binary);
    return {std::istreambuf_iterator<char>(in), {}};
  }

 private:
  Scratch scratch_;
};

}  // namespace schedmate::testing
