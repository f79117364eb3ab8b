// SPDX-License-Identifier: Apache-2.0
#include "log/progress/log_words.hpp"

#include <filesystem>
#include <utility>

#include "base/characters.hpp"
#include "base/check.hpp"
#include "base/input.hpp"
#include "base/table_reader.hpp"

namespace schedmate::embedded {
extern const std::string_view log_formats_toml;
}  // namespace schedmate::embedded

namespace schedmate::progress {
namespace {

constexpr std::string_view file_name = "log_formats.toml";

constexpr Bounds any_figure{-1e18, 1e18};

void read_words(TableReader& table, std::string_view key, WordSet& words) {
  std::vector<std::string> found;
  table.maybe_texts(key, found);
  for (std::string& word : found) words.insert(std::move(word));
}

void read_all_words(TableReader& table, LogWords& words) {
  read_words(table, "step", words.step);
  read_words(table, "not_step", words.not_step);
  read_words(table, "epoch", words.epoch);
  read_words(table, "step_time", words.step_time);
  read_words(table, "time", words.time);
  read_words(table, "running", words.running);
  read_words(table, "part", words.part);
  read_words(table, "rate", words.rate);
  read_words(table, "throughput", words.throughput);
  read_words(table, "held_out", words.held_out);
  read_words(table, "busy", words.busy);
  read_words(table, "other", words.other);
  std::vector<std::string> loss;
  table.maybe_texts("loss", loss);
  for (std::string& name : loss) words.loss.push_back(std::move(name));
}

void read_key(TableReader& row, std::string_view key, std::string& out) {
  if (row.maybe_text(key, out)) out = plain_key(out);
}

void read_figure(TableReader& reads, std::string_view key, std::optional<double>& out) {
  if (double figure = 0; reads.maybe_number(key, figure, any_figure)) out = figure;
}

void read_patterns(TableReader& row, LogFormat& format) {
  std::vector<std::string> texts;
  row.maybe_plain("pattern", texts);
  for (const std::string& text : texts) {
    auto pattern = LinePattern::parse(text);
    if (!pattern) return row.refuse("pattern", pattern.error().message);
    if (format.training && !pattern->has_fields())
      row.refuse("pattern", "a pattern needs a placeholder with a meaning, or training = false");
    format.patterns.push_back(std::move(*pattern));
  }
}

void read_format(TableReader& row, LogFormat& format) {
  row.text("name", format.name);
  row.maybe_texts("keys", format.keys);
  for (std::string& key : format.keys) key = plain_key(key);
  read_key(row, "step", format.step);
  read_key(row, "time", format.time);
  read_key(row, "loss", format.loss);
  row.maybe_flag("elapsed", format.elapsed);
  row.maybe_number("time_unit_s", format.time_unit_s, {0, any_figure.high});
  row.maybe_flag("training", format.training);
  row.maybe_plain("lines", format.lines);
  row.maybe_table("reads", [&](TableReader& reads) {
    read_figure(reads, "step", format.reads_step);
    read_figure(reads, "total", format.reads_total);
    read_figure(reads, "time_s", format.reads_time_s);
    read_figure(reads, "loss", format.reads_loss);
    read_figure(reads, "epoch", format.reads_epoch);
    read_figure(reads, "epochs", format.reads_epochs);
  });
  read_patterns(row, format);
  if (!format.keys.empty() && !format.patterns.empty())
    row.refuse("a [[format]] has keys or a pattern, not both");
  if (!format.matches() && format.lines.empty())
    row.refuse("a [[format]] needs keys, a pattern or lines that it proves");
}

Result<void> add(std::string_view text, const std::string& path, LogWords& words) {
  return TableReader::read(text, path, [&](TableReader& file) {
    file.maybe_table("words", [&](TableReader& table) { read_all_words(table, words); });
    file.maybe_tables("format",
                      [&](TableReader& row) { read_format(row, words.formats.emplace_back()); });
  });
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

}  // namespace schedmate::progress
