// SPDX-License-Identifier: Apache-2.0
#include "slurm_live/scripts.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "base/text.hpp"
#include "base/utf8.hpp"

namespace schedmate::slurm_live {

Result<std::string> script_in(std::string_view printed) {
  constexpr std::size_t longest = std::size_t{1} << 16U;  // that a reader takes as a command
  if (trim(printed).empty()) return fail(ErrorCode::not_found, "Slurm has an empty script of it");
  if (printed.size() >= longest)
    return fail(ErrorCode::unsupported,
                fmt::format("its script has {} bytes, too many to be read", printed.size()));
  if (printed.contains('\0'))
    return fail(ErrorCode::unsupported, "its script is no text but a program");
  return with_valid_utf8(printed);
}

Result<std::string> Scripts::read(const SeenJob& job, Connector::Deadline within) {
  constexpr std::size_t most_kept = 256;
  constexpr std::chrono::milliseconds apart{50};
  const std::string number = job.id.substr(0, job.id.find('_'));
  const std::string key = fmt::format("{} {}", number, seconds_of(job.submitted));
  if (const auto known = read_.find(key); known != read_.end()) return known->second;
  if (!std::ranges::all_of(number, [](char c) { return c >= '0' && c <= '9'; }) || number.empty())
    return fail(ErrorCode::not_found, "Slurm has no job of such a number");
  tools_.wait_until(next_);
  const Tools::Until until = tools_.from_now(within);
  next_ = tools_.from_now(apart);
  const auto printed = tools_.must_print({"scontrol", "write", "batch_script", number, "-"}, until);
  if (!printed) {
    const std::string& said = printed.error().message;  // "... failed: Job script not specified"
    const bool has_none = said.contains("not specified") || said.contains("nvalid job id");
    return has_none ? fail(ErrorCode::not_found, said) : printed;
  }
  auto script = script_in(*printed);
  if (!script) return script;
  if (read_.size() >= most_kept) read_.clear();
  return read_.emplace(key, std::move(*script)).first->second;
}

}  // namespace schedmate::slurm_live
