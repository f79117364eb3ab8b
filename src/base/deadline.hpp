// SPDX-License-Identifier: Apache-2.0
#pragma once

/// A bound on how long this process waits for another. The kernel counts the time: nothing reads a
/// clock here, and a change of the machine's time moves no deadline.

#include <chrono>
#include <cstddef>
#include <initializer_list>
#include <optional>

#include "base/descriptor.hpp"

namespace schedmate {

class Deadline {
 public:
  /// Passes `from_now` after this call.
  explicit Deadline(std::chrono::nanoseconds from_now);

  /// Also true when the kernel gave no timer: whoever waits then gives up at once.
  [[nodiscard]] bool passed() const;
  /// Waits until `file` can be read, or is closed at its other end; false when the deadline passes
  /// before that.
  [[nodiscard]] bool wait_readable(int file) const;
  /// The same, until it can be written.
  [[nodiscard]] bool wait_writable(int file) const;
  /// As wait_readable(), for the first of several; gives its index.
  [[nodiscard]] std::optional<std::size_t> first_readable(std::initializer_list<int> files) const;

 private:
  [[nodiscard]] std::optional<std::size_t> first(std::initializer_list<int> files,
                                                 short event) const;
  Descriptor timer_;
};

}  // namespace schedmate
