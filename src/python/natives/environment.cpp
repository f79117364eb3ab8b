// SPDX-License-Identifier: Apache-2.0
/// What the resource request and the launcher decide: devices, processes, ranks.
#include <algorithm>

#include "python/natives/namespace_object.hpp"
#include "python/natives/parts.hpp"

namespace schedmate::python::natives {
namespace {

enum class Answer : std::uint8_t { devices, all_devices, processes, nodes, zero, yes, no, several };

/// The process group that the program has set up by itself, with its size.
struct ProcessGroup : Object {
  Value size;
  bool size_given = false;  ///< the program said its size
};

const ProcessGroup* group_of(Machine& machine) {
  const auto found = machine.memory.find("torch.distributed");
  return found == machine.memory.end() ? nullptr
                                       : static_cast<const ProcessGroup*>(found->second.get());
}

Value answer(Machine& machine, Answer what, const PlacePtr& place) {
  const PythonRun& run = machine.run();
  const ProcessGroup* group = group_of(machine);
  switch (what) {
    case Answer::devices:
      return from_request(run.gpus_per_node, "gpus");
    case Answer::all_devices:
      return from_request(std::int64_t{run.gpus_per_node} * run.nodes, "gpus");
    case Answer::processes:
      // The one process of a node starts those for its GPUs.
      if (group != nullptr &&
          (run.processes == 1 || (group->size_given && run.processes == run.nodes)))
        return group->size;
      return from_request(run.processes, "processes");
    case Answer::nodes:
      return from_request(run.nodes, "nodes");
    case Answer::zero:
      return {std::int64_t{0}, place};
    case Answer::yes:
      return {true, place};
    case Answer::no:
      return {false, place};
    case Answer::several:
      return {run.processes > 1 || group != nullptr, place};
  }
  return unknown(place);
}

struct Row {
  std::string_view name;
  Answer answer;
};

/// JAX sees all devices of a process; several hosts run one process each.
constexpr Row functions[] = {
    {"torch.cuda.device_count", Answer::devices},
    {"torch.cuda.is_available", Answer::yes},
    {"torch.cuda.is_bf16_supported", Answer::yes},
    {"torch.cuda.current_device", Answer::zero},
    {"torch.distributed.get_world_size", Answer::processes},
    {"torch.distributed.get_rank", Answer::zero},
    {"torch.distributed.get_node_local_rank", Answer::zero},
    {"torch.distributed.is_initialized", Answer::several},
    {"torch.distributed.is_available", Answer::yes},
    {"torch.distributed.is_nccl_available", Answer::yes},
    {"torch.distributed.is_torchelastic_launched", Answer::several},
    {"torch.backends.cudnn.is_available", Answer::yes},
    {"torch.backends.mps.is_available", Answer::no},
    {"torch.xpu.is_available", Answer::no},
    {"torch.npu.is_available", Answer::no},
    {"torch.mps.is_available", Answer::no},
    {"horovod.torch.size", Answer::processes},
    {"horovod.torch.rank", Answer::zero},
    {"horovod.torch.local_rank", Answer::zero},
    {"horovod.tensorflow.size", Answer::processes},
    {"horovod.tensorflow.rank", Answer::zero},
    {"horovod.tensorflow.local_rank", Answer::zero},
    {"horovod.tensorflow.keras.size", Answer::processes},
    {"horovod.keras.size", Answer::processes},
    {"jax.device_count", Answer::all_devices},
    {"jax.local_device_count", Answer::devices},
    {"jax.process_count", Answer::nodes},
    {"jax.host_count", Answer::nodes},
    {"jax.process_index", Answer::zero},
    {"jax.host_id", Answer::zero},
    {"paddle.distributed.get_world_size", Answer::processes},
    {"paddle.distributed.get_rank", Answer::zero},
    {"paddle.is_compiled_with_cuda", Answer::yes},
    {"paddle.device.is_compiled_with_cuda", Answer::yes},
    {"paddle.device.cuda.device_count", Answer::devices},
    {"paddle.fluid.is_compiled_with_cuda", Answer::yes},
    {"paddle.is_compiled_with_xpu", Answer::no},
    {"tensorflow.test.is_gpu_available", Answer::yes},
    {"tensorflow.test.is_built_with_cuda", Answer::yes},
    {"mmengine.dist.get_world_size", Answer::processes},
    {"mmengine.dist.get_rank", Answer::zero},
    {"detectron2.utils.comm.get_world_size", Answer::processes},
    {"detectron2.utils.comm.get_rank", Answer::zero},
    {"detectron2.utils.comm.is_main_process", Answer::yes},
    {"fvcore.common.dist.get_world_size", Answer::processes},
    {"megatron.core.parallel_state.is_initialized", Answer::several},
    {"deepspeed.comm.get_world_size", Answer::processes},
    {"flashy.distrib.world_size", Answer::processes},
    {"flashy.distrib.rank", Answer::zero},
    {"deepspeed.comm.get_rank", Answer::zero},
    {"deepspeed.comm.is_initialized", Answer::several},
    {"transformers.is_torch_available", Answer::yes},
    {"transformers.utils.is_torch_available", Answer::yes},
    {"transformers.is_tensorboard_available", Answer::yes},
    {"transformers.is_torch_xla_available", Answer::no},
    {"transformers.is_torch_tpu_available", Answer::no},
    {"transformers.utils.is_torch_tpu_available", Answer::no},
    {"speechbrain.utils.distributed.if_main_process", Answer::yes},
};

/// A device as JAX and TensorFlow show it.
Value device_object(Machine& machine, std::int64_t index, const PlacePtr& place) {
  const std::string name = "GPU:" + std::to_string(index);
  Dict fields;
  fields.set("platform", Value("gpu", place));
  fields.set("device_kind", Value("GPU", place));
  fields.set("device_type", Value("GPU", place));
  fields.set("name", Value("/physical_device:" + name, place));
  fields.set("id", Value(index, place));
  for (const auto* const rank : {"process_index", "host_id"})
    fields.set(rank, Value(std::int64_t{0}, place));
  return machine.instance(Value("Device", place), std::move(fields));
}

/// The job has GPUs: of other kinds there is no device.
Value devices(Machine& machine, const Arguments& arguments) {
  const Value* kind =
      arguments.positional.empty() ? arguments.named.find("backend") : arguments.positional.data();
  if (kind == nullptr) kind = arguments.named.find("device_type");
  const std::string* asked = kind == nullptr ? nullptr : kind->text();
  if (asked != nullptr && *asked != "GPU" && *asked != "gpu" && *asked != "cuda")
    return Value::list({}, arguments.place);
  const Value count = from_request(machine.run().gpus_per_node, "gpus");
  List all;
  for (int i = 0; i < std::min(machine.run().gpus_per_node, 64); ++i)
    all.push_back(device_object(machine, i, count.place));
  return Value::list(std::move(all), count.place);
}

Value platform(Machine&, const Arguments& arguments) { return Value("gpu", arguments.place); }

/// Compute capability 8.0: what current training GPUs have at least.
Value capability(Machine&, const Arguments& arguments) {
  return Value::list({{std::int64_t{8}, arguments.place}, {std::int64_t{0}, arguments.place}},
                     arguments.place);
}

/// mmcv's get_dist_info() gives rank and world size.
Value rank_and_size(Machine& machine, const Arguments& arguments) {
  return Value::list({answer(machine, Answer::zero, arguments.place),
                      answer(machine, Answer::processes, arguments.place)},
                     arguments.place);
}

/// torch.device("cuda:0"): its text, with type and index.
struct Device : NativeObject {
  std::string text;
  PlacePtr place;
  std::string type_name() const override { return "torch.device"; }
  std::optional<Value> plain() override { return Value(text, place); }
  std::optional<Value> attribute(Machine&, std::string_view name) override {
    const auto colon = text.find(':');
    if (name == "type") return Value(text.substr(0, colon), place);
    if (name != "index") return std::nullopt;
    return colon == std::string::npos ? Value::none(place)
                                      : read_literal(text.substr(colon + 1), place);
  }
};

Value device(Machine&, const Arguments& arguments) {
  const Value* given = arguments.find("device", 0);
  if (given == nullptr || given->is_unknown()) return unknown(arguments.place);
  if (object_as<Device>(*given) != nullptr) return *given;
  auto made = std::make_shared<Device>();
  made->text = given->text() != nullptr      ? *given->text()
               : given->integer() != nullptr ? "cuda:" + std::to_string(*given->integer())
                                             : "cuda";
  const Value* index = arguments.find("index", 1);
  if (index != nullptr && index->integer() != nullptr)
    made->text += ":" + std::to_string(*index->integer());
  made->place = arguments.place;
  return value_of(std::move(made), arguments.place);
}

}  // namespace

void note_process_group(Machine& machine, const Arguments& arguments) {
  if (!machine.certain()) return;
  const PythonRun& run = machine.run();
  const Value* size = arguments.find("world_size", 3);
  auto group = std::make_shared<ProcessGroup>();
  group->size_given = size != nullptr;
  // A program that starts its processes by itself starts one for each GPU.
  group->size = size != nullptr && size->number() && *size->number() >= 1
                    ? *size
                    : from_request(std::int64_t{run.gpus_per_node} * run.nodes, "gpus");
  machine.memory["torch.distributed"] = std::move(group);
}

std::optional<Value> environment_constant(std::string_view dotted) {
  if (dotted == "torch.version.cuda") return Value("12.1");
  if (dotted == "torch.version.hip" || dotted == "torch.version.xpu") return Value::none();
  return std::nullopt;
}

}  // namespace schedmate::python::natives

void schedmate::python::natives::add_environment(NativeTable& table) {
  namespace n = natives;
  for (const n::Row& row : n::functions) {
    table[std::string(row.name)] = [what = row.answer](Machine& machine,
                                                       const Arguments& arguments) {
      return n::answer(machine, what, arguments.place);
    };
  }
  table["torch.cuda.get_device_capability"] = n::capability;
  for (const auto* const name : {"mmcv.runner.get_dist_info", "mmengine.dist.get_dist_info"})
    table[name] = n::rank_and_size;
  for (const auto* const name :
       {"tensorflow.config.list_physical_devices", "tensorflow.config.list_logical_devices",
        "tensorflow.config.experimental.list_physical_devices",
        "tensorflow.config.experimental.list_logical_devices", "jax.devices", "jax.local_devices"})
    table[name] = n::devices;
  table["jax.default_backend"] = n::platform;
  table["torch.device"] = n::device;
}

[[gnu::weak]] std::optional<schedmate::code::Value> schedmate::python::natives::native_constant(
    Machine& machine, std::string_view dotted) {
  if (dotted == "absl.flags.FLAGS" || dotted == "tensorflow.app.flags.FLAGS" ||
      dotted == "tensorflow.flags.FLAGS" || dotted == "tensorflow.compat.v1.flags.FLAGS" ||
      dotted == "tensorflow.compat.v1.app.flags.FLAGS" ||
      dotted == "tensorflow.python.platform.flags.FLAGS")
    return natives::absl_flags(machine);
  if (auto found = natives::os_constant(machine, dotted)) return found;
  if (auto found = natives::math_constant(dotted)) return found;
  return natives::environment_constant(dotted);
}
