// SPDX-License-Identifier: Apache-2.0
#include "evaluation_report/claims_section.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <utility>

#include "evaluation_report/lucid_queue.hpp"

namespace schedmate::evaluation_report {
namespace {

/// GPU use is made up without noise, so how well it is predicted says nothing about the paper's.
constexpr double not_comparable = 0;

/// A figure of the paper and the row that stands for it here.
struct PaperFigure {
  std::string_view published;
  double bound;  ///< at least this; `not_comparable`
  std::string_view experiment, arm, figure;
  std::string_view at{};  ///< point of the sweep
};

constexpr double shorter(double percent) { return 100 / (100 - percent); }

constexpr PaperFigure paper_figures[] = {
    {"Lucid+SchedMate, average JCT 1.23x to 1.91x (Figure 12)", 1.23, "fig12_venus_heavy", "sm",
     "jct_ratio"},
    {"Figure 12", 1.23, "fig12_venus_light", "sm", "jct_ratio"},
    {"Figure 12", 1.23, "fig12_philly_heavy", "sm", "jct_ratio"},
    {"Figure 12", 1.23, "fig12_philly_light", "sm", "jct_ratio"},
    {"Figure 12", 1.23, "fig12_saturn_like_heavy", "sm", "jct_ratio"},
    {"Figure 12", 1.23, "fig12_saturn_like_light", "sm", "jct_ratio"},
    {"Figure 12, where Acme's gain is the largest: 1.91x", 1.91, "fig12_acme_seren_like_heavy",
     "sm", "jct_ratio"},
    {"the same", 1.91, "fig12_acme_seren_like_light", "sm", "jct_ratio"},
    {"Lucid+SchedMate, average JCT -23.2 % (Table 2)", shorter(23.2), "table2_simulated", "sm",
     "jct_ratio"},
    {"the same, draws with as much work as the paper's", shorter(23.2), "table2_work", "sm",
     "jct_ratio"},
    {"standalone against QSSF, average JCT -25.7 % (Figure 13)", shorter(25.7), "fig13_standalone",
     "sm", "jct_ratio"},
    {"standalone against Tiresias, average JCT -16 % (Figure 13)", shorter(16), "fig13_standalone",
     "sm_tiresias", "jct_ratio"},
    {"Failure Handler, average JCT -12.5 % (Figure 13); manual restarts after an hour",
     shorter(12.5), "fig13_recovery", "fh", "jct_ratio", "3600"},
    {"the same, after NVLink's 96 min", shorter(12.5), "fig13_recovery", "fh", "jct_ratio", "5736"},
    {"the same, after a node's 103 min", shorter(12.5), "fig13_recovery", "fh", "jct_ratio",
     "6168"},
    {"the same, after the network's 592 min", shorter(12.5), "fig13_recovery", "fh", "jct_ratio",
     "35526"},
    {"duration within 100 % for 85.7 % of the jobs (Figure 14)", 0.857, "fig14_estimates",
     "advisor", "within_100"},
    {"mean error of SM utilisation 28.1 % (Figure 14)", not_comparable, "fig14_estimates",
     "advisor", "use_error"},
    {"half of the slow-downs seen, average JCT -12.5 % (Figure 15c, threshold 0.5; here with twice "
     "the fitted interference)",
     shorter(12.5), "fig15c_detection", "cancel_paper", "jct_ratio", "50"},
    {"the same with the threshold at 0.65", shorter(12.5), "fig15c_detection", "cancel",
     "jct_ratio", "50"},
    {"Sia+SchedMate, average JCT -20 % (Table 3, Philly)", shorter(20), "table3_philly", "sm",
     "jct_ratio", "120"},
    {"Sia+SchedMate, average JCT -13 % (Table 3, Saturn)", shorter(13), "table3_saturn", "sm",
     "jct_ratio", "120"},
    {"Sia+SchedMate, average JCT -17 % (Table 3, newtrace)", shorter(17), "table3_newtrace", "sm",
     "jct_ratio", "120"},
};

std::string verdict_on(const PaperFigure& claim, const study::Interval& interval) {
  if (claim.bound == not_comparable) return "not comparable: made up without noise";
  const double low = std::isnan(interval.low) ? interval.value : interval.low;
  const double high = std::isnan(interval.high) ? interval.value : interval.high;
  if (low >= claim.bound) return "reached";
  return high < claim.bound ? "not reached" : "open: the interval includes the figure";
}

void add_claim(const PaperFigure& claim, const Chapter& chapter,
               std::vector<std::vector<Cell>>& rows) {
  std::string published(claim.published);
  for (const std::string& trace : shown_traces(chapter.experiment)) {
    for (const ArmRows& arm : arms_of(chapter, trace)) {
      if (arm.first->arm != claim.arm || arm.first->at != claim.at) continue;
      const FigureLine* row = arm.find(claim.figure);
      if (row == nullptr) continue;
      const ColumnRow& column = column_of(claim.figure);
      rows.push_back({{std::exchange(published, "same")},
                      {fmt::format("{}{}{}", chapter.experiment.name,
                                   trace == "all" ? "" : ", " + trace, age_of(chapter))},
                      {fmt::format("{} against {}", arm.first->arm, arm.first->host)},
                      cell_of(chapter, row, column.format),
                      {verdict_on(claim, row->row.interval)}});
    }
  }
}

/// Arms of the decomposition and what they are.
struct Part {
  std::string_view arm, meaning;
};
constexpr Part parts[] = {
    {"queue", "only the queue of lucid+sm: nothing is read"},
    {"advice", "only advised durations"},
    {"oracle_durations", "true durations instead"},
    {"bypass",
     "advised durations; jobs whose GPU use is predicted by similar jobs are not profiled"},
    {"bypass_alone", "the same without durations"},
    {"free", "no job is profiled and the GPU use of every job is known"},
    {"cancel", "only cancelled packings"},
    {"sm", "all of SchedMate"},
    {"sm.last_k", "all of it, with the user's last three jobs in place of the Advisor"},
    {"sm.unshrunk", "all of it, trusted from the first job on"},
    {"sm.right_where_advised",
     "true durations and GPU use for jobs on which the Advisor has an answer"},
    {"sm.oracle", "true durations and GPU use for all jobs"},
    {"oracle_outlasting",
     "the same, and jobs that end within the profiler's time go to the profiler"},
};

std::vector<std::string> bounds(const std::vector<Chapter>& chapters) {
  std::vector<std::string> points;
  if (std::ranges::any_of(chapters, has_lucids_queue))
    points.emplace_back(
        "With Lucid's queue nearly all of the gain of lucid+sm comes from profiles that are "
        "skipped. Short jobs gain by it what long ones lose. The mean ratio over jobs therefore "
        "falls, but the average JCT, which a few long jobs dominate, may not. The direction "
        "depends on the host's own estimates: on Venus the average JCT is longer where the host "
        "has boosted trees (fig12_venus_heavy) and shorter where it has the user's last jobs "
        "(host_estimates).");
  points.insert(
      points.end(),
      // NOLINTNEXTLINE(bugprone-suspicious-missing-comma): sentences of several lines
      {"A queue of its own (a reservation, packing that pays, ageing) reads nothing. Where "
       "lucid+sm has it, the arm queue is Lucid with that queue alone, and only what sm has over "
       "it and over last_k can come from reading.",
       "Durations gain little: the predictions of the Advisor, the user's last jobs or boosted "
       "trees order the jobs of one virtual cluster only weakly (decision 0012), so the rule that "
       "protects the host mostly keeps the host's order. True durations show how much more is "
       "possible.",
       "Cancelling alone gains nothing here: with the fitted interference hardly any pair that "
       "Lucid packs falls below the threshold (see the histogram with Figure 12). With twice that "
       "interference cancelling does gain (ablations).",
       "Standalone, the gain comes from the policy and not from the Advisor: schedmate alone, with "
       "advice, with the user's last jobs and with other jobs' code perform nearly the same "
       "(fig13_standalone).",
       "Each virtual cluster has its own Advisor, which knows only the past of that virtual "
       "cluster. A shared Advisor was not tried."});
  return points;
}

/// Beside lucid+sm of Figure 12 what schedulers reach there that read nothing.
void add_unadvised(Page& report, const std::vector<Chapter>& chapters) {
  std::vector<std::vector<Cell>> rows;
  for (const Chapter& chapter : chapters) {
    if (!chapter.experiment.name.starts_with("fig12_")) continue;
    for (const std::string& trace : shown_traces(chapter.experiment)) {
      const auto arms = arms_of(chapter, trace);
      const auto arm_of = [&](std::string_view label) {
        return std::ranges::find_if(arms,
                                    [&](const ArmRows& each) { return each.first->arm == label; });
      };
      if (arm_of("qssf") == arms.end()) continue;
      std::vector<Cell> row{{fmt::format("{}, {}", chapter.experiment.name, trace)}};
      for (const ColumnRow& column : {column_of("ln_ratio"), column_of("jct_ratio")}) {
        for (const std::string_view label : {"sm", "queue", "free", "qssf"}) {
          const auto arm = arm_of(label);
          row.push_back(arm == arms.end()
                            ? Cell{}
                            : cell_of(chapter, arm->find(column.figure), column.format));
        }
      }
      rows.push_back(std::move(row));
    }
  }
  if (rows.empty()) return;
  rows.insert(rows.begin(), {{"against lucid"},
                             {"ln ratio: sm"},
                             {"queue"},
                             {"free"},
                             {"qssf"},
                             {"average JCT x: sm"},
                             {"queue"},
                             {"free"},
                             {"qssf"}});
  report.paragraph(
      "Schedulers that read nothing: Lucid with the queue of lucid+sm (queue), Lucid with every "
      "profile known (free), and QSSF, which has no profiler and lets no jobs share GPUs. What "
      "these gain, sm need not have from reading: queue shows what its queue gains, the others "
      "what Lucid's profiler costs.");
  report.table(std::move(rows), "");
}

}  // namespace

void add_claims(Page& report, const std::vector<Chapter>& chapters) {
  std::vector<std::vector<Cell>> rows{
      {{"published"}, {"experiment"}, {"arm"}, {"here"}, {"verdict"}}};
  for (const PaperFigure& claim : paper_figures)
    for (const Chapter& chapter : chapters)
      if (chapter.experiment.name == claim.experiment) add_claim(claim, chapter, rows);
  if (rows.size() == 1) return;
  report.heading(2, "The paper's claims and our results");
  std::string text(
      "Average JCT x is the mean JCT of the host / the mean JCT of the arm: 25.7 % shorter is "
      "1.346. Reached: the whole 95 % interval is at or above the published figure (for a range, "
      "its lower end). The traces, metadata and profiles are not those of the paper.");
  if (std::ranges::any_of(chapters, has_lucids_queue))
    text +=
        " Lucid's queue: the rows are older than the queue that lucid+sm has now, and say nothing "
        "about it.";
  report.paragraph(std::move(text));
  report.table(std::move(rows), "");
}

void add_bounds_page(Page& report, const std::vector<Chapter>& chapters) {
  std::vector<std::vector<Cell>> rows{
      {{"in Lucid"}, {"what it is"}, {"trace"}, {"ln ratio"}, {"average JCT x"}}};
  for (const Chapter& chapter : chapters) {
    if (!chapter.experiment.name.starts_with("decomposition_")) continue;
    for (const std::string& trace : shown_traces(chapter.experiment)) {
      const auto arms = arms_of(chapter, trace);
      for (const Part& part : parts) {
        const auto arm = std::ranges::find_if(
            arms, [&](const ArmRows& each) { return each.first->arm == part.arm; });
        if (arm == arms.end()) continue;
        rows.push_back({{std::string(part.arm)},
                        {std::string(part.meaning)},
                        {trace},
                        cell_of(chapter, arm->find("ln_ratio"), FigureFormat::logarithm),
                        cell_of(chapter, arm->find("jct_ratio"), FigureFormat::factor)});
      }
    }
  }
  if (rows.size() == 1) return;
  report.heading(2, "What bounds the gain");
  report.list(bounds(chapters));
  report.table(std::move(rows), "");
  add_unadvised(report, chapters);
}

}  // namespace schedmate::evaluation_report
