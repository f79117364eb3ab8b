// SPDX-License-Identifier: Apache-2.0
#pragma once

/// A mesh of devices with named axes (JAX): which of them carry copies, shards or parts of the
/// model.

#include "facts/finding.hpp"

namespace schedmate::facts {

struct Mesh {
  const python::Call* call = nullptr;
  bool splits_model = false;  ///< an axis other than those that divide the data
  bool sized = false;         ///< the devices of every axis are known
  double batch_devices = 1;   ///< that share a batch, when sized
  std::string word{};         ///< "dp", "fsdp+tp", ..., when sized
};

/// The mesh that the program lays its devices out in; nothing when it names no axes.
[[nodiscard]] std::optional<Mesh> mesh_of(const Scene& scene);

}  // namespace schedmate::facts
