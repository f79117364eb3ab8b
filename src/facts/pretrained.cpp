// SPDX-License-Identifier: Apache-2.0
/// Whether training starts from somebody's weights. Going on with the job's own checkpoint does not
/// count. A program that was read to its end and loads nothing starts from scratch.
#include <algorithm>
#include <array>

#include "facts/finding.hpp"
#include "facts/library.hpp"
#include "facts/network.hpp"

namespace schedmate::facts {
namespace {

constexpr std::string_view pretrained_field = "pretrained";

bool is_set(const Value& value) {
  const std::string text = normal_key(name_in(value));
  if (text == "false" || text == "none" || text == "no" || text == "null" || text == "0" ||
      text == "scratch" || text == "random")
    return false;
  return value.truth() == true || (value.is_unknown() && value.place != nullptr);
}

/// Loaders of things that carry no weights: tokenizers, configs, schedulers.
bool loads_weights(std::string_view callee) {
  for (const auto* word : {"Tokenizer", "Processor", "Config", "FeatureExtractor", "Scheduler",
                           "tokenizer", "processor", "ImageProcessor", "GenerationConfig"}) {
    if (callee.contains(word)) return false;
  }
  return true;
}

bool contains_any(std::string_view text, std::initializer_list<std::string_view> words) {
  return std::ranges::any_of(words, [&](std::string_view word) { return text.contains(word); });
}

/// Whatever fetches a file of weights by its address; those of a metric or a loss are no start.
bool fetches_weights(const python::Call& call) {
  const std::string callee = normal_key(call.callee.substr(call.callee.rfind('.') + 1));
  if (!contains_any(callee, {"download", "retrieve", "request", "urlopen", "get", "fetch"}))
    return false;
  return std::ranges::any_of(call.args, [](const Value& value) {
    const std::string* text = value.text();
    if (text == nullptr || !text->starts_with("http")) return false;
    constexpr std::array ends{".pt",          ".pth", ".bin", ".ckpt",
                              ".safetensors", ".h5",  ".npz", ".pkl"};
    return std::ranges::any_of(ends, [&](const char* end) { return text->ends_with(end); }) &&
           !contains_any(*text, {"metric", "inception", "lpips", "vgg"});
  });
}

/// Constructors that fetch what they are given the name of, where their own library trains it.
bool loads_by_name(const Scene& scene, const python::Call& call) {
  constexpr std::string_view library = "sentence_transformers.";
  constexpr std::array makers{"SentenceTransformer", "CrossEncoder", "SparseEncoder",
                              "models.Transformer"};
  const std::string_view callee = call.callee;
  if (!callee.starts_with(library) || callee.contains("()")) return false;
  const bool makes = std::ranges::any_of(
      makers, [&](std::string_view maker) { return callee.substr(library.size()) == maker; });
  const Value* name = argument(call, "model_name_or_path", 0);
  if (!makes || name == nullptr || name->is_none()) return false;
  return std::ranges::any_of(scene.seen.calls, [&](const python::Call& other) {
    const std::string_view trains = other.callee;
    return trains.starts_with(library) && (trains.ends_with(".fit") || trains.ends_with("Trainer"));
  });
}

void pretrained_from_calls(const Scene& scene, Findings& out) {
  for (const python::Call& call : scene.seen.calls) {
    const std::string_view callee = call.callee;
    if (is_of_measure(call.place, call.inside_class)) continue;
    const double sure = call.certain ? 0.94 : confidence::weak;
    // In a hook that is given a folder later on, it goes on with the job's own weights.
    const Value* path = argument(call, "pretrained_model_name_or_path", 0);
    const bool known = call.certain || (path != nullptr && path->text() != nullptr);
    if (callee.ends_with(".from_pretrained") && loads_weights(callee) && known &&
        !callee.starts_with('?') && !is_frozen_encoder(callee))
      add(out, {pretrained_field, true, sure}, call.place, "loads published weights");
    if (loads_by_name(scene, call))
      add(out, {pretrained_field, true, sure - 0.04}, call.place, "loads published weights");
    if (callee.ends_with(".from_config") && callee.contains("Auto"))
      add(out, {pretrained_field, false, sure - 0.02}, call.place,
          "built from a configuration alone");
    if (callee.ends_with("load_url") || callee.ends_with("load_state_dict_from_url"))
      add(out, {pretrained_field, true, sure - 0.04}, call.place, "downloads weights");
    // esm.pretrained.esm2_t33_650M_UR50D(): a module of functions that give a trained model each.
    if (callee.contains(".pretrained.") && !callee.contains("()"))
      add(out, {pretrained_field, true, sure - 0.04}, call.place, "gives a trained model");
    // Only where the file is not there yet, as a rule.
    if (fetches_weights(call))
      add(out, {pretrained_field, true, 0.66}, call.place, "downloads weights");
    for (const auto* name : {"pretrained", "weights"}) {
      const Value* value = call.named.find(name);
      const bool model = callee.contains("models.") || callee.ends_with("create_model") ||
                         callee.contains("applications.") || callee.contains("hub.load") ||
                         callee.contains("segmentation_models");
      if (value == nullptr || !model || value->is_unknown()) continue;
      // Nothing from here may be followed by weights from elsewhere.
      const bool set = is_set(*value);
      add(out, {pretrained_field, set, set ? sure : std::min(sure, confidence::fair)},
          value->place ? value->place : call.place, "argument of a model's constructor");
    }
  }
}

/// The path was put together by the program, or is that of a setting that goes on with a training
/// of the job's own.
bool is_own_checkpoint(const Scene& scene, const std::string& path) {
  bool named = false;
  for (const Setting& setting : scene.settings) {
    if (setting.value.text() == nullptr || *setting.value.text() != path) continue;
    if (contains_any(setting.leaf(), {"resume", "output", "save", "log", "last", "work"}))
      return true;
    named = named || setting.precedence <= Precedence::config ||
            setting.precedence == Precedence::global;
  }
  return !named || contains_any(path, {"last", "latest", "resume", "optim"});
}

/// Files of weights that are read on a taken path, before the training that may have written them.
void from_files(const Scene& scene, Findings& out) {
  const auto& calls = scene.seen.calls;
  const python::Call* training = nullptr;
  if (const auto first = std::ranges::find_if(calls, is_of_training); first != calls.end())
    training = &*first;
  for (const auto* name : {"torch.load", "load_file", "paddle.load", "load_weights"}) {
    for (const python::Call* call : scene.calls(name)) {
      // Keras: by the names of layers, into a network that has others besides.
      const Value* by_name = call->named.find("by_name");
      if (by_name != nullptr && by_name->truth() == true)
        add(out, {pretrained_field, true, confidence::fair}, call->place,
            "weights by the names of layers");
      const std::string* path = call->args.empty() ? nullptr : call->args[0].text();
      const bool is_named = path != nullptr && contains_any(*path, {"pretrain", "imagenet"});
      if (path == nullptr || !call->certain || (!is_named && is_own_checkpoint(scene, *path)))
        continue;
      if (training != nullptr && call > training) continue;
      if (!contains_any(*path,
                        {".pt", ".bin", ".ckpt", ".safetensors", ".pdparams", ".tar", ".h5"}))
        continue;
      add(out, {pretrained_field, true, confidence::fair},
          call->args[0].place ? call->args[0].place : call->place, "a file of weights is read");
    }
  }
}

void pretrained_from_settings(const Scene& scene, Findings& out) {
  for (const auto& [setting, meaning, trust] : scene.meant(pretrained_field)) {
    if (meaning == "own" || setting->value.entries() != nullptr) continue;
    if (setting->precedence == Precedence::argument && is_of_measure(setting->value.place, ""))
      continue;
    // A number counts the job's own checkpoints: -1 for the last one.
    const bool counts = setting->value.integer() != nullptr;
    if (meaning == "weights" && (counts || setting->value.items() != nullptr)) continue;
    // Frozen parts come with weights of their own.
    if (contains_any(setting->key, {"autoencoder", "vae", "text_encoder", "tokenizer", "vocoder",
                                    "discriminator", "first_stage", "cond_stage"}))
      continue;
    const bool set = is_set(setting->value);
    if (setting->value.is_unknown() && setting->precedence > Precedence::config) continue;
    // An empty path says little: weights may come from elsewhere.
    const double sure = set || meaning == "switch" ? sure_of(scene, *setting) : 0.62;
    add(out, {pretrained_field, set, sure}, setting->value.place, "setting " + setting->key);
  }
}

/// A trainer that is given a model's hub name loads it by itself.
void from_model_names(const Scene& scene, Findings& out) {
  const auto libraries = libraries_of(scene);
  const bool loads = !scene.trains || std::ranges::any_of(libraries, [](const Library& library) {
    return library.callee.starts_with("trl.") || library.callee.starts_with("transformers.");
  });
  const auto built = scene.calls("from_config");
  if (!loads || !built.empty()) return;
  for (const auto& [setting, meaning, trust] : scene.meant("model_name")) {
    const std::string* text = setting->value.text();
    if (meaning != "path" || text == nullptr || text->empty()) continue;
    if (setting->precedence > Precedence::config) continue;
    add(out, {pretrained_field, true, 0.66}, setting->value.place, "the name of published weights");
    return;
  }
}

/// Weights come into the model before it is trained, or the command names a file of them: whose
/// they are is open.
bool may_start_from_weights(const Scene& scene) {
  const auto goes_on = [](const Scene::Meant& meant) {
    return meant.meaning == "own" && meant.setting->precedence <= Precedence::config &&
           is_set(meant.setting->value);
  };
  if (std::ranges::any_of(scene.meant(pretrained_field), goes_on)) return false;
  for (const python::Call& call : scene.seen.calls) {
    if (is_of_training(call)) break;
    const bool loads = call.callee.ends_with(".load_state_dict") ||
                       call.callee.ends_with("load_raw") || call.callee.ends_with(".load_weights");
    const std::string line = call.place ? normal_key(call.place->text) : "";
    // A copy of another network's, such as a target's.
    const bool copies = line.contains("state_dict()") || contains_any(line, {"target", "ema"});
    if (call.certain && loads && !copies && !contains_any(line, {"optim", "sched", "scaler"}))
      return true;
  }
  constexpr std::array names{"load_checkpoint", "load_ckpt", "load_model",   "restore_checkpoint",
                             "checkpoint_path", "ckpt_path", "load_weights", "load_pretrain"};
  return std::ranges::any_of(scene.settings, [&](const Setting& setting) {
    const std::string* path = setting.value.text();
    return setting.precedence == Precedence::given && path != nullptr && path->contains('/') &&
           std::ranges::find(names, setting.leaf()) != names.end();
  });
}

}  // namespace

void find_pretrained(const Scene& scene, Findings& out) {
  pretrained_from_calls(scene, out);
  from_files(scene, out);
  from_model_names(scene, out);
  pretrained_from_settings(scene, out);
  const bool loads_perhaps = std::ranges::any_of(out, [](const Finding& finding) {
    return finding.field == pretrained_field && finding.fact.value == FactValue(true);
  });
  if (loads_perhaps) return;
  if (may_start_from_weights(scene)) {
    // An empty setting or nothing else: neither says what these are.
    std::erase_if(out, [](const Finding& finding) {
      return finding.field == pretrained_field && finding.fact.confidence < confidence::fair;
    });
    return;
  }
  if (scene.trains) {
    Fact fact{.value = false, .confidence = 0.6, .source = FactSource::table, .evidence = {}};
    fact.evidence.push_back({"rules/defaults.toml", 0, "no weights are loaded: from scratch"});
    out.push_back({std::string(pretrained_field), fact, "nothing loads weights"});
  }
}

}  // namespace schedmate::facts
