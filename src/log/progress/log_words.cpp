// SPDX-License-Identifier: Apache-2.0
#include "log/progress/log_words.hpp"

#include <fmt/format.h>
#include <toml++/toml.h>

#include <filesystem>
#include <utility>

#include "base/characters.hpp"
#include "base/check.hpp"
#include "base/input.hpp"

namespace schedmate {
namespace embedded {
extern const std::string_view log_formats_toml;
}
namespace {

constexpr std::string_view file_name = "log_formats.toml";

std::vector<std::string> texts(const toml::node_view<const toml::node>& node) {
  std::vector<std::string> found;
  if (const auto* array = node.as_array())
    for (const auto& each : *array)
      if (const auto text = each.value<std::string>()) found.push_back(*text);
  return found;
}

void add_words(const toml::node_view<const toml::node>& node, WordSet& words) {
  for (auto& word : texts(node)) words.insert(std::move(word));
}

std::string plain(const toml::node_view<const toml::node>& node) {
  return plain_key(node.value_or(std::string_view()));
}

Result<LogFormat> read_format(const toml::table& table, std::string_view path) {
  const auto wrong = [&](std::string_view what) {
    return fail(ErrorCode::invalid,
                fmt::format("{}: line {}: {}", path, table.source().begin.line, what));
  };
  LogFormat format;
  format.name = table["name"].value_or(std::string());
  for (const auto& key : texts(table["keys"])) format.keys.push_back(plain_key(key));
  format.step = plain(table["step"]);
  format.time = plain(table["time"]);
  format.loss = plain(table["loss"]);
  format.elapsed = table["elapsed"].value_or(false);
  format.time_unit_s = table["time_unit_s"].value_or(0.0);
  format.training = table["training"].value_or(true);
  format.lines = texts(table["lines"]);
  const auto reads = table["reads"];
  format.reads_step = reads["step"].value<double>();
  format.reads_total = reads["total"].value<double>();
  format.reads_time_s = reads["time_s"].value<double>();
  format.reads_loss = reads["loss"].value<double>();
  format.reads_epoch = reads["epoch"].value<double>();
  format.reads_epochs = reads["epochs"].value<double>();
  auto patterns = texts(table["pattern"]);
  if (const auto text = table["pattern"].value<std::string>()) patterns.push_back(*text);
  for (const auto& text : patterns) {
    auto pattern = LinePattern::parse(text);
    if (!pattern) return wrong(pattern.error().message);
    if (format.training && !pattern->tells())
      return wrong("a pattern needs a placeholder with a meaning, or training = false");
    format.patterns.push_back(std::move(*pattern));
  }
  if (format.name.empty()) return wrong("a [[format]] needs a name");
  if (!format.keys.empty() && !format.patterns.empty())
    return wrong("a [[format]] has keys or a pattern, not both");
  if (!format.matches() && format.lines.empty())
    return wrong("a [[format]] needs keys, a pattern or lines that it proves");
  return format;
}

Result<void> add(std::string_view text, const std::string& path, LogWords& words) {
  toml::table table;
  try {
    table = toml::parse(text, path);
  } catch (const toml::parse_error& error) {
    return fail(ErrorCode::invalid, fmt::format("{}: line {}: {}", path, error.source().begin.line,
                                                error.description()));
  }
  const auto lists = std::as_const(table)["words"];
  add_words(lists["step"], words.step);
  add_words(lists["not_step"], words.not_step);
  add_words(lists["epoch"], words.epoch);
  add_words(lists["step_time"], words.step_time);
  add_words(lists["time"], words.time);
  add_words(lists["running"], words.running);
  add_words(lists["part"], words.part);
  add_words(lists["rate"], words.rate);
  add_words(lists["throughput"], words.throughput);
  add_words(lists["held_out"], words.held_out);
  add_words(lists["busy"], words.busy);
  add_words(lists["other"], words.other);
  for (auto& name : texts(lists["loss"])) words.loss.push_back(std::move(name));
  const auto* rows = table["format"].as_array();
  for (std::size_t i = 0; rows != nullptr && i < rows->size(); ++i) {
    const auto* row = rows->get(i)->as_table();
    if (row == nullptr) continue;
    auto format = read_format(*row, path);
    if (!format) return tl::unexpected(format.error());
    words.formats.push_back(std::move(*format));
  }
  return {};
}

}  // namespace

Result<LogWords> LogWords::load(const std::string& folder) {
  LogWords words;
  if (!folder.empty()) {  // an operator's formats are tried first
    const auto path = (std::filesystem::path(folder) / file_name).string();
    if (std::error_code none; std::filesystem::exists(path, none)) {
      const auto text = read_file(path);
      if (!text) return tl::unexpected(text.error());
      if (auto done = add(*text, path, words); !done) return tl::unexpected(done.error());
    }
  }
  auto done = add(embedded::log_formats_toml, std::string(file_name), words);
  if (!done) return tl::unexpected(done.error());
  return words;
}

Result<LogWords> LogWords::parse(std::string_view text) {
  LogWords words;
  auto done = add(text, std::string(file_name), words);
  if (!done) return tl::unexpected(done.error());
  return words;
}

const LogWords& LogWords::built_in() {
  static const LogWords words = [] {
    auto loaded = load();
    SCHEDMATE_CHECK(loaded.has_value(), loaded.error().message.c_str());
    return *std::move(loaded);
  }();
  return words;
}

std::string plain_key(std::string_view key) {
  std::string plain;
  plain.reserve(key.size());
  for (const char c : key) {
    const bool joins = c == '_' || c == '-' || c == '/' || c == '.' || c == ' ' || c == ':';
    if (!joins)
      plain += lower(c);
    else if (!plain.empty() && plain.back() != ' ')
      plain += ' ';
  }
  while (plain.ends_with(' ')) plain.pop_back();
  return plain;
}

}  // namespace schedmate
