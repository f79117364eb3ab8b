// SPDX-License-Identifier: Apache-2.0
#pragma once

/// Opening beneath a folder and never outside it, whoever moves links meanwhile.
///
/// A path without links is opened in one step with openat2(RESOLVE_BENEATH | RESOLVE_NO_SYMLINKS |
/// RESOLVE_NO_MAGICLINKS). Where there is a link, or no openat2, the path is walked component by
/// component with O_NOFOLLOW, and the text of each link is followed by hand beneath the root. So
/// the path that an opened file really has is always known, and rules about names hold for it too.

#include <sys/stat.h>

#include <schedmate/result.hpp>
#include <string>
#include <string_view>

#include "base/descriptor.hpp"

namespace schedmate::tree {

struct Opened {
  Descriptor file;
  std::string path;  ///< without links, relative to the root
  struct stat status{};
};

class RootedFolder {
 public:
  enum class Want {
    look,  ///< what is there, whatever it is
    read,  ///< a regular file
    list,  ///< a folder
  };
  static constexpr int most_links = 40;   ///< followed for one path, as in the kernel
  static constexpr int most_parts = 256;  ///< of one path, links' text included

  /// Errors: not_found, refused (a link, no folder, a file system of the kernel, no rights).
  static Result<RootedFolder> open(const std::string& root);
  /// A folder that is open already; `name` is for errors. Errors: refused (a file system of the
  /// kernel).
  static Result<RootedFolder> at(const Descriptor& folder, const std::string& name);

  /// `path` is relative and has no "..", as join_path makes it. Errors: not_found; refused (a link
  /// leads outside, no rights, not what is wanted).
  [[nodiscard]] Result<Opened> open(std::string_view path, Want want) const;
  /// The same without openat2; for kernels that lack it and for tests.
  [[nodiscard]] Result<Opened> walk(std::string_view path, Want want) const;

  [[nodiscard]] int descriptor() const { return root_.number(); }
  [[nodiscard]] const std::string& place() const { return place_; }  ///< absolute, without links

 private:
  RootedFolder(Descriptor root, std::string place)
      : root_(std::move(root)), place_(std::move(place)) {}
  Descriptor root_;
  std::string place_;
};

}  // namespace schedmate::tree
