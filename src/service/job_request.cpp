// SPDX-License-Identifier: Apache-2.0
#include "service/job_request.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>

#include "log/lines/lines.hpp"

namespace schedmate::service {
namespace {

constexpr std::int64_t most = 10'000'000;
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

Result<std::vector<RootName>> root_names(const std::vector<std::string>& given) {
  std::vector<RootName> names;
  for (const std::string& text : given) {
    const auto equals = text.rfind('=');
    const std::string as = text.substr(0, equals);
    const std::filesystem::path folder =
        equals == std::string::npos ? "" : std::filesystem::path(text.substr(equals + 1));
    const std::string inside = folder.lexically_normal().generic_string();
    if (!as.starts_with('/') || inside.empty() || inside.starts_with('/') ||
        inside.starts_with("..")) {
      return fail(ErrorCode::unsupported,
                  fmt::format("--root {}: give AS=FOLDER, where AS is the absolute path in the "
                              "command and FOLDER its place below DIR, such as "
                              "/scratch/ann/proj=.",
                              text));
    }
    names.push_back({std::filesystem::path(as).lexically_normal().generic_string(),
                     inside.ends_with('/') ? inside.substr(0, inside.size() - 1) : inside});
  }
  return names;
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
  for (const auto& [flag, value] :
       {std::pair{"--gpus", request.gpus}, {"--nodes", request.nodes}}) {
    if (!value || (*value >= 1 && *value <= most)) continue;
    return fail(ErrorCode::unsupported,
                fmt::format("{} {}: must be a number from 1 to {}", flag, *value, most));
  }
  auto roots = root_names(request.roots);
  if (!roots) return tl::unexpected(roots.error());
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
                   static_cast<int>(request.gpus.value_or(0)),
                   static_cast<int>(request.nodes.value_or(0)),
                   request.gpu_type,
                   "",
                   *std::move(roots),
                   {}};
}

JobSource with_request(JobSource job, const Facts& facts) {
  const auto count = [&](std::string_view field) {
    const Fact* const fact = facts.find(field);
    const auto* value = fact == nullptr ? nullptr : std::get_if<std::int64_t>(&fact->value);
    return value == nullptr ? 0 : static_cast<int>(std::clamp<std::int64_t>(*value, 0, most));
  };
  if (job.gpus == 0) job.gpus = count("gpus");
  if (job.nodes == 0) job.nodes = std::max(1, count("nodes"));
  const Fact* const type = facts.find("gpu_type");
  const auto* name = type == nullptr ? nullptr : std::get_if<std::string>(&type->value);
  if (job.gpu_type.empty() && name != nullptr) job.gpu_type = *name;
  return job;
}

}  // namespace schedmate::service
