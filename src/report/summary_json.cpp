// SPDX-License-Identifier: Apache-2.0
#include "report/summary_json.hpp"

#include <cmath>
#include <nlohmann/json.hpp>

#include "base/json.hpp"
#include "base/text_safety.hpp"

namespace schedmate {
namespace {

using Json = nlohmann::ordered_json;

// ordered_json looks for a key before it adds one; with thousands of users that is quadratic, and
// group names are distinct anyway.
void append(Json& object, const std::string& key, Json value) {
  auto& members = object.get_ref<Json::object_t&>();
  members.Container::emplace_back(key, std::move(value));
}

Json groups(const std::vector<GroupSummary>& all) {
  Json object = Json::object();
  for (const GroupSummary& group : all) {
    append(object, clean_utf8(group.name),
           {{"n", group.jobs},
            {"avg_jct_s", group.average_jct.count()},
            {"p99_jct_s", group.p99_jct.count()},
            {"avg_queue_s", group.average_queue.count()},
            {"avg_bounded_slowdown", group.average_slowdown}});
  }
  return object;
}

void put(Json& object, const std::string& name, const Distribution& values) {
  object["avg_" + name] = values.average;
  object["p50_" + name] = values.p50;
  object["p90_" + name] = values.p90;
  object["p95_" + name] = values.p95;
  object["p99_" + name] = values.p99;
  object["p999_" + name] = values.p999;
  object["max_" + name] = values.max;
}

Json fairness(const RunSummary& run) {
  return {{"avg", run.finish_fairness.average},
          {"p50", run.finish_fairness.p50},
          {"p99", run.finish_fairness.p99},
          {"max", run.finish_fairness.max},
          {"share_above_1", run.share_worse_than_fair}};
}

Json phrases(const std::vector<std::string>& texts) {
  Json list = Json::array();
  for (const std::string& text : texts) list.push_back(clean_utf8(text));
  return list;
}

Json profiler(const std::optional<ProfilerShare>& share) {
  if (!share) return {};
  return {{"gpus", share->gpus},         {"borrowed_gpus", share->borrowed_gpus},
          {"max_gpus", share->max_gpus}, {"time_s", share->time.count()},
          {"grew", share->grew},         {"lenders", phrases(share->lenders)}};
}

Json label(const RunSummary& run) {
  Json settings = Json::object();
  for (const auto& [key, value] : run.run.settings) settings[clean_utf8(key)] = clean_utf8(value);
  Json object = {{"policy", clean_utf8(run.run.policy)},
                 {"estimator", clean_utf8(run.run.estimator)},
                 {"mode", clean_utf8(run.run.mode)},
                 {"seed", run.run.seed},
                 {"settings", std::move(settings)},
                 {"jobs", run.jobs},
                 {"finished", run.finished},
                 {"infeasible", run.infeasible},
                 {"stalled", run.stalled},
                 {"oracle", !run.run.oracle.empty()},
                 {"invented", phrases(run.run.invented)},
                 {"advised_jobs", run.run.takes_advice ? Json(run.advised) : Json()},
                 {"profiler", profiler(run.run.profiler)}};
  put(object, "jct_s", run.jct_s);
  put(object, "queue_s", run.queue_s);
  put(object, "bounded_slowdown", run.slowdown);
  object["makespan_s"] = run.makespan.count();
  object["utilisation"] = run.utilisation;
  object["fragmentation"] = run.fragmentation;
  object["offered_load"] = run.offered_load;
  object["peak_queue"] = run.peak_queue;
  object["preemptions"] = run.preemptions;
  object["gpu_seconds_wasted"] = run.wasted_gpu_s;
  object["gpu_seconds_lost"] = std::llround(run.lost_gpu_s);
  object["jain_index"] = run.jain_index;
  object["finish_time_fairness"] = fairness(run);
  object["by_vc"] = groups(run.by_vc);
  object["by_size"] = groups(run.by_size);
  object["by_user"] = groups(run.by_user);
  return object;
}

Json trace_part(const Experiment& experiment) {
  const ReadReport& read = experiment.trace.report;
  Json dropped = Json::object();
  for (const auto& [reason, rows] : read.dropped) dropped[clean_utf8(reason)] = rows;
  return {{"spec", clean_utf8(experiment.trace_spec)},
          {"jobs", experiment.trace.jobs.size()},
          {"users", experiment.trace.users.size()},
          {"vcs", experiment.trace.vcs.size()},
          {"rows", read.rows},
          {"kept", read.kept},
          {"out_of_order", read.out_of_order},
          {"dropped", std::move(dropped)},
          {"invented_columns", phrases(read.invented_columns)}};
}

Json cluster_part(const Experiment& experiment) {
  Json partitions = Json::object();
  std::int64_t gpus = 0;
  for (const PartitionSpec& part : experiment.cluster.partitions) {
    gpus += std::int64_t{part.nodes} * part.gpus_per_node;
    append(partitions, clean_utf8(part.name),
           {{"nodes", part.nodes},
            {"gpus_per_node", part.gpus_per_node},
            {"round_s", part.round.count()}});
  }
  return {{"spec", clean_utf8(experiment.cluster_spec)},
          {"gpus", gpus},
          {"vcs", std::move(partitions)}};
}

}  // namespace

Document report::summary_document(const Experiment& experiment, std::span<const RunSummary> runs) {
  Json labels = Json::object();
  for (const RunSummary& run : runs) labels[clean_utf8(run.run.label)] = label(run);
  constexpr int digits = 9;  // a millisecond of eleven days
  round_fractions(labels, digits);
  return {{"schema", "schedmate.simulation.v1"},
          {"commit", clean_utf8(experiment.commit)},
          {"trace", trace_part(experiment)},
          {"cluster", cluster_part(experiment)},
          {"labels", std::move(labels)}};
}

std::string summary_json(const Experiment& experiment, std::span<const RunSummary> runs) {
  return indented(report::summary_document(experiment, runs)) + "\n";
}

}  // namespace schedmate
