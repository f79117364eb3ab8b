// SPDX-License-Identifier: Apache-2.0
#pragma once

/// What is new in a file that others write to, rotate and truncate.

#include <cstdint>
#include <functional>
#include <optional>
#include <schedmate/file_access.hpp>
#include <string>
#include <string_view>

#include "base/foreign_file.hpp"

namespace schedmate::lines {

class GrownFile {
 public:
  /// Of what stands in the file at first only the last `tail_bytes` are taken; so it is when it has
  /// grown by more than `most_at_once` since the last look.
  GrownFile(ForeignPath path, std::uint64_t tail_bytes)
      : path_(std::move(path)), tail_bytes_(tail_bytes) {}
  static constexpr std::uint64_t most_at_once = std::uint64_t{1} << 22U;

  /// Gives the new bytes, piece by piece, and says whether there were any. `restarted` is called
  /// before those of another file, or of this one after it was cut. What cannot be read is silence:
  /// it may come back. Reads no more than `most_at_once`, however fast the file grows.
  bool read(const std::function<void(std::string_view)>& take,
            const std::function<void()>& restarted);

 private:
  bool open();
  bool take_rest(const std::function<void(std::string_view)>& take,
                 const std::function<void()>& restarted);
  [[nodiscard]] bool was_replaced();

  ForeignPath path_;
  std::uint64_t tail_bytes_;
  std::optional<ForeignFile> file_;
  std::uint64_t offset_ = 0;
  std::string buffer_;
};

}  // namespace schedmate::lines
