// SPDX-License-Identifier: Apache-2.0
#include "apps/made_up_profiles.hpp"

#include <fmt/format.h>

#include <utility>

#include "apps/data_files.hpp"

namespace schedmate {
namespace {

Result<std::string> recipe_path(const std::string& name) {
  if (name != "light" && name != "heavy") return name;
  return data_file(fmt::format("recipes/{}.toml", name));
}

}  // namespace

Result<WorkloadFiles> read_workload_files(const Settings& settings) {
  const auto recipe_file = recipe_path(settings.text("workload"));
  const auto interference_file = data_file("interference.toml");
  const auto errors_file = data_file("extraction_errors.toml");
  for (const auto* file : {&recipe_file, &interference_file, &errors_file})
    if (!*file) return tl::unexpected(file->error());
  auto recipe = read_recipe(*recipe_file);
  if (!recipe) {
    recipe.error().message += " (workload is light, heavy or the path of a recipe)";
    return tl::unexpected(recipe.error());
  }
  auto interference = read_interference(*interference_file);
  if (!interference) return tl::unexpected(interference.error());
  auto errors = read_extraction_errors(*errors_file);
  if (!errors) return tl::unexpected(errors.error());
  return WorkloadFiles{std::move(*recipe), std::move(*interference), std::move(*errors)};
}

Result<MadeUpProfiles> MadeUpProfiles::lend(const Settings& settings, Trace& trace) {
  if (trace.packing != nullptr) return none();
  const auto files = read_workload_files(settings);
  if (!files) return tl::unexpected(files.error());
  WorkloadOptions options;
  options.seed = static_cast<std::uint64_t>(settings.whole("seed"));
  auto workload = make_workload(trace, files->parts(), options);
  if (!workload) return tl::unexpected(workload.error());
  for (std::size_t row = 0; row < trace.jobs.size(); ++row)
    trace.jobs[row].profile = workload->profile_of_row[row];
  trace.packing = std::move(workload->tables);
  MadeUpProfiles profiles(&trace);
  profiles.recipe_ = files->recipe.name;
  profiles.fingerprint_ = std::move(workload->fingerprint);
  return profiles;
}

MadeUpProfiles::MadeUpProfiles(MadeUpProfiles&& other) noexcept
    : trace_(std::exchange(other.trace_, nullptr)),
      recipe_(std::move(other.recipe_)),
      fingerprint_(std::move(other.fingerprint_)) {}

MadeUpProfiles::~MadeUpProfiles() {
  if (trace_ == nullptr) return;
  trace_->packing = nullptr;
  for (Job& job : trace_->jobs) job.profile = no_index;
}

}  // namespace schedmate
