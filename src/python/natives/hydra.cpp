// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>

#include "base/text.hpp"
#include "python/natives/config_nodes.hpp"
#include "python/natives/flag_parser.hpp"
#include "python/natives/parts.hpp"
#include "python/objects/objects.hpp"

namespace schedmate::python::natives {
namespace {

constexpr int deepest_target = 16;

/// What hydra.main or hydra.initialize said, the config chosen, and the nodes of ConfigStore.
struct HydraState : Object {
  std::string folder;
  Dict choices;
  config::StoredConfigs store;
};

HydraState& state(Machine& machine) {
  auto& held = machine.memory["hydra"];
  if (!held) held = std::make_shared<HydraState>();
  return static_cast<HydraState&>(*held);
}

/// config_path is relative to the file that says it.
std::string config_folder(Machine& machine, const Value* path, const PlacePtr& place) {
  std::string from = place ? tree::folder_of(place->file) : "";
  if (path == nullptr || path->text() == nullptr) return from;
  std::string_view text = *path->text();
  if (text.starts_with("pkg://")) text.remove_prefix(6);
  const auto joined = machine.tree().locate(from, text);
  const auto from_start = tree_path(machine, text).value_or(std::string(text));
  // A path that the program put together counts from where it was started.
  const bool elsewhere =
      !joined || (!machine.tree().is_folder(*joined) && machine.tree().is_folder(from_start));
  return elsewhere ? from_start : *joined;
}

struct HydraWords {
  List overrides;
  bool multirun = false;
  std::optional<std::string> name;
  Value path;  ///< --config-path, as config_path of the decorator
  std::optional<std::string> more;
  bool only_prints = false;
};

HydraWords read_words(const std::vector<command::Word>& words) {
  const auto flag = [](std::vector<std::string> names, std::string_view nargs) {
    FlagSpec spec;
    spec.names = std::move(names);
    set_nargs(spec, nargs);
    return spec;
  };
  FlagSpec overrides;
  set_nargs(overrides, "*");
  const std::vector<FlagSpec> specs{overrides,
                                    flag({"--multirun", "-m"}, "0"),
                                    flag({"--config-name", "-cn"}, ""),
                                    flag({"--config-path", "-cp"}, ""),
                                    flag({"--config-dir", "-cd"}, ""),
                                    flag({"--cfg", "-c"}, ""),
                                    flag({"--help", "--hydra-help", "--info", "-h"}, "0"),
                                    flag({"--package", "-p", "--experimental-rerun"}, "")};
  HydraWords result;
  FlagSyntax syntax;
  syntax.abbreviations = false;
  syntax.bundles = false;
  const FlagMatch match = match_flags(specs, words, syntax);
  for (const FlagUse& use : match.uses) {
    if (use.spec == 0) {
      for (const command::Word& word : use.values)
        result.overrides.emplace_back(word.text, word.place);
    }
    result.multirun = result.multirun || use.spec == 1;
    if (use.spec == 2 && !use.values.empty()) result.name = use.values[0].text;
    if (use.spec == 3 && !use.values.empty()) result.path = Value(use.values[0].text);
    if (use.spec == 4 && !use.values.empty()) result.more = use.values[0].text;
    result.only_prints = result.only_prints || use.spec == 5 || use.spec == 6;
  }
  for (const command::Word& word : match.leftover)
    result.overrides.emplace_back(word.text, word.place);
  return result;
}

struct Wanted {
  std::string folder, name;
  List overrides;
  bool multirun = false;
  bool before_1_1 = false;
};

Value compose(Machine& machine, const Wanted& wanted) {
  HydraState& hydra = state(machine);
  Value config = Value::dict({});
  std::string file;
  config::HydraRequest request{
      wanted.folder,           wanted.name,  wanted.overrides, wanted.multirun,
      environment_of(machine), &hydra.store, wanted.before_1_1};
  auto composed = wanted.name.empty() ? fail(ErrorCode::not_found, "no config is named")
                                      : config::compose_hydra(machine.tree(), request);
  if (composed) {
    config = composed->config;
    hydra.choices = composed->choices;
    machine.seen().runs *= composed->runs;
    file = wanted.folder + "/" + wanted.name;
    if (!file.ends_with(".yaml")) file += ".yaml";
    if (!machine.tree().is_file(file)) file.clear();
  } else {
    if (!wanted.name.empty()) {
      machine.tree().degrade("Hydra's config could not be composed: " + composed.error().message);
      return unknown();
    }
    config::apply_dotlist(config, wanted.overrides);
    config::interpolate(machine.tree(), config, request.environment);
  }
  publish_config(machine, "hydra", file, config);
  return make_dict_config(std::move(config));
}

/// What the program wants, with the command's words on top; `declared` is in the file that says it.
Wanted with_words(Machine& machine, Wanted wanted, const PlacePtr& declared) {
  HydraWords words = read_words(program_words(machine));
  wanted.overrides = std::move(words.overrides);
  wanted.multirun = words.multirun;
  if (words.name) wanted.name = *words.name;
  if (!words.path.is_unknown()) wanted.folder = config_folder(machine, &words.path, declared);
  if (words.more) {
    const std::string folder = tree_path(machine, *words.more).value_or(*words.more);
    if (machine.tree().is_file(folder + "/" + wanted.name + ".yaml")) wanted.folder = folder;
  }
  if (words.only_prints) machine.stop("Hydra only prints the config and exits", declared);
  state(machine).folder = wanted.folder;
  return wanted;
}

/// hydra._internal.utils._run_hydra(task_function=...): what projects with a decorator of their own
/// end up in. Paths count from the file of the function.
Value run_hydra(Machine& machine, const Arguments& arguments) {
  const Value* task = arguments.find("task_function", 2);
  const auto view = task == nullptr ? std::nullopt : machine.function(*task);
  if (!view) return unknown(arguments.place);
  Wanted wanted;
  wanted.folder = config_folder(machine, arguments.find("config_path", 3), view->place);
  wanted.name = text_or(arguments.find("config_name", 4));
  wanted = with_words(machine, std::move(wanted), view->place);
  return machine.call(*task, call_with({compose(machine, wanted)}, {}, arguments.place));
}

/// Before 1.0 the path was that of the config itself: conf/config.yaml.
void split_old_path(Wanted& wanted) {
  if (!wanted.name.empty() || !wanted.folder.ends_with(".yaml")) return;
  const auto slash = wanted.folder.rfind('/');
  wanted.name = wanted.folder.substr(slash + 1);
  wanted.name.resize(wanted.name.size() - std::string_view(".yaml").size());
  wanted.folder.resize(slash == std::string::npos ? 0 : slash);
  wanted.before_1_1 = true;
}

/// @hydra.main(config_path=..., config_name=...): the function is called with the config.
Value main_decorator(Machine& machine, const Arguments& settings) {
  Wanted wanted;
  wanted.folder = config_folder(machine, settings.find("config_path", 0), settings.place);
  wanted.name = text_or(settings.find("config_name", 1));
  split_old_path(wanted);
  const PlacePtr declared = settings.place;
  return native_function("hydra.main", [wanted, declared](Machine&, const Arguments& decorated) {
    if (decorated.positional.empty()) return Value{};
    const Value function = decorated.positional[0];
    return native_function(
        "hydra.main", [wanted, declared, function](Machine& inner, const Arguments& arguments) {
          if (!arguments.positional.empty()) return inner.call(function, arguments);
          const Wanted mine = with_words(inner, wanted, declared);
          return inner.call(function, call_with({compose(inner, mine)}, {}, arguments.place));
        });
  });
}

Value initialize(Machine& machine, const Arguments& arguments) {
  const Value* path = arguments.find("config_path", 0);
  if (path == nullptr) path = arguments.named.find("config_dir");
  if (path == nullptr) path = arguments.named.find("config_module");
  state(machine).folder = config_folder(machine, path, arguments.place);
  return Value::none(arguments.place);
}

Value initialize_in(Machine& machine, const Arguments& arguments) {
  const Value* path = arguments.find("config_dir", 0);
  const auto text = path == nullptr ? std::nullopt : path_text(*path);
  if (text) state(machine).folder = tree_path(machine, *text).value_or(*text);
  return Value::none(arguments.place);
}

Value compose_now(Machine& machine, const Arguments& arguments) {
  Wanted wanted{state(machine).folder, text_or(arguments.find("config_name", 0)), {}, false};
  const Value* overrides = arguments.find("overrides", 1);
  if (overrides != nullptr && overrides->items() != nullptr) wanted.overrides = *overrides->items();
  return compose(machine, wanted);
}

/// ConfigStore.instance().store(group=..., name=..., node=...).
struct ConfigStore : NativeObject {
  std::string type_name() const override { return "hydra.core.config_store.ConfigStore"; }
  std::optional<Value> attribute(Machine&, std::string_view name) override {
    if (name != "store") return std::nullopt;
    return native_function("store", [](Machine& machine, const Arguments& arguments) {
      const Value* node = arguments.named.find("node");
      if (node == nullptr) node = arguments.find("node", 1);
      const std::string group = text_or(arguments.named.find("group"));
      const std::string own = text_or(arguments.find("name", 0));
      if (node == nullptr) return Value::none(arguments.place);
      config::StoredConfig stored{plain_config(machine, *node), std::nullopt};
      if (const Value* package = arguments.named.find("package"); package && package->text())
        stored.package = *package->text();
      const std::string stem = own.ends_with(".yaml") ? own.substr(0, own.size() - 5) : own;
      state(machine).store[group.empty() ? stem : fmt::format("{}/{}", group, stem)] =
          std::move(stored);
      return Value::none(arguments.place);
    });
  }
};

/// HydraConfig.get(): where it runs is not known, what was chosen is.
Value runtime(Machine& machine, const Arguments& arguments) {
  Dict inner;
  inner.set("choices", Value::dict(state(machine).choices));
  inner.set("output_dir", unknown());
  inner.set("cwd", Value("."));
  Dict job;
  job.set("num", Value(std::int64_t{0}));
  job.set("name", unknown());
  job.set("override_dirname", unknown());
  Dict all;
  all.set("runtime", Value::dict(std::move(inner)));
  all.set("job", Value::dict(std::move(job)));
  return make_dict_config(Value::dict(std::move(all)), arguments.place);
}

Value instantiate_deep(Machine& machine, const Value& config, const Dict& more, int depth);

Value call_target(Machine& machine, const Value& config, const Dict& more, int depth) {
  const Dict& dict = *config.entries();
  const Value* target = more.find("_target_");
  if (target == nullptr) target = dict.find("_target_");
  const bool recursive =
      truth_or(dict.find("_recursive_"), true) && truth_or(more.find("_recursive_"), true);
  const bool partial =
      truth_or(dict.find("_partial_"), false) || truth_or(more.find("_partial_"), false);
  Arguments arguments = call_with({}, {}, target->place);
  const auto add = [&](const std::string& key, const Value& value) {
    if (key == "_args_" && value.items() != nullptr) {
      arguments.positional = *value.items();
    } else if (!key.starts_with("_") || !key.ends_with("_")) {
      arguments.named.set(key, value);
    }
  };
  for (const auto& [key, value] : dict.all())
    add(key, recursive ? instantiate_deep(machine, value, {}, depth + 1) : make_dict_config(value));
  for (const auto& [key, value] : more.all()) {
    const Value plain = unwrapped(value);
    add(key, plain.entries() != nullptr && recursive
                 ? instantiate_deep(machine, plain, {}, depth + 1)
                 : value);
  }
  const Value callable = target->text() != nullptr ? machine.resolve(*target->text()) : *target;
  if (!partial) return machine.call(callable, std::move(arguments));
  auto waiting = std::make_shared<Partial>();
  waiting->callable = callable;
  waiting->arguments = std::move(arguments);
  return value_of(std::move(waiting), target->place);
}

Value instantiate_deep(Machine& machine, const Value& config, const Dict& more, int depth) {
  if (depth > deepest_target) return unknown(config.place);
  if (const List* list = config.items()) {
    List made;
    for (const Value& item : *list)
      made.push_back(instantiate_deep(machine, unwrapped(item), {}, depth + 1));
    return Value::list(std::move(made), config.place);
  }
  const Dict* dict = config.entries();
  if (dict == nullptr) return config;
  if (dict->find("_target_") != nullptr || more.find("_target_") != nullptr)
    return call_target(machine, config, more, depth);
  Dict made;
  for (const auto& [key, value] : dict->all())
    made.set(key, instantiate_deep(machine, value, {}, depth + 1));
  return make_dict_config(Value::dict(std::move(made), config.place), config.place);
}

Value instantiate_call(Machine& machine, const Arguments& arguments) {
  const Value* config = arguments.find("config", 0);
  if (config == nullptr || config->is_none()) return Value::none(arguments.place);
  Dict more = arguments.named;
  more.erase("config");
  if (arguments.positional.size() > 1) {
    const List rest(arguments.positional.begin() + 1, arguments.positional.end());
    more.set("_args_", Value::list(rest));
  }
  return placed(instantiate(machine, *config, more), arguments.place);
}

Value resolve_name(Machine& machine, const Arguments& arguments) {
  const Value* path = arguments.find("path", 0);
  return path == nullptr || path->text() == nullptr ? unknown(arguments.place)
                                                    : machine.resolve(*path->text());
}

}  // namespace

Value instantiate(Machine& machine, const Value& config, const Dict& more) {
  const auto* node = object_as<AttributeDict>(config);
  const Value plain = node == nullptr ? plain_config(machine, config) : node->resolved(machine);
  return instantiate_deep(machine, plain, more, 0);
}

void add_hydra(NativeTable& table) {
  for (const auto* const name : {"hydra.main", "dora.hydra_main"}) table[name] = main_decorator;
  table["hydra._internal.utils._run_hydra"] = run_hydra;
  for (const auto* const name :
       {"hydra.initialize", "hydra.experimental.initialize", "hydra.initialize_config_module"})
    table[name] = initialize;
  for (const auto* const name :
       {"hydra.initialize_config_dir", "hydra.experimental.initialize_config_dir"})
    table[name] = initialize_in;
  for (const auto* const name : {"hydra.compose", "hydra.experimental.compose"})
    table[name] = compose_now;
  for (const auto* const name : {"hydra.utils.instantiate", "hydra.utils.call",
                                 "hydra._internal.instantiate._instantiate2.instantiate"})
    table[name] = instantiate_call;
  for (const auto* const name :
       {"hydra.utils.get_class", "hydra.utils.get_method", "hydra.utils.get_object"})
    table[name] = resolve_name;
  table["hydra.utils.to_absolute_path"] = [](Machine&, const Arguments& arguments) {
    return arguments.positional.empty() ? Value{} : arguments.positional[0];
  };
  table["hydra.utils.get_original_cwd"] = [](Machine&, const Arguments& arguments) {
    return Value(".", arguments.place);
  };
  table["hydra.core.config_store.ConfigStore.instance"] = [](Machine&, const Arguments&) {
    return value_of(std::make_shared<ConfigStore>());
  };
  table["hydra.core.config_store.ConfigStore"] =
      table["hydra.core.config_store.ConfigStore.instance"];
  table["hydra.core.hydra_config.HydraConfig.get"] = runtime;
}

}  // namespace schedmate::python::natives
