// SPDX-License-Identifier: Apache-2.0
#include "slurm/records.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>

#include "base/text.hpp"
#include "slurm/json.hpp"

namespace schedmate::slurm {
namespace {

/// What a text is of which no record could be read.
std::string no_records(std::string_view text) {
  const std::string_view words = trim(text);
  if (words.empty()) return "is empty";
  if (text.contains('\0')) return "is no text";
  if (words.starts_with('<')) return "is HTML or XML, as of an error page";
  constexpr std::string_view needed =
      "`scontrol show config`, `job -d`, `node`, `partition`, or `squeue --json` and `sinfo "
      "--json`";
  if (words.starts_with("JobID|") || words.contains("|JobID|"))
    return fmt::format("is sacct's (`schedmate history import` takes it); needed is {}", needed);
  if (words.substr(0, words.find('\n')).contains("JOBID"))
    return fmt::format("is squeue's table; needed is {}", needed);
  return fmt::format("is nothing that Slurm shows of a queue; needed is {}", needed);
}

}  // namespace

Result<std::vector<ShownRecord>> read_records(std::string_view whole) {
  std::string_view text = whole;
  std::vector<ShownRecord> records;
  std::size_t line = 1;
  const auto add = [&](std::vector<ShownRecord> more, std::string_view of) {
    std::ranges::move(more, std::back_inserter(records));
    line += static_cast<std::size_t>(std::ranges::count(of, '\n'));
  };
  while (!text.empty()) {
    const std::size_t begin =
        text.starts_with('{') ? 0 : std::min(text.find("\n{"), text.size() - 1) + 1;
    const std::string_view before = text.substr(0, begin);
    add(read_shown(before, line), before);
    text.remove_prefix(before.size());
    if (text.empty()) break;
    const std::size_t end = end_of_object(text);
    if (end == std::string_view::npos)
      return fail(ErrorCode::invalid,
                  fmt::format("{}: the JSON that begins here has no end", line));
    auto made = read_json(text.substr(0, end), line);
    if (!made) return made;
    add(*std::move(made), text.substr(0, end));
    text.remove_prefix(end);
  }
  if (records.empty()) return fail(ErrorCode::invalid, no_records(whole));
  return records;
}

}  // namespace schedmate::slurm
