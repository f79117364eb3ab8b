// SPDX-License-Identifier: Apache-2.0
#pragma once

/// The kernel's log as it grows: /dev/kmsg, or a file of its text.

#include <chrono>
#include <memory>
#include <string>

#include "base/descriptor.hpp"
#include "log/lines/grown_file.hpp"
#include "probe/kernel_sifter.hpp"

namespace schedmate::probe {

class KernelSource {
 public:
  /// What stands in the log at first is read, too: all of /dev/kmsg, of a file its end where
  /// `from_before`.
  KernelSource(std::string path, bool from_before);

  struct Now {
    std::int64_t wall_s = 0;
    std::chrono::nanoseconds monotonic{};  ///< the clock of the kernel's stamps
  };
  /// What is new. A log that cannot be read is tried again each time.
  void read(KernelSifter& sifter, const Now& now);
  /// Why it cannot be read, "" = it can.
  [[nodiscard]] const std::string& error() const { return error_; }

 private:
  void read_records(KernelSifter& sifter, const Now& now);
  void read_text(KernelSifter& sifter, const Now& now);

  std::string path_, error_;
  bool is_device_;
  unsigned looks_ = 0;
  Descriptor device_;
  std::unique_ptr<lines::GrownFile> file_;
};

}  // namespace schedmate::probe
