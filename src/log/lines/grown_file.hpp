// SPDX-License-Identifier: Apache-2.0
#pragma once

/// What is new in a file that others write to, rotate and truncate.

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>

namespace schedmate::lines {

class GrownFile {
 public:
  /// Of what stands in the file at first only the last `tail_bytes` are taken.
  GrownFile(std::string path, std::uint64_t tail_bytes)
      : path_(std::move(path)), tail_bytes_(tail_bytes) {}
  GrownFile(const GrownFile&) = delete;
  GrownFile& operator=(const GrownFile&) = delete;
  ~GrownFile();

  /// Gives the new bytes, piece by piece, and says whether there were any. `restarted` is called
  /// before those of another file, or of this one after it was cut. What cannot be read is silence:
  /// it may come back.
  bool read(const std::function<void(std::string_view)>& take,
            const std::function<void()>& restarted);

 private:
  bool open();
  bool take_rest(const std::function<void(std::string_view)>& take);
  [[nodiscard]] bool was_replaced() const;
  void close();

  std::string path_;
  std::uint64_t tail_bytes_;
  int file_ = -1;
  std::uint64_t offset_ = 0;
  std::string buffer_;
};

}  // namespace schedmate::lines
