// SPDX-License-Identifier: Apache-2.0
#pragma once

/// Flags made from typed parameters and dataclass fields: tyro, HfArgumentParser, simple_parsing,
/// draccus, typer, jsonargparse and fire share this; they differ by style.

#include <set>

#include "python/natives/flag_parser.hpp"
#include "python/natives/type_hint.hpp"

namespace schedmate::python::natives {

struct TypedStyle {
  enum class Booleans : std::uint8_t {
    pair,   ///< --x and --no-x, no value
    value,  ///< --x true
    both,   ///< --x, --x true, --no_x
  };
  Booleans booleans = Booleans::both;
  bool nested_names = true;        ///< --optim.lr; false: --lr
  bool dashes = true;              ///< --batch-size beside --batch_size
  bool only_dashes = false;        ///< click and typer
  bool required_by_place = false;  ///< parameters without default are positionals (typer)
  bool abbreviations = false;
  bool words_as_lists = true;  ///< `--x 1 2 3`; false: `--x [1,2,3]`
};

struct TypedFlag {
  FlagSpec spec;
  TypeHint hint;
  std::string path;  ///< "optim.lr"
  std::optional<Value> fallback;
  std::string owner;
  PlacePtr place;
};

struct TypedValues {
  struct One {
    Value value;
    bool given = false;
  };
  std::vector<One> values;  ///< as TypedFlags::flags
  std::vector<command::Word> leftover;
  bool certain = true;
};

class TypedFlags {
 public:
  explicit TypedFlags(TypedStyle style = {}) : style_(style) {}

  void add(Machine& machine, const FunctionView& function);
  /// Fields of a class of the tree, nested dataclasses too.
  void add(Machine& machine, const ClassView& type, const std::string& prefix = "");
  [[nodiscard]] TypedFlag& last() { return flags_.back(); }
  void add_parameter(const Parameter& parameter, const std::string& prefix,
                     const std::string& owner);

  /// Matches words; what does not fit its type ends the program.
  [[nodiscard]] TypedValues parse(Machine& machine, const std::vector<command::Word>& words) const;
  /// Values of a file or dict over the defaults, below the words.
  void overlay(const Value& settings);
  /// Puts every flag into the observation. Reading a dataclass is not watched, so they count as
  /// read.
  void show(Machine& machine, const TypedValues& values) const;
  /// The fields below `prefix`, nested ones as instances of their classes.
  [[nodiscard]] Dict fields(Machine& machine, const TypedValues& values,
                            const std::string& prefix = "") const;
  [[nodiscard]] const std::vector<TypedFlag>& flags() const { return flags_; }

 private:
  std::optional<ClassView> nested_class(Machine& machine, const ClassView& owner,
                                        const Parameter& field, Value& type) const;
  Value read(Machine& machine, const TypedFlag& flag, const FlagUse& use) const;
  void name(TypedFlag& flag, const std::string& prefix, const std::string& field) const;

  TypedStyle style_;
  std::vector<TypedFlag> flags_;
  std::map<std::string, Value, std::less<>> classes_;  ///< path -> class of a nested dataclass
  int depth_ = 0;
};

/// The default of a field whose factory gave nothing yet when the class was made: it may name what
/// stands further down in the module.
struct LateDefault : Object {
  Value factory;
};
/// A default as it is when an object is made.
[[nodiscard]] Value default_now(Machine& machine, const Value& fallback);

/// tyro.cli and kin in one go: a class gives an instance, a function the result of its call.
[[nodiscard]] Value run_typed(Machine& machine, const Value& target, TypedFlags flags,
                              const std::vector<command::Word>& words);
/// Leftover `--name value...` words as a dict, each read as what it looks like.
[[nodiscard]] Dict loose_flags(const std::vector<command::Word>& words);

}  // namespace schedmate::python::natives
