// SPDX-License-Identifier: Apache-2.0
#include "lab/simulate.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <optional>
#include <schedmate/trace.hpp>

#include "base/output.hpp"
#include "base/text.hpp"
#include "report/run_notes.hpp"
#include "report/summary_json.hpp"
#include "secrets/outgoing.hpp"
#include "service/held_input.hpp"
#include "study/cost_checks.hpp"
#include "study/replay.hpp"
#include "trace/cluster_of_trace.hpp"

namespace schedmate::lab {
namespace {

using study::PolicySpec;

Result<std::optional<std::uint32_t>> explained_row(const Trace& trace, const std::string& id) {
  if (id.empty()) return std::nullopt;
  const auto found = std::ranges::find(trace.jobs, id, &Job::id);
  if (found != trace.jobs.end()) return static_cast<std::uint32_t>(found - trace.jobs.begin());
  std::vector<std::string_view> ids;
  for (const Job& job : trace.jobs) ids.push_back(job.id);
  return fail(ErrorCode::not_found, fmt::format("--explain {}: no such job in the trace (nearest "
                                                "id: {})",
                                                id, nearest(id, ids)));
}

void add_leftovers(const RunRecord& record, std::vector<UnfinishedJobs>& all) {
  constexpr std::size_t most_ids = 5;
  for (const JobStatus status : {JobStatus::infeasible, JobStatus::stalled}) {
    const bool lends = record.run.profiler && record.run.profiler->borrowed_gpus > 0;
    UnfinishedJobs left{record.run.label, status, 0, {}, lends};
    for (std::size_t row = 0; row < record.result.outcomes.size(); ++row) {
      if (record.result.outcomes[row].status != status) continue;
      if (left.count++ < most_ids) left.first.emplace_back(record.trace.jobs[row].id);
    }
    if (left.count > 0) all.push_back(std::move(left));
  }
}

/// Replays one policy after the other and keeps of each only its summary.
Result<void> replay_all(const study::ReplayInput& input, const SimulateRequest& request,
                        const std::vector<PolicySpec>& policies, Simulation& simulation) {
  for (const PolicySpec& policy : policies) {
    auto done = study::replay(input, policy);
    if (!done) return tl::unexpected(done.error());
    if (request.finished) request.finished(done->record);
    if (!simulation.out.empty())
      if (auto written = write_run(simulation.out, done->record); !written) return written;
    simulation.runs.push_back(summarise(done->record));
    add_leftovers(done->record, simulation.leftovers);
    if (done->explanation) simulation.explanations.push_back(std::move(*done->explanation));
  }
  return {};
}

Result<void> write_reports(const settings::Settings& settings, Simulation& simulation) {
  if (simulation.out.empty()) return {};
  const std::filesystem::path folder(simulation.out);
  const Experiment experiment = simulation.experiment();
  if (auto written =
          write_file((folder / "summary.json").string(), summary_json(experiment, simulation.runs));
      !written)
    return written;
  if (settings.text("report") == "none") return {};
  simulation.report = (folder / "report.html").string();
  return write_file(simulation.report, report_html(experiment, simulation.runs));
}

Result<std::vector<PolicySpec>> parse_policies(const SimulateRequest& request) {
  std::vector<std::string_view> names = study::policy_names();
  for (const study::OwnPolicy& own : request.own.policies) names.push_back(own.name);
  auto policies = study::parse_policies(secrets::redacted(request.policies), names);
  if (!policies) return policies;
  for (const PolicySpec& policy : *policies) {
    if (request.own.find(policy.name) != nullptr) continue;
    if (auto plain = study::check_not_elastic({&policy, 1}); !plain)
      return tl::unexpected(plain.error());
  }
  return policies;
}

Result<Simulation> read_inputs(const settings::Session& session, const SimulateRequest& request,
                               const std::vector<PolicySpec>& policies) {
  const ReadOptions options{.strict = session.settings.flag("strict"),
                            .columns = study::estimate_columns(policies)};
  auto trace = service::read_held(
      request.trace, [&](const std::string& spec) { return read_trace(spec, options); });
  if (!trace) return tl::unexpected(trace.error());
  auto cluster = trace::cluster_of_trace(
      *trace, request.cluster, request.trace,
      "give one with --cluster FILE (TOML; docs/formats/cluster.md), or put vc_config.csv next to "
      "the trace");
  if (!cluster) return tl::unexpected(cluster.error());
  return Simulation{.trace_spec = secrets::redacted(request.trace),
                    .cluster_spec = secrets::redacted(request.cluster),
                    .commit = request.commit,
                    .trace = std::move(*trace),
                    .cluster = std::move(*cluster),
                    .runs = {},
                    .leftovers = {},
                    .explanations = {},
                    .out = request.out,
                    .report = {},
                    .idle_settings = study::idle_costs(session.settings)};
}

}  // namespace

Result<Simulation> simulate(const settings::Session& session, const SimulateRequest& request,
                            const std::function<void(const Experiment&)>& begins) {
  const auto policies = parse_policies(request);
  if (!policies) return tl::unexpected(policies.error());
  auto simulation = read_inputs(session, request, *policies);
  if (!simulation) return simulation;
  Trace& trace = simulation->trace;
  const auto explained = explained_row(trace, request.explain);
  if (!explained) return tl::unexpected(explained.error());
  const double early = static_cast<double>(session.settings.whole("cost.early_end_pct")) / 100;
  end_early(trace, early, static_cast<std::uint64_t>(session.settings.whole("seed")));
  study::WorkloadOnDemand workloads(session.settings, trace);
  const study::ReplayInput input{.session = session,
                                 .trace = trace,
                                 .cluster = simulation->cluster,
                                 .workloads = workloads,
                                 .explained_row = *explained,
                                 .own = request.own};
  for (const PolicySpec& policy : *policies)
    if (auto sound = study::check_policy(input, policy); !sound)
      return tl::unexpected(sound.error());
  if (!request.out.empty())
    if (auto made = make_folder(request.out); !made) return tl::unexpected(made.error());
  begins(simulation->experiment());
  if (auto done = replay_all(input, request, *policies, *simulation); !done)
    return tl::unexpected(done.error());
  if (auto done = write_reports(session.settings, *simulation); !done)
    return tl::unexpected(done.error());
  return simulation;
}

Document simulation_document(const Simulation& simulation) {
  Document document = report::summary_document(simulation.experiment(), simulation.runs);
  document["out"] = simulation.out.empty() ? Document() : Document(simulation.out);
  document["report"] = simulation.report.empty() ? Document() : Document(simulation.report);
  Document cpu = Document::object();
  for (const RunSummary& run : simulation.runs) cpu[run.run.label] = run.run.cpu_ms;
  document["cpu_ms"] = std::move(cpu);
  document["messages"] = simulation.trace.report.messages;
  document["idle_settings"] = simulation.idle_settings;
  Document notes = Document::array();
  for (const report::RunNote& note : report::run_notes(simulation.runs))
    notes.push_back({{"labels", note.labels}, {"text", note.text}});
  document["notes"] = std::move(notes);
  document["warnings"] = Document::array();
  for (const UnfinishedJobs& left : simulation.leftovers) {
    document["warnings"].push_back(
        {{"label", left.label},
         {"kind", left.status == JobStatus::infeasible ? "infeasible" : "stalled"},
         {"jobs", left.count},
         {"first", left.first}});
  }
  for (const study::Explanation& explanation : simulation.explanations)
    document["explain"][explanation.label] =
        study::explanation_document(explanation, simulation.trace);
  return document;
}

}  // namespace schedmate::lab
