// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include "base/text.hpp"
#include "config/config.hpp"
#include "config/readers.hpp"

namespace schedmate::config {

tl::unexpected<Error> fail_at(std::string_view file, int line, std::string_view why) {
  return fail(ErrorCode::invalid, fmt::format("{}:{}: {}", file, line, why));
}

std::optional<ConfigFormat> config_format(std::string_view path) {
  struct Ending {
    std::string_view text;
    ConfigFormat format;
  };
  constexpr Ending endings[] = {
      {".yaml", ConfigFormat::yaml},  {".yml", ConfigFormat::yaml},   {".json", ConfigFormat::json},
      {".json5", ConfigFormat::json}, {".jsonc", ConfigFormat::json}, {".toml", ConfigFormat::toml},
      {".ini", ConfigFormat::ini},    {".cfg", ConfigFormat::ini},    {".conf", ConfigFormat::ini}};
  for (const auto& [ending, format] : endings)
    if (path.ends_with(ending)) return format;
  return std::nullopt;
}

Result<Value> parse_config(std::string_view text, ConfigFormat format, std::string_view file) {
  const ConfigText input{text, file};
  switch (format) {
    case ConfigFormat::json:
      return read_json(input);
    case ConfigFormat::toml:
      return read_toml(input);
    case ConfigFormat::ini:
      return read_ini(input);
    case ConfigFormat::yaml:
      break;
  }
  auto value = read_yaml(input);
  if (value) return value;
  // JSON with // comments goes by the name of YAML in some trees.
  if (!trim(text).starts_with('{') && !trim(text).starts_with("//")) return value;
  auto json = read_json(input);
  return json ? json : value;
}

void note_encoding(tree::Tree& tree, const tree::TextFile& file) {
  if (file.odd_line > 0)
    tree.degrade(fmt::format("{}:{}: not UTF-8; read as Latin-1", file.path, file.odd_line));
}

Result<Value> read_config(tree::Tree& tree, std::string_view path) {
  const auto file = tree.read(path);
  if (!file) return tl::unexpected(file.error());
  const tree::TextFile& found = **file;
  const auto by_content =
      trim(found.text).starts_with('{') ? ConfigFormat::json : ConfigFormat::yaml;
  auto value = parse_config(found.text, config_format(found.path).value_or(by_content), found.path);
  if (!value) tree.degrade(value.error().message);
  note_encoding(tree, found);
  return value;
}

}  // namespace schedmate::config
