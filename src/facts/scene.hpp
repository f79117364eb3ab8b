// SPDX-License-Identifier: Apache-2.0
#pragma once

/// Everything that was read of one training program, put in reach of the rules: its flags, configs,
/// keyword arguments and launcher settings as one list of named settings, beside the calls and
/// loops that the interpreter saw.

#include <map>

#include "facts/keys.hpp"
#include "facts/tables.hpp"
#include "python/objects/observation.hpp"

namespace schedmate::facts {

using code::Dict;
using code::List;
using code::Place;
using code::PlacePtr;
using code::Unknown;
using code::Value;

/// How a setting got its value, most binding first.
enum class Precedence : std::uint8_t {
  given,     ///< by the command or a wrapper, through a flag or an override
  launcher,  ///< decided by accelerate, deepspeed, ...
  config,    ///< by a config file
  argument,  ///< keyword argument of an outside call
  fallback,  ///< default of a flag or field
  global,    ///< constant at the top of the entry script
  loose,     ///< a word or file that no code was seen to read
};

struct Setting {
  std::string key{};  ///< dotted and normalised: "model.optimizer.lr"
  Value value{};
  Precedence precedence = Precedence::loose;
  std::string owner{};  ///< callee, dataclass or config file
  bool read = false;    ///< the program was seen to use it
  [[nodiscard]] std::string_view leaf() const;
};

struct Scene {
  JobSource job;
  command::Launch launch;
  python::Observation seen{};
  std::vector<Setting> settings{};
  const Keys* keys = nullptr;
  const Tables* tables = nullptr;
  std::vector<std::string> closure{};  ///< files read for this program
  Value title{};                       ///< first heading of the README, unknown when there is none
  bool followed = false;               ///< the entry was found and run through
  bool trains = false;                 ///< its training loop, or a library's, was seen to be run

  [[nodiscard]] int gpus_per_node() const;
  /// Settings that `field` may be read from, with what each means; most binding first. Looked up
  /// once for all fields: the settings stay as they are from the first call on.
  struct Meant {
    const Setting* setting;
    std::string meaning;
    int trust;
  };
  [[nodiscard]] const std::vector<Meant>& meant(std::string_view field) const;
  /// Calls whose callee is `name` or ends in ".name".
  [[nodiscard]] std::vector<const python::Call*> calls(std::string_view name) const;
  [[nodiscard]] bool imports(std::string_view module) const;

 private:
  mutable std::map<std::string, std::vector<Meant>, std::less<>> by_field_;
};

/// Reads the program of one launch. Never fails: what could not be read is noted in the tree.
[[nodiscard]] Scene read_scene(tree::Tree& tree, const JobSource& job,
                               const command::Launch& launch);

/// A step of an optimiser, or the start of a library's training.
[[nodiscard]] bool is_of_training(const python::Call& call);

/// The argument of a call by name or position; nullptr when not given.
[[nodiscard]] const Value* argument(const python::Call& call, std::string_view name,
                                    std::size_t position);

/// Evidence of a value: its place and those it was made of, without repetitions.
[[nodiscard]] std::vector<Evidence> evidence_of(const PlacePtr& place);

}  // namespace schedmate::facts
