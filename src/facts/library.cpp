// SPDX-License-Identifier: Apache-2.0
#include "facts/library.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <set>

#include "python/objects/objects.hpp"

namespace schedmate::facts {
namespace {

/// How the use of a library shows: a call that ends in `call`, or a class or dataclass derived from
/// `type`; `row` is its name in rules/defaults.toml.
struct Sign {
  std::string_view call, type, row;
};
constexpr std::array signs{
    Sign{"TrainingArguments", "transformers.TrainingArguments", "transformers.TrainingArguments"},
    Sign{"Seq2SeqTrainingArguments", "transformers.Seq2SeqTrainingArguments",
         "transformers.TrainingArguments"},
    Sign{"SentenceTransformerTrainingArguments", "", "transformers.TrainingArguments"},
    Sign{"SFTConfig", "trl.SFTConfig", "trl.SFTConfig"},
    Sign{"DPOConfig", "trl.DPOConfig", "trl.DPOConfig"},
    Sign{"pytorch_lightning.Trainer", "", "lightning.Trainer"},
    Sign{"lightning.pytorch.Trainer", "", "lightning.Trainer"},
    Sign{"lightning.Trainer", "", "lightning.Trainer"},
    Sign{"Trainer.from_argparse_args", "", "lightning.Trainer"},
    Sign{"LightningCLI", "", "lightning.Trainer"},
    Sign{"lightning.Fabric", "", "lightning.Fabric"},
    Sign{"fabric.Fabric", "", "lightning.Fabric"},
    Sign{"detectron2.engine.DefaultTrainer", "detectron2.engine.DefaultTrainer",
         "detectron2.engine.DefaultTrainer"},
    Sign{"composer.Trainer", "", "composer.Trainer"},
    Sign{"SentenceTransformer().fit", "", "sentence_transformers.SentenceTransformer.fit"},
};

bool ends_with_name(std::string_view dotted, std::string_view name) {
  return dotted == name || (dotted.ends_with(name) && dotted.size() > name.size() &&
                            dotted[dotted.size() - name.size() - 1] == '.');
}

const python::Call* call_with(const Scene& scene, std::string_view name) {
  const python::Call* best = nullptr;
  for (const python::Call& call : scene.seen.calls) {
    if (!ends_with_name(call.callee, name)) continue;
    if (best == nullptr || (call.certain && !best->certain)) best = &call;
  }
  return best;
}

bool derived_from(const Scene& scene, std::string_view type) {
  if (type.empty()) return false;
  const auto owns = [&](const python::Flag& flag) { return flag.owner == type; };
  const auto based = [&](const std::shared_ptr<python::Instance>& instance) {
    return instance->type == type ||
           std::ranges::find(instance->bases, type) != instance->bases.end();
  };
  return std::ranges::any_of(scene.seen.flags, owns) ||
         std::ranges::any_of(scene.seen.instances, based);
}

bool has_training_defaults(const Tables& tables, std::string_view callee) {
  for (const auto* name : {"epochs", "batch_size", "max_epochs", "max_steps", "iterations"}) {
    if (tables.find_default(callee, name)) return true;
  }
  return false;
}

const python::Flag* flag_named(const Scene& scene, std::string_view name) {
  for (const python::Flag& flag : scene.seen.flags) {
    if (normal_key(flag.name) == name) return &flag;
  }
  return nullptr;
}

}  // namespace

std::vector<Library> libraries_of(const Scene& scene) {
  std::vector<Library> found;
  for (const Sign& sign : signs) {
    const python::Call* call = call_with(scene, sign.call);
    if (call == nullptr && !derived_from(scene, sign.type)) continue;
    const auto same = [&](const Library& library) { return library.callee == sign.row; };
    if (std::ranges::any_of(found, same)) continue;
    found.push_back({std::string(sign.row), call, call == nullptr || call->certain});
  }
  // Anything else whose own defaults are known: Keras' fit(), stable-baselines3, ultralytics, ...
  std::set<std::string_view> without;  ///< callees of no library
  for (const python::Call& call : scene.seen.calls) {
    if (without.contains(call.callee)) continue;
    const bool part = call.callee.contains("Loader") || call.callee.contains("Sampler") ||
                      scene.tables->find_optimizer(call.callee).has_value();
    const auto same = [&](const Library& library) { return library.callee == call.callee; };
    if (part || std::ranges::any_of(found, same)) continue;
    const bool fits = call.callee.ends_with(".fit") || call.callee.ends_with(".fit_generator");
    const bool sets_epochs = fits && call.named.find("epochs") != nullptr;
    if (sets_epochs || has_training_defaults(*scene.tables, call.callee)) {
      found.push_back({call.callee, &call, call.certain});
    } else if (!fits) {
      without.insert(call.callee);
    }
  }
  return found;
}

std::optional<LibrarySetting> library_setting(const Scene& scene, const Library& library,
                                              std::string_view name) {
  LibrarySetting setting{.certain = library.certain};
  if (library.call != nullptr) {
    if (const Value* value = library.call->named.find(name)) {
      setting.value = *value;
      if (!value->is_unknown() && !value->is_none()) return setting;
    }
  }
  const bool dataclass =
      library.callee.starts_with("transformers.") || library.callee.starts_with("trl.");
  if (const python::Flag* flag =
          dataclass && setting.value.is_unknown() ? flag_named(scene, name) : nullptr) {
    setting.value = flag->value;
    if (!flag->value.is_unknown()) return setting;
  }
  setting.by_default = scene.tables->find_default(library.callee, name);
  // Given, but not known: the default does not hold.
  const bool hidden = library.call != nullptr && !setting.value.is_none() &&
                      (library.call->named.find(name) != nullptr || !library.call->complete);
  if (hidden) return std::nullopt;
  return setting.by_default ? std::optional(setting) : std::nullopt;
}

std::optional<double> number_of(const LibrarySetting& setting) {
  if (!setting.value.is_unknown() && !setting.value.is_none()) return setting.value.number();
  if (!setting.by_default) return std::nullopt;
  const FactValue& value = setting.by_default->value;
  if (const auto* whole = std::get_if<std::int64_t>(&value)) return static_cast<double>(*whole);
  if (const auto* real = std::get_if<double>(&value)) return *real;
  return std::nullopt;
}

void add_setting(Findings& out, std::string_view field, FactValue what,
                 const LibrarySetting& setting) {
  const double sure = setting.certain ? confidence::certain : confidence::likely;
  if (!setting.value.is_unknown() && !setting.value.is_none()) {
    add(out, {field, std::move(what), sure}, setting.value.place,
        "setting of the training library");
  } else if (setting.by_default) {
    // Below what a setting of the program says: it may reach the library by **kwargs.
    add_from_table(out, {field, std::move(what), 0.86}, setting.by_default->row, {});
  }
}

std::string name_in(const Value& value) {
  if (const std::string* text = value.text()) return *text;
  code::Object* object = value.object();
  if (const auto* symbol = dynamic_cast<python::Symbol*>(object)) return symbol->name;
  if (const auto* made = dynamic_cast<python::Made*>(object)) return made->callee;
  if (const auto* instance = dynamic_cast<python::Instance*>(object)) return instance->type;
  if (const auto* type = dynamic_cast<python::Class*>(object)) return type->name;
  return "";
}

std::optional<double> likely_number(const Value& value) {
  const auto* open = std::get_if<Unknown>(&value.data);
  if (open == nullptr || open->may_be == nullptr) return value.number();
  std::optional<double> only;
  for (const Value& each : *open->may_be) {
    const auto number = likely_number(each);
    if (!number) continue;
    if (only && *only != *number) return std::nullopt;
    only = number;
  }
  return only;
}

FactValue number_fact(double number) {
  if (std::floor(number) == number && std::abs(number) < 1e15)
    return static_cast<std::int64_t>(number);
  return number;
}

}  // namespace schedmate::facts
