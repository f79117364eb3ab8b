// SPDX-License-Identifier: Apache-2.0
#include "facts/devices.hpp"

namespace schedmate {

const Call* single_process_split(const Scene& scene) {
  if (scene.job.gpus <= 1) return nullptr;
  const Call* found = nullptr;
  for (const auto* name :
       {"DataParallel", "MirroredStrategy", "multi_gpu_model", "DataListParallel", "jax.pmap",
        "flax.jax_utils.replicate", "sharding.Mesh", "sharding.NamedSharding",
        "mesh_utils.create_device_mesh", "jax.make_mesh"}) {
    for (const Call* call : scene.calls(name)) {
      if (call->callee.starts_with("paddle")) continue;  // one process for each GPU there
      if (found == nullptr || (call->certain && !found->certain)) found = call;
    }
  }
  return found;
}

double devices_per_process(const Scene& scene) {
  const Call* call = single_process_split(scene);
  return call != nullptr && call->certain ? scene.gpus_per_node() : 1;
}

}  // namespace schedmate
