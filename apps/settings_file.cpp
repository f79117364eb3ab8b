// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>
#include <toml++/toml.h>

#include <optional>

#include "apps/settings.hpp"
#include "base/input.hpp"

namespace schedmate {
namespace {

constexpr std::uint64_t largest_settings = 1U << 20U;

std::optional<std::string> text_of(const toml::node& node) {
  if (const auto* text = node.as_string()) return text->get();
  if (const auto* whole = node.as_integer()) return fmt::to_string(whole->get());
  if (const auto* flag = node.as_boolean()) return flag->get() ? "true" : "false";
  return std::nullopt;
}

class SettingsReader {
 public:
  SettingsReader(Settings& settings, const std::string& path) : settings_(settings), path_(path) {}

  Result<void> read(const toml::table& table, const std::string& prefix) {
    for (const auto& [name, node] : table) {
      const std::string key = prefix + std::string(name.str());
      const auto done = node.is_table() ? read(*node.as_table(), key + ".") : take(key, node);
      if (!done) return done;
    }
    return {};
  }

 private:
  Result<void> take(const std::string& key, const toml::node& node) {
    const auto value = text_of(node);
    const auto done = value ? settings_.set(key, *value, path_)
                            : fail(ErrorCode::invalid, key + ": one value is needed");
    if (done) return {};
    const toml::source_position at = node.source().begin;
    return fail(ErrorCode::invalid,
                fmt::format("{}:{}:{}: {}", path_, at.line, at.column, done.error().message));
  }

  Settings& settings_;
  const std::string& path_;
};

}  // namespace

Result<void> Settings::read_file(const std::string& path) {
  const auto text = schedmate::read_file(path, largest_settings);
  if (!text) return tl::unexpected(text.error());
  try {
    return SettingsReader(*this, path).read(toml::parse(*text, path), "");
  } catch (const toml::parse_error& error) {
    const toml::source_position at = error.source().begin;
    return fail(ErrorCode::invalid,
                fmt::format("{}:{}:{}: {}", path, at.line, at.column, error.description()));
  }
}

}  // namespace schedmate
