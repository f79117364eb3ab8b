// SPDX-License-Identifier: Apache-2.0
#include "apps/elastic_command.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <filesystem>
#include <mutex>
#include <numeric>
#include <optional>
#include <thread>
#include <vector>

#include "apps/cluster_text.hpp"
#include "apps/data_files.hpp"
#include "apps/elastic_summary.hpp"
#include "apps/policy_spec.hpp"
#include "apps/progress.hpp"
#include "base/input.hpp"
#include "base/output.hpp"
#include "base/random.hpp"
#include "elastic/bootstrap.hpp"
#include "elastic/elastic_policies.hpp"
#include "elastic/elastic_workload.hpp"

namespace schedmate {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view elastic_prefix = "sia:";

/// A path, or the name of a bundled cluster.
Result<ElasticCluster> choose_elastic_cluster(const std::string& given) {
  if (given.empty())
    return fail(ErrorCode::unsupported,
                "--cluster is missing: a file of GPU types (docs/formats/elastic.md), or sia64");
  std::error_code error;
  std::string path = given;
  if (!fs::exists(path, error)) {
    auto bundled = data_file(fmt::format("elastic/{}.toml", given));
    if (!bundled)
      return fail(ErrorCode::not_found,
                  fmt::format("--cluster {}: neither a file nor the bundled sia64", given));
    path = std::move(*bundled);
  }
  const auto text = read_file(path);
  if (!text) return tl::unexpected(text.error());
  return parse_elastic_cluster(*text, path);
}

/// The tables' own applications.toml, else what is known of Sia's.
Result<std::string> traits_file(const std::string& tables) {
  std::string own = (fs::path(tables) / "applications.toml").string();
  std::error_code error;
  if (fs::exists(own, error)) return own;
  return data_file("elastic/sia_applications.toml");
}

Result<ElasticWorkload> read_workload(const SimulateRequest& request,
                                      const ElasticCluster& cluster) {
  if (request.tables.empty())
    return fail(ErrorCode::unsupported,
                fmt::format("{} needs --tables DIR: step times and training of its applications "
                            "(docs/formats/elastic.md)",
                            request.trace));
  std::error_code error;
  if (!fs::is_directory(request.tables, error))
    return fail(ErrorCode::invalid, fmt::format("--tables {}: no such folder", request.tables));
  const auto traits = traits_file(request.tables);
  if (!traits) return tl::unexpected(traits.error());
  const std::string jobs = request.trace.substr(elastic_prefix.size());
  return read_elastic_workload({jobs, request.tables, *traits}, cluster);
}

/// What rigid jobs have and these have not is refused, not passed over.
Result<void> check_asked(const SimulateRequest& request, std::span<const PolicySpec> policies) {
  if (!request.explain.empty())
    return fail(ErrorCode::unsupported,
                fmt::format("--explain {}: not for elastic jobs", request.explain));
  for (const PolicySpec& spec : policies) {
    if (!spec.estimator.empty())
      return fail(ErrorCode::unsupported,
                  fmt::format("--policy {}: elastic policies fit their own models, so estimate= "
                              "has no meaning here",
                              spec.text));
  }
  return {};
}

std::vector<std::string_view> policy_names() {
  std::vector<std::string_view> names;
  for (const ElasticPolicyRow& row : elastic_policy_rows()) names.push_back(row.name);
  return names;
}

struct ElasticStudy {
  const Session& session;
  const ElasticWorkload& workload;
  const ElasticCluster& cluster;
};

MatchRule match_rule(std::string_view name) {
  if (name == "perfect") return MatchRule::perfect;
  if (name == "wrong") return MatchRule::wrong;
  return name == "shuffled" ? MatchRule::shuffled : MatchRule::none;
}

ElasticOptions options_of(const ElasticStudy& study, std::uint64_t ties) {
  const Settings& settings = study.session.settings;
  ElasticOptions options;
  options.interval_s = static_cast<double>(settings.whole("elastic.interval_s"));
  options.admit =
      bootstrap({.profile_s = static_cast<double>(settings.whole("elastic.profile_s")),
                 .match = match_rule(settings.text("elastic.match")),
                 .hit_rate = static_cast<double>(settings.whole("elastic.hit_pct")) / 100,
                 .finished_only = settings.flag("elastic.match_finished_only"),
                 .seed = mix(static_cast<std::uint64_t>(settings.whole("seed"))) ^ ties});
  return options;
}

Result<ElasticResult> run_once(const ElasticStudy& study, const PolicySpec& spec,
                               std::uint64_t ties) {
  const auto policy = make_elastic_policy(spec.name, PolicyOptions(spec.options), ties);
  if (!policy) return tl::unexpected(policy.error());
  return run_rounds(study.workload, study.cluster, *policy, options_of(study, ties));
}

/// One policy, ties broken by order and by seeds 1, 2, ...
Result<std::vector<ElasticResult>> run_all(const ElasticStudy& study, const PolicySpec& spec) {
  const auto count =
      static_cast<std::size_t>(study.session.settings.whole("elastic.perturbations"));
  std::vector<ElasticResult> results(count);
  ProgressBar bar(spec.label, study.session.environment.progress);
  std::atomic<std::size_t> next = 0;
  std::atomic<std::size_t> finished = 0;
  std::mutex mutex;
  std::optional<Error> error;
  const auto work = [&] {
    for (std::size_t k = next++; k < count; k = next++) {
      auto result = run_once(study, spec, k);
      if (!result) {
        const std::scoped_lock lock(mutex);
        error = result.error();
        next = count;
        return;
      }
      results[k] = std::move(*result);
      bar.show(static_cast<double>(++finished) / static_cast<double>(count));
    }
  };
  {
    std::vector<std::jthread> threads;
    for (std::int64_t i = 1; i < study.session.settings.whole("threads"); ++i)
      threads.emplace_back(work);
    work();
  }
  if (error) return tl::unexpected(*error);
  return results;
}

}  // namespace

bool is_elastic(std::string_view trace) { return trace.starts_with(elastic_prefix); }

Result<void> elastic_command(const Session& session, const SimulateRequest& request) {
  const auto policies = parse_policies(request.policies, policy_names());
  if (!policies) return tl::unexpected(policies.error());
  if (auto sound = check_asked(request, *policies); !sound) return sound;
  const auto cluster = choose_elastic_cluster(request.cluster);
  if (!cluster) return tl::unexpected(cluster.error());
  const auto workload = read_workload(request, *cluster);
  if (!workload) return tl::unexpected(workload.error());
  if (auto made = make_folder(request.out); !made) return made;
  const ElasticStudy study{session, *workload, *cluster};
  ElasticSummary summary(request.trace, *cluster, workload->jobs.size());
  for (const PolicySpec& spec : *policies) {
    const auto results = run_all(study, spec);
    if (!results) return tl::unexpected(results.error());
    const fs::path csv = fs::path(request.out) / (spec.label + ".jobs.csv");
    const std::string rows = elastic_jobs_csv(*workload, results->front());
    if (auto done = write_file(csv.string(), rows); !done) return done;
    summary.add(spec, *results);
  }
  const std::string json = summary.json();
  const std::string path = (fs::path(request.out) / "summary.json").string();
  if (auto done = write_file(path, json); !done) return done;
  fmt::print("{}", session.json ? json : summary.text());
  return {};
}

}  // namespace schedmate
