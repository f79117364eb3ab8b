// SPDX-License-Identifier: Apache-2.0
/// Number format of the training: what autocast, scalers and casts on the taken path say, what the
/// library or launcher was given, else switches; fp32 when a program that was read to its end has
/// none of these.
#include <algorithm>
#include <array>

#include "facts/finding.hpp"
#include "facts/library.hpp"
#include "facts/outlook.hpp"

namespace schedmate::facts {
namespace {

constexpr std::string_view precision_field = "precision";

/// "bf16", "fp16", ... in a name such as torch.bfloat16, "16-mixed", "O1"; "" when none.
std::string precision_in(std::string_view raw) {
  const std::string text = normal_key(raw);
  if (text.contains("bf16") || text.contains("bfloat16")) return "bf16";
  if (text.contains("fp8") || text.contains("float8")) return "fp8";
  if (text.contains("fp16") || text.contains("float16") || text == "16" || text == "16_mixed" ||
      text == "half" || text.ends_with(".half") || text == "16_true" || text == "mixed") {
    return "fp16";
  }
  if (text.contains("fp32") || text.contains("float32") || text == "32" || text == "32_true" ||
      text == "no" || text == "tf32" || text == "full" || text == "float") {
    return "fp32";
  }
  return "";
}

std::string name_or_number(const Value& value) {
  if (const auto* whole = value.integer()) return std::to_string(*whole);
  return name_in(value);
}

/// Mixed precision by autocast keeps fp32 weights: the "-amp" words.
std::string mixed(const std::string& type) { return type == "fp32" ? type : type + "-amp"; }

void from_autocast(const Scene& scene, Findings& out) {
  for (const auto* name : {"torch.cuda.amp.autocast", "torch.autocast", "torch.amp.autocast",
                           "torch.cuda.amp.autocast_mode.autocast", "paddle.amp.auto_cast"}) {
    for (const python::Call* call : scene.calls(name)) {
      const bool device_first = std::string_view(name) == "torch.autocast" ||
                                std::string_view(name) == "torch.amp.autocast";
      const Value* enabled = argument(*call, "enabled", device_first ? 2 : 0);
      if (enabled == nullptr) enabled = call->named.find("enable");
      const Value* dtype = argument(*call, "dtype", 1);
      const auto on = enabled == nullptr ? std::optional(true) : enabled->truth();
      double sure = call->certain ? confidence::certain : confidence::fair;
      if (!on) sure = 0.65;  // a program that brings a scaler along mostly uses it
      std::string type = dtype == nullptr ? "fp16" : precision_in(name_in(*dtype));
      if (type.empty()) continue;
      if (on == false) type = "fp32", sure -= 0.1;
      const PlacePtr& place = enabled != nullptr && enabled->place ? enabled->place : call->place;
      add(out, {precision_field, mixed(type), sure},
          on == true && dtype == nullptr ? call->place : place, "autocast");
    }
  }
}

void from_other_calls(const Scene& scene, Findings& out) {
  for (const python::Call* call : scene.calls("apex.amp.initialize")) {
    const Value* level = call->named.find("opt_level");
    const std::string text = level == nullptr ? "O1" : name_in(*level);
    if (text.starts_with("O")) {
      add(out,
          {precision_field, text == "O0" ? "fp32" : "fp16-amp",
           call->certain ? confidence::certain : confidence::fair},
          call->place, "apex");
    }
  }
  for (const auto* name : {"set_global_policy", "mixed_precision.set_policy",
                           "experimental.set_policy", "enable_mixed_precision_graph_rewrite"}) {
    for (const python::Call* call : scene.calls(name)) {
      const Value* policy = argument(*call, "policy", 0);
      const std::string type = policy == nullptr ? "fp16" : precision_in(name_in(*policy));
      if (!type.empty()) {
        add(out,
            {precision_field, mixed(type), call->certain ? confidence::certain : confidence::fair},
            call->place, "Keras policy");
      }
    }
  }
  for (const python::Call* call : scene.calls("GradScaler")) {
    const Value* enabled = call->named.find("enabled");
    if (call->callee.contains("ShardedGradScaler")) continue;
    const auto on = enabled == nullptr ? std::optional(true) : enabled->truth();
    if (on == false) continue;
    const double sure = call->certain ? confidence::likely : confidence::weak;
    add(out, {precision_field, "fp16-amp", on ? sure : sure - 0.2}, call->place, "gradient scaler");
  }
}

/// Weights that are loaded in a format of their own, and what is trained of them.
void from_loaded_weights(const Scene& scene, Findings& out) {
  for (const python::Call* call : scene.calls("from_pretrained")) {
    const Value* dtype = call->named.find("torch_dtype");
    if (dtype == nullptr) dtype = call->named.find("dtype");
    const std::string type = dtype == nullptr ? "" : precision_in(name_in(*dtype));
    if (type.empty() || type == "fp32") continue;
    add(out, {precision_field, type, call->certain ? confidence::fair : 0.62},
        dtype->place ? dtype->place : call->place, "format of the loaded weights");
  }
}

/// A model whose weights are cast as a whole before anything is trained. Images and other data are
/// cast too: only what is known for a model counts.
void from_casts(const Scene& scene, Findings& out) {
  for (const python::Call& call : scene.seen.calls) {
    const std::string_view callee = call.callee;
    if (callee.ends_with(".backward")) return;
    const auto dot = callee.rfind("().");
    const bool model = callee.contains("from_pretrained()") || callee.starts_with("torch.nn.");
    if (dot == std::string_view::npos || !model) continue;
    const auto method = callee.substr(dot + 3);
    const bool and_back = call.place && call.place->text.contains("().float()");
    if ((method != "half" && method != "bfloat16") || and_back) continue;
    add(out,
        {precision_field, method == "half" ? "fp16" : "bf16",
         call.certain ? confidence::fair : confidence::weak},
        call.place, "the model is cast");
  }
}

/// What the program passes to Accelerate, which beats the launcher's flag; nothing when it leaves
/// that to the launcher.
std::optional<std::string> from_accelerator(const Scene& scene, Findings& out) {
  for (const python::Call* call : scene.calls("Accelerator")) {
    const Value* value = call->named.find("mixed_precision");
    std::string type = value == nullptr ? "" : precision_in(name_in(*value));
    if (type.empty() || !call->certain) continue;
    add(out, {precision_field, mixed(type), 0.98}, value->place ? value->place : call->place,
        "Accelerator");
    return type;
  }
  return std::nullopt;
}

void precision_from_libraries(const Scene& scene, Findings& out) {
  for (const Library& library : libraries_of(scene)) {
    for (const auto* name : {"bf16", "fp16", "use_amp"}) {
      const auto setting = library_setting(scene, library, name);
      const Value* value = setting ? &setting->value : nullptr;
      const bool on = value != nullptr && (value->truth() == true && name_in(*value) != "False");
      if (on && name_in(*value) != "false") {
        add_setting(out, precision_field, std::string_view(name) == "bf16" ? "bf16" : "fp16-amp",
                    *setting);
        return;
      }
    }
    const auto setting = library_setting(scene, library, "precision");
    if (!setting) continue;
    std::string text = name_or_number(setting->value);
    if (text.empty() && setting->by_default) {
      if (const auto* word = std::get_if<std::string>(&setting->by_default->value)) text = *word;
      if (const auto* number = std::get_if<std::int64_t>(&setting->by_default->value))
        text = std::to_string(*number);
    }
    const std::string type = precision_in(text);
    if (type.empty()) continue;
    add_setting(out, precision_field, type == "fp16" ? "fp16-amp" : type, *setting);
    return;
  }
}

/// The type that a setting switches on; "" when it says nothing.
std::string switched(const Setting& setting, std::string_view meaning) {
  const Value& value = setting.value;
  if (meaning == "name" && value.boolean() != nullptr) return *value.boolean() ? "fp16-amp" : "";
  if (meaning == "name") return precision_in(name_or_number(value));
  if (meaning == "opt_level") {
    const std::string level = name_in(value);
    return level == "O1" || level == "O2" ? "fp16-amp" : "";
  }
  if (meaning == "loss_scale") return "fp16-amp";
  if (meaning == "wrapper") {
    const std::string name = name_in(value);
    return name.contains("Amp") || name.contains("Fp16") ? "fp16-amp" : "";
  }
  const std::string text = normal_key(name_in(value));
  const bool off = text == "false" || text == "no" || text == "0" || text == "off";
  const bool on = value.truth() == true && !off;
  if (meaning == "fp16" && on && !text.empty() && !precision_in(text).empty())
    return precision_in(text);
  return on ? std::string(meaning) + (meaning == "fp16" ? "-amp" : "") : "";
}

bool is_half(const Value& value) {
  const auto* open = std::get_if<Unknown>(&value.data);
  if (open != nullptr) return open->may_be && std::ranges::any_of(*open->may_be, is_half);
  const std::string type = precision_in(name_in(value));
  return type == "fp16" || type == "bf16";
}

/// Networks that compute a part of their layers in half precision by themselves.
void precision_from_networks(const Scene& scene, Findings& out) {
  for (const auto& instance : scene.seen.instances) {
    const bool network = std::ranges::any_of(
        instance->bases, [](const std::string& base) { return base.ends_with("nn.Module"); });
    if (!network) continue;
    for (const auto* name : {"use_fp16", "fp16", "use_amp"}) {
      const Value* value = instance->fields.find(name);
      if (value == nullptr || value->boolean() == nullptr || !*value->boolean()) continue;
      add(out, {precision_field, "fp16-amp", instance->certain ? 0.75 : confidence::weak},
          value->place ? value->place : instance->place, "a network's own switch");
      return;
    }
  }
}

/// The program trains, or runs its model to evaluate it.
bool runs_a_model(const Scene& scene) {
  if (scene.trains) return true;
  return expect(scene).outlook == Outlook::evaluation_only && !scene.calls("eval").empty();
}

/// What a network is given is cast within it: which layers compute in half is not known.
bool casts_within_networks(const Scene& scene) {
  const bool open = std::ranges::any_of(scene.seen.instances, [](const auto& instance) {
    const Value* value = instance->fields.find("use_fp16");
    return value != nullptr && value->is_unknown();
  });
  if (open) return true;
  return std::ranges::any_of(scene.seen.calls, [](const python::Call& call) {
    const bool cast = call.callee.ends_with(".to") || call.callee.ends_with(".type");
    if (!cast || call.function != "forward") return false;
    const Value* dtype = call.named.find("dtype");
    return (dtype != nullptr && is_half(*dtype)) || std::ranges::any_of(call.args, is_half);
  });
}

/// The type that images are turned into, not the one of the arithmetic.
bool is_of_data(std::string_view key) {
  return key.contains("transform") || key.contains("dataset.") || key.contains("pipeline.") ||
         key.contains("loader.") || key.contains("collate");
}

void precision_from_settings(const Scene& scene, bool launcher_counts, Findings& out) {
  for (const auto& [setting, meaning, trust] : scene.meant(precision_field)) {
    if (setting->precedence == Precedence::launcher && !launcher_counts) continue;
    if (setting->precedence == Precedence::argument || setting->value.entries() != nullptr)
      continue;
    if (is_of_data(setting->key)) continue;
    if (meaning == "loss_scale" && !scene.imports("mmcv")) continue;
    // The levels are apex's: what is left of a flag for it changes nothing.
    if (meaning == "opt_level" && scene.trains && !scene.imports("apex")) continue;
    const std::string type = switched(*setting, meaning);
    // Switched off by hand: `-o AMP.use_amp=False`.
    const bool by_switch = meaning == "fp16" || meaning == "bf16";
    if (type.empty() && by_switch && setting->precedence == Precedence::given &&
        setting->value.boolean() != nullptr && setting->value.truth() == false)
      add(out, {precision_field, "fp32", 0.86}, setting->value.place, "setting " + setting->key);
    if (!type.empty()) {
      add(out, {precision_field, type, sure_of(scene, *setting) - 0.0001 * trust / 1000},
          setting->value.place, "setting " + setting->key);
    }
  }
}

/// A trainer is given a format, and which one is not known.
bool is_set_to_unknown(const Scene& scene) {
  const auto is_open = [](const python::Call& call) {
    return std::ranges::any_of(
        std::array{"precision", "mixed_precision", "fp16", "bf16"}, [&](const char* name) {
          const Value* value = call.named.find(name);
          return value != nullptr && !value->is_none() && value->boolean() == nullptr &&
                 precision_in(name_or_number(*value)).empty();
        });
  };
  const auto libraries = libraries_of(scene);
  return std::ranges::any_of(libraries, [&](const Library& library) {
    return library.call != nullptr && is_open(*library.call);
  });
}

}  // namespace

void find_precision(const Scene& scene, Findings& out) {
  precision_from_libraries(scene, out);
  from_autocast(scene, out);
  from_other_calls(scene, out);
  from_loaded_weights(scene, out);
  from_casts(scene, out);
  precision_from_networks(scene, out);
  precision_from_settings(scene, !from_accelerator(scene, out), out);
  const bool perhaps = std::ranges::any_of(out, [](const Finding& finding) {
    return finding.field == precision_field &&
           finding.fact.value != FactValue(std::string("fp32")) &&
           finding.fact.confidence >= confidence::weak;
  });
  const bool open = casts_within_networks(scene) || is_set_to_unknown(scene);
  if (runs_a_model(scene) && !perhaps && !open) {
    Fact fact{.value = std::string("fp32"),
              .confidence = 0.6,
              .source = FactSource::table,
              .evidence = {}};
    fact.evidence.push_back({"rules/defaults.toml", 0, "no lower precision is switched on: fp32"});
    out.push_back({std::string(precision_field), fact, "nothing switches another format on"});
  }
}

}  // namespace schedmate::facts
