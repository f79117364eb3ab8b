// SPDX-License-Identifier: Apache-2.0
#include "advisor/admission.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>

#include "advisor/match.hpp"
#include "advisor/scaling.hpp"
#include "base/text.hpp"

namespace schedmate::advisor {
namespace {

std::string describe(const FlagDifference& each) {
  const auto shown = [](const std::string& value) { return value.empty() ? "not given" : value; };
  const std::string rule = each.rule == each.name ? "" : fmt::format(" ({})", each.rule);
  return fmt::format("{}{}: {} here, {} there", each.name, rule, shown(each.ours),
                     shown(each.theirs));
}

FlagDifference request_difference(std::string name, std::string ours, std::string theirs) {
  const bool counts = name == "gpus" || name == "nodes";
  return {std::move(name), std::move(ours), std::move(theirs), "request",
          counts ? FlagClass::scaled : FlagClass::another_job};
}

std::vector<FlagDifference> compare_requests(const Submission& ours, const JobRecord& theirs) {
  std::vector<FlagDifference> found;
  const auto text = [](std::int64_t number) { return fmt::format("{}", number); };
  const JobSource& job = ours.job;
  if (job.gpus != theirs.gpus)
    found.push_back(request_difference("gpus", text(job.gpus), text(theirs.gpus)));
  if (job.nodes != theirs.nodes)
    found.push_back(request_difference("nodes", text(job.nodes), text(theirs.nodes)));
  if (job.gpu_type != theirs.gpu_type && !job.gpu_type.empty() && !theirs.gpu_type.empty())
    found.push_back(request_difference("GPU type", job.gpu_type, theirs.gpu_type));
  return found;
}

bool agree_on(std::string_view name, const Fields& ours, const Fields& theirs) {
  return !name.empty() && !field(ours, name).empty() && field(ours, name) == field(theirs, name);
}

/// Do the facts show what a job is well enough to overrule a flag that nobody knows?
bool are_comparable(const Fields& ours, const Fields& theirs) {
  return std::ranges::all_of(std::to_array<std::string_view>({"model_name", "dataset", "length"}),
                             [&](std::string_view name) {
                               return !field(ours, name).empty() && !field(theirs, name).empty();
                             });
}

/// A flag that makes another job does not when the facts of both agree on what it decides.
bool is_harmless(const FlagDifference& each, const AdmissionCase& both, const FlagRules& rules) {
  const FlagRule* rule = rules.find(each.name);
  const Fields& theirs = both.earlier.fields;
  if (rule != nullptr && !rule->field.empty()) return agree_on(rule->field, *both.ours, theirs);
  return each.rule != "request" && are_comparable(*both.ours, theirs);
}

/// Ratio of two flags that count amounts, where no facts are known.
double ratio_of(const FlagDifference& each) {
  const auto ours = parse_number<double>(each.ours);
  const auto theirs = parse_number<double>(each.theirs);
  return ours && theirs && *ours > 0 && *theirs > 0 ? *ours / *theirs : 1;
}

double scale_by_flags(const std::vector<FlagDifference>& found, const FlagRules& rules) {
  double scale = 1;
  for (const FlagDifference& each : found) {
    const FlagRule* rule = rules.find(each.name);
    if (rule != nullptr && rule->field == "length") scale *= ratio_of(each);
  }
  return std::isfinite(scale) ? std::clamp(scale, 1.0 / 256, 256.0) : 1;
}

std::string list_of(const std::vector<FlagDifference>& found) {
  std::string text;
  for (const FlagDifference& each : found) text += (text.empty() ? "" : "; ") + describe(each);
  return text;
}

Verdict verdict_of(std::vector<FlagDifference> found, const AdmissionCase& both,
                   const FlagRules& rules) {
  if (both.ours != nullptr) {
    for (FlagDifference& each : found)
      if (each.flag_class == FlagClass::another_job && is_harmless(each, both, rules))
        each.flag_class = FlagClass::same_duration;
  }
  Verdict verdict{FlagClass::same_job, "same user, directory and command", 1};
  for (const FlagDifference& each : found)
    verdict.relation = std::max(verdict.relation, each.flag_class);
  if (!found.empty())
    verdict.rule = fmt::format("{}: {}", name_of(verdict.relation), list_of(found));
  return verdict;
}

/// The facts of both jobs, where they are known, have the last word.
void apply_facts(const Fields& ours, const Fields& theirs, Verdict& verdict) {
  if (&ours == &theirs || ours == theirs) return;  // the usual case, and much cheaper to see
  const Match match = match_fields(ours, theirs);
  for (const FieldDifference& each : match.differing) {
    if (!each.decisive) continue;
    verdict.relation = FlagClass::another_job;
    verdict.rule =
        fmt::format("another_job: {}{} is {} here, {} there",
                    each.field == "variant" ? "" : "facts: ", each.field, each.ours, each.theirs);
    return;
  }
  const Scaling scaling = scale_between(ours, theirs);
  if (scaling.why.empty()) return;
  verdict.scale = scaling.factor;
  verdict.relation = std::max(verdict.relation, FlagClass::scaled);
  std::string what;
  for (const std::string& each : scaling.why) what += (what.empty() ? "" : ", ") + each;
  verdict.rule += fmt::format("; duration x{:.3g} ({})", scaling.factor, what);
}

Verdict another(std::string_view what) {
  return {FlagClass::another_job, fmt::format("another_job: {}", what), 1};
}

}  // namespace

std::vector<FlagDifference> compare_commands(const CommandFlags& ours, const CommandFlags& theirs,
                                             const FlagRules& rules) {
  const auto shown = [](const GivenFlag& flag) { return flag.value.empty() ? "on" : flag.value; };
  std::map<std::string, FlagDifference> by_name;
  for (const GivenFlag& flag : ours.flags) by_name[flag.name].ours = shown(flag);
  for (const GivenFlag& flag : theirs.flags) by_name[flag.name].theirs = shown(flag);
  std::vector<FlagDifference> found;
  for (auto& [name, each] : by_name) {
    if (each.ours == each.theirs) continue;
    const FlagRule* rule = rules.find(name);
    each.name = name;
    each.rule = rule == nullptr ? "unknown flag" : rule->name;
    if (rule != nullptr) each.flag_class = rule->flag_class;
    found.push_back(std::move(each));
  }
  for (std::size_t i = 0; i < std::max(ours.words.size(), theirs.words.size()); ++i) {
    const std::string left = i < ours.words.size() ? ours.words[i] : "";
    const std::string right = i < theirs.words.size() ? theirs.words[i] : "";
    if (left != right)
      found.push_back({fmt::format("word {}", i + 1), left, right, "argument", {}});
    if (left != right) found.back().flag_class = FlagClass::another_job;
  }
  std::ranges::stable_sort(found, std::ranges::greater(), &FlagDifference::flag_class);
  return found;
}

Verdict judge(const AdmissionCase& both, const FlagRules& rules) {
  const Submission& ours = both.submission;
  const JobRecord& theirs = both.earlier;
  if (ours.user != theirs.user) return another("other user");
  if (ours.job.root != theirs.root || ours.job.workdir != theirs.workdir)
    return another("other directory");
  if (ours.branch != theirs.branch) return another("other branch");
  const std::string folder = folder_of(theirs.root, theirs.workdir);  // equal for both
  const CommandFlags our_flags = read_command_flags(ours.job.command, rules, folder);
  const CommandFlags their_flags = read_command_flags(theirs.command, rules, folder);
  return judge(both, {our_flags, their_flags}, rules);
}

Verdict judge(const AdmissionCase& both, const BothFlags& flags, const FlagRules& rules) {
  const auto& [our_flags, their_flags] = flags;
  const Submission& ours = both.submission;
  const JobRecord& theirs = both.earlier;
  if (our_flags.entry != their_flags.entry) return another("other program");
  std::vector<FlagDifference> found = compare_requests(ours, theirs);
  for (FlagDifference& each : compare_commands(our_flags, their_flags, rules))
    found.push_back(std::move(each));
  const double by_flags = scale_by_flags(found, rules);
  Verdict verdict = verdict_of(std::move(found), both, rules);
  if (!verdict.resubmission()) return verdict;
  if (both.ours != nullptr && !theirs.fields.empty())
    apply_facts(*both.ours, theirs.fields, verdict);
  else
    verdict.scale = by_flags;
  return verdict;
}

double similarity(FlagClass relation) {
  switch (relation) {
    case FlagClass::same_job:
      return 1;
    case FlagClass::same_duration:
      return 0.95;
    default:
      return 0.7;
  }
}

}  // namespace schedmate::advisor
