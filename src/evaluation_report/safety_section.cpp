// SPDX-License-Identifier: Apache-2.0
#include "evaluation_report/safety_section.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <string_view>

namespace schedmate::evaluation_report {
namespace {

/// "lucid+sm:bypass=all" of "lucid+sm:bypass=all cost.warm_up=true".
std::string_view policy_of(std::string_view text) { return text.substr(0, text.find(' ')); }

/// "lucid" of "lucid+sm:bypass=all".
std::string_view scheduler_of(std::string_view policy) {
  return policy.substr(0, policy.find_first_of("+: "));
}

/// "lucid+sm" of "lucid+sm:bypass=all".
std::string_view name_of(std::string_view policy) {
  return policy.substr(0, policy.find_first_of(": "));
}

/// What the host of an arm runs; "" when it has no rows.
std::string_view host_policy(const std::vector<ArmRows>& arms, const study::FigureRow& row) {
  const auto host = std::ranges::find_if(arms, [&](const ArmRows& other) {
    return other.first->arm == row.host && other.first->at == row.at;
  });
  return host == arms.end() ? "" : policy_of(host->first->policy);
}

/// Of "advice=": the Advisor, or something in its place.
bool is_advised_by_others(std::string_view policy) {
  constexpr std::string_view key = "advice=";
  const auto found = policy.find(key);
  if (found == std::string_view::npos) return false;
  std::string_view value = policy.substr(found + key.size());
  value = value.substr(0, value.find_first_of(":, "));
  return value != "advisor" && value != "advisor_paper";
}

/// Why there is no promise for an arm above its bound, if so.
std::string_view why_no_promise(const std::vector<ArmRows>& arms, const ArmRows& arm) {
  const study::FigureRow& row = *arm.first;
  if (row.policy.contains("shrink=false")) return ", with the protection of the host switched off";
  const std::string_view host = host_policy(arms, row);
  if (host.empty()) return "";
  if (policy_of(row.policy) == host) return ", the same policy under other costs";
  if (scheduler_of(row.policy) != scheduler_of(host)) return ", another scheduler";
  const FigureLine* ratio = arm.find("ln_ratio");
  return ratio != nullptr && ratio->row.interval.value <= 0 ? ", although its mean is not above 0"
                                                            : "";
}

std::string recipe_of(const study::ExperimentFile& experiment) {
  constexpr const char* key = "workload";
  const auto found = experiment.settings.find(key);
  return found == experiment.settings.end() ? settings::Settings().text(key) : found->second;
}

}  // namespace

SafetyVerdict verdict_of(const ArmRows& arm) {
  SafetyVerdict verdict = SafetyVerdict::none;
  for (const std::string_view figure : {"upper95", "longer95"}) {
    const FigureLine* row = arm.find(figure);
    if (row == nullptr || row->row.note.empty()) continue;
    if (row->row.note == "exceeds") return SafetyVerdict::exceeds;
    verdict = SafetyVerdict::safe;
  }
  return verdict;
}

std::string place_of(const Chapter& chapter, const study::FigureRow& row) {
  return chapter.experiment.name + (row.trace == "all" ? "" : ", " + row.trace);
}

void ExceededBounds::add(const Chapter& chapter, const std::vector<ArmRows>& arms,
                         const ArmRows& arm) {
  const study::FigureRow& row = *arm.first;
  Line line{place_of(chapter, row), swept_name(chapter.experiment),
            fmt::format(": {} against {}{}", row.arm, row.host, why_no_promise(arms, arm)), row.at};
  const auto same = std::ranges::find_if(lines_, [&](const Line& other) {
    return other.place == line.place && other.arm == line.arm;
  });
  if (same == lines_.end())
    lines_.push_back(std::move(line));
  else
    same->points += ", " + line.points;
}

std::vector<std::string> ExceededBounds::lines() const {
  std::vector<std::string> texts;
  for (const auto& [place, setting, arm, points] : lines_)
    texts.push_back(points.empty() ? place + arm
                                   : fmt::format("{}, {} = {}{}", place, setting, points, arm));
  return texts;
}

SafetyCount::Kind SafetyCount::kind_of(const Chapter& chapter, const std::vector<ArmRows>& arms,
                                       const ArmRows& arm) {
  const study::FigureRow& row = *arm.first;
  if (is_elastic(chapter.experiment))
    return row.policy.contains("match=") ? Kind::elastic_given : Kind::elastic;
  const std::string_view host = host_policy(arms, row);
  const bool other = row.policy.contains("shrink=false") || is_advised_by_others(row.policy) ||
                     policy_of(row.policy) == host ||
                     (!host.empty() && scheduler_of(row.policy) != scheduler_of(host));
  const bool shuffled = row.policy.contains("workload_shuffle=");
  if (other) return Kind::other;
  return shuffled ? Kind::control : Kind::advised;
}

void SafetyCount::add(const Chapter& chapter, const std::vector<ArmRows>& arms, const ArmRows& arm,
                      SafetyVerdict verdict) {
  const study::FigureRow& row = *arm.first;
  if (verdict == SafetyVerdict::exceeds) exceeding_.add(chapter, arms, arm);
  if (row.trace == "all") return;  // its traces are counted
  const Kind kind = kind_of(chapter, arms, arm);
  const Group group{name_of(host_policy(arms, row)), row.trace, recipe_of(chapter.experiment)};
  const bool grouped = kind == Kind::advised || kind == Kind::control;
  if (grouped && std::ranges::find(groups_, group) == groups_.end()) groups_.push_back(group);
  const auto at =
      arms_.try_emplace(place_of(chapter, row) + ": " + row.arm, Arm{kind, group}).first;
  at->second.safe = at->second.safe && verdict == SafetyVerdict::safe;
}

/// "3 of 4"; "" when there is none.
std::string SafetyCount::count(Kind kind, const Group* group) const {
  int all = 0;
  int safe = 0;
  for (const auto& [name, arm] : arms_) {
    if (arm.kind != kind || (group != nullptr && arm.group != *group)) continue;
    ++all;
    if (arm.safe) ++safe;
  }
  return all == 0 ? "" : fmt::format("{} of {}", safe, all);
}

void SafetyCount::write(Page& report) const {
  if (arms_.empty()) return;
  const auto count_text = [&](Kind kind) {
    const std::string text = count(kind);
    return text.empty() ? "none" : text;
  };
  report.paragraph(
      fmt::format("Safe arms, each counted once (an arm of a sweep is safe if it is safe at every "
                  "point). With the Advisor and protection, against their own host: {}; the same "
                  "with other jobs' code (controls): {}; by host, trace and recipe:",
                  count_text(Kind::advised), count_text(Kind::control)));
  if (!groups_.empty()) {
    std::vector<std::vector<Cell>> rows{
        {{"host"}, {"trace"}, {"recipe"}, {"with the Advisor"}, {"controls"}}};
    for (const Group& group : groups_)
      rows.push_back({{std::get<0>(group)},
                      {std::get<1>(group)},
                      {std::get<2>(group)},
                      {count(Kind::advised, &group)},
                      {count(Kind::control, &group)}});
    report.table(std::move(rows));
  }
  report.paragraph(fmt::format(
      "These arms do not measure safety: arms with other advice (last_k, oracles), with the "
      "protection switched off, against another scheduler, or with the host's own policy under "
      "other costs: {}. Elastic jobs: {} with the Advisor, {} with given matches (perfect, wrong, "
      "shuffled).",
      count_text(Kind::other), count_text(Kind::elastic), count_text(Kind::elastic_given)));
  const auto lines = exceeding_.lines();
  if (lines.empty()) return;
  report.paragraph("Not safe:");
  report.list(lines);
}

}  // namespace schedmate::evaluation_report
