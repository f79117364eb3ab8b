// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include "python/natives/argument_parser.hpp"
#include "python/natives/typed_flags.hpp"

namespace schedmate::python::natives {
namespace {

Value make_namespace(Machine&, const Arguments& arguments) {
  auto space = std::make_shared<FlagNamespace>();
  for (const auto& [key, value] : arguments.named.all()) space->put(key, value);
  return value_of(std::move(space), arguments.place);
}

/// Flags that a library adds to the program's parser, with the defaults of that library.
struct Added {
  std::string_view name;
  std::string_view action;
  Value::Data fallback;
};

Value add_flags(const Arguments& arguments, std::span<const Added> flags) {
  const Value* parser = arguments.find("parser", 0);
  if (parser == nullptr) parser = arguments.named.find("parent_parser");
  auto* known = parser == nullptr ? nullptr : object_as<ArgumentParser>(*parser);
  if (known == nullptr) return Value::none(arguments.place);
  for (const Added& flag : flags) {
    Arguments declaration = call_with({Value(std::string(flag.name))}, {}, arguments.place);
    declaration.named.set("action", Value(std::string(flag.action)));
    declaration.named.set("default", Value(flag.fallback));
    known->declare(declaration);
  }
  return *parser;
}

Value add_deepspeed(Machine&, const Arguments& arguments) {
  static const Added flags[] = {{"--deepspeed", "store_true", false},
                                {"--deepspeed_config", "store", None{}},
                                {"--deepscale", "store_true", false},
                                {"--deepscale_config", "store", None{}}};
  return add_flags(arguments, flags);
}

constexpr std::string_view trainer_flags[] = {"--accelerator",
                                              "--strategy",
                                              "--devices",
                                              "--num_nodes",
                                              "--gpus",
                                              "--precision",
                                              "--max_epochs",
                                              "--min_epochs",
                                              "--max_steps",
                                              "--min_steps",
                                              "--max_time",
                                              "--accumulate_grad_batches",
                                              "--gradient_clip_val",
                                              "--gradient_clip_algorithm",
                                              "--limit_train_batches",
                                              "--limit_val_batches",
                                              "--limit_test_batches",
                                              "--val_check_interval",
                                              "--check_val_every_n_epoch",
                                              "--log_every_n_steps",
                                              "--num_sanity_val_steps",
                                              "--fast_dev_run",
                                              "--overfit_batches",
                                              "--benchmark",
                                              "--deterministic",
                                              "--default_root_dir",
                                              "--resume_from_checkpoint",
                                              "--amp_backend",
                                              "--sync_batchnorm",
                                              "--detect_anomaly",
                                              "--enable_checkpointing",
                                              "--profiler",
                                              "--distributed_backend",
                                              "--auto_lr_find",
                                              "--auto_scale_batch_size",
                                              "--tpu_cores",
                                              "--logger",
                                              "--progress_bar_refresh_rate",
                                              "--weights_summary",
                                              "--num_processes",
                                              "--enable_progress_bar",
                                              "--enable_model_summary",
                                              "--reload_dataloaders_every_n_epochs"};

/// Lightning 1.x: each parameter of Trainer.__init__ as a flag; None where the version decides.
Value add_trainer_flags(Machine&, const Arguments& arguments) {
  const Value* parser = arguments.find("parser", 0);
  if (parser == nullptr) parser = arguments.named.find("parent_parser");
  auto* known = parser == nullptr ? nullptr : object_as<ArgumentParser>(*parser);
  if (known == nullptr) return parser == nullptr ? Value{} : *parser;
  for (const std::string_view name : trainer_flags) {
    Declared flag;
    flag.spec.names = {std::string(name)};
    flag.spec.dest = std::string(name.substr(2));
    set_nargs(flag.spec, "?");
    flag.constant = Value(true);
    auto literal = std::make_shared<Symbol>();
    literal->name = "ast.literal_eval";
    flag.type = value_of(literal);
    flag.place = arguments.place;
    known->add(std::move(flag));
  }
  return *parser;
}

/// Trainer.from_argparse_args(args, **more): a Trainer with the flags that were set.
Value trainer_from_flags(Machine& machine, const Arguments& arguments, std::string_view trainer) {
  Dict named;
  Value holder;
  const Value* args = arguments.find("args", 0);
  const Dict* values = args == nullptr ? nullptr : dict_of(*args, holder);
  for (const Flag& flag : machine.seen().flags) {
    const Value* value = values == nullptr ? nullptr : values->find(flag.name);
    const bool of_trainer =
        flag.declared && flag.declared->text.find("add_argparse_args") != std::string::npos;
    if (value != nullptr && of_trainer && !value->is_none()) named.set(flag.name, *value);
  }
  for (const auto& [key, value] : arguments.named.all()) named.set(key, value);
  return machine.call(machine.resolve(trainer), call_with({}, std::move(named), arguments.place));
}

void add_lightning_1(NativeTable& table) {
  for (const std::string trainer :
       {"pytorch_lightning.Trainer", "lightning.Trainer", "lightning.pytorch.Trainer"}) {
    table[trainer + ".add_argparse_args"] = add_trainer_flags;
    table[trainer + ".from_argparse_args"] = [trainer](Machine& machine,
                                                       const Arguments& arguments) {
      return trainer_from_flags(machine, arguments, trainer);
    };
  }
}

/// tap.Tap: `Args().parse_args()` of a class whose annotated names are the flags.
Value parse_tap(Machine& machine, const Arguments& arguments) {
  if (arguments.positional.empty()) return {};
  Value self = arguments.positional[0];
  const auto* instance = object_as<Instance>(self);
  if (instance == nullptr) return {};
  std::string module = instance->file.substr(0, instance->file.rfind('.'));
  std::ranges::replace(module, '/', '.');
  const auto type = machine.type(machine.resolve(module + "." + instance->type));
  if (!type) return self;
  TypedFlags flags({.booleans = TypedStyle::Booleans::both, .abbreviations = true});
  flags.add(machine, *type);
  const Value* own = arguments.find("args", 1);
  const bool given = own != nullptr && own->items() != nullptr;
  const auto values =
      flags.parse(machine, given ? as_words(machine, *own) : program_words(machine));
  flags.show(machine, values);
  const Dict fields = flags.fields(machine, values);
  for (const auto& [name, value] : fields.all()) machine.set_attribute(self, name, value);
  const Value process = machine.attribute(self, "process_args");
  if (machine.function(process)) machine.call(process, {});
  return self;
}

}  // namespace
}  // namespace schedmate::python::natives

void schedmate::python::natives::add_argparse(NativeTable& table) {
  namespace n = natives;
  for (const std::string name :
       {"argparse.ArgumentParser", "configargparse.ArgumentParser", "configargparse.ArgParser",
        "configargparse.Parser", "jsonargparse.ArgumentParser"}) {
    n::add_parser_natives(table, name);
  }
  table["configargparse.get_argument_parser"] = table["configargparse.ArgumentParser"];
  table["configargparse.get_arg_parser"] = table["configargparse.ArgumentParser"];
  table["argparse.Namespace"] = n::make_namespace;
  table["deepspeed.add_config_arguments"] = n::add_deepspeed;
  table["tap.Tap.parse_args"] = n::parse_tap;
  n::add_lightning_1(table);
}
