// SPDX-License-Identifier: Apache-2.0
#pragma once

/// What a probe reports of its node: samples of its GPUs, and what its kernel said. Nothing of
/// users: no process, no path, no name. Values.

#include <cstdint>
#include <optional>
#include <schedmate/result.hpp>
#include <string>
#include <string_view>
#include <vector>

#include "log/witness/gpu_load.hpp"

namespace schedmate::probe {

/// One GPU at one instant. What is not known is absent, never a zero.
struct GpuSample {
  unsigned index = 0;
  std::string pci;                        ///< "0000:9b:00", as kernels print it; "" = not known
  std::optional<double> used_pct;         ///< of the time, some kernel ran
  std::optional<double> memory_busy_pct;  ///< of the time, its memory was read or written
  std::optional<double> memory_used_mib, memory_total_mib;
  std::optional<double> temperature_c, power_w, clock_mhz;
  /// Why it runs slower than it could: bits of NVML, 0 = it does not.
  std::optional<std::uint64_t> throttle;
  /// Errors of its memory since the driver was loaded.
  std::optional<std::uint64_t> ecc_corrected, ecc_uncorrected;
  /// Of all its links, since the last reset: those after which a link had to be brought up again,
  /// and those that were mended by sending again.
  std::optional<std::uint64_t> nvlink_recoveries, nvlink_replays;
  std::optional<unsigned> nvlinks_down;
  /// What the driver recommends, as GpuState has it.
  std::optional<std::uint64_t> recovery_action;
  std::optional<std::uint64_t> last_xid;  ///< where only DCGM tells it
  bool lost = false;
  std::string error;  ///< "" = none
};

struct Sample {
  std::int64_t at_s = 0;  ///< by the node's clock, since 1970
  std::string error;      ///< why the GPUs could not be read, "" = they could
  std::vector<GpuSample> gpus;
};

/// Whose trouble a line of the kernel tells of.
enum class Severity : std::uint8_t {
  note,         ///< to be known, no more
  application,  ///< a job's own
  fault,        ///< the node's: a witness
};
[[nodiscard]] std::string_view name_of(Severity severity);

struct KernelEvent {
  std::int64_t at_s = 0;
  std::string rule;  ///< of rules/kernel_log.toml, or "xid 79"
  Severity severity = Severity::note;
  std::optional<unsigned> xid, gpu;
  std::string job;   ///< the Slurm job whose memory limit it was, "" = not known
  std::string text;  ///< the line without names and numbers of processes
  std::uint64_t times = 1;
};

struct Report {
  std::int64_t every_s = 10;
  std::vector<Sample> samples;  ///< the oldest first
  std::vector<KernelEvent> events;
  /// What had to be let go since the probe began.
  std::uint64_t dropped_samples = 0, dropped_events = 0, skipped_bytes = 0;
  std::string kernel_error;  ///< why its log cannot be read, "" = it can
};

// What a message may hold.
inline constexpr std::size_t most_samples = 720, most_gpus = 64, most_events = 512;
inline constexpr std::size_t longest_text = 400;

/// As JSON in one line; and back. Numbers that cannot be (a percentage of 300, a GPU of -5 W) are
/// not known. Errors: invalid.
[[nodiscard]] std::string report_text(const Report& report);
[[nodiscard]] Result<Report> read_report(std::string_view text);

/// What NVML said, as a sample. Nonsense is not known.
[[nodiscard]] Sample sample_of(const witness::LoadedGpus& gpus, std::int64_t at_s);

/// "00000000:9B:00.0" and "0000:9b:00.0" as "0000:9b:00"; "" for what is no such address.
[[nodiscard]] std::string pci_address(std::string_view text);

/// At most longest_text bytes of whole characters; what is no UTF-8 becomes '?'.
[[nodiscard]] std::string shown(std::string_view text);

/// Makes what cannot be unknown.
void clean(GpuSample& gpu);

}  // namespace schedmate::probe
