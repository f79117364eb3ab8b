// SPDX-License-Identifier: Apache-2.0
/// How the job spreads over its GPUs: wrappers on the taken path, ZeRO and FSDP settings, tensor
/// and pipeline sizes, else what launcher and library do by themselves. One GPU is "none".
#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "facts/devices.hpp"
#include "facts/finding.hpp"
#include "facts/library.hpp"
#include "facts/mesh.hpp"

namespace schedmate::facts {
namespace {

constexpr std::string_view distributed_field = "distributed";

struct Wrapper {
  std::string_view callee, word;
};
constexpr std::array wrappers{
    Wrapper{"FullyShardedDataParallel", "fsdp"},
    Wrapper{"fully_shard", "fsdp"},
    Wrapper{"DistributedDataParallel", "ddp"},
    Wrapper{"DistributedOptimizer", "ddp"},
    Wrapper{"horovod.torch.init", "ddp"},
    Wrapper{"BroadcastGlobalVariablesCallback", "ddp"},
    Wrapper{"MultiWorkerMirroredStrategy", "ddp"},
    Wrapper{"paddle.DataParallel", "ddp"},
    Wrapper{"fleet.distributed_model", "ddp"},
};

void add_on_request(const Scene& scene, Findings& out, std::string word, double sure) {
  Fact fact{.value = std::move(word),
            .confidence = sure,
            .source = FactSource::environment,
            .evidence = {}};
  fact.evidence.push_back({"<request>", 0, "gpus " + std::to_string(scene.job.gpus)});
  out.push_back({std::string(distributed_field), std::move(fact), "GPUs asked for"});
}

const Setting* number_setting(const Scene& scene, std::string_view name, double at_least) {
  for (const auto& [setting, meaning, trust] : scene.meant(name)) {
    if (setting->precedence == Precedence::global || setting->value.boolean() != nullptr) continue;
    const auto number = setting->value.number();
    if (number) return *number >= at_least ? setting : nullptr;
  }
  return nullptr;
}

/// "+tp", "+pp", "+ep" for sizes above 1; the place of the first one.
std::string model_parallel(const Scene& scene, PlacePtr& place) {
  std::string word;
  for (const auto& [name, part] :
       {std::pair("tensor_parallel", "tp"), std::pair("pipeline_parallel", "pp"),
        std::pair("expert_parallel", "ep")}) {
    const Setting* setting = number_setting(scene, name, 2);
    if (setting == nullptr) continue;
    word += word.empty() ? part : fmt::format("+{}", part);
    if (!place) place = setting->value.place;
  }
  return word;
}

bool uses_deepspeed(const Scene& scene) {
  const auto& launchers = scene.launch.launchers;
  return scene.imports("deepspeed") || !scene.calls("deepspeed.initialize").empty() ||
         std::ranges::find(launchers, "deepspeed") != launchers.end() ||
         std::ranges::any_of(scene.settings, [](const Setting& setting) {
           const bool by_flag = setting.precedence == Precedence::given &&
                                setting.leaf() == "deepspeed" && setting.value.truth() == true;
           return by_flag || (setting.leaf() == "distributed_type" &&
                              normal_key(name_in(setting.value)) == "deepspeed");
         });
}

/// The stage that a parser declares for the case that DeepSpeed is used.
bool is_idle_default(const Scene& scene, const Setting& stage) {
  const auto& launchers = scene.launch.launchers;
  const auto starts = scene.calls("deepspeed.initialize");
  return stage.precedence >= Precedence::fallback && scene.trains &&
         std::ranges::none_of(starts, &python::Call::certain) &&
         std::ranges::find(launchers, "deepspeed") == launchers.end();
}

void from_zero(const Scene& scene, Findings& out) {
  const Setting* stage = number_setting(scene, "zero_stage", 0);
  if (stage != nullptr && is_idle_default(scene, *stage)) return;
  if (stage == nullptr || !uses_deepspeed(scene)) {
    if (!scene.calls("deepspeed.initialize").empty())
      add(out, {distributed_field, "ddp", confidence::weak},
          scene.calls("deepspeed.initialize")[0]->place, "deepspeed");
    return;
  }
  const auto number = static_cast<int>(*stage->value.number());
  add(out,
      {distributed_field, number == 0 ? "ddp" : "deepspeed-zero" + std::to_string(number), 0.95},
      stage->value.place, "ZeRO stage");
}

void from_wrappers(const Scene& scene, Findings& out) {
  for (const auto& [name, word] : wrappers) {
    for (const python::Call* call : scene.calls(name)) {
      add(out, {distributed_field, std::string(word), call->certain ? 0.94 : confidence::fair},
          call->place, "wrapped by the program");
    }
  }
  const python::Call* call = single_process_split(scene);
  if (call == nullptr) return;
  double sure = call->certain ? 0.93 : confidence::weak;
  if (has_process_per_device(scene)) sure = confidence::weak;
  std::string word = "dp";
  // Several axes without known sizes: how the model lies on them is open.
  if (const auto mesh = mesh_of(scene); mesh && mesh->splits_model) {
    if (mesh->sized) word = mesh->word;
    if (!mesh->sized) sure = confidence::hint;
    call = mesh->call;
  }
  add(out, {distributed_field, std::move(word), sure}, call->place, "split by one process");
}

std::string strategy_word(std::string_view raw) {
  const std::string text = normal_key(raw);
  for (const auto* stage : {"1", "2", "3"}) {
    if (text.contains("deepspeed_stage_") && text.contains(std::string("stage_") + stage))
      return std::string("deepspeed-zero") + stage;
  }
  if (text.contains("deepspeed")) return "deepspeed-zero2";
  if (text.contains("fsdp") || text.contains("full_shard") || text.contains("fully_sharded"))
    return "fsdp";
  if (text.contains("ddp") || text.contains("distributeddataparallel") || text == "multi_gpu" ||
      text.contains("horovod"))
    return "ddp";
  if (text == "dp" || text.contains("mirrored") || text == "dataparallel") return "dp";
  return "";
}

void from_strategy(const Scene& scene, Findings& out) {
  for (const auto& [setting, meaning, trust] : scene.meant("strategy")) {
    const std::string name = name_in(setting->value);
    // transformers: --fsdp "full_shard auto_wrap"
    const bool by_trainer = setting->leaf() == "fsdp" && normal_key(name).contains("auto_wrap");
    const std::string word = by_trainer ? "fsdp" : strategy_word(name);
    if (word.empty()) continue;
    const bool is_set = setting->precedence <= Precedence::config ||
                        (setting->precedence == Precedence::argument && setting->read);
    add(out, {distributed_field, word, is_set ? 0.94 : confidence::fair}, setting->value.place,
        "setting " + setting->key);
  }
}

/// `fsdp: {use: false, ...}`
bool is_switched_off(const Setting& setting) {
  const bool is_switch =
      setting.leaf() == "use" || setting.leaf() == "enabled" || setting.leaf() == "enable";
  return is_switch && setting.value.truth() == false;
}

/// A whole block of settings for FSDP.
void from_fsdp_block(const Scene& scene, Findings& out) {
  for (const Setting& setting : scene.settings) {
    const std::string_view key = setting.key;
    if (!key.contains("fsdp_config.") && !key.starts_with("fsdp.")) continue;
    if (is_switched_off(setting)) return;
    if (setting.precedence > Precedence::config || !setting.value.place) continue;
    add(out, {distributed_field, "fsdp", 0.88}, setting.value.place, "settings of FSDP");
    return;
  }
}

/// A mesh of devices with an axis along which the parameters are cut.
void from_fsdp_axis(const Scene& scene, Findings& out) {
  for (const auto& [setting, meaning, trust] : scene.meant("fsdp_parallel")) {
    const auto number = setting->value.number();
    if (!number || (*number < 2 && *number != -1)) continue;
    add(out,
        {distributed_field, "fsdp",
         setting->precedence <= Precedence::config ? 0.96 : confidence::fair},
        setting->value.place, "devices of an axis");
    return;
  }
}

/// What launcher and library make of several GPUs when nothing else is said.
void from_launcher(const Scene& scene, Findings& out) {
  const auto& launchers = scene.launch.launchers;
  const auto launched = [&](std::string_view name) {
    return std::ranges::any_of(launchers,
                               [&](const std::string& one) { return one.contains(name); });
  };
  const bool many = launched("torchrun") || launched("launch") || launched("accelerate") ||
                    launched("deepspeed") || launched("mpirun") || launched("horovodrun") ||
                    launched("torch.distributed") || launched("srun") || launched("dora");
  const auto libraries = libraries_of(scene);
  const bool trainer = std::ranges::any_of(libraries, [](const Library& library) {
    return library.callee.starts_with("transformers.") || library.callee.starts_with("trl.");
  });
  const bool lightning = std::ranges::any_of(
      libraries, [](const Library& library) { return library.callee.starts_with("lightning."); });
  const bool spawned = !scene.calls("multiprocessing.spawn").empty() ||
                       !scene.calls("multiprocessing.Process").empty() ||
                       !scene.calls("init_process_group").empty() ||
                       !scene.calls("detectron2.engine.launch").empty() ||
                       !scene.calls("init_distributed").empty();
  if (many) return add_on_request(scene, out, "ddp", 0.8);
  if (lightning || spawned) return add_on_request(scene, out, "ddp", 0.75);
  if (trainer) return add_on_request(scene, out, "dp", 0.8);
  if (scene.job.nodes > 1)
    return add_on_request(scene, out, "ddp", scene.trains ? confidence::weak : confidence::hint);
  const bool keras = scene.imports("keras") || scene.imports("tensorflow");
  const bool shares = std::ranges::any_of(scene.seen.calls, [](const python::Call& call) {
    return call.callee.contains("Strategy") || call.callee.contains("multi_gpu") ||
           (call.callee == "tensorflow.device" && call.loops > 0);
  });
  // TensorFlow leaves all GPUs but the first idle unless it is given a strategy.
  if (keras && scene.trains && !shares) return add_on_request(scene, out, "none", 0.6);
  add_on_request(scene, out, "dp", keras ? 0.5 : confidence::hint);
}

/// A launcher that was configured to start one process, on several GPUs that others use as well.
void from_one_process(const Scene& scene, Findings& out) {
  if (!is_started_as_one_process(scene) || single_process_split(scene) != nullptr) return;
  add(out, {distributed_field, "none", 0.97}, scene.launch.processes_per_node.place, "one process");
}

}  // namespace

void find_distributed(const Scene& scene, Findings& out) {
  if (scene.job.gpus <= 1) return add_on_request(scene, out, "none", 0.97);
  Findings found;
  from_zero(scene, found);
  from_wrappers(scene, found);
  from_strategy(scene, found);
  from_fsdp_block(scene, found);
  from_fsdp_axis(scene, found);
  from_launcher(scene, found);
  from_one_process(scene, found);
  PlacePtr place;
  const std::string model = model_parallel(scene, place);
  for (Finding& finding : found) {
    auto* word = std::get_if<std::string>(&finding.fact.value);  // a swept stage has no value
    if (!model.empty() && word != nullptr && *word != "none")
      *word = *word == "dp" || *word == "ddp" ? model : fmt::format("{}+{}", *word, model);
    if (!model.empty() && finding.fact.evidence.empty()) finding.fact.evidence = evidence_of(place);
    out.push_back(std::move(finding));
  }
}

}  // namespace schedmate::facts
