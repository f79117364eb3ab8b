// SPDX-License-Identifier: Apache-2.0
#pragma once

/// Folders of the program's own state on a share whose server may be gone. Whoever asks such a file
/// system waits inside the kernel, where nothing ends him, and a process does not end before all of
/// its threads have: so the program goes on in a child, and its parent stays off the share. Other
/// children ask the file system now and then, by doing what the program does there; when one gets
/// no answer, the parent leaves all of them behind and ends with an error. The disks and memory of
/// this machine are not watched, and cost nothing (base/mounts.hpp).

#include <optional>
#include <schedmate/result.hpp>
#include <string>
#include <vector>

namespace schedmate {

class FolderWatch {
 public:
  /// Keeps those folders that lie on a file system that may hang; they need not exist.
  explicit FolderWatch(const std::vector<std::string>& folders);

  [[nodiscard]] bool needed() const { return !folders_.empty(); }
  /// Waits for one answer of each. In a folder of one's own that is there the file ".answers" is
  /// made and removed. Errors: timeout.
  [[nodiscard]] Result<void> ask() const;
  /// Nothing in the child, which goes on as the program and loses its standard streams when it is
  /// left behind. In the parent, when the child has ended: its exit code (128 + the number of a
  /// signal). Errors: timeout, in the parent; unavailable (no child). While there is one thread.
  [[nodiscard]] Result<std::optional<int>> go_on_in_child() const;

 private:
  [[nodiscard]] tl::unexpected<Error> no_answer(std::size_t answered) const;
  /// False: the child at this socket has ended meanwhile (-1: there is none).
  [[nodiscard]] Result<bool> ask_beside(int child) const;
  [[nodiscard]] Result<void> watch(int child) const;
  std::vector<std::string> folders_;
};

}  // namespace schedmate
