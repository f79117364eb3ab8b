// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include "python/interpreter/interpreter.hpp"

namespace schedmate::python {
namespace {

std::string_view last_part(std::string_view dotted) {
  const auto dot = dotted.rfind('.');
  return dot == std::string_view::npos ? dotted : dotted.substr(dot + 1);
}

bool is_one_of(std::string_view name, std::span<const std::string_view> names) {
  return std::ranges::find(names, name) != names.end();
}

/// Functions that give back what they were given, prepared in some way.
constexpr std::string_view transparent[] = {"torch.compile",
                                            "torch.jit.script",
                                            "torch.jit.trace",
                                            "jax.jit",
                                            "jax.pmap",
                                            "jax.vmap",
                                            "jax.checkpoint",
                                            "jax.remat",
                                            "jax.device_put",
                                            "tensorflow.function",
                                            "flax.linen.jit",
                                            "flax.jax_utils.replicate",
                                            "torch.jit.ignore",
                                            "torch.nn.SyncBatchNorm.convert_sync_batchnorm",
                                            "numba.jit",
                                            "equinox.filter_jit",
                                            "ray.remote",
                                            "torch.no_grad",
                                            "torch.inference_mode"};

/// Methods that give back the object itself, moved or switched.
constexpr std::string_view moving[] = {
    "to",       "cuda",    "cpu",      "train",          "eval",         "half",
    "float",    "double",  "bfloat16", "requires_grad_", "share_memory", "type",
    "to_empty", "compile", "apply",    "with_context"};

/// Methods of frameworks that take over and call the program's own methods.
constexpr std::string_view starting[] = {
    "fit",       "train",  "run",          "launch", "fit_generator", "train_and_evaluate",
    "fine_tune", "learn",  "train_model",  "start",  "main",          "finetune",
    "adapt",     "evolve", "training_loop"};

/// Methods of the program that frameworks call.
constexpr std::string_view hooks[] = {"prepare_data",
                                      "setup",
                                      "configure_model",
                                      "configure_optimizers",
                                      "create_optimizer",
                                      "create_optimizer_and_scheduler",
                                      "create_scheduler",
                                      "get_train_dataloader",
                                      "train_dataloader",
                                      "val_dataloader",
                                      "configure_sharded_model",
                                      "configure_callbacks",
                                      "on_fit_start",
                                      "on_train_start",
                                      "on_stage_start",
                                      "init_optimizers",
                                      "make_dataloader",
                                      "build_model",
                                      "build_optimizer",
                                      "build_lr_scheduler",
                                      "build_train_loader",
                                      "training_step",
                                      "train_step",
                                      "compute_forward",
                                      "compute_objectives",
                                      "fit_batch",
                                      "compute_loss",
                                      "run_step",
                                      "on_train_epoch_start",
                                      "build"};

/// Modules whose functions look at what they are given, and never call it.
constexpr std::string_view looking[] = {"inspect", "typing", "warnings", "logging", "pickle",
                                        "json",    "yaml",   "types",    "abc",     "copyreg"};

/// Functions that start another one in processes of their own, its rank first.
constexpr std::string_view spawning[] = {"spawn", "start_processes"};

/// Methods that call what they are given, be it a function or an object.
constexpr std::string_view submitting[] = {
    "submit", "map", "map_array", "spawn", "launch", "run", "apply", "remote", "start_processes"};

bool of_tree(const Value& callable) {
  if (const auto* bound = as<BoundMethod>(callable)) return of_tree(bound->function);
  if (const auto* partial = as<Partial>(callable)) return of_tree(partial->callable);
  return as<Function>(callable) != nullptr;
}

const void* key_of(const Value& callable) {
  if (const auto* bound = as<BoundMethod>(callable)) return key_of(bound->function);
  if (const auto* partial = as<Partial>(callable)) return key_of(partial->callable);
  return callable.object();
}

/// The arguments with which outside code would call back.
Arguments callback_arguments(const std::string& callee, const Arguments& given, bool first) {
  Arguments arguments;
  arguments.place = given.place;
  arguments.complete = false;
  const Value* listed = given.named.find("args");
  if (is_one_of(last_part(callee), spawning)) {
    arguments.positional.emplace_back(std::int64_t{0}, given.place);
    if (listed == nullptr && given.positional.size() > 1) listed = &given.positional[1];
  }
  if (listed != nullptr && listed->items() != nullptr) {
    arguments.positional.insert(arguments.positional.end(), listed->items()->begin(),
                                listed->items()->end());
    arguments.complete = true;
  } else if (first && listed == nullptr) {
    arguments.positional.insert(arguments.positional.end(), given.positional.begin() + 1,
                                given.positional.end());
    for (const auto& [key, value] : given.named.all()) arguments.named.set(key, value);
  }
  const Value* named = given.named.find("kwargs");
  if (named != nullptr && named->entries() != nullptr) {
    for (const auto& [key, value] : named->entries()->all()) arguments.named.set(key, value);
  }
  return arguments;
}

/// prepare(a, b) of accelerate and setup(a, b) of Fabric: the same things again.
Value handed_on(const Arguments& arguments) {
  if (arguments.positional.size() == 1) return arguments.positional[0];
  return Value::list(arguments.positional, arguments.place);
}

/// train() of a network switches its mode; of a trainer it starts the training.
bool is_network(const Value& value) {
  const auto* thing = as<Thing>(value);
  return thing != nullptr && thing->type_of != nullptr && !thing->type_of->is_a("Trainer") &&
         find_member(*thing->type_of, "forward") != nullptr;
}

}  // namespace

bool Interpreter::first_time(const void* what) {
  if (std::ranges::find(once_, what) != once_.end()) return false;
  once_.push_back(what);
  return true;
}

void Interpreter::call_back(const Value& callable, Arguments arguments) {
  if (!first_time(key_of(callable)) || flow != Flow::next) return;
  call(callable, std::move(arguments));
  // What goes wrong in there is outside code's to catch.
  if (flow == Flow::raise) flow = Flow::next;
}

void Interpreter::run_framework_hooks(const Value& self) {
  const auto* thing = as<Thing>(self);
  if (thing == nullptr || thing->type_of == nullptr || thing->type_of->outside.empty()) return;
  if (!first_time(thing->type_of)) return;
  for (const std::string_view name : hooks) {
    const Value* member = find_member(*thing->type_of, name);
    if (member == nullptr || flow != Flow::next) continue;
    Arguments arguments;
    arguments.complete = false;
    call(bind(*member, self, thing->type_of), std::move(arguments));
    if (flow == Flow::raise) flow = Flow::next;
  }
}

std::optional<Value> Interpreter::run_hooks(const std::string& callee, const Value& self,
                                            const Arguments& arguments) {
  if (flow != Flow::next) return std::nullopt;
  const std::string_view last = last_part(callee);
  if (is_one_of(callee.substr(0, callee.find('.')), looking)) return std::nullopt;
  if (is_one_of(callee, transparent)) {
    if (!arguments.positional.empty()) return arguments.positional[0];
    return std::nullopt;
  }
  const bool preparing = callee.ends_with("Accelerator().prepare") ||
                         callee.ends_with("Fabric().setup") ||
                         callee.ends_with("Fabric().setup_dataloaders");
  if (preparing && !arguments.positional.empty()) return handed_on(arguments);
  if (!self.is_unknown() && is_one_of(last, moving) && arguments.positional.size() <= 3) {
    if (as<Thing>(self) != nullptr || as<Made>(self) != nullptr) {
      if (last != "train" || arguments.positional.size() <= 1) {
        if (is_one_of(last, starting) && !is_network(self)) run_framework_hooks(self);
        return self;
      }
    }
  }
  const bool takes_over = is_one_of(last, starting) && callee.find("()") != std::string::npos;
  const auto visit = [&](const Value& value, bool first) {
    const auto* thing = as<Thing>(value);
    const bool object = thing != nullptr && thing->type_of != nullptr &&
                        is_one_of(last, submitting) &&
                        find_member(*thing->type_of, "__call__") != nullptr;
    if (object || of_tree(value)) call_back(value, callback_arguments(callee, arguments, first));
    if (takes_over) run_framework_hooks(value);
  };
  if (takes_over) run_framework_hooks(self);
  bool first = true;
  for (const Value& value : arguments.positional) {
    visit(value, first);
    first = false;
  }
  for (const auto& [name, value] : arguments.named.all()) visit(value, false);
  return std::nullopt;
}

}  // namespace schedmate::python
