// SPDX-License-Identifier: Apache-2.0
#include "slurm/job_log.hpp"

#include <fmt/format.h>
#include <sys/stat.h>

#include <filesystem>
#include <system_error>

#include "base/text.hpp"
#include "trace/hostlist.hpp"

namespace schedmate::slurm {
namespace {

namespace fs = std::filesystem;

struct JobNames {
  std::string job, array, task, name, user, node;
};

JobNames names_of(const ScheduledJob& job) {
  const JobRecord& record = job.record;
  const std::size_t mark = record.id.find_first_of("_+");
  const bool of_array = mark != std::string::npos && record.id[mark] == '_';
  const std::string leader = record.id.substr(0, mark);
  std::string node;
  if (!job.attempts.empty())
    if (const auto hosts = trace::expand_hosts(job.attempts.back().nodes); hosts && !hosts->empty())
      node = hosts->front().substr(0, hosts->front().find('.'));
  return {of_array ? record.id : leader,
          leader,
          of_array ? record.id.substr(mark + 1) : "4294967294",
          record.name,
          record.user,
          node};
}

/// What stands for one letter; empty: Slurm knows no such letter.
std::optional<std::string> value_of(char letter, const JobNames& names) {
  switch (letter) {
    case '%':
      return "%";
    case 'j':
    case 'J':
      return names.job;
    case 'A':
      return names.array;
    case 'a':
      return names.task;
    case 'x':
      return names.name;
    case 'u':
      return names.user;
    case 'N':
      return names.node;
    case 'n':
    case 't':
      return "0";
    case 's':
      return "batch";
    default:
      return std::nullopt;
  }
}

/// The argument of -o or --output in a submission, "" = it has none.
std::string output_in(std::string_view line) {
  const auto words = split(line, ' ');
  for (std::size_t i = 1; i < words.size(); ++i) {
    const std::string_view word = words[i];
    constexpr std::string_view flag = "--output";
    if ((word == "-o" || word == flag) && i + 1 < words.size()) return std::string(words[i + 1]);
    if (word.starts_with("--output=")) return std::string(word.substr(flag.size() + 1));
    if (word.starts_with("-o") && word.size() > 2 && word[2] != '-')
      return std::string(word.substr(2));
  }
  return {};
}

}  // namespace

std::string expand_log_pattern(std::string_view pattern, const ScheduledJob& job,
                               std::string_view number) {
  constexpr std::size_t widest = 10;
  JobNames names = names_of(job);
  if (!number.empty()) names.job = number;
  std::string path;
  const bool is_plain = pattern.find('\\') != std::string_view::npos;  // Slurm expands nothing then
  for (std::size_t at = 0; at < pattern.size(); ++at) {
    if (pattern[at] == '\\') continue;
    std::size_t letter = pattern.find_first_not_of("0123456789", at + 1);
    const bool is_mark = pattern[at] == '%' && !is_plain && letter < pattern.size();
    const auto value = is_mark ? value_of(pattern[letter], names) : std::nullopt;
    if (!value) {
      path += pattern[at];
      continue;
    }
    const auto width =
        parse_number<std::size_t>(pattern.substr(at + 1, letter - at - 1)).value_or(0);
    const std::size_t zeros = std::min(width, widest) - std::min({width, widest, value->size()});
    path.append(zeros, '0').append(*value);
    at = letter;
  }
  return (fs::path(job.record.root) / path).lexically_normal().string();
}

std::string log_by_pattern(std::string_view pattern, const ScheduledJob& job,
                           std::string_view number) {
  std::string path = expand_log_pattern(pattern, job, number);
  for (const std::string_view not_a_log : {"/dev/", "/proc/", "/sys/"})
    if (path.starts_with(not_a_log)) return {};
  return path.starts_with('/') ? path : "";
}

std::string find_job_log(const ScheduledJob& job) {
  const bool of_array = job.record.id.contains('_');
  for (const std::string& pattern : {job.record.log, output_in(job.record.command),
                                     std::string(of_array ? "slurm-%A_%a.out" : "slurm-%j.out")}) {
    if (pattern.empty() || (job.record.root.empty() && !pattern.starts_with('/'))) continue;
    std::string path = expand_log_pattern(pattern, job);
    if (written_at(path)) return path;
  }
  return {};
}

std::string newest_log_in(const std::string& folder) {
  constexpr int most_entries = 10'000;
  std::error_code error;
  std::string newest;
  SimTime best;
  int seen = 0;
  for (fs::directory_iterator entry(folder, error), end;
       !error && entry != end && seen < most_entries; entry.increment(error), ++seen) {
    const std::string name = entry->path().filename().string();
    if (!name.ends_with(".out") && !name.ends_with(".log")) continue;
    const auto when = written_at(entry->path().string());
    if (!when || (!newest.empty() && *when <= best)) continue;
    newest = entry->path().string();
    best = *when;
  }
  return newest;
}

std::string id_in_log_name(std::string_view path) {
  constexpr std::string_view start = "slurm-";
  constexpr std::string_view end = ".out";
  const std::string name = fs::path(path).filename().string();
  if (!name.starts_with(start) || !name.ends_with(end) || name.size() <= start.size() + end.size())
    return {};
  std::string id = name.substr(start.size(), name.size() - start.size() - end.size());
  return is_slurm_id(id) ? id : "";
}

std::optional<SimTime> written_at(const std::string& path) {
  struct stat info{};
  if (::stat(path.c_str(), &info) != 0 || !S_ISREG(info.st_mode)) return std::nullopt;
  return at(info.st_mtime);
}

}  // namespace schedmate::slurm
