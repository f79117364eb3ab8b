// SPDX-License-Identifier: Apache-2.0
#pragma once

/// The parts of Hydra's composition: entries of defaults lists, words of the command line, the
/// ordered list of configs, and sweeps.

#include <map>
#include <span>

#include "config/config.hpp"

namespace schedmate::config {

/// One entry of a defaults list, or a `+group=option` of the command line.
struct Default {
  bool is_self = false;
  bool is_override = false;
  bool is_optional = false;
  bool is_group = false;               ///< `group: option`, else a path of a config
  std::string group;                   ///< as written, "/" in front when absolute
  std::vector<std::string> options;    ///< several for `group: [a, b]`; none for null
  std::optional<std::string> package;  ///< behind @
  PlacePtr place;
};
[[nodiscard]] std::vector<Default> read_defaults(const Value& list);
/// Reads "group@package" of the key into the entry.
void read_default_key(Default& entry, std::string_view key);

/// A config file: its content, its defaults list and its `# @package`.
struct HydraFile {
  Value content;
  std::optional<std::vector<Default>> defaults;
  std::optional<std::string> package;
};

/// Where configs are sought: the folder itself, then hydra.searchpath, then what the program
/// stored.
struct SearchPath {
  tree::Tree& tree;
  std::vector<std::string> folders;
  const StoredConfigs* stored = nullptr;
  /// Errors: not_found, and those of reading. `path` is without .yaml.
  [[nodiscard]] Result<HydraFile> load(const std::string& path) const;
  [[nodiscard]] bool has_group(std::string_view group) const;
  void add(std::string_view entry);  ///< "file://conf", "pkg://module.conf"
};

/// A word of the command line.
struct Override {
  enum class Kind : std::uint8_t { change, add, remove } kind = Kind::change;
  std::string key;  ///< without + and ~
  std::string text;
  bool has_value = false;
  PlacePtr place;
};
[[nodiscard]] std::vector<Override> read_overrides(std::span<const Value> words);

/// A config with the package that its content goes to ("" is the root), later ones on top.
struct Placed {
  Value content;
  std::string package;
};
struct Composition {
  std::vector<Placed> parts;
  Dict choices;
  std::vector<std::string> notes;
  std::vector<std::string> refusals;  ///< as in HydraConfig
};
/// Command-line choices of groups by key, additions and removals; values of the others are left to
/// the caller.
struct Choices {
  std::map<std::string, Default, std::less<>> changed;
  std::vector<Default> added;
  std::map<std::string, std::string, std::less<>> removed;  ///< key -> option, "" for any
};
struct CompositionRequest {
  std::string name;
  Choices choices;
  /// As Hydra did then: defaults override a primary config without _self_, and what lies in a group
  /// goes to the top unless it says otherwise.
  bool before_1_1 = false;
};
[[nodiscard]] Result<Composition> compose_parts(const SearchPath& path,
                                                const CompositionRequest& request);

/// The options of a sweep: "1,2,3", "choice(a,b)", "range(0,10,2)"; nothing when it is no sweep.
/// An empty list is a sweep whose options are not listed (interval, glob).
[[nodiscard]] std::optional<std::vector<std::string>> sweep_options(std::string_view text);

}  // namespace schedmate::config
