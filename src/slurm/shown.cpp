// SPDX-License-Identifier: Apache-2.0
#include "slurm/shown.hpp"

#include <algorithm>
#include <array>

#include "base/text.hpp"
#include "trace/values.hpp"

namespace schedmate::slurm {
namespace {

constexpr std::size_t longest_value = 65'536;
constexpr std::size_t most_values = 4096;

/// Keys whose value may hold blanks and so goes on to the end of its line.
bool is_free_text(std::string_view key) {
  constexpr std::array<std::string_view, 13> keys = {
      "JobName", "Command", "WorkDir",      "StdErr",     "StdIn",         "StdOut", "Reason",
      "Comment", "Extra",   "AdminComment", "SubmitLine", "SystemComment", "OS"};
  return std::ranges::find(keys, key) != keys.end();
}

/// The kinds of records, by their first keys.
bool begins_record(std::string_view key) {
  constexpr std::array<std::string_view, 4> keys = {"JobId", "NodeName", "PartitionName",
                                                    "ReservationName"};
  return std::ranges::find(keys, key) != keys.end();
}

/// Where the value ends that begins at `from`.
std::size_t end_of_value(std::string_view line, std::string_view key, std::size_t from) {
  // The one free text that another key may follow: a job's reason.
  const std::string_view behind = key == "Reason" ? " Dependency=" : " ";
  if (is_free_text(key) && key != "Reason") return line.size();
  return std::min(line.find(behind, from), line.size());
}

class Reader {
 public:
  void take(std::size_t number, std::string_view raw) {
    constexpr std::string_view settings = "Configuration data as of ";
    const std::string_view line = trim(raw);
    if (line.starts_with(settings)) {
      begin(number, "Configuration");
      records.back().values.put("Configuration", line.substr(settings.size()));
      return;
    }
    if (line.empty()) {
      // What follows the settings belongs to them until another record begins.
      open_ = open_ && records.back().kind == "Configuration";
      return;
    }
    const std::size_t equals = line.find('=');
    if (equals == std::string_view::npos) return;
    const std::string_view key = trim(line.substr(0, equals));
    // Only where a line begins: no value can pretend to be a record.
    if (begins_record(key) && raw.starts_with(key)) begin(number, key);
    if (!open_) return;
    if (records.back().kind == "Configuration")
      records.back().values.put(key, trim(line.substr(equals + 1)));
    else
      take_pairs(line);
  }

  std::vector<ShownRecord> records;

 private:
  void begin(std::size_t number, std::string_view kind) {
    records.push_back({number, std::string(kind), {}});
    open_ = true;
  }

  void take_pairs(std::string_view line) {
    Shown& values = records.back().values;
    while (!line.empty()) {
      const std::size_t equals = line.find('=');
      if (equals == std::string_view::npos) return;
      const std::string_view key = line.substr(0, equals);
      const std::size_t end = end_of_value(line, key, equals + 1);
      values.put(key, line.substr(equals + 1, end - equals - 1));
      line = trim(line.substr(end));
    }
  }

  bool open_ = false;
};

}  // namespace

void Shown::put(std::string_view key, std::string_view value) {
  if (value == "(null)" || value == "N/A") return;
  auto& values = values_[std::string(key)];
  if (values.size() < most_values) values.emplace_back(value.substr(0, longest_value));
}

std::string_view Shown::text(std::string_view key) const {
  const auto found = values_.find(key);
  return found == values_.end() ? std::string_view() : found->second.front();
}

std::span<const std::string> Shown::texts(std::string_view key) const {
  const auto found = values_.find(key);
  if (found == values_.end()) return {};
  return found->second;
}

std::int64_t Shown::whole(std::string_view key) const {
  const std::string_view value = text(key);
  return parse_number<std::int64_t>(value.substr(0, value.find('-'))).value_or(0);
}

std::optional<SimTime> Shown::when(std::string_view key) const {
  const auto seconds = trace::parse_date(text(key));
  return seconds ? std::optional(at(*seconds)) : std::nullopt;
}

std::optional<Seconds> Shown::duration(std::string_view key) const {
  const auto seconds = trace::parse_elapsed(text(key));
  return seconds ? std::optional(Seconds(*seconds)) : std::nullopt;
}

std::vector<ShownRecord> read_shown(std::string_view text) {
  Reader reader;
  std::size_t number = 0;
  for (const std::string_view line : split(text, '\n')) reader.take(++number, line);
  return std::move(reader.records);
}

}  // namespace schedmate::slurm
