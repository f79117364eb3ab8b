// SPDX-License-Identifier: Apache-2.0
#include "facts/mesh.hpp"

#include <algorithm>
#include <array>

namespace schedmate::facts {
namespace {

constexpr std::size_t most_axes = 8;

struct Axis {
  std::string name;
  double devices = 1;
};

/// What lies along an axis: "dp", "fsdp", "tp", "pp", "ep"; "" when its name does not show it.
std::string_view kind_of(std::string_view name) {
  struct Kind {
    std::string_view word;
    std::array<std::string_view, 8> names;
  };
  constexpr std::array kinds{
      Kind{"fsdp", {"fsdp", "zero", "shard", "dp_shard", "data_fsdp"}},
      Kind{"tp", {"tp", "mp", "model", "tensor", "mdl", "model_parallel", "tensor_parallel"}},
      Kind{"pp", {"pp", "pipe", "stage", "pipeline"}},
      Kind{"ep", {"ep", "expert", "experts"}},
      Kind{"dp", {"dp", "data", "batch", "replica", "replicas", "b", "devices", "device"}},
  };
  for (const Kind& kind : kinds) {
    if (std::ranges::find(kind.names, name) != kind.names.end()) return kind.word;
  }
  return "";
}

std::vector<Axis> axes_of(const python::Call& call) {
  const Value* names = argument(call, "axis_names", 1);
  if (names == nullptr) return {};
  std::vector<Axis> axes;
  if (names->text() != nullptr) axes.push_back({normal_key(*names->text())});
  if (const List* several = names->items()) {
    for (const Value& name : *several) {
      if (name.text() == nullptr || axes.size() == most_axes) return {};
      axes.push_back({normal_key(*name.text())});
    }
  }
  return axes;
}

/// The numbers of a shape with as many entries as there are axes.
bool take_shape(const Value* shape, std::vector<Axis>& axes) {
  const List* sizes = shape == nullptr ? nullptr : shape->items();
  if (sizes == nullptr || sizes->size() != axes.size()) return false;
  for (std::size_t i = 0; i < axes.size(); ++i) {
    const auto size = (*sizes)[i].number();
    if (!size) return false;
    axes[i].devices = *size;
  }
  return true;
}

/// -1 stands for all devices that the other axes leave.
void fill_rest(std::vector<Axis>& axes, double devices) {
  double others = 1;
  for (const Axis& axis : axes) others *= axis.devices > 0 ? axis.devices : 1;
  for (Axis& axis : axes) {
    if (axis.devices < 0) axis.devices = std::max(1.0, devices / others);
  }
}

/// From the mesh itself, or from the shape that its devices were brought into.
bool take_sizes(const Scene& scene, const python::Call& mesh, std::vector<Axis>& axes) {
  if (mesh.callee.ends_with("make_mesh")) {
    const bool has_shape = take_shape(argument(mesh, "axis_shapes", 0), axes);
    fill_rest(axes, scene.job.gpus);
    return has_shape;
  }
  for (const auto* name : {"create_device_mesh", "reshape"}) {
    for (const python::Call* call : scene.calls(name)) {
      const Value shape = call->args.size() == axes.size() && axes.size() > 1
                              ? Value::list(call->args)
                              : (call->args.empty() ? Value{} : call->args.front());
      if (!take_shape(&shape, axes)) continue;
      fill_rest(axes, scene.job.gpus);
      double all = 1;
      for (const Axis& axis : axes) all *= axis.devices;
      if (all == scene.job.gpus) return true;
    }
  }
  return false;
}

void describe(const std::vector<Axis>& axes, Mesh& mesh) {
  for (const auto* kind : {"fsdp", "tp", "pp", "ep"}) {
    double devices = 1;
    for (const Axis& axis : axes) devices *= kind_of(axis.name) == kind ? axis.devices : 1;
    if (devices > 1) mesh.word += (mesh.word.empty() ? "" : "+") + std::string(kind);
  }
  if (mesh.word.empty()) mesh.word = "dp";
  for (const Axis& axis : axes) {
    const auto kind = kind_of(axis.name);
    if (kind == "dp" || kind == "fsdp") mesh.batch_devices *= axis.devices;
  }
}

}  // namespace

std::optional<Mesh> mesh_of(const Scene& scene) {
  for (const auto* name : {"sharding.Mesh", "maps.Mesh", "jax.make_mesh"}) {
    for (const python::Call* call : scene.calls(name)) {
      auto axes = axes_of(*call);
      if (axes.empty()) continue;
      Mesh mesh{.call = call};
      mesh.splits_model = axes.size() > 1 && std::ranges::any_of(axes, [](const Axis& axis) {
                            return kind_of(axis.name) != "dp";
                          });
      mesh.sized = take_sizes(scene, *call, axes);
      if (mesh.sized) describe(axes, mesh);
      return mesh;
    }
  }
  return std::nullopt;
}

}  // namespace schedmate::facts
