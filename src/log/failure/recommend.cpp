// SPDX-License-Identifier: Apache-2.0
#include "log/failure/recommend.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>

namespace schedmate::failure {
namespace {

constexpr std::size_t most_events = 8;

/// A witness with what it reported.
struct ConsultedWitness {
  const witness::WitnessRow* row;
  witness::WitnessReport report;
};

bool is_node_name(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '-' ||
         c == '_';
}

bool mentions(std::string_view line, std::string_view node) {
  for (auto at = line.find(node); at != std::string_view::npos; at = line.find(node, at + 1)) {
    const auto end = at + node.size();
    if ((at == 0 || !is_node_name(line[at - 1])) &&
        (end == line.size() || !is_node_name(line[end])))
      return true;
  }
  return false;
}

/// Nodes of the allocation that the line is about: named in it, else that of its rank.
std::vector<std::string> nodes_of(const JobContext& job, const CauseLine& line) {
  std::vector<std::string> nodes;
  for (const std::string& node : job.nodes)
    if (mentions(line.text, node)) nodes.push_back(node);
  const auto held = job.ranks.find(line.rank);
  if (nodes.empty() && held != job.ranks.end()) nodes.push_back(held->second);
  if (nodes.empty() && job.nodes.size() == 1) nodes = job.nodes;
  return nodes;
}

/// The scheduler saw the job end in another way than by itself.
bool ended_badly(const std::optional<JobContext>& job) {
  constexpr auto good = std::to_array<std::string_view>(
      {"", "COMPLETED", "COMPLETING", "RUNNING", "PENDING", "SUSPENDED", "CONFIGURING"});
  return job && std::ranges::find(good, job->state) == good.end();
}

/// The most certain finding that says why a process ended.
const witness::WitnessFinding* best_explanation(const std::vector<ConsultedWitness>& consulted) {
  const witness::WitnessFinding* best = nullptr;
  for (const ConsultedWitness& each : consulted)
    for (const witness::WitnessFinding& finding : each.report.findings)
      if (finding.explains &&
          (best == nullptr || finding.means.confidence > best->means.confidence))
        best = &finding;
  return best;
}

void improve(const std::vector<ConsultedWitness>& consulted, const CauseLine& line,
             Diagnosis& made) {
  const witness::WitnessFinding* best = best_explanation(consulted);
  if (best == nullptr) return;
  made.verdict = best->means.verdict;
  made.component = best->means.component;
  made.reason =
      fmt::format("{} ({}; the log does not say so)", best->means.reason,
                  best->means.rule.starts_with("state ") ? "the job's state" : "seen by a witness");
  made.recommendation = best->means.recommendation;
  made.advice = best->means.advice;
  made.confidence = best->means.confidence;
  made.by += fmt::format("{}{}", line.open ? " + " : "/", best->means.rule);
}

Witness witness_of(const ConsultedWitness& consulted, const Diagnosis& made) {
  Witness witness{std::string(consulted.row->name),
                  consulted.report.asked,
                  witness::agrees(consulted.report, made),
                  consulted.report.says,
                  {}};
  for (const witness::WitnessFinding& each : consulted.report.findings)
    if (witness.events.size() < most_events)
      witness.events.push_back({each.node, each.when, each.means.rule, each.text});
  return witness;
}

/// Of two actions of the vendor the one that trusts the machine less.
bool takes_precedence(const lines::FailureVerdict& a, const lines::FailureVerdict& b) {
  const auto care = [](const lines::FailureVerdict& each) {
    if (each.recommendation == Recommendation::restart_elsewhere) return 2;
    return each.recommendation == Recommendation::test_first ? 1 : 0;
  };
  return care(a) != care(b) ? care(a) > care(b) : a.confidence > b.confidence;
}

/// What confirms a fault of a machine: the vendor's action, and the nodes.
void take_findings(const std::vector<ConsultedWitness>& consulted, const witness::WitnessCase& what,
                   const CauseLine& line, Diagnosis& made) {
  const witness::WitnessFinding* decides = nullptr;
  bool state = false;
  for (const ConsultedWitness& each : consulted) {
    for (const witness::WitnessFinding& finding : each.report.findings) {
      if (!witness::confirms(finding, made)) continue;
      state = state || finding.any_component;
      if (finding.decides &&
          (decides == nullptr || takes_precedence(finding.means, decides->means)))
        decides = &finding;
      if (!finding.node.empty() && std::ranges::find(made.nodes, finding.node) == made.nodes.end())
        made.nodes.push_back(finding.node);
    }
  }
  if (decides != nullptr) {
    made.recommendation = decides->means.recommendation;
    made.advice = decides->means.advice;
  }
  if (made.nodes.empty() && state && what.job) made.nodes = nodes_of(*what.job, line);
}

}  // namespace

Result<void> consult_witnesses(const witness::WitnessCase& what, const CauseLine& line,
                               Diagnosis& made) {
  std::vector<ConsultedWitness> consulted;
  for (const witness::WitnessRow& row : witness::witness_rows()) {
    auto report = row.consult(what);
    if (!report) return tl::unexpected(report.error());
    consulted.push_back({&row, *std::move(report)});
  }
  const bool no_line = made.verdict == FailureClass::none;
  if (line.open || (no_line && ended_badly(what.job))) improve(consulted, line, made);
  for (const ConsultedWitness& each : consulted) made.witnesses.push_back(witness_of(each, made));
  const bool agreed = std::ranges::any_of(
      made.witnesses, [](const Witness& each) { return each.agrees.value_or(false); });
  if (made.verdict == FailureClass::infrastructure && agreed)
    take_findings(consulted, what, line, made);
  if (made.recommendation == Recommendation::restart_elsewhere && !agreed) {
    made.recommendation = Recommendation::test_first;
    made.advice += "; no machine is given up without a second witness";
  }
  return {};
}

}  // namespace schedmate::failure
