// SPDX-License-Identifier: Apache-2.0
#pragma once

/// The seam between the interpreter and the models of outside functions (python/natives): argparse,
/// click, absl, yaml, OmegaConf, os, torch.cuda and the like. A native gets evaluated arguments and
/// gives a value; what has no native becomes a recorded Call and a Made.

#include <functional>
#include <map>

#include "python/objects/observation.hpp"

namespace schedmate::python {

struct Arguments {
  List positional;
  Dict named;
  PlacePtr place;        ///< of the call
  bool complete = true;  ///< false when *args or **kwargs were not known
  /// By name or, when absent, by position; nullptr when not given.
  [[nodiscard]] const Value* find(std::string_view name, std::size_t position) const;
};

/// A parameter of a function or a field of a (data)class.
struct Parameter {
  std::string name;
  std::string annotation;  ///< as written, "" when none
  std::optional<Value> fallback;
  PlacePtr place;
  enum class Kind : std::uint8_t { plain, keyword_only, star, double_star } kind = Kind::plain;
};

struct FunctionView {
  std::string name;
  std::vector<Parameter> parameters;
  PlacePtr place;
};

struct ClassView {
  std::string name;
  std::string file;
  std::vector<std::string> bases;  ///< dotted names outside the tree, own ones by class name
  std::vector<Parameter> fields;   ///< annotated or assigned names of the body, bases' first
  PlacePtr place;
};

class Machine {
 public:
  virtual ~Machine() = default;
  virtual tree::Tree& tree() = 0;
  virtual const PythonRun& run() = 0;
  virtual Observation& seen() = 0;
  /// Calls a function or class of the tree, a bound method, or an outside symbol.
  virtual Value call(const Value& callable, Arguments arguments) = 0;
  virtual Value attribute(const Value& of, std::string_view name) = 0;
  virtual void set_attribute(const Value& of, std::string_view name, Value value) = 0;
  /// A value for a dotted name: from the tree where it is there ("src.models.build.Net"), else an
  /// outside Symbol.
  virtual Value resolve(std::string_view dotted) = 0;
  /// A Python file of the tree that is itself a config, run by a machine of its own.
  /// Errors: those of read_python_config().
  virtual Result<Value> read_config(std::string_view path) = 0;
  virtual std::optional<FunctionView> function(const Value& value) = 0;
  virtual std::optional<ClassView> type(const Value& value) = 0;  ///< of a class, not an instance
  /// An instance of a class of the tree with these fields and without running __init__ (dataclasses
  /// filled by a parser), or of a made-up type such as "Namespace".
  virtual Value instance(const Value& type_or_name, Dict fields) = 0;
  /// The program ends here (sys.exit, argparse error).
  virtual void stop(std::string reason, PlacePtr place) = 0;
  /// A parser ends the program over its arguments. What it would do with those that fit is looked
  /// at all the same.
  virtual void refuse(std::string reason, PlacePtr place) = 0;
  /// Replaces a default of a function's parameter, or of a class's field or __init__: gin.
  virtual void set_default(const Value& callable, std::string_view parameter, Value value) = 0;
  [[nodiscard]] virtual bool certain() const = 0;  ///< not inside an undecided branch

  /// Sets an entry of a dict that a native keeps, so that an undecided branch can be taken back.
  virtual void set_entry(const std::shared_ptr<Dict>& dict, std::string_view key, Value value) {
    dict->set(key, std::move(value));
  }
  /// What natives keep between calls of one run, by library: absl's registry, Hydra's start.
  std::map<std::string, std::shared_ptr<Object>, std::less<>> memory;
};

using Native = std::function<Value(Machine&, const Arguments&)>;

/// An object whose methods are modelled: a parser, a CfgNode, a DictConfig. One that can be called
/// has the attribute "__call__"; `len`, `in` and iteration work on plain().
struct NativeObject : Object {
  Value extension;  ///< the class of the tree that extends its class and was made; else unknown
  [[nodiscard]] virtual std::string type_name() const = 0;  ///< "argparse.ArgumentParser"
  /// Nothing when the object has no such attribute. A method comes as a NativeFunction.
  virtual std::optional<Value> attribute(Machine& machine, std::string_view name) = 0;
  // NOLINTNEXTLINE(performance-unnecessary-value-param): those that keep it move it
  virtual bool set_attribute(Machine&, std::string_view, Value) { return false; }
  virtual std::optional<Value> item(Machine& machine, const Value& key);  ///< obj[key]
  // NOLINTNEXTLINE(performance-unnecessary-value-param)
  virtual bool set_item(Machine&, const Value&, Value) { return false; }
  /// Code outside the tree was given it, and may have changed it.
  virtual void handed_out() {}
  /// As a plain dict or list where it stands for one (DictConfig, CfgNode, Namespace).
  virtual std::optional<Value> plain() { return std::nullopt; }
};

struct NativeFunction : Object {
  std::string name;
  Native run;
};
[[nodiscard]] Value native_function(std::string name, Native run);

}  // namespace schedmate::python
