// SPDX-License-Identifier: Apache-2.0
#include "apps/job_request.hpp"

#include <fmt/format.h>

#include <filesystem>

namespace schedmate {

Result<JobSource> job_source(const JobRequest& request) {
  constexpr std::int64_t most = 10'000'000;
  for (const auto& [flag, value] :
       {std::pair{"--gpus", request.gpus}, {"--nodes", request.nodes}}) {
    if (value >= 1 && value <= most) continue;
    return fail(ErrorCode::unsupported,
                fmt::format("{} {}: a number from 1 to {} is needed", flag, value, most));
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
                   ""};
}

}  // namespace schedmate
