// SPDX-License-Identifier: Apache-2.0
#include "study/trace_workload.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "settings/data_files.hpp"

namespace schedmate::study {
namespace {

Result<std::string> recipe_path(const std::string& name) {
  if (name != "light" && name != "heavy") return name;
  return settings::data_file(fmt::format("recipes/{}.toml", name));
}

}  // namespace

Result<WorkloadFiles> read_workload_files(const settings::Settings& settings) {
  const auto recipe_file = recipe_path(settings.text("workload"));
  const auto interference_file = settings::data_file("interference.toml");
  const auto errors_file = settings::data_file("extraction_errors.toml");
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

Result<std::shared_ptr<const TraceWorkload>> make_trace_workload(const settings::Settings& settings,
                                                                 const Trace& trace) {
  using Made = std::shared_ptr<const TraceWorkload>;
  if (trace.packing != nullptr) return Made();
  const auto files = read_workload_files(settings);
  if (!files) return tl::unexpected(files.error());
  constexpr double percent = 0.01;
  const auto share = [&](std::string_view key) {
    return percent * static_cast<double>(settings.whole(key));
  };
  WorkloadOptions options;
  options.seed = static_cast<std::uint64_t>(settings.whole("seed"));
  if (settings.text("workload_cut") == "leaky_duration") options.cut = TemplateCut::by_duration;
  const std::string shuffle = settings.text("workload_shuffle");
  if (shuffle == "metadata") options.shuffle = MetadataShuffle::metadata;
  if (shuffle == "all") options.shuffle = MetadataShuffle::all;
  if (shuffle == "own") options.shuffle = MetadataShuffle::own;
  options.errors = share("workload_errors_pct");
  options.noise = share("workload_noise_pct");
  options.length_share = share("workload_length_pct");
  options.interference = share("interference_pct");
  options.packed_gpus = static_cast<int>(settings.whole("workload_packed_gpus"));
  auto workload = make_workload(trace, files->parts(), options);
  if (!workload) return tl::unexpected(workload.error());
  return Made(std::make_shared<TraceWorkload>(files->recipe.name, std::move(*workload)));
}

Result<const TraceWorkload*> WorkloadOnDemand::get(bool profiles) {
  if (!reported_places_.empty() && !profiles) {
    if (reported_only_ == nullptr) {
      Workload workload;
      set_reported_places(workload, reported_places_);
      reported_only_ = std::make_shared<TraceWorkload>("", std::move(workload));
    }
    return reported_only_.get();
  }
  if (made_ == nullptr && settings_ != nullptr) {
    auto made = make_trace_workload(*settings_, *trace_);
    if (!made) return tl::unexpected(made.error());
    made_ = std::move(*made);
    if (made_ != nullptr && !reported_places_.empty()) {
      Workload workload = made_->workload;
      set_reported_places(workload, reported_places_);
      made_ = std::make_shared<TraceWorkload>(made_->recipe, std::move(workload));
    }
  }
  return made_.get();
}

const TraceWorkload* WorkloadOnDemand::of_profiles() {
  if (trace_->packing == nullptr) return nullptr;
  if (of_profiles_ == nullptr)
    of_profiles_ = std::make_shared<TraceWorkload>("", workload_of_profiles(*trace_));
  return of_profiles_.get();
}

EstimatorInput estimator_input(const Trace& trace, std::uint64_t seed, const TraceWorkload* made) {
  EstimatorInput input{.seed = seed};
  if (made == nullptr) {
    input.truth = Truth(trace);
    if (trace.packing != nullptr) input.sharing = trace.packing->sharing;
    return input;
  }
  const Workload& workload = made->workload;
  input.truth = Truth(trace, workload.template_of_row);
  input.advisor = advisor::advisor_on(trace, workload, made->compared);
  const auto& tables = workload.tables != nullptr ? workload.tables : trace.packing;
  if (tables != nullptr) input.sharing = tables->sharing;
  return input;
}

ScopedProfiles::ScopedProfiles(Trace& trace, const Workload& workload)
    : trace_(trace), made_(workload.tables != nullptr) {
  if (!made_) return;
  for (std::size_t row = 0; row < trace.jobs.size(); ++row)
    trace.jobs[row].profile = workload.profile_of_row[row];
  trace.packing = workload.tables;
}

ScopedProfiles::~ScopedProfiles() {
  if (!made_) return;
  trace_.packing = nullptr;
  for (Job& job : trace_.jobs) job.profile = no_index;
}

std::vector<Profile> seen_while_warming_up(const Workload& workload, Seconds time) {
  std::vector<Profile> seen = workload.tables->profiles;
  const FractionalSeconds looked = time;
  for (std::size_t i = 0; i < seen.size(); ++i) {
    const ProfileTimes& times = workload.times[i];
    // Utilisation rises linearly during the ramp; the profiler takes what it sees last.
    const double ramp_s = std::max(1e-9, times.ramp.count());
    const double share = std::clamp((looked - times.cold_start).count() / ramp_s, 0.0, 1.0);
    seen[i].gpu_util_pct *= share;
    seen[i].memory_util_pct *= share;
    seen[i].sharing_score = workload.tables->sharing.score(seen[i]);
  }
  return seen;
}

}  // namespace schedmate::study
