// SPDX-License-Identifier: Apache-2.0
#pragma once

/// Sources beside a job's own log that can bear a diagnosis out: what the kernels of its nodes said
/// and the state of their GPUs (gpu_state.hpp). A job can print any line, but writes neither.

#include <schedmate/gpu_state.hpp>
#include <string>
#include <string_view>

namespace schedmate {

/// Text of a kernel's log: dmesg, dmesg -T, journalctl -k -o short or short-iso.
struct KernelLog {
  std::string path;
  std::string node;  ///< where it was taken, "" = as its lines say
};

/// "NODE=FILE" or "FILE". A name with a '/' before the '=' is part of the path.
[[nodiscard]] KernelLog read_kernel_log_name(std::string_view text);

}  // namespace schedmate
