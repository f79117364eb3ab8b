// SPDX-License-Identifier: Apache-2.0
/// hyperpyyaml and speechbrain.parse_arguments.
#include <algorithm>

#include "python/natives/config_nodes.hpp"
#include "python/natives/file_object.hpp"
#include "python/natives/parts.hpp"
#include "python/natives/typed_flags.hpp"
#include "python/objects/objects.hpp"

namespace schedmate::python::natives {
namespace {

constexpr int deepest_object = 20;

/// What !new:, !name: and !apply: say, made; other values as they are.
Value build(Machine& machine, const Value& value, int depth) {
  if (depth > deepest_object) return unknown(value.place);
  if (const List* list = value.items()) {
    List made;
    for (const Value& item : *list) made.push_back(build(machine, item, depth + 1));
    return Value::list(std::move(made), value.place);
  }
  const Dict* dict = value.entries();
  if (dict == nullptr) return value;
  const std::string tag = text_or(dict->find("!tag"));
  Arguments arguments = call_with({}, {}, value.place);
  for (const auto& [key, item] : dict->all()) {
    if (key == "!tag") continue;
    Value made = build(machine, item, depth + 1);
    if (key == "!value") {
      if (made.items() != nullptr) arguments.positional = *made.items();
    } else {
      arguments.named.set(key, std::move(made));
    }
  }
  const auto colon = tag.find(':');
  if (colon == std::string::npos) return Value::dict(std::move(arguments.named), value.place);
  const Value target = machine.resolve(tag.substr(colon + 1));
  if (!tag.starts_with("!name")) return machine.call(target, std::move(arguments));
  auto waiting = std::make_shared<Partial>();
  waiting->callable = target;
  waiting->arguments = std::move(arguments);
  return value_of(std::move(waiting), value.place);
}

/// Where `--key value` stands among the program's words; nothing when it does not.
PlacePtr word_of(Machine& machine, std::string_view key) {
  const auto& words = machine.run().args;
  for (std::size_t i = 0; i < words.size(); ++i) {
    std::string_view text = words[i].text;
    if (!text.starts_with("--")) continue;
    text.remove_prefix(2);
    if (text == key && i + 1 < words.size()) return words[i + 1].place;
    if (text.starts_with(key) && text.substr(key.size()).starts_with('=')) return words[i].place;
  }
  return nullptr;
}

/// Overrides come as a dict or as YAML text with one `key: value` a line, which the program puts
/// together from its flags: the lines of that text are nowhere in the tree.
Value overrides_of(Machine& machine, const Value* given) {
  if (given == nullptr) return {};
  if (given->text() == nullptr) return *given;
  const auto parsed = config::parse_config(*given->text(), config::ConfigFormat::yaml, "<command>");
  if (!parsed || parsed->entries() == nullptr) return {};
  Dict placed;
  for (const auto& [key, value] : parsed->entries()->all()) {
    const PlacePtr word = word_of(machine, key);
    placed.set(key, Value(value.data, word ? word : given->place));
  }
  return Value::dict(std::move(placed), given->place);
}

Value load_hyperpyyaml(Machine& machine, const Arguments& arguments) {
  if (arguments.positional.empty()) return unknown(arguments.place);
  Value settings = read_settings(machine, arguments.positional[0], config::ConfigFormat::yaml,
                                 "hyperpyyaml.load_hyperpyyaml");
  if (settings.entries() == nullptr) return unknown(arguments.place);
  merge_into(settings, overrides_of(machine, arguments.find("overrides", 1)));
  config::resolve_hyperpyyaml(machine.tree(), settings);
  return build(machine, settings, 0);
}

/// hparams_file, run_opts, overrides: the first word, the flags that concern the run, the rest.
Value parse_arguments(Machine& machine, const Arguments& arguments) {
  static constexpr std::string_view run_flags[] = {"debug",
                                                   "device",
                                                   "data_parallel_backend",
                                                   "distributed_launch",
                                                   "distributed_backend",
                                                   "find_unused_parameters",
                                                   "jit",
                                                   "compile",
                                                   "precision",
                                                   "eval_precision",
                                                   "auto_mix_prec",
                                                   "bfloat16_mix_prec",
                                                   "max_grad_norm",
                                                   "nonfinite_patience",
                                                   "noprogressbar",
                                                   "ckpt_interval_minutes",
                                                   "grad_accumulation_factor",
                                                   "optimizer_step_limit",
                                                   "local_rank",
                                                   "tqdm_colored_bar",
                                                   "test_only",
                                                   "debug_batches",
                                                   "debug_epochs",
                                                   "log_config"};
  const Value* own = arguments.find("arg_list", 0);
  auto words =
      own != nullptr && own->items() != nullptr ? as_words(machine, *own) : program_words(machine);
  const auto file = std::ranges::find_if(
      words, [](const command::Word& word) { return !word.text.starts_with('-'); });
  if (file == words.end()) return unknown(arguments.place);
  const Value hparams(file->text, file->place);
  words.erase(file);
  Dict run_options;
  Dict overrides;
  const Dict given = loose_flags(words);
  for (const auto& [key, value] : given.all()) {
    const bool of_run = std::ranges::find(run_flags, key) != std::end(run_flags);
    (of_run ? run_options : overrides).set(key, value);
    publish(machine, {key, value, {}, true, true, of_run ? "speechbrain" : "", value.place});
  }
  return Value::list(
      {hparams, Value::dict(std::move(run_options)), Value::dict(std::move(overrides))},
      arguments.place);
}

}  // namespace

void add_speechbrain(NativeTable& table) {
  table["hyperpyyaml.load_hyperpyyaml"] = load_hyperpyyaml;
  table["speechbrain.parse_arguments"] = parse_arguments;
  table["speechbrain.core.parse_arguments"] = parse_arguments;
}

}  // namespace schedmate::python::natives

void schedmate::python::natives::add_config_readers(NativeTable& table) {
  natives::add_files(table);
  natives::add_omegaconf(table);
  natives::add_hydra(table);
  natives::add_hydra_overrides(table);
  natives::add_yacs(table);
  natives::add_mmengine(table);
  natives::add_attribute_dicts(table);
  natives::add_speechbrain(table);
  natives::add_hparams(table);
  natives::add_gin(table);
}
