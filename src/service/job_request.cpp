// SPDX-License-Identifier: Apache-2.0
#include "service/job_request.hpp"

#include <fmt/format.h>

#include <filesystem>

#include "log/lines/lines.hpp"

namespace schedmate::service {
namespace {

constexpr std::size_t most_source_bytes = std::size_t{1} << 18U;

Result<std::string> beginning_of(const ForeignPath& path) {
  std::string text;
  if (path.name.empty()) return text;
  const auto done = lines::each_line(path, [&](const lines::Line& line) {
    text += line.text;
    text += '\n';
    return text.size() < most_source_bytes;
  });
  if (!done) return tl::unexpected(done.error());
  return text;
}

}  // namespace

Result<RunSources> run_sources(const JobRequest& request, const FileAccess& access) {
  auto log = beginning_of({request.log, access});
  if (!log) return tl::unexpected(log.error());
  auto monitoring = beginning_of({request.monitoring, access});
  if (!monitoring) return tl::unexpected(monitoring.error());
  return RunSources{*std::move(log), *std::move(monitoring)};
}

Result<JobSource> job_source(const JobRequest& request) {
  constexpr std::int64_t most = 10'000'000;
  for (const auto& [flag, value] :
       {std::pair{"--gpus", request.gpus}, {"--nodes", request.nodes}}) {
    if (value >= 1 && value <= most) continue;
    return fail(ErrorCode::unsupported,
                fmt::format("{} {}: must be a number from 1 to {}", flag, value, most));
  }
  std::error_code error;
  std::string root;
  if (!request.root.empty())
    root = std::filesystem::absolute(request.root, error).lexically_normal().string();
  if (error) return fail(ErrorCode::invalid, request.root + ": " + error.message());
  while (root.size() > 1 && root.ends_with('/')) root.pop_back();
  const std::string workdir =
      std::filesystem::path(request.workdir).lexically_normal().generic_string();
  return JobSource{std::move(root),
                   workdir.empty() ? "." : workdir,
                   request.command,
                   static_cast<int>(request.gpus),
                   static_cast<int>(request.nodes),
                   request.gpu_type,
                   "",
                   {}};
}

}  // namespace schedmate::service
