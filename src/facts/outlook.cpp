// SPDX-License-Identifier: Apache-2.0
#include "facts/outlook.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "base/words.hpp"
#include "facts/library.hpp"

namespace schedmate::facts {
namespace {

bool is_off(const Value& value) {
  const std::string text = normal_key(name_in(value));
  return value.truth() == false || text == "false" || text == "no" || text == "0";
}
bool is_on(const Value& value) {
  return value.truth() == true && !is_off(value) && value.entries() == nullptr;
}

std::string line_of(const Setting& setting) {
  const PlacePtr& place = setting.value.place;
  if (!place) return setting.key;
  if (place->line == 0) return fmt::format("{} ({})", setting.key, place->text);
  return fmt::format("{} ({}:{})", setting.key, place->file, place->line);
}

/// Modes that do not train.
bool names_evaluation(std::string_view raw) {
  const std::string mode = normal_key(raw);
  constexpr std::array words{"eval",    "evaluate", "test",       "inference",
                             "predict", "val",      "validate",   "generate",
                             "sample",  "infer",    "evaluation", "testing"};
  const bool trains_too = mode.contains("train");
  return std::ranges::find(words, mode) != words.end() || (mode.ends_with("_eval") && !trains_too);
}

std::string by_settings(const Scene& scene) {
  const bool trained = std::ranges::any_of(scene.seen.calls, [](const python::Call& call) {
    return call.certain && call.callee.ends_with(".backward");
  });
  const bool called_training =
      !scene.followed && normal_key(scene.launch.program).contains("train");
  for (const auto& [setting, meaning, trust] : scene.meant("evaluation")) {
    const bool given = setting->precedence == Precedence::given;
    const bool only = setting->leaf().contains("only");
    const bool loose = setting->precedence == Precedence::loose;
    if (!given && !only && !loose) {
      const bool is_set = meaning == "mode" && setting->precedence <= Precedence::config;
      if (!is_set) continue;
    }
    // A mode within a block is that of a data set or a logger.
    const bool nested = meaning == "mode" && setting->key.contains('.');
    if (setting->precedence == Precedence::argument || nested) continue;
    // `--test` beside a training that is run all the same: tested as well.
    const bool as_well = !only && (trained || called_training);
    if (meaning == "switch" && is_on(setting->value) && !as_well) return line_of(*setting);
    if (meaning == "mode" && names_evaluation(name_in(setting->value))) return line_of(*setting);
    if (meaning == "train_switch" && given && is_off(setting->value)) return line_of(*setting);
  }
  return "";
}

/// Programs of transformers' kind that are set to predict and not to train.
std::string by_predicting(const Scene& scene) {
  const Setting* predicts = nullptr;
  for (const Setting& setting : scene.settings) {
    if (setting.precedence > Precedence::config) continue;
    if (setting.leaf() == "do_train" && !is_off(setting.value)) return "";
    if (setting.leaf() == "do_predict" && is_on(setting.value)) predicts = &setting;
  }
  return predicts == nullptr ? "" : line_of(*predicts);
}

bool builds_optimizer(const Scene& scene) {
  return std::ranges::any_of(scene.seen.calls, [&](const python::Call& call) {
    return call.certain && !call.callee.contains("()") && scene.tables->find_optimizer(call.callee);
  });
}

/// test.py, eval_model.py, generate.py: when nothing in them trains.
std::string by_name(const Scene& scene) {
  std::string_view script = scene.launch.script;
  script = script.substr(script.rfind('/') + 1);
  if (training_signs(scene) > 0) return "";
  for (const auto* word : {"test", "eval", "infer", "predict", "generate", "sample", "demo"}) {
    if (script.starts_with(word)) return fmt::format("{} trains nothing", scene.launch.script);
  }
  return "";
}

}  // namespace

int training_signs(const Scene& scene) {
  int signs = builds_optimizer(scene) ? 3 : 0;
  for (const python::Call& call : scene.seen.calls) {
    const std::string_view callee = call.callee;
    if (callee.ends_with(".backward") || callee.ends_with(".zero_grad")) signs += 2;
    // A network that goes back to its mode for training is not trained by that.
    if (callee.starts_with("torch.nn.") && callee.ends_with(".train")) continue;
    if (callee.ends_with(".fit") || callee.ends_with(".train") || callee.ends_with(".learn"))
      signs += call.certain ? 2 : 1;
    if (signs > 10) break;
  }
  if (!libraries_of(scene).empty()) signs += 2;
  const std::string script = normal_key(scene.launch.script + scene.launch.module);
  for (const auto* word : {"train", "finetune", "pretrain", "main", "run"}) {
    if (script.contains(word)) signs += 1;
  }
  return signs;
}

Expectation expect(const Scene& scene) {
  if (auto why = by_settings(scene); !why.empty()) return {Outlook::evaluation_only, why};
  if (auto why = by_predicting(scene); !why.empty()) return {Outlook::evaluation_only, why};
  if (auto why = by_name(scene); !why.empty()) return {Outlook::evaluation_only, why};
  const auto& calls = scene.seen.calls;
  const auto first_training =
      static_cast<std::size_t>(std::ranges::find_if(calls, is_of_training) - calls.begin());
  const int signs = training_signs(scene);
  for (const python::Stop& stop : scene.seen.stops) {
    // What comes after an error was looked at too. An error within the program's own modules may be
    // one of reading it.
    const bool trained = first_training < stop.calls;
    const bool of_entry = stop.place && !scene.seen.files.empty() &&
                          (stop.place->file == scene.seen.files.front() || stop.place->line == 0);
    const bool early = stop.certain && stop.place && (of_entry ? !trained : signs <= 1);
    if (early) {
      return {Outlook::fails_early,
              fmt::format("{} ({}:{})", stop.reason, stop.place->file, stop.place->line)};
    }
  }
  return {};
}

namespace {

std::string at_place(const PlacePtr& place) {
  if (!place || place->file == "<request>") return "";
  const bool is_option = place->text.starts_with('-');
  return place->line > 0 ? fmt::format(" ({}:{})", place->file, place->line)
                         : fmt::format(" ({})", is_option ? place->text : place->file);
}

/// Something that trains: an optimiser, a step backwards, the loop of a library.
bool shows_training(const Scene& scene) {
  if (builds_optimizer(scene) || !libraries_of(scene).empty()) return true;
  return std::ranges::any_of(scene.seen.calls, [](const python::Call& call) {
    constexpr std::array steps{".backward", ".zero_grad", ".fit",        ".train",
                               ".learn",    ".minimize",  ".train_batch"};
    constexpr std::array whole{"value_and_grad", "apply_gradients", "train_on_batch",
                               "train_step",     "fit_generator",   "train_and_evaluate",
                               "train_model"};
    const std::string_view callee = call.callee;
    if (callee.starts_with("torch.nn.") && callee.ends_with(".train")) return false;
    const auto ends = [&](std::string_view name) { return callee.ends_with(name); };
    return std::ranges::any_of(steps, ends) || std::ranges::any_of(whole, ends) ||
           callee.ends_with("Runner().run") || callee.ends_with("build_runner().run");
  });
}

/// Why nothing was read that trains.
Expectation without_training(tree::Tree& tree, const Scene& scene) {
  const command::Launch& launch = scene.launch;
  const bool is_file = launch.program.ends_with(".py");
  if (launch.script.empty() && launch.python && is_file) {
    const bool plain = !launch.program.starts_with('/') && !launch.program.contains('$') &&
                       !launch.program.contains("..") && launch.certain &&
                       tree.is_folder(launch.cwd);
    return {plain ? Outlook::fails_early : Outlook::unknown,
            fmt::format("{} is not in DIR", launch.program)};
  }
  if (launch.script.empty() && !launch.module.empty())
    return {Outlook::unknown,
            fmt::format("the module {} is not in DIR: what it does was not read", launch.module)};
  if (launch.script.empty())
    return {Outlook::unknown,
            fmt::format("{} is no program of DIR: what it does was not read", launch.program)};
  return {Outlook::unknown, fmt::format("nothing was read in {} that trains", launch.script)};
}

/// More processes than GPUs of a node, or in all.
std::string too_many_processes(const Scene& scene) {
  const Value& each = scene.launch.processes_per_node;
  const auto count = each.number();
  if (!count || scene.launch.launchers.empty()) return "";
  const double nodes = scene.launch.nodes.number().value_or(std::max(scene.job.nodes, 1));
  const double all = *count * nodes;
  if (all <= scene.job.gpus && *count <= scene.gpus_per_node()) return "";
  return fmt::format("starts {:g} processes on {:g} node{}, with {} in all{}", all, nodes,
                     nodes == 1 ? "" : "s", counted(scene.job.gpus, "GPU"), at_place(each.place));
}

/// The product of the sizes that split a model: tensor x pipeline x context parallel.
std::string too_many_parts(const Scene& scene) {
  double parts = 1;
  std::string words;
  PlacePtr place;
  for (const auto* field :
       {"tensor_parallel", "pipeline_parallel", "context_parallel", "data_parallel"}) {
    for (const auto& [setting, meaning, trust] : scene.meant(field)) {
      if (setting->precedence > Precedence::config) continue;
      const auto size = setting->value.number();
      if (!size || setting->value.boolean() != nullptr || *size < 2) continue;
      parts *= *size;
      words += fmt::format("{}{} {:g}", words.empty() ? "" : " x ", setting->leaf(), *size);
      if (!place) place = setting->value.place;
      break;
    }
  }
  if (parts <= scene.job.gpus) return "";
  return fmt::format("{} need{} {:g} GPUs, {} {} asked for{}", words,
                     words.contains(" x ") ? "" : "s", parts, scene.job.gpus,
                     scene.job.gpus == 1 ? "is" : "are", at_place(place));
}

}  // namespace

Expectation expect_of_job(tree::Tree& tree, const Scene& scene) {
  Expectation found = expect(scene);
  if (found.outlook != Outlook::runs) return found;
  if (!shows_training(scene)) return without_training(tree, scene);
  for (auto* const excess : {too_many_parts, too_many_processes}) {
    if (std::string why = excess(scene); !why.empty()) return {Outlook::unknown, std::move(why)};
  }
  return found;
}

}  // namespace schedmate::facts
