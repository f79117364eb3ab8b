// SPDX-License-Identifier: Apache-2.0
#pragma once

/// NVIDIA's library in a child that is asked again and again. One that does not answer is left
/// behind.

#include <chrono>
#include <string>

#include "base/child_process.hpp"
#include "base/descriptor.hpp"
#include "log/witness/gpu_load.hpp"

namespace schedmate::probe {

class NvmlChild {
 public:
  NvmlChild(std::string library, std::chrono::milliseconds deadline)
      : library_(std::move(library)), deadline_(deadline) {}

  /// Readings with GpuState::load. One that says why where there is no answer.
  [[nodiscard]] witness::LoadedGpus read(bool links);

 private:
  bool start();
  [[nodiscard]] witness::LoadedGpus ask(bool links);
  [[nodiscard]] witness::LoadedGpus give_up(std::string why);
  [[nodiscard]] std::string why_ended();

  std::string library_;
  std::chrono::milliseconds deadline_;
  ChildProcess child_;
  Descriptor socket_;                  // none: no child
  unsigned failures_ = 0, pause_ = 0;  // readings that are left out
  std::string last_error_;
};

}  // namespace schedmate::probe
