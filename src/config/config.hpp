// SPDX-License-Identifier: Apache-2.0
#pragma once

/// Configuration files as values with places (design 5.1, stage 4), and the ways in which libraries
/// put several together. Python-dict configs are run by python/, not here.

#include <span>

#include "code/value.hpp"
#include "tree/tree.hpp"

namespace schedmate {

enum class ConfigFormat : std::uint8_t { yaml, json, toml, ini };

/// The format by file name, then by content (commented JSON in a .yaml is YAML enough).
[[nodiscard]] std::optional<ConfigFormat> config_format(std::string_view path);

/// Parses one file. YAML: first document, anchors, merge keys, unknown tags kept as a dict entry
/// "!tag" (SpeechBrain's !new:, !ref <x>, !name: are resolved by `resolve_hyperpyyaml`). JSON:
/// comments and trailing commas are accepted. Scalars have Python's types (YAML 1.1 booleans as
/// PyYAML reads them; "1e-3" stays text in PyYAML: number() reads it). Places have source config.
/// Errors: not_found, invalid (with line).
[[nodiscard]] Result<Value> read_config(Tree& tree, std::string_view path);
[[nodiscard]] Result<Value> parse_config(std::string_view text, ConfigFormat format,
                                         std::string_view file);

/// A scalar as YAML reads it from a command line ("3" -> 3, "null" -> None, "[1,2]" -> list).
[[nodiscard]] Value parse_scalar(std::string_view text, PlacePtr place);

/// OmegaConf: replaces ${a.b}, ${.sibling}, ${oc.env:NAME,default}, ${oc.select:...}; what it
/// cannot resolve becomes unknown and is named in the tree's degraded list.
void interpolate(Tree& tree, Value& root);

/// "a.b=3" overlays in order; `+a=3`, `++a=3`, `~a` as Hydra and OmegaConf read them.
void apply_dotlist(Value& root, std::span<const Value> overrides);

/// Hydra's composition of `name` from `folder` (defaults lists with groups, `override /group`,
/// `@package`, `_self_`, experiment overlays, optional and null groups, group choice against value
/// on the command line, config search path of hydra.searchpath inside the tree). `overrides` are
/// texts with the places of their words. Interpolation is done last. A sweep (`a=1,2`) leaves
/// unknown with may_be, and multiplies `runs` when -m was given.
struct HydraRequest {
  std::string folder;
  std::string name;
  std::span<const Value> overrides;
  bool multirun = false;
};
struct HydraConfig {
  Value config;
  std::int64_t runs = 1;
  Dict choices;  ///< group -> option chosen
};
[[nodiscard]] Result<HydraConfig> compose_hydra(Tree& tree, const HydraRequest& request);

/// YAML with `_base_` (path or list) or `BASE`/`_BASE_` (detectron2, yacs, Paddle's `_inherited_:
/// False` cancels a block), `includes`, `base_config`, `defaults_from` chains, deep merged.
[[nodiscard]] Result<Value> read_config_chain(Tree& tree, std::string_view path);

/// SpeechBrain's hyperpyyaml: !ref and arithmetic in them, !new:, !name:, !include:.
void resolve_hyperpyyaml(Tree& tree, Value& root);

}  // namespace schedmate
