// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>
#include <yaml-cpp/yaml.h>

#include "base/text.hpp"
#include "command/launch_parts.hpp"
#include "command/paths.hpp"

namespace schedmate::command {
namespace {

constexpr std::size_t most_config_bytes = 1 << 16;
constexpr std::size_t most_prefix = 200;

PlacePtr place_of(const YAML::Node& node, const tree::TextFile& file) {
  auto place = std::make_shared<Place>();
  place->file = file.path;
  place->line = node.Mark().line + 1;
  place->text = trim(file.line(place->line));
  place->source = FactSource::config;
  return place;
}

Value scalar(const YAML::Node& node, const tree::TextFile& file) {
  const auto& text = node.Scalar();
  auto place = place_of(node, file);
  if (node.Tag() == "!") return {text, place};  // it stood in quotes
  if (text == "true" || text == "yes" || text == "True") return {true, place};
  if (text == "false" || text == "no" || text == "False") return {false, place};
  if (text == "null" || text == "~" || text.empty()) return Value::none(place);
  if (const auto number = parse_number<std::int64_t>(text)) return {*number, place};
  if (const auto number = parse_number<double>(text)) return {*number, place};
  return {text, place};
}

/// Nested blocks (deepspeed_config, fsdp_config) hold what flags of the same names say; those of a
/// DeepSpeed file keep the names of their blocks (zero_optimization.stage).
void flatten(const YAML::Node& node, const tree::TextFile& file, const std::string& prefix,
             Dict& into) {
  for (const auto& entry : node) {
    if (!entry.first.IsScalar()) continue;
    const auto key = prefix + entry.first.Scalar();
    if (entry.second.IsScalar()) {
      into.set(key, scalar(entry.second, file));
    } else if (entry.second.IsMap() && prefix.size() < most_prefix) {
      const bool flags = key.ends_with("_config");
      if (flags) into.set(key, Value(true, place_of(entry.first, file)));
      flatten(entry.second, file, flags ? "" : key + ".", into);
    }
  }
}

}  // namespace

void read_accelerate_config(const Word& word, LaunchContext& context) {
  const auto where = word.known ? path_in_tree(context.made.cwd, word.text) : std::nullopt;
  std::string path = where && context.tree.is_file(*where) ? *where : std::string();
  if (path.empty() && word.text.contains('/') && (!word.known || word.text.starts_with('/')))
    path = end_in_tree(context.tree, word.text).value_or("");
  if (path.empty()) {
    context.tree.degrade(
        fmt::format("accelerate's configuration '{}' is not in the tree", word.text));
    return;
  }
  const auto file = context.tree.read(path);
  if (!file) return;
  if ((*file)->text.size() > most_config_bytes) {
    context.tree.degrade(fmt::format("{}: too large for an accelerate configuration", path));
    return;
  }
  try {
    const YAML::Node root = YAML::Load((*file)->text);
    if (root.IsMap()) flatten(root, **file, "", context.made.settings);
  } catch (const YAML::Exception& error) {
    context.tree.degrade(fmt::format("{}: {}", path, error.what()));
  }
}

}  // namespace schedmate::command
