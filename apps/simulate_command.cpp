// SPDX-License-Identifier: Apache-2.0
#include "apps/simulate_command.hpp"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <filesystem>
#include <memory>
#include <optional>
#include <schedmate/trace.hpp>
#include <system_error>

#include "apps/command.hpp"
#include "study/cost_checks.hpp"
#include "apps/elastic_command.hpp"
#include "study/replay.hpp"
#include "apps/simulate_text.hpp"
#include "apps/version.hpp"
#include "base/output.hpp"
#include "base/text.hpp"
#include "trace/trace_text.hpp"

namespace schedmate {
namespace {

Result<ClusterSpec> choose_cluster(const SimulateRequest& request, Trace& trace) {
  if (!request.cluster.empty()) return read_cluster(request.cluster);
  if (trace.cluster) return std::move(*trace.cluster);
  return fail(ErrorCode::unsupported,
              fmt::format("{} says nothing about its cluster: give one with --cluster FILE (TOML; "
                          "docs/formats/cluster.md), or put vc_config.csv beside the trace",
                          request.trace));
}

Result<std::optional<std::uint32_t>> find_job(const Trace& trace, const std::string& id) {
  if (id.empty()) return std::nullopt;
  const auto found = std::ranges::find(trace.jobs, id, &Job::id);
  if (found != trace.jobs.end()) return static_cast<std::uint32_t>(found - trace.jobs.begin());
  std::vector<std::string_view> ids;
  for (const Job& job : trace.jobs) ids.push_back(job.id);
  return fail(ErrorCode::not_found, fmt::format("--explain {}: no such job in the trace (nearest "
                                                "id: {})",
                                                id, nearest(id, ids)));
}

/// Replays one policy after the other and keeps of each only its summary.
Result<void> replay_all(const ReplayInput& input, const std::vector<PolicySpec>& policies,
                        SimulateAnswer& answer) {
  for (const PolicySpec& policy : policies) {
    auto done = replay(input, policy);
    if (!done) return tl::unexpected(done.error());
    if (auto written = write_run(answer.out, done->record); !written) return written;
    answer.runs.push_back(summarise(done->record));
    for (Leftovers& left : find_leftovers(done->record))
      answer.leftovers.push_back(std::move(left));
    if (done->explanation) answer.explanations.push_back(std::move(*done->explanation));
  }
  return {};
}

Result<void> write_documents(const Settings& settings, const std::string& summary,
                             SimulateAnswer& answer) {
  const std::filesystem::path folder(answer.out);
  if (auto written = write_file((folder / "summary.json").string(), summary); !written)
    return written;
  if (settings.text("report") == "none") return {};
  answer.report = (folder / "report.html").string();
  return write_file(answer.report, report_html(answer.experiment, answer.runs));
}

}  // namespace

Result<void> run_simulate(const Session& session, const SimulateRequest& request) {
  if (is_elastic(request.trace)) return elastic_command(session, request);
  const auto policies = parse_policies(request.policies);
  if (!policies) return tl::unexpected(policies.error());
  if (auto plain = check_not_elastic(*policies); !plain) return plain;
  auto trace = read_trace(request.trace, {.strict = session.settings.flag("strict"),
                                          .columns = estimate_columns(*policies)});
  if (!trace) return tl::unexpected(trace.error());
  const auto cluster = choose_cluster(request, *trace);
  if (!cluster) return tl::unexpected(cluster.error());
  const auto explained = find_job(*trace, request.explain);
  if (!explained) return tl::unexpected(explained.error());
  const Experiment experiment{request.trace, request.cluster, std::string(version().commit), *trace,
                              *cluster};
  SimulateAnswer answer{experiment, {}, {}, {}, request.out, ""};
  const double early = static_cast<double>(session.settings.whole("cost.early_end_pct")) / 100;
  end_early(*trace, early, static_cast<std::uint64_t>(session.settings.whole("seed")));
  answer.idle_settings = idle_costs(session.settings);
  WorkloadOnDemand workloads(session.settings, *trace);
  const ReplayInput input{session, *trace, *cluster, workloads, *explained};
  for (const PolicySpec& policy : *policies) {
    if (auto sound = check_policy(input, policy); !sound) return sound;
  }
  if (auto made = make_folder(request.out); !made) return made;
  if (!session.json) fmt::print("{}", reading_text(experiment));
  if (auto done = replay_all(input, *policies, answer); !done) return done;
  const std::string summary = summary_json(experiment, answer.runs);
  if (auto done = write_documents(session.settings, summary, answer); !done) return done;
  fmt::print("{}", session.json ? answer_json(answer, summary)
                                : answer_text(answer, session.environment.colour));
  return {};
}

Command simulate_command(const Parser& parser) {
  const auto request = std::make_shared<SimulateRequest>();
  CLI::App& command = parser.app;
  command.add_option("--trace", request->trace, "what to replay; sia:FILE for elastic jobs")
      ->type_name("FORMAT:PATH");
  command.add_option("--policy", request->policies, "NAME[:key=value,...][@LABEL], repeatable")
      ->type_name("POLICY")
      ->allow_extra_args(false);
  command.add_option("--out", request->out, "folder for the files")->type_name("DIR");
  command.add_option("--cluster", request->cluster, "cluster file; default: the trace's own")
      ->type_name("FILE");
  command.add_option("--tables", request->tables, "step times of elastic jobs, with sia:FILE")
      ->type_name("DIR");
  add_setting(parser, "--mode", "mode", "repaired or reference");
  add_setting(parser, "--report", "report", "html or none");
  add_seed(parser, "of everything drawn by lot");
  add_threads(parser, "VCs at the same time");
  add_strict(parser, "a bad row of the trace is an error");
  command.add_option("--explain", request->explain, "print why this job waited")->type_name("JOB");
  command.footer(
      "Examples:\n"
      "  schedmate simulate --trace helios:data/venus/venus_sept2020_days0-12.csv.gz \\\n"
      "      --policy fifo --policy sjf:estimate=last_k --policy srtf@best --out out\n"
      "  schedmate simulate --trace sacct:jobs.txt --cluster cluster.toml --policy backfill_easy "
      "\\\n"
      "      --set placement=spread --report none --out out --json\n"
      "  schedmate simulate --trace helios:jobs.csv --policy fifo --explain 765472 --out out");
  return {
      [request](const Call& call) { return done(run_simulate(call.session, *request)); },
      [request] {
        return need(!request->trace.empty(), "simulate", "--trace FORMAT:PATH")
            .and_then([&] { return need(!request->policies.empty(), "simulate", "--policy NAME"); })
            .and_then([&] { return need(!request->out.empty(), "simulate", "--out DIR"); });
      }};
}

}  // namespace schedmate
