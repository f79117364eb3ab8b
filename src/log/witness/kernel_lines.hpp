// SPDX-License-Identifier: Apache-2.0
#pragma once

/// One line of a kernel's log, taken apart.

#include <optional>
#include <string_view>

#include "log/lines/wall_time.hpp"

namespace schedmate::witness {

struct KernelLine {
  std::optional<lines::WallTime> time;
  std::optional<double> uptime_s;  ///< since the machine came up
  std::string_view when;           ///< the stamp as printed
  std::string_view host;           ///< as a journal prints it, "" = not printed
  std::string_view message;
};

/// Forms: "[  12.345678] MESSAGE", "[Thu Mar  4 12:00:01 2021] MESSAGE", "Mar 04 12:00:01 HOST
/// kernel: MESSAGE", "2021-03-04T12:00:01+0100 HOST kernel: MESSAGE", "MESSAGE". Nothing for a line
/// of a journal that another program than the kernel wrote.
[[nodiscard]] std::optional<KernelLine> read_kernel_line(std::string_view line);

/// When the machine came up, where the kernel prints the time of day: "setting system clock to ...
/// (UNIX)" and audit records.
[[nodiscard]] std::optional<lines::WallTime> boot_time(const KernelLine& line);

}  // namespace schedmate::witness
