// SPDX-License-Identifier: Apache-2.0
#pragma once

/// What NVIDIA's management library (NVML) says of the GPUs of a node. A job can print any line,
/// but cannot write this: it confirms a diagnosis or contradicts it (witness.hpp; paper 3.3,
/// Failure Handler; docs/formats/diagnosis.md). Values; the functions may be called from any
/// thread.

#include <chrono>
#include <cstdint>
#include <optional>
#include <schedmate/file_access.hpp>
#include <schedmate/result.hpp>
#include <string>
#include <vector>

namespace schedmate {

/// Rows of memory that spare ones replaced, by the kind of error that made it necessary.
struct RemappedRows {
  std::uint64_t corrected = 0, uncorrected = 0;
  /// A row waits for the next reset; no spare row was left.
  bool pending = false, failure = false;
};

struct NvlinkState {
  unsigned link = 0;
  std::optional<bool> active;
  /// Errors since the last reset.
  std::optional<std::uint64_t> replay, recovery, crc_flit, crc_data;
};

/// One GPU. An empty field is one that this library or this GPU does not report, never a zero.
struct GpuState {
  unsigned index = 0;
  std::string pci, uuid, name;
  /// It has fallen off the bus, or does not answer its driver. Nothing else is known of it then.
  bool lost = false;
  /// Of the driver, "" = none.
  std::string error;
  /// What the driver recommends: 0 nothing, 1 reset, 2 reboot, 3 and 4 drain.
  std::optional<std::uint64_t> recovery_action;
  /// Since the driver was loaded.
  std::optional<std::uint64_t> ecc_uncorrected;
  std::optional<RemappedRows> remapped;
  /// Pages wait for a reset to be taken out of use.
  std::optional<bool> retirement_pending;
  std::vector<NvlinkState> nvlinks;
};

/// What NVML said on one node.
struct GpuReading {
  std::string node, library, driver;
  /// Why nothing could be read, "" = it could.
  std::string error;
  std::vector<GpuState> gpus;
};

struct NvmlOptions {
  /// As for dlopen.
  std::string library = "libnvidia-ml.so.1";
  /// Name of this machine.
  std::string node;
  std::chrono::milliseconds deadline{20'000};
};

/// Asks the library of this machine in a child process, so that a driver that hangs or a library
/// that crashes costs no more than the deadline. It has no errors: the reading names what is
/// missing.
[[nodiscard]] GpuReading read_gpus(const NvmlOptions& options);

/// schedmate.gpus.v1, one object.
[[nodiscard]] std::string gpus_json(const GpuReading& reading);

/// Readings of a file: what gpus_json() wrote, a list of such, or a schedmate.diagnosis.v1 document
/// that holds them. Errors: invalid (not such a file), those of reading it.
[[nodiscard]] Result<std::vector<GpuReading>> read_gpus_file(const ForeignPath& path);

}  // namespace schedmate
