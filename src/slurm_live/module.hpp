// SPDX-License-Identifier: Apache-2.0
#pragma once

/// What schedmate_slurm.so gives whoever loads it (plugins/slurm): Slurm's own library behind a few
/// functions with plain values, of no type of Slurm. One thread calls them. Each waits for as long
/// as the library does, and may end the process as the library does.

#include <cstdint>

namespace schedmate::slurm_live {

extern "C" {

/// Changes with what stands below.
constexpr int schedmate_slurm_interface = 1;

enum SchedmateSlurmAnswer : int {
  schedmate_slurm_news = 0,
  schedmate_slurm_unchanged = 1,  ///< since `changed`; nothing is told
  schedmate_slurm_none = 2,       ///< no such job
  schedmate_slurm_failed = 3,     ///< why() says why
};

/// Told one value after the other; the first of each record is its JobId or NodeName. The names are
/// those of `scontrol show`. Texts are as Slurm has them, of any bytes but 0.
using SchedmateSlurmTake = void (*)(void* whose, const char* name, const char* value);

struct SchedmateSlurm {
  int interface;
  const char* version;  ///< of the library that is loaded: "22.05.8"
  /// Reads slurm.conf as Slurm's programs find it; ends the process where there is none.
  void (*begin)();
  /// `changed`: seconds since 1970, as of the last answer; 0: whatever there is.
  /// `with_orders`: also the SiteFactor of jobs that wait and could start, and the DirectPriority
  /// of those whose priority was said outright.
  int (*jobs)(std::int64_t* changed, int with_orders, SchedmateSlurmTake take, void* whose);
  int (*nodes)(std::int64_t* changed, SchedmateSlurmTake take, void* whose);
  /// With the tasks of its array.
  int (*job)(std::uint32_t number, int with_orders, SchedmateSlurmTake take, void* whose);
  /// Of the last call that failed, until the next one.
  const char* (*why)();
};

/// The module's one symbol: its functions.
using SchedmateSlurmOffer = const SchedmateSlurm* (*)();
}
constexpr const char* schedmate_slurm_symbol = "schedmate_slurm";

}  // namespace schedmate::slurm_live
