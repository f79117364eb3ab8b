// SPDX-License-Identifier: Apache-2.0
#include "log/witness/witness.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>

namespace schedmate {
namespace {

constexpr std::array witnesses{
#define WITNESS(name, summary) witness::WitnessRow{#name, summary, witness::consult_##name},
#include "log/witness/witnesses.def"
#undef WITNESS
};

/// NVLink faults show as faults of a GPU, and the other way round.
Component part(Component component) {
  return component == Component::nvlink ? Component::gpu : component;
}

bool is_gpu(const Diagnosis& made) {
  return made.verdict == FailureClass::infrastructure && part(made.component) == Component::gpu;
}

int weight(const witness::WitnessFinding& finding) {
  const bool fault = finding.means.verdict == FailureClass::infrastructure;
  const bool acts = finding.means.recommendation != Recommendation::notify;
  return (acts ? 2 : 0) + (fault ? 1 : 0);
}

std::string_view first_label(std::string_view host) { return host.substr(0, host.find('.')); }

}  // namespace

std::span<const witness::WitnessRow> witness::witness_rows() { return witnesses; }

std::vector<SeamRow> witness_names() {
  std::vector<SeamRow> names;
  for (const witness::WitnessRow& row : witnesses) names.push_back({row.name, row.summary});
  return names;
}

bool witness::confirms(const witness::WitnessFinding& finding, const Diagnosis& made) {
  if (finding.means.verdict != made.verdict) return false;
  if (made.verdict != FailureClass::infrastructure) return true;
  if (finding.any_component) return made.component != Component::storage;
  return finding.means.recommendation != Recommendation::notify &&
         part(finding.means.component) == part(made.component);
}

std::optional<bool> witness::agrees(const witness::WitnessReport& report, const Diagnosis& made) {
  if (!report.asked) return std::nullopt;
  const bool any = std::ranges::any_of(report.findings, [&](const witness::WitnessFinding& each) {
    return witness::confirms(each, made);
  });
  if (any) return true;
  const bool state =
      std::ranges::any_of(report.findings, &witness::WitnessFinding::any_component) ||
      (report.complete && is_gpu(made));
  return state ? std::optional(false) : std::nullopt;
}

std::string witness::node_of(const JobContext& job, std::string_view host) {
  for (const std::string& node : job.nodes)
    if (node == host) return node;
  // A short name stands for a long one only when one of the two has no domain.
  for (const std::string& node : job.nodes)
    if ((node.find('.') == std::string::npos || host.find('.') == std::string_view::npos) &&
        first_label(node) == first_label(host))
      return node;
  return "";
}

std::string witness::in_words(std::span<const witness::WitnessFinding> findings) {
  constexpr std::size_t most = 3;
  std::string text;
  for (const witness::WitnessFinding& each : findings.first(std::min(most, findings.size()))) {
    if (!text.empty()) text += "; ";
    if (!each.node.empty()) text += each.node + ": ";
    text += fmt::format("{}: {}", each.means.rule, each.means.reason);
    if (!each.when.empty()) text += fmt::format(" ({})", each.when);
  }
  if (findings.size() > most) text += fmt::format("; {} more", findings.size() - most);
  return text;
}

void witness::sort_findings(std::vector<witness::WitnessFinding>& findings) {
  std::ranges::stable_sort(findings,
                           [](const witness::WitnessFinding& a, const witness::WitnessFinding& b) {
                             if (weight(a) != weight(b)) return weight(a) > weight(b);
                             return a.means.confidence > b.means.confidence;
                           });
}

}  // namespace schedmate
