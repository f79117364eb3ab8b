// SPDX-License-Identifier: Apache-2.0
#include "lab/simulate_elastic.hpp"

#include <fmt/format.h>

#include <filesystem>
#include <nlohmann/json.hpp>
#include <vector>

#include "base/output.hpp"
#include "study/elastic_study.hpp"
#include "study/in_parallel.hpp"

namespace schedmate::lab {
namespace {

namespace fs = std::filesystem;

/// What rigid jobs have and these have not is refused, not passed over.
Result<void> check_request(const SimulateRequest& request,
                           std::span<const study::PolicySpec> policies) {
  if (!request.explain.empty())
    return fail(ErrorCode::unsupported,
                fmt::format("--explain {}: does not work for elastic jobs", request.explain));
  for (const study::PolicySpec& spec : policies) {
    if (!spec.estimator.empty())
      return fail(ErrorCode::unsupported,
                  fmt::format("--policy {}: elastic policies fit their own models, so estimate= "
                              "has no meaning here",
                              spec.text));
  }
  return {};
}

/// One policy, ties broken by order and by seeds 1, 2, ...
Result<std::vector<elastic::ElasticResult>> run_perturbations(const settings::Session& session,
                                                              const study::ElasticInputs& inputs,
                                                              const study::PolicySpec& spec) {
  const auto count = static_cast<std::size_t>(session.settings.whole("elastic.perturbations"));
  std::vector<elastic::ElasticResult> results(count);
  const settings::ShowProgress bar = session.progress(spec.label);
  const auto run = [&](std::size_t k) -> Result<void> {
    auto result = study::run_elastic(inputs, session.settings, spec, k);
    if (!result) return tl::unexpected(result.error());
    results[k] = std::move(*result);
    return {};
  };
  const auto ran = study::in_parallel(count, session.settings.whole("threads"), bar, run);
  if (!ran) return tl::unexpected(ran.error());
  return results;
}

Result<void> write_elastic(const settings::Session& session, const std::string& out,
                           ElasticSimulation& simulation) {
  if (out.empty()) return {};
  const std::string json = indented(elastic_document(simulation.summary)) + "\n";
  if (auto done = write_file((fs::path(out) / "summary.json").string(), json); !done) return done;
  if (session.settings.text("report") == "none") return {};
  simulation.report = (fs::path(out) / "report.html").string();
  return write_file(simulation.report, elastic_page(simulation.summary));
}

}  // namespace

Result<ElasticSimulation> simulate_elastic(const settings::Session& session,
                                           const SimulateRequest& request) {
  const auto policies = study::parse_policies(request.policies, study::elastic_policy_names());
  if (!policies) return tl::unexpected(policies.error());
  if (auto sound = check_request(request, *policies); !sound) return tl::unexpected(sound.error());
  auto places = study::places_of(session.settings, request.trace, request.cluster);
  if (!request.tables.empty()) places.tables = request.tables;
  const auto inputs = study::read_elastic(places);
  if (!inputs) return tl::unexpected(inputs.error());
  if (!request.out.empty())
    if (auto made = make_folder(request.out); !made) return tl::unexpected(made.error());
  ElasticSimulation simulation{{.trace = request.trace,
                                .cluster = inputs->cluster.name,
                                .gpus = inputs->cluster.gpus(),
                                .jobs = inputs->workload.jobs.size(),
                                .applications = {},
                                .rows = {}},
                               ""};
  ElasticSummary& summary = simulation.summary;
  for (const elastic::Application& application : inputs->workload.applications)
    summary.applications.push_back(application.traits.name);
  for (const study::PolicySpec& spec : *policies) {
    const auto results = run_perturbations(session, *inputs, spec);
    if (!results) return tl::unexpected(results.error());
    if (!request.out.empty()) {
      const fs::path csv = fs::path(request.out) / (spec.label + ".jobs.csv");
      const std::string rows = elastic_jobs_csv(inputs->workload, results->front());
      if (auto done = write_file(csv.string(), rows); !done) return tl::unexpected(done.error());
    }
    summary.rows.push_back(summarise_elastic(spec, inputs->workload, *results));
  }
  if (auto done = write_elastic(session, request.out, simulation); !done)
    return tl::unexpected(done.error());
  return simulation;
}

}  // namespace schedmate::lab
