// SPDX-License-Identifier: Apache-2.0
/// Batch size per device and micro-step: what reaches the training loader, else what the settings
/// say. Totals are divided by devices and accumulation; batches of varying size give no number.
#include <algorithm>
#include <cmath>

#include "facts/devices.hpp"
#include "facts/finding.hpp"
#include "facts/library.hpp"
#include "facts/outlook.hpp"

namespace schedmate::facts {
namespace {

constexpr std::string_view batch_size_field = "batch_size";

bool mentions(std::string_view text, std::initializer_list<std::string_view> words) {
  return std::ranges::any_of(words, [&](std::string_view word) { return text.contains(word); });
}

/// How much a loader looks like the one of the training set.
int trainness(const python::Call& call) {
  const std::string line = call.place ? normal_key(call.place->text) : "";
  const std::string function = normal_key(call.function);
  int points = 0;
  if (mentions(line, {"train", "trn"})) points += 2;
  if (mentions(line, {"val", "test", "eval", "valid", "dev_"})) points -= 3;
  if (mentions(function, {"train"})) points += 2;
  if (mentions(function, {"val", "test", "eval", "predict"})) points -= 3;
  if (const Value* shuffle = call.named.find("shuffle"); shuffle && shuffle->truth() == true)
    points += 2;
  return points;
}

/// The setting that the number was read from speaks of evaluation: EVALUATOR.BATCH_SIZE.
bool sized_for_evaluation(const Scene& scene, const Value& size) {
  return size.place && std::ranges::any_of(scene.settings, [&](const Setting& setting) {
           return setting.value.place == size.place &&
                  mentions(setting.key, {"eval", "valid", "test", "infer"});
         });
}

struct Loader {
  const python::Call* call;
  const Value* size;
  int fitness = 0;  ///< how much it looks like the one that the job goes through
};

std::vector<Loader> loaders(const Scene& scene) {
  std::vector<Loader> found;
  for (const auto* name : {"DataLoader", "StatefulDataLoader", "FastDataLoader", "DataListLoader",
                           "NeighborLoader", "MultiEpochsDataLoader"}) {
    for (const python::Call* call : scene.calls(name)) {
      if (const Value* size = argument(*call, "batch_size", 1)) found.push_back({call, size});
    }
  }
  for (const auto* name : {"BatchSampler", "DistributedBatchSampler", "AspectRatioBatchSampler"}) {
    for (const python::Call* call : scene.calls(name)) {
      if (const Value* size = argument(*call, "batch_size", 1)) found.push_back({call, size});
    }
  }
  for (const python::Call& call : scene.seen.calls) {
    if (!call.callee.starts_with("tensorflow.") && !call.callee.starts_with("tf.")) continue;
    if (call.callee.ends_with(".batch") && !call.args.empty())
      found.push_back({&call, &call.args[0]});
  }
  return found;
}

/// One item each, as the code itself says, where a setting asks for more: the data set makes its
/// batches.
bool holds_batches(const Scene& scene, const Value& size) {
  if (size.number() != 1 || !size.place || size.place->source != FactSource::code) return false;
  return std::ranges::any_of(scene.meant(batch_size_field), [](const Scene::Meant& meant) {
    const auto number = meant.setting->value.number();
    return meant.setting->precedence <= Precedence::config && meant.setting->read && number &&
           *number > 1;
  });
}

/// The micro-batch that the program is configured to cut `per_process` into; 0 when none.
double configured_micro_batch(const Scene& scene, double per_process) {
  for (const auto& [setting, meaning, trust] : scene.meant(batch_size_field)) {
    const auto micro = setting->value.number();
    const bool splits = meaning == "per_device" && setting->key.contains("micro") && micro &&
                        setting->precedence <= Precedence::config && setting->read && *micro >= 1;
    if (splits && *micro < per_process) return *micro;
  }
  return 0;
}

/// JAX programs without optax.MultiSteps cut the batch of a step into as many micro-steps.
bool cuts_steps(const Scene& scene) {
  return scene.imports("jax") && scene.calls("MultiSteps").empty();
}

double accumulation(const Scene& scene) {
  for (const auto& meant : scene.meant("accumulation")) {
    if (const auto number = meant.setting->value.number(); number && *number >= 1) return *number;
  }
  return 1;
}

/// Micro-steps into which JAX programs cut what each device gets.
double rounds_of(const Scene& scene, double per_device) {
  const double rounds = cuts_steps(scene) ? accumulation(scene) : 1;
  return std::fmod(per_device, rounds) == 0 ? rounds : 1;
}

/// The call that cuts what the loader gives into micro-steps: `for part in batch.split(8)`.
const python::Call* cut_into_parts(const Scene& scene, double per_process) {
  for (const python::Call& call : scene.seen.calls) {
    if (!call.callee.ends_with(".split") || !call.certain || call.loops == 0) continue;
    const auto size = call.args.empty() ? std::nullopt : call.args[0].number();
    const bool batches = call.place && call.place->text.contains("batch");
    if (size && batches && *size >= 1 && *size < per_process && std::fmod(per_process, *size) == 0)
      return &call;
  }
  return nullptr;
}

/// The program divided the configured size by its devices before the loader got it.
bool is_divided(const Scene& scene, const Value& size, double devices) {
  const auto number = likely_number(size);
  if (!number || devices <= 1) return false;
  return std::ranges::any_of(scene.meant(batch_size_field), [&](const Scene::Meant& meant) {
    const Value& configured = meant.setting->value;
    return configured.place && configured.number() == *number * devices &&
           code::comes_from(size.place, configured.place.get());
  });
}

/// Gives back what reaches the loader, unknown when that is not seen.
Value from_loaders(const Scene& scene, Findings& out) {
  auto all = loaders(scene);
  std::erase_if(all, [](const Loader& loader) {
    const auto number = likely_number(*loader.size);
    return !number || *number < 1 || loader.size->boolean() != nullptr;
  });
  if (all.empty()) return {};
  const bool evaluates = expect(scene).outlook == Outlook::evaluation_only;
  for (Loader& loader : all) {
    const int other = sized_for_evaluation(scene, *loader.size) ? 3 : 0;
    const int points = trainness(*loader.call) - other;
    loader.fitness = evaluates ? -points : points;
  }
  const auto best = std::ranges::max_element(all, {}, [](const Loader& loader) {
    return loader.fitness * 2 + (loader.call->certain && !loader.size->is_unknown() ? 1 : 0);
  });
  if (best->fitness < -1) return {};
  const double per_process = *likely_number(*best->size);
  const double all_devices = devices_per_process(scene);
  const double devices = is_divided(scene, *best->size, all_devices) ? 1 : all_devices;
  double sure = best->call->certain ? confidence::certain : confidence::likely;
  // Split further into micro-steps by the program.
  if (configured_micro_batch(scene, per_process) > 0) sure = std::min(sure, confidence::fair);
  if (const python::Call* cut = cut_into_parts(scene, per_process)) {
    add(out, {batch_size_field, number_fact(*cut->args[0].number()), sure - 0.02},
        cut->args[0].place ? cut->args[0].place : cut->place, "the batch is cut into micro-steps");
    sure = std::min(sure, confidence::fair);
  }
  if (best->size->is_unknown()) sure = std::min(sure, confidence::likely);
  if (std::fmod(per_process, devices) != 0) sure = confidence::weak;
  if (holds_batches(scene, *best->size)) sure = confidence::fair;
  const PlacePtr& place = best->size->place ? best->size->place : best->call->place;
  const double per_device = std::ceil(per_process / devices);
  add(out, {batch_size_field, number_fact(per_device / rounds_of(scene, per_device)), sure}, place,
      "the training loader's batch size");
  return *best->size;
}

/// The program makes another number of the setting (a total divided by the devices) before it
/// reaches the loader.
bool is_remade(const Setting& setting, const Value& in_loader) {
  const auto number = setting.value.number();
  const auto made = likely_number(in_loader);
  if (!setting.value.place || !number || !made || *number == *made) return false;
  return code::comes_from(in_loader.place, setting.value.place.get());
}

bool hides_defaults(const Library& library) {
  return library.callee.contains("fit") || library.callee.ends_with("run_recbole");
}

void batch_size_from_libraries(const Scene& scene, Findings& out) {
  for (const Library& library : libraries_of(scene)) {
    for (const auto* name : {"per_device_train_batch_size", "batch_size", "train_batch_size"}) {
      const auto setting = library_setting(scene, library, name);
      const auto number = setting ? number_of(*setting) : std::nullopt;
      if (!number || *number < 1) continue;
      const bool per_device = std::string_view(name).starts_with("per_device");
      // A data set that comes in batches hides fit()'s own default, a config RecBole's.
      const bool by_default = setting->value.is_unknown() && hides_defaults(library);
      if (by_default && !scene.meant(batch_size_field).empty()) continue;
      add_setting(out, batch_size_field,
                  number_fact(per_device ? *number : *number / devices_per_process(scene)),
                  *setting);
      return;
    }
  }
}

/// A program that starts its processes by itself gets the batch of all of them as often as that
/// of one, and what it makes of the number was not seen.
bool is_open_total(const Scene& scene, const Value& in_loader) {
  if (likely_number(in_loader) || !libraries_of(scene).empty()) return false;
  return scene.job.gpus > 1 && scene.launch.launchers.empty() &&
         single_process_split(scene) == nullptr;
}

void batch_size_from_settings(const Scene& scene, const Value& in_loader, Findings& out) {
  for (const auto& [setting, meaning, trust] : scene.meant(batch_size_field)) {
    const auto number = setting->value.number();
    if (!number || *number < 1 || setting->value.boolean() != nullptr) continue;
    if (mentions(setting->key, {"eval", "val_", "val.", "test", "valid"})) continue;
    if (is_remade(*setting, in_loader)) continue;
    // The loader that the argument belongs to is that of another set.
    const bool argument = setting->precedence == Precedence::argument && setting->value.place;
    const std::string line = argument ? normal_key(setting->value.place->text) : "";
    if (mentions(line, {"test_", "val_", "eval_"}) && !line.contains("train")) continue;
    double value = *number;
    double sure = sure_of(scene, *setting) - 0.001 * trust / 1000;
    if (meaning == "dynamic") {
      if (setting->precedence == Precedence::given || setting->precedence == Precedence::config)
        add(out, {batch_size_field, {}, sure - 0.02}, setting->value.place,
            "batches by " + setting->key);
      continue;
    }
    if (meaning == "total") {
      value /= scene.job.gpus;
      if (std::fmod(value, accumulation(scene)) == 0) value /= accumulation(scene);
      if (configured_micro_batch(scene, value) > 0) sure = std::min(sure, confidence::weak);
    } else if (meaning == "plain") {
      value /= devices_per_process(scene);
      value /= rounds_of(scene, value);
      sure -= 0.03;
      if (is_open_total(scene, in_loader)) sure = confidence::hint;
    }
    if (value < 1 || std::floor(value) != value) sure = confidence::hint;
    add(out, {batch_size_field, number_fact(value), sure}, setting->value.place,
        "setting " + setting->key);
  }
}

/// `batch_type: frames`: what the numbers count are no samples.
void from_unit(const Scene& scene, Findings& out) {
  for (const Setting& setting : scene.settings) {
    const bool unit = setting.leaf() == "batch_type" || setting.leaf() == "batch_size_type" ||
                      setting.leaf() == "batch_unit";
    if (!unit || setting.precedence > Precedence::fallback || !setting.value.place) continue;
    const std::string name = normal_key(name_in(setting.value));
    if (mentions(name, {"frame", "token", "numel", "bins", "second", "duration"}))
      add(out, {batch_size_field, {}, 0.98}, setting.value.place, "batches by " + name);
    return;
  }
}

}  // namespace

void find_batch_size(const Scene& scene, Findings& out) {
  from_unit(scene, out);
  batch_size_from_libraries(scene, out);
  batch_size_from_settings(scene, from_loaders(scene, out), out);
}

}  // namespace schedmate::facts
