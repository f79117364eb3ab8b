// SPDX-License-Identifier: Apache-2.0
#pragma once

/// Configuration files as values with places, and the ways in which libraries
/// put several together. Python-dict configs are run by src/python, not here.

#include <map>
#include <span>

#include "config/value_names.hpp"
#include "tree/tree.hpp"

namespace schedmate::config {

enum class ConfigFormat : std::uint8_t { yaml, json, toml, ini };

/// The format by file name, then by content (commented JSON in a .yaml is YAML enough).
[[nodiscard]] std::optional<ConfigFormat> config_format(std::string_view path);

/// Parses one file. YAML: first document, anchors, merge keys, unknown tags kept as a dict entry
/// "!tag" (SpeechBrain's !new:, !ref <x>, !name: are resolved by `resolve_hyperpyyaml`). JSON:
/// comments and trailing commas are accepted. Scalars have Python's types (YAML 1.1 booleans as
/// PyYAML reads them; "1e-3" stays text in PyYAML: number() reads it). Places have source config.
/// Errors: not_found, invalid (with line). What does not parse, or is not UTF-8, is also named in
/// the tree's degraded list.
[[nodiscard]] Result<Value> read_config(tree::Tree& tree, std::string_view path);
[[nodiscard]] Result<Value> parse_config(std::string_view text, ConfigFormat format,
                                         std::string_view file);

/// Names the line in the tree's degraded list where a file is not UTF-8.
void note_encoding(tree::Tree& tree, const tree::TextFile& file);

/// A scalar as YAML reads it from a command line ("3" -> 3, "null" -> None, "[1,2]" -> list).
[[nodiscard]] Value parse_scalar(std::string_view text, const PlacePtr& place);

/// OmegaConf: replaces ${a.b}, ${.sibling}, ${oc.env:NAME,default}, ${oc.select:...}, and custom
/// resolvers whose name says what they do (${mul:2,${a}}, ${eval:'${a} // 2'}); what it cannot
/// resolve becomes unknown and is named in the tree's degraded list. A value made of another has
/// the place of its expression, from the place of the other. `environment` holds the variables
/// that the job sets, as texts.
void interpolate(tree::Tree& tree, Value& root, const Dict& environment = {});

/// "a.b=3" overlays in order; `+a=3`, `++a=3`, `~a` as Hydra and OmegaConf read them; `a[0].b=3`
/// for items of lists. The values have the places of their words.
void apply_dotlist(Value& root, std::span<const Value> overrides);

/// Hydra's composition of `name` from `folder` (defaults lists with groups, `override /group`,
/// `@package`, `_self_`, experiment overlays, optional and null groups, group choice against value
/// on the command line, config search path of hydra.searchpath inside the tree). `overrides` are
/// texts with the places of their words. Interpolation is done last. A sweep (`a=1,2`) leaves
/// unknown with may_be, and multiplies `runs` when -m was given.
struct StoredConfig {
  Value content;
  std::optional<std::string> package;
};
/// What a program registered with ConfigStore, by "group/name" or "name".
using StoredConfigs = std::map<std::string, StoredConfig, std::less<>>;
struct HydraRequest {
  std::string folder;  ///< relative to the root
  std::string name;    ///< with or without .yaml
  std::span<const Value> overrides;
  bool multirun = false;
  Dict environment = {};                  ///< as for interpolate
  const StoredConfigs* stored = nullptr;  ///< sought behind the files; may be null
  bool before_1_1 = false;                ///< written for hydra-core 1.0 or older
};
struct HydraConfig {
  Value config;
  std::int64_t runs = 1;
  Dict choices;  ///< group -> option chosen
  /// Why Hydra itself would stop: a group or value overridden that is not there.
  std::vector<std::string> refusals;
};
[[nodiscard]] Result<HydraConfig> compose_hydra(tree::Tree& tree, const HydraRequest& request);

/// A config with `_base_` (path or list), `BASE`/`_BASE_` (detectron2, yacs, Paddle; `_inherited_:
/// False` or `_delete_: True` cancels a block), `includes`, `base_config`, `inherit_from` and the
/// like, deep merged; bases are sought beside the file, then from the root. A base that cannot be
/// read is named in the tree's degraded list.
[[nodiscard]] Result<Value> read_config_chain(tree::Tree& tree, std::string_view path);

/// SpeechBrain's hyperpyyaml: !ref and arithmetic in them, !copy, !tuple, !include:; apply
/// overrides before. !new:, !name:, !apply: and !module: stay dicts with "!tag" and resolved
/// arguments.
void resolve_hyperpyyaml(tree::Tree& tree, Value& root);

/// All places of config files below `root` become FactSource::composition: several files took part.
void mark_composed(Value& root);

}  // namespace schedmate::config
