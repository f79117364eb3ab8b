// SPDX-License-Identifier: Apache-2.0
#pragma once

/// The parts that the add_* functions of table.hpp are put together from, one file each.

#include "python/natives/table.hpp"

namespace schedmate::python::natives {

void add_absl(NativeTable& table);
void add_mlxu(NativeTable& table);  ///< after add_absl
void add_click(NativeTable& table);
void add_tyro(NativeTable& table);
void add_typed(NativeTable& table);  ///< fire, simple_parsing, pyrallis, draccus
void add_typer(NativeTable& table);
void add_lightning_cli(NativeTable& table);  ///< jsonargparse and LightningCLI
void add_hf_parsers(NativeTable& table);

void add_files(NativeTable& table);  ///< yaml, json, toml, configparser, open()
void add_omegaconf(NativeTable& table);
void add_hydra(NativeTable& table);
void add_hydra_overrides(NativeTable& table);  ///< of detectron2's lazy configs
void add_gin(NativeTable& table);
void add_yacs(NativeTable& table);
void add_mmengine(NativeTable& table);
void add_attribute_dicts(NativeTable& table);  ///< easydict, addict, munch, ml_collections, ...
void add_speechbrain(NativeTable& table);

void add_os(NativeTable& table);
void add_paths(NativeTable& table);
void add_modules(NativeTable& table);  ///< importlib
void add_hparams(NativeTable& table);  ///< tf.contrib.training.HParams
void add_math(NativeTable& table);
void add_path_managers(NativeTable& table);  ///< after add_files, add_os and add_paths
void add_functional(NativeTable& table);     ///< copy, itertools, functools, collections, re

/// absl.flags.FLAGS.
[[nodiscard]] std::optional<Value> absl_flags(Machine& machine);
/// os.environ.
[[nodiscard]] std::optional<Value> os_constant(Machine& machine, std::string_view dotted);
/// sys.modules.
[[nodiscard]] std::optional<Value> modules_constant(std::string_view dotted);
[[nodiscard]] std::optional<Value> math_constant(std::string_view dotted);
[[nodiscard]] std::optional<Value> environment_constant(std::string_view dotted);
/// torch.distributed.init_process_group was called: from there on there are as many processes.
void note_process_group(Machine& machine, const Arguments& arguments);

/// A new os.environ["NAME"], with what launchers set; nothing when it is not known to be set.
[[nodiscard]] std::optional<Value> environment_variable(Machine& machine, std::string_view name);
/// pathlib.Path(text).
[[nodiscard]] Value make_path(std::string text, PlacePtr place);
/// _target_ and its arguments made, deep down (hydra.utils.instantiate).
[[nodiscard]] Value instantiate(Machine& machine, const Value& config, const Dict& more);

}  // namespace schedmate::python::natives
