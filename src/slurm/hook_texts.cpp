// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>

#include "base/hash.hpp"
#include "slurm/hooks.hpp"

namespace schedmate::slurm {
namespace {

constexpr std::string_view file_mark = " schedmate: begin ";

/// slurmctld holds its locks while this runs, and does not start with a script that fails to load:
/// so it asks nobody anything, and what it does of its own cannot fail outside.
constexpr std::string_view tag_code = R"lua(
-- Each job gets one word in its AdminComment, unless something is there:
-- schedmate-tag=LOADED.NUMBER, another for each submission. Nothing else of a job is changed, none
-- is refused, no file and no socket is opened while a job is submitted.
local loaded = os.time()
local number = 0

local function tag(job)
  if job.admin_comment == nil or job.admin_comment == "" then
    number = number + 1
    job.admin_comment = string.format("schedmate-tag=%x.%d", loaded, number)
  end
end
)lua";

constexpr std::string_view alone_code = R"lua(
local success = slurm.SUCCESS

function slurm_job_submit(job)
  pcall(tag, job)
  return success
end

function slurm_job_modify()
  return success
end

return success
)lua";

/// {}: the path of the site's own.
constexpr std::string_view chained_code = R"lua(
-- The site's own script, as it was before: what it defines, refuses, returns and fails with stays.
local chunk, why = loadfile("{}")
if not chunk then
  error(why, 0)
end
local sound = chunk()

local success = slurm.SUCCESS
local submit = rawget(_G, "slurm_job_submit")

local function tagged(job, ...)
  if (...) == success then
    pcall(tag, job)
  end
  return ...
end

if submit then
  slurm_job_submit = function(job, ...)
    return tagged(job, submit(job, ...))
  end
end

return sound
)lua";

/// bash sends a datagram by itself: nobody is waited for, whether somebody listens or not.
constexpr std::string_view epilog_code = R"sh(
# slurmctld runs this when a job has ended. It tells schedmated (its setting listen.look_port) to
# read the cluster now instead of at its next turn.
exec 2> /dev/null < /dev/null
echo > /dev/udp/127.0.0.1/{}
exit 0
)sh";

std::string sealed_text(std::string_view comment, std::string_view body) {
  return fmt::format("{}{}{:016x} - remove with: schedmate slurm uninstall{}", comment, file_mark,
                     hash_bytes(body), body);
}

/// Only what needs no escape in Lua, nor in Slurm's messages.
bool is_plain_path(std::string_view path) {
  return std::ranges::none_of(path, [](char c) {
    return static_cast<unsigned char>(c) < ' ' || c == '"' || c == '\\' || c == '\x7f';
  });
}

}  // namespace

Result<std::string> job_submit_text(const std::string& site) {
  if (!is_plain_path(site))
    return fail(ErrorCode::invalid, site + ": a path with quotes, backslashes or controls");
  std::string code(site.empty() ? alone_code : chained_code);
  if (!site.empty()) code.replace(code.find("{}"), 2, site);
  return sealed_text("--", std::string(tag_code) + code);
}

std::string epilog_text(std::int64_t port) {
  return "#!/bin/bash\n" + sealed_text("#", fmt::format(epilog_code, port));
}

Seal seal_of(std::string_view text) {
  if (text.starts_with("#!")) text.remove_prefix(std::min(text.find('\n'), text.size() - 1) + 1);
  const std::string_view head = text.substr(0, text.find('\n'));
  const std::size_t mark = head.find(file_mark);
  if (mark == std::string_view::npos || mark > 2) return Seal::none;
  const std::string_view seal = head.substr(mark + file_mark.size(), 16);
  return seal == fmt::format("{:016x}", hash_bytes(text.substr(head.size()))) ? Seal::whole
                                                                              : Seal::broken;
}

}  // namespace schedmate::slurm
