// SPDX-License-Identifier: Apache-2.0
/// The optimiser: the one that the program builds, else what the library takes, else what the
/// settings name.
#include <algorithm>

#include "facts/finding.hpp"
#include "facts/library.hpp"

namespace schedmate::facts {
namespace {

constexpr std::string_view optimizer_field = "optimizer";

/// Callees that take the optimiser's name as a setting (timm, fairseq, ...), by argument.
struct Factory {
  std::string_view callee, argument;
  std::size_t position;
};
constexpr Factory factories[] = {
    {"create_optimizer_v2", "opt", 1},
    {"create_optimizer", "opt", 99},
    {"optimizers.get", "identifier", 0},
    {"compile", "optimizer", 0},
};

struct Built {
  std::string name;
  Evidence row;
  PlacePtr place;
  bool certain;
  std::string function;
};

/// FusedAdam of apex and DeepSpeed decouples the weight decay unless it is configured not to.
bool is_configured_as_adam(const python::Call& call) {
  for (const auto* name : {"adam_w_mode", "adamw_mode"}) {
    const Value* mode = call.named.find(name);
    if (mode != nullptr && mode->truth() == false) return true;
  }
  return false;
}

/// An outside call whose name is an optimiser's: torch.optim.AdamW, optax.adam, FusedLAMB.
void take_calls(const Scene& scene, std::vector<Built>& built) {
  for (const python::Call& call : scene.seen.calls) {
    if (call.callee.contains("()") || call.callee.starts_with('?')) continue;
    if (const auto match = scene.tables->find_optimizer(call.callee)) {
      const std::string name = is_configured_as_adam(call) ? "Adam" : match->name;
      built.push_back({name, match->row, call.place, call.certain, call.function});
    }
  }
}

/// A class of the tree that extends an optimiser base: its own name, normalised where known.
void take_own_classes(const Scene& scene, std::vector<Built>& built) {
  for (const auto& instance : scene.seen.instances) {
    const bool is_optimizer = std::ranges::any_of(
        instance->bases, [](const std::string& base) { return base.ends_with("Optimizer"); });
    if (!is_optimizer || instance->type.contains("Wrapper")) continue;
    const auto match = scene.tables->find_optimizer(instance->type);
    built.push_back({match ? match->name : instance->type, match ? match->row : Evidence{},
                     instance->place, instance->certain, ""});
  }
}

void take_factories(const Scene& scene, std::vector<Built>& built) {
  for (const auto& [callee, name, position] : factories) {
    for (const python::Call* call : scene.calls(callee)) {
      const Value* value = argument(*call, name, position);
      const std::string* text = value == nullptr ? nullptr : value->text();
      const auto match = text ? scene.tables->find_optimizer(*text) : std::nullopt;
      if (match)
        built.push_back({match->name, match->row, value->place, call->certain, call->function});
    }
  }
}

void from_program(const Scene& scene, Findings& out) {
  std::vector<Built> built;
  take_calls(scene, built);
  take_own_classes(scene, built);
  take_factories(scene, built);
  const bool any_certain = std::ranges::any_of(built, &Built::certain);
  if (any_certain) std::erase_if(built, [](const Built& one) { return !one.certain; });
  const bool one_kind =
      std::ranges::all_of(built, [&](const Built& one) { return one.name == built.front().name; });
  // A library's trainer builds its own unless the program overrides that method.
  const auto libraries = libraries_of(scene);
  const bool hidden = std::ranges::any_of(libraries, [](const Library& library) {
    return library.callee == "transformers.TrainingArguments" || library.callee.starts_with("trl.");
  });
  if (hidden) {
    std::erase_if(built, [&](const Built& one) {
      const bool own = one.function.contains("optim") || scene.seen.files.empty() || !one.place ||
                       one.place->file == scene.seen.files[0];
      return !own;
    });
  }
  for (const Built& one : built) {
    const double sure = one_kind ? (any_certain ? confidence::certain : confidence::likely)
                                 : (any_certain ? confidence::fair : confidence::hint);
    add(out, {optimizer_field, one.name, sure}, one.place, "built by the program");
  }
}

void optimizer_from_libraries(const Scene& scene, Findings& out) {
  for (const Library& library : libraries_of(scene)) {
    auto setting = library_setting(scene, library, "optim");
    if (!setting) setting = library_setting(scene, library, "optimizer");
    if (!setting) continue;
    std::string text = name_in(setting->value);
    if (text.empty() && setting->by_default) {
      if (const auto* word = std::get_if<std::string>(&setting->by_default->value)) text = *word;
    }
    const auto match = scene.tables->find_optimizer(text);
    if (!match) continue;
    add_setting(out, optimizer_field, match->name, *setting);
    return;
  }
}

void optimizer_from_settings(const Scene& scene, Findings& out) {
  const bool by_factory = !scene.calls("create_optimizer").empty();
  for (const auto& [setting, meaning, trust] : scene.meant(optimizer_field)) {
    const std::string text = name_in(setting->value);
    if (text.empty()) continue;
    if (const auto match = scene.tables->find_optimizer(text)) {
      // timm's create_optimizer(args, model) reads the flags by itself.
      const double sure = by_factory ? std::max(sure_of(scene, *setting), confidence::likely)
                                     : sure_of(scene, *setting);
      add(out, {optimizer_field, match->name, sure - 0.0001 * trust / 1000}, setting->value.place,
          "setting " + setting->key);
    }
  }
}

}  // namespace

void find_optimizer(const Scene& scene, Findings& out) {
  optimizer_from_libraries(scene, out);
  from_program(scene, out);
  optimizer_from_settings(scene, out);
}

}  // namespace schedmate::facts
