// SPDX-License-Identifier: Apache-2.0
#pragma once

/// The state of a node's GPUs as NVIDIA's management library (NVML) tells it: errors of memory and
/// links, pages and rows taken out of use, what the driver asks for.

#include <chrono>
#include <cstdint>
#include <optional>
#include <schedmate/result.hpp>
#include <string>
#include <vector>

namespace schedmate {

struct RemappedRows {
  std::uint64_t corrected = 0, uncorrected = 0;  ///< rows
  bool pending = false, failure = false;
};

struct NvlinkState {
  unsigned link = 0;
  std::optional<bool> active;
  std::optional<std::uint64_t> replay, recovery, crc_flit, crc_data;  ///< errors since the reset
};

/// One GPU; empty is what this library or this GPU cannot tell.
struct GpuState {
  unsigned index = 0;
  std::string pci, uuid, name;
  bool lost = false;  ///< it has fallen off the bus, or does not answer its driver
  std::string error;  ///< of the driver, "" = none
  std::optional<std::uint64_t> recovery_action;  ///< 0 none, 1 reset, 2 reboot, 3 and 4 drain
  std::optional<std::uint64_t> ecc_uncorrected;  ///< since the driver was loaded
  std::optional<RemappedRows> remapped;
  std::optional<bool> retirement_pending;  ///< pages that wait for a reset to be taken out
  std::vector<NvlinkState> nvlinks;
};

/// What NVML said on one node.
struct GpuReading {
  std::string node, library, driver;
  std::string error;  ///< why nothing could be read, "" = it could
  std::vector<GpuState> gpus;
};

struct NvmlOptions {
  std::string library = "libnvidia-ml.so.1";  ///< for dlopen
  std::string node;                           ///< name of this machine
  std::chrono::milliseconds deadline{20'000};
};

/// Asks the library of this machine in a child process, so that a driver that hangs or a library
/// that crashes costs no more than the deadline. What is missing is told in the reading.
[[nodiscard]] GpuReading read_gpus(const NvmlOptions& options);

/// schedmate.gpus.v1, one object.
[[nodiscard]] std::string gpus_json(const GpuReading& reading);

/// Readings of a file: what gpus_json() wrote, a list of such, or a schedmate.diagnosis.v1 document
/// that holds them. Errors: invalid (not such a file), those of reading it.
[[nodiscard]] Result<std::vector<GpuReading>> read_gpus_file(const std::string& path);

}  // namespace schedmate
