// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <cmath>
#include <nlohmann/json.hpp>

#include "base/known_digits.hpp"
#include "lab/whatif.hpp"

namespace schedmate::lab {
namespace {

Document number(double value) { return std::isfinite(value) ? Document(value) : Document(); }
/// Null where no job is left to take the figure from.
Document of_jobs(std::uint64_t jobs, double value) { return jobs > 0 ? number(value) : Document(); }

/// Null where no GPU use had to be invented.
Document workload(const std::string& recipe) {
  return recipe.empty() ? Document() : Document(recipe);
}

Document cluster_of(const WhatifAnswer& answer) {
  Document vcs = Document::array();
  for (std::size_t i = 0; i < answer.cluster.spec.partitions.size(); ++i) {
    const PartitionSpec& vc = answer.cluster.spec.partitions[i];
    vcs.push_back({{"name", vc.name},
                   {"nodes", vc.nodes},
                   {"gpus_per_node", vc.gpus_per_node},
                   {"gpu_type", vc.gpu_type},
                   {"unit", answer.cluster.unit[i]}});
  }
  return {{"resource", answer.cluster.resource == whatif::Resource::gpus ? "gpu" : "cpu"},
          {"vcs", std::move(vcs)},
          {"notes", answer.cluster.notes}};
}

Document alone_of(const LastAttempts& alone) {
  return {{"jobs", alone.jobs}, {"restarts", alone.restarts}};
}

Document jobs_of(const WhatifAnswer& answer) {
  const whatif::RecordedCluster& world = answer.world;
  return {{"rows", world.trace.report.rows},
          {"taking_part", world.trace.jobs.size()},
          {"left_out", world.trace.report.dropped},
          {"bad_rows", world.trace.report.messages},
          {"users", world.trace.users.size()},
          {"waits_from", answer.accounting.has_eligible ? "eligible" : "submit"},
          {"complete_from_s", seconds_of(world.complete_from)},
          {"limits",
           {{"given", world.limits_given},
            {"unlimited", world.limits_unlimited},
            {"guessed", world.limits_guessed}}},
          {"last_attempt_alone", alone_of(answer.alone)}};
}

Document replay_of(const WhatifAnswer& answer) {
  const whatif::Fidelity& f = answer.fidelity;
  const std::uint64_t started = f.jobs - f.never_started;
  Document reasons = Document::array();
  for (const whatif::WaitShare& reason : answer.reasons)
    reasons.push_back({{"reason", reason.reason}, {"jobs", reason.jobs}, {"share", reason.share}});
  Document tried = Document::array();
  for (const WhatifSite& site : answer.tried)
    tried.push_back(
        {{"policy", site.spec}, {"median_start_error_s", of_jobs(f.jobs, site.median_error_s)}});
  return {{"policy", answer.site},
          {"invented_workload", workload(answer.site_workload)},
          {"tried", std::move(tried)},
          {"good", f.good()},
          {"jobs", f.jobs},
          {"never_started", f.never_started},
          {"warm_up", f.pinned},
          {"warm_up_elsewhen", f.pinned_elsewhen},
          {"still_running", f.censored},
          {"median_start_error_s", of_jobs(f.jobs, f.median_error_s)},
          {"p90_start_error_s", of_jobs(f.jobs, f.p90_error_s)},
          {"mean_start_error_s", of_jobs(started, f.mean_error_s)},
          {"within_60_s", of_jobs(f.jobs, f.within_60_s)},
          {"real_wait_s", of_jobs(f.jobs, f.real_wait_s)},
          {"replay_wait_s", of_jobs(started, f.replay_wait_s)},
          {"allowed_median_s", f.allowed_s},
          {"waits_by_reason", std::move(reasons)}};
}

Document change_of(const whatif::Change& change) {
  return {{"name", change.name},
          {"jobs", change.jobs},
          {"mean_ln_jct_ratio", change.log_ratio},
          {"ci95", {change.low, change.high}},
          {"replay_mean_ln_jct_ratio", change.replay_log_ratio},
          {"replay_mean_abs_ln_jct_ratio", change.replay_log_error},
          {"end_shift_s", change.end_shift_s},
          {"replay_end_error_s", change.replay_end_error_s},
          {"wait_s", change.wait_s},
          {"replay_wait_s", change.replay_wait_s},
          {"real_wait_s", change.real_wait_s},
          {"verdict", whatif::to_string(change.verdict)},
          {"confidence", whatif::to_string(change.confidence)},
          {"doubt", whatif::to_string(change.doubt)}};
}

Document changes_of(const std::vector<whatif::Change>& changes) {
  Document list = Document::array();
  for (const whatif::Change& change : changes) list.push_back(change_of(change));
  return list;
}

Document policy_of(const WhatifPolicy& policy) {
  return {{"label", policy.label},
          {"policy", policy.spec},
          {"invented_workload", workload(policy.invented_workload)},
          {"not_finished", policy.left},
          {"as_replay", policy.as_replay},
          {"same_as", policy.same_as.empty() ? Document() : Document(policy.same_as)},
          {"oracle", !policy.oracle.empty()},
          {"advised_jobs", policy.takes_advice ? Document(policy.advised) : Document()},
          {"jobs", policy.jobs},
          {"notes", policy.notes},
          {"all", policy.all.empty() ? Document() : change_of(policy.all.front())},
          {"by_size", changes_of(policy.sizes)},
          {"by_user", changes_of(policy.users)}};
}

std::string toml_text(std::string_view text) {
  return Document(text).dump(-1, ' ', true, Document::error_handler_t::replace);
}

Document verdict_of(const WhatifVerdict& verdict) {
  return {{"best", verdict.best.empty() ? Document() : Document(verdict.best)},
          {"fidelity", verdict.fidelity},
          {"gains", verdict.gains},
          {"losers", verdict.losers},
          {"failures", verdict.failures},
          {"confidence", verdict.confidence},
          {"advice", verdict.advice},
          {"asides", verdict.asides}};
}

}  // namespace

Document whatif_document(const WhatifAnswer& answer) {
  Document document = {{"schema", "schedmate.whatif.v1"},
                       {"dump", answer.dump},
                       {"names", answer.hashed ? "hashed" : "plain"},
                       {"jobs", jobs_of(answer)},
                       {"cluster", cluster_of(answer)},
                       {"replay", replay_of(answer)}};
  document["failures"] = Document::array();
  for (const whatif::Loss& loss : answer.losses) {
    document["failures"].push_back({{"state", loss.state},
                                    {"cause", loss.cause},
                                    {"confidence", whatif::to_string(loss.confidence)},
                                    {"jobs", loss.jobs},
                                    {"gpu_h", loss.gpu_h},
                                    {"share", loss.share}});
  }
  document["notes"] = answer.notes;
  document["verdict"] = verdict_of(answer.verdict);
  document["policies"] = Document::array();
  for (const WhatifPolicy& policy : answer.policies)
    document["policies"].push_back(policy_of(policy));
  shorten_numbers(document);
  return document;
}

std::string inferred_cluster_toml(const whatif::InferredCluster& cluster) {
  std::string text = "# As `schedmate whatif` took it; fix it and give it back with --cluster.\n";
  for (std::size_t i = 0; i < cluster.spec.partitions.size(); ++i) {
    const PartitionSpec& vc = cluster.spec.partitions[i];
    text += fmt::format("\n[[vc]]\nname = {}\nnodes = {}\ngpus_per_node = {}\n", toml_text(vc.name),
                        vc.nodes, vc.gpus_per_node);
    if (cluster.unit[i] > 1) {
      text += fmt::format("gpu_type = \"{} CPUs\"  # count as one\n", cluster.unit[i]);
    } else if (!vc.gpu_type.empty()) {
      text += fmt::format("gpu_type = {}\n", toml_text(vc.gpu_type));
    }
  }
  return text;
}

}  // namespace schedmate::lab
