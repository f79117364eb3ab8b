// SPDX-License-Identifier: Apache-2.0
#pragma once

/// All models of outside functions, found by dotted name.

#include "python/objects/native.hpp"

namespace schedmate::python::natives {

/// The model of "argparse.ArgumentParser", "os.environ.get", ...; nullptr when there is none.
/// Names are canonical (torch.optim.adamw.AdamW is asked for as torch.optim.AdamW). This and
/// native_constant are weak: bench/reader_study.cpp leaves parts out by functions of its own.
[[nodiscard]] const Native* find_native(std::string_view dotted);
/// Classes such as yacs' CfgNode, whose objects stay config objects in classes that extend them.
[[nodiscard]] bool is_extensible(std::string_view dotted);
/// The value of an outside name that is not called: "os.environ", "sys.argv", "math.pi".
[[nodiscard]] std::optional<Value> native_constant(Machine& machine, std::string_view dotted);

/// Each file of python/natives fills the table with its part.
using NativeTable = std::map<std::string, Native, std::less<>>;
void add_argparse(NativeTable& table);        ///< argparse, configargparse, tap
void add_flag_libraries(NativeTable& table);  ///< absl, click, typer, fire, tyro, simple_parsing
void add_dataclasses(NativeTable& table);     ///< dataclasses, HfArgumentParser, pydantic, attrs
void add_config_readers(
    NativeTable& table);  ///< yaml, json, toml, omegaconf, hydra, yacs, mmengine
void add_standard_library(NativeTable& table);  ///< os, sys, math, pathlib, json, copy, functools
void add_environment(NativeTable& table);  ///< torch.cuda, torch.distributed, horovod, jax counts

}  // namespace schedmate::python::natives
