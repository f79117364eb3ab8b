// SPDX-License-Identifier: Apache-2.0
#include "facts/devices.hpp"

#include <algorithm>

#include "facts/mesh.hpp"

namespace schedmate::facts {

const python::Call* single_process_split(const Scene& scene) {
  if (scene.job.gpus <= 1) return nullptr;
  const python::Call* found = nullptr;
  for (const auto* name :
       {"DataParallel", "MirroredStrategy", "multi_gpu_model", "DataListParallel", "jax.pmap",
        "flax.jax_utils.replicate", "sharding.Mesh", "sharding.NamedSharding",
        "mesh_utils.create_device_mesh", "jax.make_mesh"}) {
    for (const python::Call* call : scene.calls(name)) {
      if (call->callee.starts_with("paddle")) continue;  // one process for each GPU there
      if (found == nullptr || (call->certain && !found->certain)) found = call;
    }
  }
  return found;
}

bool has_process_per_device(const Scene& scene) {
  const auto& launchers = scene.launch.launchers;
  const bool launched = std::ranges::any_of(launchers, [](const std::string& one) {
    return one.contains("torch") || one == "accelerate" || one == "deepspeed";
  });
  const auto started = scene.launch.processes_per_node.number();
  return launched && started && *started > 1 && *started >= scene.gpus_per_node();
}

bool is_started_as_one_process(const Scene& scene) {
  const Value& started = scene.launch.processes_per_node;
  const auto nodes = scene.launch.nodes.number();
  const bool by_flag =
      started.number() == 1 && started.place && started.place->text.contains("nproc");
  return by_flag && scene.job.nodes <= 1 && nodes.value_or(1) <= 1;
}

double devices_per_process(const Scene& scene) {
  const python::Call* call = single_process_split(scene);
  if (call == nullptr || !call->certain || has_process_per_device(scene)) return 1;
  const auto mesh = mesh_of(scene);
  if (mesh && mesh->sized && mesh->splits_model)
    return std::max(1.0, mesh->batch_devices / std::max(1, scene.job.nodes));
  return scene.gpus_per_node();
}

}  // namespace schedmate::facts
