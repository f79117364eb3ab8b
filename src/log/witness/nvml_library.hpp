// SPDX-License-Identifier: Apache-2.0
#pragma once

/// NVIDIA's management library, opened when it is asked and never linked. Each function is looked
/// up by itself: what an old library lacks is not known, and the rest is read all the same.

#include <memory>
#include <schedmate/gpu_state.hpp>
#include <string>

#include "log/witness/gpu_load.hpp"

namespace schedmate::witness {

/// The library, opened and started once and asked often. One that cannot be opened gives readings
/// that say why.
class NvmlSession {
 public:
  /// `path` as dlopen takes it.
  explicit NvmlSession(const std::string& path);
  NvmlSession(const NvmlSession&) = delete;
  NvmlSession& operator=(const NvmlSession&) = delete;
  ~NvmlSession();

  struct Wanted {
    bool load = false;
    bool links = true;  ///< GpuState::nvlinks, which take more calls than all the rest
  };
  /// Without `load` no loads are given.
  [[nodiscard]] LoadedGpus read(const Wanted& wanted);

 private:
  class Inside;
  std::unique_ptr<Inside> inside_;
};

/// In this process; read_gpus() is the same in a child. `path` as dlopen takes it.
[[nodiscard]] GpuReading read_nvml(const std::string& path);

}  // namespace schedmate::witness
