// SPDX-License-Identifier: Apache-2.0
#include "slurm/shown.hpp"

#include <algorithm>
#include <array>
#include <utility>

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

/// A key behind all that is read of such a record.
std::string_view last_key_of(std::string_view kind) {
  constexpr std::array<std::pair<std::string_view, std::string_view>, 4> keys = {
      {{"JobId", "WorkDir"},
       {"NodeName", "CfgTRES"},
       {"PartitionName", "State"},
       {"ReservationName", "State"}}};
  const auto found =
      std::ranges::find(keys, kind, &std::pair<std::string_view, std::string_view>::first);
  return found == keys.end() ? std::string_view() : found->second;
}

/// "slurm_load_jobs error: Unable to contact slurm controller", "scontrol: error: ...".
bool is_complaint(std::string_view line) {
  const std::size_t colon = line.find(": ");
  if (colon == std::string_view::npos) return false;
  const std::string_view who = line.substr(0, colon);
  constexpr std::string_view error = " error";
  if (who.starts_with("slurm_") && who.ends_with(error)) return true;
  constexpr std::array<std::string_view, 3> tools = {"scontrol", "squeue", "sinfo"};
  return std::ranges::find(tools, who) != tools.end() &&
         line.substr(colon).starts_with(": error: ");
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
    // A job's name may hold line ends; of its record every other line is indented.
    const bool in_job = open_ && records.back().kind == "JobId" && !records.back().whole;
    if (in_job && !line.empty() && raw.front() != ' ') return;
    if (line.starts_with(settings)) {
      begin(number, "Configuration");
      records.back().values.put("Configuration", line.substr(settings.size()));
      return;
    }
    constexpr std::string_view limits = "Current Association Manager state";
    if (raw.starts_with(limits)) open_ = false;
    if (raw.starts_with("No jobs in the system")) add_closed(number, "NoJobs", "");
    if (is_complaint(raw)) return add_closed(number, "Error", line);
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
    const std::string_view last = last_key_of(kind);
    records.push_back({number, std::string(kind), {}, last.empty()});
    last_key_ = last;
    open_ = true;
  }
  void add_closed(std::size_t number, std::string_view kind, std::string_view words) {
    begin(number, kind);
    records.back().values.put(kind, words);
    open_ = false;
  }

  void take_pairs(std::string_view line) {
    Shown& values = records.back().values;
    while (!line.empty()) {
      const std::size_t equals = line.find('=');
      if (equals == std::string_view::npos) return;
      const std::string_view key = line.substr(0, equals);
      const std::size_t end = end_of_value(line, key, equals + 1);
      if (key == last_key_) records.back().whole = true;
      values.put(key, line.substr(equals + 1, end - equals - 1));
      line = trim(line.substr(end));
    }
  }

  bool open_ = false;
  std::string_view last_key_;  ///< of the open record
};

}  // namespace

void Shown::put(std::string_view key, std::string_view value) {
  if (value == "(null)" || value == "N/A") return;
  auto& values = values_[std::string(key)];
  if (values.size() < most_values) values.emplace_back(value.substr(0, longest_value));
}

void Shown::replace(std::string_view key, std::string_view value) {
  values_.erase(std::string(key));
  put(key, value);
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
  constexpr std::int64_t most = 1'000'000'000'000'000;  // sums and products of such stay numbers
  const std::string_view value = text(key);
  return std::min(most, parse_number<std::int64_t>(value.substr(0, value.find('-'))).value_or(0));
}

std::optional<SimTime> Shown::when(std::string_view key) const {
  const auto seconds = trace::parse_time(text(key));
  const bool is_one = seconds && *seconds > 0 && *seconds <= trace::latest_submit_s;
  return is_one ? std::optional(at(*seconds)) : std::nullopt;
}

std::optional<Seconds> Shown::duration(std::string_view key) const {
  const auto seconds = trace::parse_elapsed(text(key));
  return seconds ? std::optional(Seconds(*seconds)) : std::nullopt;
}

std::vector<ShownRecord> read_shown(std::string_view text, std::size_t first_line) {
  Reader reader;
  for (std::size_t number = first_line; !text.empty(); ++number) {
    const std::size_t end = std::min(text.find('\n'), text.size());
    reader.take(number, text.substr(0, end));
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return std::move(reader.records);
}

}  // namespace schedmate::slurm
