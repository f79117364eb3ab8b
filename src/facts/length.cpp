// SPDX-License-Identifier: Apache-2.0
/// Amount of training: what the library was given, else the loop over epochs that was seen, else
/// what the settings say. -1, 0 and None mean that a limit is not used.
#include <algorithm>
#include <array>

#include "base/text.hpp"
#include "facts/devices.hpp"
#include "facts/finding.hpp"
#include "facts/library.hpp"

namespace schedmate::facts {
namespace {

constexpr std::string_view length_field = "length";

struct Limit {
  std::string_view name, unit;
};
/// In the order in which libraries look at them: a step limit in use beats the epochs.
constexpr std::array limits{
    Limit{"max_steps", "steps"},
    Limit{"num_train_epochs", "epochs"},
    Limit{"max_epochs", "epochs"},
    Limit{"nb_epoch", "epochs"},
    Limit{"epochs", "epochs"},
    Limit{"iterations", "steps"},
    Limit{"total_timesteps", "env steps"},
};

/// The command gives the library a number of steps that is worked out elsewhere.
const command::Word* unknown_limit(const Scene& scene) {
  const auto& words = scene.launch.args;
  for (std::size_t i = 0; i + 1 < words.size(); ++i) {
    if (normal_key(words[i].text) == "max_steps" && !words[i + 1].known) return &words[i + 1];
  }
  return nullptr;
}

void length_from_libraries(const Scene& scene, Findings& out) {
  const command::Word* limit = unknown_limit(scene);
  if (limit != nullptr && !libraries_of(scene).empty())
    return add(out, {length_field, {}, 0.98}, limit->place, "a limit that is not known");
  for (const Library& library : libraries_of(scene)) {
    for (const auto& [name, unit] : limits) {
      const auto setting = library_setting(scene, library, name);
      const auto number = setting ? number_of(*setting) : std::nullopt;
      if (!number || *number <= 0) continue;
      // What a config says reaches RecBole by itself.
      const bool hidden = setting->value.is_unknown() && library.callee.ends_with("run_recbole");
      if (hidden && !scene.meant(length_field).empty()) continue;
      add_setting(out, length_field, Length{*number, std::string(unit)}, *setting);
      return;
    }
  }
}

/// stable-baselines3's learn(25_000): steps in the environment.
void from_learning(const Scene& scene, Findings& out) {
  for (const python::Call* call : scene.calls("learn")) {
    const bool known =
        call->callee.starts_with("stable_baselines3.") || call->callee.starts_with("sb3_contrib.");
    const Value* steps = argument(*call, "total_timesteps", 0);
    const auto number = known && steps != nullptr ? steps->number() : std::nullopt;
    if (number && *number > 0)
      add(out,
          {length_field, Length{*number, "env steps"}, call->certain ? 0.96 : confidence::likely},
          steps->place ? steps->place : call->place, "the configured steps of the agent");
  }
}

bool has_word(std::string_view text, std::string_view word) {
  const std::string lower = normal_key(text);
  return lower.contains(word);
}

std::string unit_of(const python::Loop& loop) {
  const std::string text = loop.target + " " + loop.source_text;
  if (has_word(text, "mini")) return "";
  if (has_word(text, "epoch") || loop.target == "ep") return "epochs";
  for (const auto* word : {"step", "iter", "update", "it"}) {
    if (loop.target == word) return "steps";
  }
  if (has_word(text, "step") || has_word(text, "iter")) return "steps";
  if (has_word(text, "nimg")) return "kimg";  // counted in images, given in thousands of them
  return "";
}

/// "range(start, start + 200)" runs 200 times wherever it starts.
std::optional<double> length_from_start(const python::Loop& loop) {
  std::string text = loop.source_text;
  std::erase_if(text, [](char c) { return c == ' ' || c == '\n'; });
  const auto comma = text.find(',');
  const auto open = text.find('(');
  if (open == std::string::npos || comma == std::string::npos) return std::nullopt;
  const std::string start = text.substr(open + 1, comma - open - 1);
  std::string_view end = std::string_view(text).substr(comma + 1);
  if (start.empty() || !end.starts_with(start + "+") || !end.ends_with(')')) return std::nullopt;
  end.remove_prefix(start.size() + 1);
  end.remove_suffix(1);
  return parse_number<double>(end);
}

/// "range(start, epochs + 1)", also within enumerate() or zip().
bool ends_one_later(std::string text) {
  std::erase(text, ' ');
  return text.contains("range(") && text.contains("+1)");
}

struct Run {
  const python::Loop* loop;
  double amount;
  std::string unit;
};

std::optional<Run> run_of(const python::Loop& loop) {
  const std::string unit = unit_of(loop);
  if (unit.empty()) return std::nullopt;
  std::optional<double> amount = length_from_start(loop);
  if (!amount && loop.first && loop.last) amount = *loop.last - *loop.first;
  if (amount && loop.is_while && loop.source_text.contains("<=")) *amount += 1;
  // "range(start, epochs + 1)" counts from one.
  if (!amount && loop.last && ends_one_later(loop.source_text)) amount = *loop.last - 1;
  // Resumed from an epoch that is not known: the length of the whole training.
  if (!amount && loop.last) amount = loop.last;
  if (!amount) amount = loop.bound.number();
  if (!amount || *amount <= 0) return std::nullopt;
  if (unit == "kimg") *amount /= 1000;
  return Run{&loop, *amount, unit};
}

void from_loops(const Scene& scene, Findings& out) {
  std::vector<Run> runs;
  for (const python::Loop& loop : scene.seen.loops) {
    if (const auto run = run_of(loop)) runs.push_back(*run);
  }
  std::ranges::stable_sort(runs, {}, [](const Run& run) {
    return std::tuple(run.loop->loops > 0, run.unit != "epochs", !run.loop->certain);
  });
  if (runs.empty()) return;
  const Run& best = runs.front();
  double sure = best.unit == "epochs" ? 0.95 : confidence::likely;
  if (!best.loop->certain) sure -= 0.1;
  if (best.loop->loops > 0) sure -= 0.35;  // rounds within a step, folds around a training
  const PlacePtr& place = best.loop->bound.place ? best.loop->bound.place : best.loop->place;
  add(out, {length_field, Length{best.amount, best.unit}, sure}, place, "the training loop");
}

/// Composer's "90ep", "100ba"; nothing for other units.
std::optional<Length> duration_in(const Value& value) {
  const std::string* text = value.text();
  if (text == nullptr) return std::nullopt;
  for (const auto& [ending, unit] : {Limit{"ep", "epochs"}, Limit{"ba", "steps"}}) {
    if (!text->ends_with(ending)) continue;
    if (const auto number = parse_number<double>(text->substr(0, text->size() - 2)))
      return Length{*number, std::string(unit)};
  }
  return std::nullopt;
}

bool of_something_else(std::string_view key) {
  constexpr std::array others{"warmup",  "eval",      "val_",   "test",   "scheduler",
                              "decay",   "log",       "save",   "policy", "dataset.",
                              "loader.", "transform", "collate"};
  return std::ranges::any_of(others, [&](const char* other) { return key.contains(other); });
}

/// Whether an environment is stepped in a loop: steps are those of the environment then.
bool plays(const Scene& scene) {
  return std::ranges::any_of(scene.seen.calls, [](const python::Call& call) {
    const std::string_view callee = call.callee;
    const bool made = callee.starts_with("gym.") || callee.starts_with("gymnasium.") ||
                      callee.starts_with("dm_control.");
    return made && callee.ends_with("().step") && call.loops > 0;
  });
}

/// Names under which programs count what they step an environment for; updates are others.
bool counts_steps(std::string_view leaf) {
  constexpr std::array names{"max_steps", "total_steps",        "training_steps", "train_steps",
                             "num_steps", "max_training_steps", "num_train_steps"};
  return std::ranges::find(names, leaf) != names.end();
}

/// A field of a class such as EvalArgs. Other owners are files and calls.
bool of_other_class(const Setting& setting) {
  const bool by_class = setting.owner.find_first_of("./") == std::string::npos;
  return by_class && of_something_else(normal_key(setting.owner));
}

void length_from_settings(const Scene& scene, Findings& out) {
  const bool played = plays(scene);
  for (const auto& [setting, meaning, trust] : scene.meant(length_field)) {
    if (of_something_else(setting->key) || of_other_class(*setting)) continue;
    // GradientAccumulationPlugin(num_steps=16): micro-steps of one step.
    if (normal_key(setting->owner).contains("accumulation")) continue;
    const double sure = sure_of(scene, *setting) - 0.000002 * trust;
    const std::string why = "setting " + setting->key;
    // `sample(steps=32)` somewhere off the path that is taken.
    if (setting->precedence == Precedence::argument && !setting->read) continue;
    if (meaning == "duration") {
      if (const auto duration = duration_in(setting->value))
        add(out, {length_field, *duration, sure}, setting->value.place, why);
      continue;
    }
    const auto number = setting->value.number();
    if (!number || *number <= 0 || setting->value.boolean() != nullptr) continue;
    const bool steps = played && meaning == "steps" && counts_steps(setting->leaf());
    add(out,
        {length_field, Length{*number, steps ? "env steps" : meaning},
         meaning == "env steps" ? sure + 0.04 : sure},
        setting->value.place, why);
  }
}

}  // namespace

void find_length(const Scene& scene, Findings& out) {
  length_from_libraries(scene, out);
  from_learning(scene, out);
  from_loops(scene, out);
  length_from_settings(scene, out);
}

}  // namespace schedmate::facts
