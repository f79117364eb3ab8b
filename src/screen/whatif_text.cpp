// SPDX-License-Identifier: Apache-2.0
#include "screen/whatif_text.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>

#include "base/fold.hpp"
#include "base/table.hpp"
#include "base/words.hpp"
#include "lab/whatif_verdict.hpp"

namespace schedmate::screen {
namespace {

constexpr std::size_t most_shown_messages = 3;
constexpr std::size_t most_rows = 8;
/// Reasons of a job that waits its turn; others are limits and holds that no model here knows.
constexpr std::string_view usual_reasons[] = {"None", "Resources", "Priority"};

using lab::unit_name;

std::string time(double s) { return lab::time_in_words(s); }

/// A terminal folds sentences itself; elsewhere they get lines that can be read.
std::string sentences(const std::string& text, std::size_t columns) {
  constexpr std::size_t wide = 100;
  return columns == 0 ? folded(text, wide) : text;
}

std::string percent(double share) { return fmt::format("{:.1f} %", 100 * share); }

using Cells = std::vector<Cell>;

/// What a row says of a change; `who` and the word for it stand around it.
Cells row_of(const std::string& who, const lab::WhatifPolicy& policy,
             const whatif::Change& change) {
  return {"  " + printable(who),
          fmt::format("{}", change.jobs),
          time(change.real_wait_s),
          time(change.replay_wait_s),
          time(change.wait_s),
          fmt::format("{:.3f}", std::exp(change.log_ratio)),
          fmt::format("{:.3f} to {:.3f}", std::exp(change.low), std::exp(change.high)),
          std::string(lab::word_for(policy, change))};
}

/// What a row says, in a terminal of so many columns.
std::string changes_table(std::string_view who, const std::vector<Cells>& rows,
                          std::size_t columns) {
  const std::vector<TableColumn> names{{fmt::format("  {}", who)},
                                       {"jobs", 2},
                                       {"wait: real", 4},
                                       {"wait: replay", 1},
                                       {"wait: this"},
                                       {"JCT x"},
                                       {"95 %", 3},
                                       {"verdict"}};
  return table_text(names, rows, columns);
}

/// The largest gains and the largest losses.
std::vector<whatif::Change> outermost(std::vector<whatif::Change> changes, std::size_t& left_out) {
  std::ranges::stable_sort(changes, {}, &whatif::Change::log_ratio);
  left_out = 0;
  if (changes.size() <= most_rows) return changes;
  left_out = changes.size() - most_rows;
  const auto half = static_cast<std::ptrdiff_t>(most_rows / 2);
  changes.erase(changes.begin() + half, changes.end() - half);
  return changes;
}

/// One line for each reason why verdicts among the rows shown may come from the model alone. Names
/// are those of the rows.
std::string doubts_text(const std::vector<whatif::Change>& shown) {
  constexpr std::pair<whatif::LowConfidenceReason, std::string_view> sentences[] = {
      {whatif::LowConfidenceReason::replay_error,
       "too small to tell, as the effect is no larger than the error of the replay"},
      {whatif::LowConfidenceReason::near_to_past,
       "cannot tell, as this run is nearly as close to reality as the replay, so it may be what "
       "really happened"}};
  std::string text;
  for (const auto& [doubt, sentence] : sentences) {
    std::vector<std::string> names;
    for (const whatif::Change& change : shown)
      if (change.doubt == doubt) names.push_back(printable(change.name));
    if (!names.empty()) text += fmt::format("  {}: {}\n", sentence, fmt::join(names, ", "));
  }
  return text;
}

/// Sizes and users of one policy; its own row is in the table above.
std::string policy_text(const lab::WhatifPolicy& policy, std::size_t columns) {
  std::string text = fmt::format("\n{} ({})\n", printable(policy.label), printable(policy.spec));
  std::vector<Cells> rows;
  std::size_t left_out = 0;
  std::vector<whatif::Change> shown = policy.all;
  const auto add = [&](const std::vector<whatif::Change>& changes, std::string_view kind) {
    for (const whatif::Change& change : changes) {
      shown.push_back(change);
      shown.back().name.insert(0, kind);
      rows.push_back(row_of(shown.back().name, policy, change));
    }
  };
  add(policy.sizes, "size ");
  add(outermost(policy.users, left_out), "user ");
  text += changes_table("who", rows, columns) + doubts_text(shown);
  if (left_out > 0)
    text += fmt::format("  {} users in between are left out here (--json has them)\n", left_out);
  return text;
}

/// One row a policy, of those with figures of their own.
std::string policies_text(const lab::WhatifAnswer& answer, std::size_t columns) {
  std::vector<Cells> rows;
  for (const lab::WhatifPolicy* policy : lab::ranked_policies(answer))
    rows.push_back(row_of(policy->label, *policy, policy->all.front()));
  if (rows.empty()) return "";
  return sentences(
             "\npolicies against the replay (JCT x: time from Eligible to the end of a job, "
             "geometric mean of the ratios, below 1 is faster)\n",
             columns) +
         changes_table("policy", rows, columns);
}

std::string verdict_text(const lab::WhatifVerdict& verdict, std::size_t columns) {
  std::vector<std::vector<std::string>> rows{
      {"  fidelity", verdict.fidelity},     {"  gains", verdict.gains},
      {"  losers", verdict.losers},         {"  failures", verdict.failures},
      {"  confidence", verdict.confidence}, {"  advice", verdict.advice}};
  for (const std::string& aside : verdict.asides) rows.push_back({"  note", aside});
  for (auto& row : rows) row[1] = printable(row[1]);
  return "\nVERDICT\n" + sentences(aligned(rows), columns);
}

std::string losses_text(const lab::WhatifAnswer& answer, std::size_t columns) {
  if (answer.losses.empty()) return "";
  const std::vector<TableColumn> names{{"  state"},
                                       {"cause"},
                                       {"confidence", 2},
                                       {"jobs"},
                                       {fmt::format("{} hours", unit_name(answer))},
                                       {"of all", 1}};
  std::vector<Cells> rows;
  for (const whatif::Loss& loss : answer.losses) {
    rows.push_back({"  " + printable(loss.state), loss.cause,
                    std::string(whatif::to_string(loss.confidence)), fmt::format("{}", loss.jobs),
                    fmt::format("{:.2f}", loss.gpu_h), percent(loss.share)});
  }
  return "\nfailures in the dump (upper bounds: what checkpoints saved is not known)\n" +
         table_text(names, rows, columns);
}

std::string limits_text(const whatif::RecordedCluster& world) {
  std::string text =
      fmt::format("limits   {} with a time limit of {} own", counted(world.limits_given, "job"),
                  world.limits_given == 1 ? "its" : "their");
  if (world.limits_unlimited > 0)
    text += fmt::format(", {} are unlimited (planned as a year)", world.limits_unlimited);
  if (world.limits_guessed > 0) {
    text += fmt::format(", {} have none in the dump (planned as their run time rounded up)",
                        world.limits_guessed);
  }
  return text + "\n";
}

/// Attempts that the dump lacks. Not all of them failed: preempted jobs are started again, too.
std::string attempts_text(const lab::WhatifAnswer& answer, std::size_t columns) {
  if (answer.alone.jobs == 0) return "";
  return sentences(
      fmt::format(
          "         {} jobs were restarted {} times, but the dump has only their last attempt: add "
          "--duplicates to sacct (or an earlier --starttime); {} hours lost to failures may be too "
          "low\n",
          answer.alone.jobs, answer.alone.restarts, unit_name(answer)),
      columns);
}

/// How far starts and waits of the replay are from the real ones; "-": no job started in it.
std::string errors_text(const lab::WhatifAnswer& answer) {
  const whatif::Fidelity& f = answer.fidelity;
  const bool none = f.never_started == f.jobs;
  std::string text =
      fmt::format("  start error of {} jobs: median {}, 90 % within {}, {} within 60 s, mean {}\n",
                  f.jobs, time(f.median_error_s), time(f.p90_error_s), percent(f.within_60_s),
                  none ? "-" : fmt::format("{:+.1f} s", f.mean_error_s));
  if (!answer.site_workload.empty()) {
    text += fmt::format(
        "  this policy looks at the GPU use of jobs, which is INVENTED here (workload {})\n",
        printable(answer.site_workload));
  }
  for (const lab::WhatifSite& site : answer.tried) {
    if (site.spec != answer.site)
      text += fmt::format("  also tried: {}: median {}\n", printable(site.spec),
                          time(site.median_error_s));
  }
  return text + fmt::format("  mean wait: {} in reality, {} in the replay\n", time(f.real_wait_s),
                            none ? "-" : time(f.replay_wait_s));
}

}  // namespace

std::string world_text(const lab::WhatifAnswer& answer, std::size_t columns) {
  const ReadReport& read = answer.world.trace.report;
  std::string text = fmt::format("dump     {}: {} of {} rows are jobs that take part\n",
                                 printable(answer.dump), read.kept, read.rows);
  for (const auto& [reason, rows] : read.dropped)
    text += fmt::format("         {} left out: {}\n", rows, printable(reason));
  for (std::size_t i = 0; i < std::min(most_shown_messages, read.messages.size()); ++i)
    text += fmt::format("         {}\n", printable(read.messages[i]));
  if (!answer.accounting.has_eligible)
    text += "         no Eligible field: waits are counted from Submit\n";
  text += attempts_text(answer, columns);
  for (std::size_t i = 0; i < answer.cluster.spec.partitions.size(); ++i) {
    const PartitionSpec& vc = answer.cluster.spec.partitions[i];
    const std::int64_t unit = answer.cluster.unit[i];
    text += fmt::format("cluster  {}: {} of {}{} {}s{}\n", printable(vc.name),
                        counted(vc.nodes, "node"), vc.gpus_per_node,
                        unit > 1 ? fmt::format(" x {}", unit) : "", unit_name(answer),
                        vc.gpu_type.empty() ? "" : " (" + printable(vc.gpu_type) + ")");
  }
  for (const std::string& note : answer.cluster.notes)
    text += fmt::format("         {}\n", printable(note));
  text += limits_text(answer.world);
  const auto pinned = std::ranges::count_if(answer.world.past, &whatif::PastJob::pinned);
  const auto running = std::ranges::count_if(answer.world.past, &whatif::PastJob::censored);
  text += fmt::format(
      "warm-up  {} ran before the first end in the dump: in the replay from the real start on, and "
      "in no figure\n",
      counted(pinned, "job"));
  if (running > 0)
    text += fmt::format(
        "         {} jobs were still running at its end: they hold their {}s until then\n", running,
        unit_name(answer));
  return text;
}

std::string fidelity_text(const lab::WhatifAnswer& answer, std::size_t columns) {
  const whatif::Fidelity& f = answer.fidelity;
  if (f.jobs == 0) {
    return sentences(
        "\nreplay   no job is left after the warm-up: all of them started before the first end in "
        "the dump. Nothing can be compared; dump a longer period (--starttime)\n",
        columns);
  }
  std::string text =
      fmt::format("\nreplay   what really happened, replayed with {}\n", printable(answer.site));
  text += errors_text(answer);
  if (f.never_started > 0)
    text += fmt::format("  {} jobs never start in the replay (too large for the cluster?)\n",
                        f.never_started);
  if (f.pinned_elsewhen > 0)
    text += fmt::format("  {} of {} warm-up jobs could not start at their real time\n",
                        f.pinned_elsewhen, f.pinned);
  double odd = 0;
  for (const whatif::WaitShare& reason : answer.reasons) {
    if (std::ranges::find(usual_reasons, reason.reason) == std::end(usual_reasons))
      odd += reason.share;
  }
  if (odd > 0) {
    text += fmt::format(
        "  {} of all waiting was due to limits, holds and the like, which the replay does not "
        "know\n",
        percent(odd));
  }
  return text;
}

std::string changes_text(const lab::WhatifAnswer& answer, std::size_t columns) {
  std::string text = verdict_text(answer.verdict, columns) + policies_text(answer, columns) +
                     losses_text(answer, columns);
  std::vector<std::string> others;
  for (const lab::WhatifPolicy* policy : lab::ranked_policies(answer)) {
    // Who gains and who loses under a policy that nobody would choose fills a screen.
    if (columns > 0 && policy->label != answer.verdict.best)
      others.push_back(printable(policy->label));
    else
      text += policy_text(*policy, columns);
  }
  if (!others.empty())
    text += fmt::format(
        "\nsizes and users under {}: in --json, in report.html (--out DIR), and in "
        "this text when it goes to a file\n",
        fmt::join(others, ", "));
  if (!answer.out.empty()) text += fmt::format("\nwritten to {}\n", printable(answer.out));
  return text;
}

}  // namespace schedmate::screen
