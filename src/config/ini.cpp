// SPDX-License-Identifier: Apache-2.0

/// INI as Python's configparser reads it: values are texts, [DEFAULT] stands in every section, an
/// indented line continues the value above.

#include "base/text.hpp"
#include "config/places.hpp"
#include "config/readers.hpp"

namespace schedmate::config {
namespace {

bool is_comment(std::string_view line) {
  return line.empty() || line.starts_with('#') || line.starts_with(';');
}

// "; why" and "# why" behind a value, when blanks stand before them.
std::string_view without_comment(std::string_view value) {
  for (const std::string_view mark : {" ;", " #", "\t;", "\t#"}) {
    value = value.substr(0, value.find(mark));
  }
  return trim(value);
}

Dict with_defaults(const Dict& sections) {
  const Value* defaults = sections.find("DEFAULT");
  if (defaults == nullptr || defaults->entries() == nullptr) return sections;
  Dict complete;
  for (const auto& [name, section] : sections.all()) {
    if (name == "DEFAULT" || section.entries() == nullptr) {
      complete.set(name, section);
    } else {
      complete.set(name, code::merged(*defaults, section));
    }
  }
  return complete;
}

}  // namespace

Result<Value> read_ini(const ConfigText& config) {
  const auto text = without_bom(config.text);
  Places places(text, config.file);
  Dict sections;
  Dict* section = &sections;
  Value* last = nullptr;
  int number = 0;
  for (const auto raw : split(text, '\n')) {
    ++number;
    const auto line = trim(raw);
    const bool is_indented = raw.starts_with(' ') || raw.starts_with('\t');
    if (is_comment(line)) continue;
    const auto equals = line.find_first_of("=:");
    if (line.front() == '[' && line.back() == ']') {
      const auto name = trim(line.substr(1, line.size() - 2));
      section = sections.set(name, Value::dict({}, places.at(number, 0))).entries();
      last = nullptr;
    } else if (is_indented && last != nullptr && last->text() != nullptr) {
      std::get<std::string>(last->data).append("\n").append(line);
    } else {
      const auto key = trim(line.substr(0, equals));
      if (key.empty()) return fail_at(config.file, number, "a line with neither key nor section");
      const auto place = places.at(number, 0);
      last = &section->set(
          key, equals == std::string_view::npos
                   ? Value::none(place)
                   : Value(std::string(without_comment(line.substr(equals + 1))), place));
    }
  }
  return Value::dict(with_defaults(sections));
}

}  // namespace schedmate::config
