// SPDX-License-Identifier: Apache-2.0
/// The framework, by what the program imports.
#include "facts/finding.hpp"

namespace schedmate::facts {
namespace {

struct Import {
  std::string_view module, framework;
  double sure;
};
/// The first that is imported decides: what stands on another comes before it.
constexpr Import imports[] = {
    {"paddle", "paddlepaddle", 0.97},
    {"jax", "jax", 0.96},
    {"flax", "jax", 0.96},
    {"mindspore", "mindspore", 0.97},
    {"oneflow", "oneflow", 0.97},
    {"torch", "pytorch", 0.97},
    {"pytorch_lightning", "pytorch", 0.96},
    {"lightning", "pytorch", 0.96},
    {"tensorflow", "tensorflow", 0.95},
    {"keras", "keras", 0.96},
    {"mxnet", "mxnet", 0.97},
    {"transformers", "pytorch", 0.85},
    {"mmengine", "pytorch", 0.95},
    {"mmcv", "pytorch", 0.95},
    {"detectron2", "pytorch", 0.95},
    {"ultralytics", "pytorch", 0.95},
    {"stable_baselines3", "pytorch", 0.95},
    {"deepspeed", "pytorch", 0.9},
    {"accelerate", "pytorch", 0.9},
    {"fairseq", "pytorch", 0.95},
    {"speechbrain", "pytorch", 0.95},
    {"composer", "pytorch", 0.95},
    {"torch_geometric", "pytorch", 0.95},
    {"recbole", "pytorch", 0.95},
    {"deepctr_torch", "pytorch", 0.95},
    {"scvi", "pytorch", 0.9},
    {"d3rlpy", "pytorch", 0.95},
    {"torchdrug", "pytorch", 0.95},
    {"deepctr", "tensorflow", 0.95},
    {"chainer", "chainer", 0.97},
    {"xgboost", "xgboost", 0.8},
    {"sklearn", "scikit-learn", 0.6},
};

bool add_import(const Scene& scene, std::string_view file, Findings& out) {
  for (const auto& [module, framework, sure] : imports) {
    for (const auto& [name, value] : scene.seen.imports.all()) {
      const bool same = name == module || (name.starts_with(module) && name[module.size()] == '.');
      const bool here = file.empty() || (value.place && value.place->file == file);
      if (!same || !here) continue;
      add(out, {"framework", std::string(framework), sure}, value.place, "imported");
      return true;
    }
  }
  return false;
}

}  // namespace

void find_framework(const Scene& scene, Findings& out) {
  // The entry's own imports come first: a helper may convert to other frameworks.
  const bool entry = !scene.seen.files.empty() && add_import(scene, scene.seen.files[0], out);
  if (entry || add_import(scene, "", out)) return;
  for (const std::string& launcher : scene.launch.launchers) {
    if (launcher.contains("torch") || launcher == "accelerate" || launcher == "deepspeed") {
      const PlacePtr place = std::make_shared<const Place>(
          Place{"<command>", 0, scene.job.command, FactSource::command, {}});
      add(out, {"framework", "pytorch", confidence::likely}, place, "launcher " + launcher);
    }
  }
}

}  // namespace schedmate::facts
