// SPDX-License-Identifier: Apache-2.0
#include "study/elastic_study.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>

#include "base/input.hpp"
#include "base/random.hpp"
#include "elastic/bootstrap.hpp"
#include "elastic/elastic_policies.hpp"
#include "elastic/elastic_workload.hpp"
#include "settings/data_files.hpp"
#include "study/elastic_matches.hpp"

namespace schedmate::study {
namespace {

namespace fs = std::filesystem;

constexpr double seconds_an_hour = 3600;
constexpr double one_percent = 0.01;

/// A path, or the name of a bundled cluster.
Result<std::string> cluster_file(const std::string& given) {
  if (given.empty())
    return fail(ErrorCode::unsupported,
                "--cluster is missing: a file of GPU types (docs/formats/elastic.md), sia64 or "
                "syn40");
  std::error_code error;
  if (fs::exists(given, error)) return given;
  auto bundled = settings::data_file(fmt::format("elastic/{}.toml", given));
  if (bundled) return bundled;
  return fail(ErrorCode::not_found,
              fmt::format("--cluster {}: neither a file nor the bundled sia64 or syn40", given));
}

Result<std::string> tables_folder(const ElasticPlaces& places) {
  if (places.tables.empty())
    return fail(ErrorCode::unsupported,
                fmt::format("sia:{} needs --tables DIR: step times and training of its "
                            "applications (docs/formats/elastic.md)",
                            places.jobs));
  std::error_code error;
  if (fs::is_directory(places.tables, error)) return places.tables;
  auto bundled = settings::data_file("elastic/" + places.tables);
  if (bundled && fs::is_directory(*bundled, error)) return bundled;
  return fail(ErrorCode::invalid,
              fmt::format("--tables {}: no such folder (bundled: syn)", places.tables));
}

/// The tables' own applications.toml, else what is known of Sia's.
Result<std::string> traits_file(const std::string& tables) {
  std::string own = (fs::path(tables) / "applications.toml").string();
  std::error_code error;
  if (fs::exists(own, error)) return own;
  return settings::data_file("elastic/sia_applications.toml");
}

Result<elastic::ElasticWorkload> read_jobs(const ElasticPlaces& places,
                                           const elastic::ElasticCluster& cluster) {
  const auto tables = tables_folder(places);
  if (!tables) return tl::unexpected(tables.error());
  const auto traits = traits_file(*tables);
  if (!traits) return tl::unexpected(traits.error());
  auto workload = elastic::read_elastic_workload({places.jobs, *tables, *traits}, cluster);
  if (!workload || places.hours <= 0) return workload;
  const double last_s = workload->jobs.front().submit_s + places.hours * seconds_an_hour;
  std::erase_if(workload->jobs,
                [&](const elastic::ElasticJob& job) { return job.submit_s > last_s; });
  return workload;
}

double seconds(const settings::Settings& settings, std::string_view key) {
  return static_cast<double>(settings.whole(key));
}

elastic::ElasticFailures failures_of(const settings::Settings& settings, bool recovers,
                                     std::uint64_t seed) {
  elastic::ElasticFailures failures;
  failures.gpu_hours = static_cast<double>(settings.whole("cost.failure_gpu_hours"));
  failures.checkpoint_s = seconds(settings, "cost.checkpoint_s");
  failures.recovery = {
      seconds(settings, "cost.detection_s"),
      seconds(settings, recovers ? "cost.handled_restart_s" : "cost.manual_restart_s")};
  failures.seed = seed;
  return failures;
}

/// A share of the jobs ends at a moment of their training that is drawn.
void end_some_early(elastic::ElasticWorkload& workload, double share, std::uint64_t seed) {
  constexpr double shortest = 0.001;
  for (std::size_t row = 0; row < workload.jobs.size(); ++row) {
    Random random(mix(seed ^ 0xea71) ^ mix(row));
    if (random.uniform() < share) workload.jobs[row].length = std::max(shortest, random.uniform());
  }
}

/// The jobs as this policy gets them.
elastic::ElasticWorkload jobs_for(const elastic::ElasticWorkload& workload,
                                  const settings::Settings& settings,
                                  const elastic::ElasticScheduler& scheduler, std::uint64_t seed) {
  elastic::ElasticWorkload jobs = workload;
  const double early = one_percent * static_cast<double>(settings.whole("cost.early_end_pct"));
  if (early > 0) end_some_early(jobs, early, seed);
  if (scheduler.knowledge == elastic::JobKnowledge::as_requested)
    for (elastic::ElasticJob& job : jobs.jobs) job.kind = elastic::ElasticKind::rigid;
  return jobs;
}

}  // namespace

ElasticPlaces places_of(const settings::Settings& settings, const std::string& trace,
                        const std::string& cluster) {
  return {trace.substr(elastic_prefix.size()), settings.text("elastic.tables"), cluster,
          static_cast<double>(settings.whole("elastic.hours"))};
}

Result<ElasticInputs> read_elastic(const ElasticPlaces& places) {
  const auto file = cluster_file(places.cluster);
  if (!file) return tl::unexpected(file.error());
  const auto text = read_file(*file);
  if (!text) return tl::unexpected(text.error());
  auto cluster = elastic::parse_elastic_cluster(*text, *file);
  if (!cluster) return tl::unexpected(cluster.error());
  auto workload = read_jobs(places, *cluster);
  if (!workload) return tl::unexpected(workload.error());
  const auto errors_file = settings::data_file("extraction_errors.toml");
  if (!errors_file) return tl::unexpected(errors_file.error());
  auto errors = read_extraction_errors(*errors_file);
  if (!errors) return tl::unexpected(errors.error());
  return ElasticInputs{std::move(*cluster), std::move(*workload), std::move(*errors)};
}

Result<std::vector<std::string>> elastic_files(const ElasticPlaces& places) {
  const auto cluster = cluster_file(places.cluster);
  if (!cluster) return tl::unexpected(cluster.error());
  const auto tables = tables_folder(places);
  if (!tables) return tl::unexpected(tables.error());
  const auto traits = traits_file(*tables);
  if (!traits) return tl::unexpected(traits.error());
  const auto errors = settings::data_file("extraction_errors.toml");
  if (!errors) return tl::unexpected(errors.error());
  std::vector<std::string> files{places.jobs, *cluster, *traits, *errors};
  std::error_code error;
  for (fs::recursive_directory_iterator entry(*tables, error), end; !error && entry != end;
       entry.increment(error))
    if (entry->path().extension() == ".csv") files.push_back(entry->path().string());
  if (error) return fail(ErrorCode::unavailable, fmt::format("{}: {}", *tables, error.message()));
  std::ranges::sort(files);
  return files;
}

std::vector<std::string_view> elastic_policy_names() {
  std::vector<std::string_view> names;
  for (const elastic::ElasticPolicyRow& row : elastic::elastic_policy_rows())
    names.push_back(row.name);
  return names;
}

Result<elastic::ElasticResult> run_elastic(const ElasticInputs& inputs,
                                           const settings::Settings& settings,
                                           const PolicySpec& policy, std::uint64_t perturbation) {
  const auto scheduler =
      elastic::make_elastic_scheduler(policy.name, PolicyOptions(policy.options), perturbation);
  if (!scheduler) return tl::unexpected(scheduler.error());
  const std::uint64_t seed = mix(static_cast<std::uint64_t>(settings.whole("seed"))) ^ perturbation;
  const elastic::ElasticWorkload jobs = jobs_for(inputs.workload, settings, *scheduler, seed);
  elastic::SimilarJobs similar;
  if (scheduler->match.rule == elastic::MatchRule::advisor) {
    auto found = advisor_matches(
        {jobs, inputs.errors,
         one_percent * static_cast<double>(settings.whole("workload_errors_pct")), seed});
    if (!found) return tl::unexpected(found.error());
    similar = std::move(*found);
  }
  elastic::ElasticOptions options;
  options.interval_s = seconds(settings, "elastic.interval_s");
  options.failures = failures_of(settings, scheduler->recovers, seed);
  if (settings.text("elastic.fit") == "best") options.fit = elastic::FitSearch::best;
  if (const std::string rule = settings.text("elastic.placement"); rule != "none")
    options.placement =
        rule == "smart" ? elastic::PlacementRule::smart : elastic::PlacementRule::packed;
  const double profile_s = seconds(settings, "elastic.profile_s");
  if (scheduler->knowledge != elastic::JobKnowledge::as_requested)
    options.admit = elastic::bootstrap({profile_s, scheduler->match, &similar, seed});
  return elastic::run_rounds(jobs, inputs.cluster, scheduler->decide, options);
}

}  // namespace schedmate::study
