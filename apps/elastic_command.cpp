// SPDX-License-Identifier: Apache-2.0
#include "apps/elastic_command.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <numeric>
#include <schedmate/scheduler.hpp>
#include <vector>

#include "trace/trace_text.hpp"
#include "study/elastic_study.hpp"
#include "service/elastic_summary.hpp"
#include "study/in_parallel.hpp"
#include "base/output.hpp"
#include "base/words.hpp"

namespace schedmate {
namespace {

namespace fs = std::filesystem;

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

struct ElasticStudy {
  const Session& session;
  const ElasticInputs& inputs;
};

/// One policy, ties broken by order and by seeds 1, 2, ...
Result<std::vector<ElasticResult>> run_all(const ElasticStudy& study, const PolicySpec& spec) {
  const auto count =
      static_cast<std::size_t>(study.session.settings.whole("elastic.perturbations"));
  std::vector<ElasticResult> results(count);
  const ShowProgress bar = study.session.progress(spec.label);
  const auto run = [&](std::size_t k) -> Result<void> {
    auto result = run_elastic(study.inputs, study.session.settings, spec, k);
    if (!result) return tl::unexpected(result.error());
    results[k] = std::move(*result);
    return {};
  };
  const auto ran = in_parallel(count, study.session.settings.whole("threads"), bar, run);
  if (!ran) return tl::unexpected(ran.error());
  return results;
}

}  // namespace

bool is_elastic(std::string_view trace) { return trace.starts_with(elastic_prefix); }

Result<void> check_not_elastic(std::span<const PolicySpec> policies) {
  for (const PolicySpec& spec : policies)
    if (std::ranges::find(policy_rows(), spec.name, &PolicyRow::name) == policy_rows().end())
      return fail(ErrorCode::unsupported,
                  fmt::format("--policy {} is for elastic jobs: it needs simulate --trace sia:FILE "
                              "(docs/formats/elastic.md)",
                              spec.name));
  return {};
}

Result<void> elastic_command(const Session& session, const SimulateRequest& request) {
  const auto policies = parse_policies(request.policies, elastic_policy_names());
  if (!policies) return tl::unexpected(policies.error());
  if (auto sound = check_asked(request, *policies); !sound) return sound;
  ElasticPlaces places = places_of(session.settings, request.trace, request.cluster);
  if (!request.tables.empty()) places.tables = request.tables;
  const auto inputs = read_elastic(places);
  if (!inputs) return tl::unexpected(inputs.error());
  if (auto made = make_folder(request.out); !made) return made;
  const ElasticStudy study{session, *inputs};
  ElasticSummary summary(request.trace, inputs->cluster, inputs->workload);
  for (const PolicySpec& spec : *policies) {
    const auto results = run_all(study, spec);
    if (!results) return tl::unexpected(results.error());
    const fs::path csv = fs::path(request.out) / (spec.label + ".jobs.csv");
    const std::string rows = elastic_jobs_csv(inputs->workload, results->front());
    if (auto done = write_file(csv.string(), rows); !done) return done;
    summary.add(spec, *results);
  }
  const std::string json = summary.json();
  const std::string path = (fs::path(request.out) / "summary.json").string();
  if (auto done = write_file(path, json); !done) return done;
  const std::string page = (fs::path(request.out) / "report.html").string();
  const bool reports = session.settings.text("report") != "none";
  if (reports)
    if (auto done = write_file(page, summary.html()); !done) return done;
  fmt::print("{}", session.json ? json : summary.text());
  if (reports && !session.json) fmt::print("{}\n", printable(page));
  return {};
}

}  // namespace schedmate
