// SPDX-License-Identifier: Apache-2.0
#include "evaluation_report/summary_section.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "evaluation_report/lucid_queue.hpp"
#include "evaluation_report/safety_section.hpp"

namespace schedmate::evaluation_report {
namespace {

class Summary {
 public:
  void add(const Chapter& chapter) {
    const auto shown = shown_traces(chapter.experiment);
    const bool one_point = chapter.experiment.points.size() == 1;
    for (const std::string& trace : shown) add(chapter, trace, one_point);
    for (const study::ExperimentTrace& trace : chapter.experiment.traces)
      if (std::ranges::find(shown, trace.name) == shown.end()) add(chapter, trace.name, false);
  }

  void write(Page& report) && {
    report.heading(2, "In short");
    report.paragraph(
        "The arm with the Advisor against its host, for each experiment without a sweep. All gains "
        "are construction, because the metadata is made up. In Lucid the gain includes that of the "
        "queue, where lucid+sm has one of its own: it reads nothing (the arm queue has it alone). "
        "The column over all (below 0: better) compares with the control that reads other jobs' "
        "code: it shows what can come from reading, except where reading worse gains no less (see "
        "above). An ln ratio of -0.15 means that the JCT is 14 % shorter in the geometric mean "
        "over jobs. Safe arms are at most 2 % slower in the mean ln ratio and, where the rows have "
        "it (longer by), in the average JCT, with 95 % confidence over the perturbations. No "
        "scheduler can be above the bound, which is zero waiting and no sharing: the host's "
        "average JCT / the mean duration.");
    write(report, rigid_);
    write(report, elastic_);
    safety_.write(report);
  }

 private:
  using Rows = std::vector<std::vector<Cell>>;

  static void write(Page& report, Rows& rows) {
    if (rows.empty()) return;
    rows.insert(rows.begin(), {{"experiment"},
                               {"arm"},
                               {"ln ratio"},
                               {"safe"},
                               {"average JCT x"},
                               {"bound x"},
                               {"share of bound"},
                               {"share of oracle"},
                               {"over all"}});
    report.table(std::move(rows), "");
  }

  /// `has_row`: in the table, not in the count alone.
  void add(const Chapter& chapter, const std::string& trace, bool has_row) {
    const auto arms = arms_of(chapter, trace);
    const bool has_sm =
        std::ranges::any_of(arms, [](const ArmRows& arm) { return arm.first->arm == "sm"; });
    const study::FigureRow* shown = nullptr;  // one arm a point
    for (const ArmRows& arm : arms) {
      const SafetyVerdict verdict = verdict_of(arm);
      if (verdict == SafetyVerdict::none) continue;
      safety_.add(chapter, arms, arm, verdict);
      const bool another = shown == nullptr || shown->at != arm.first->at;
      if (has_sm ? arm.first->arm != "sm" : !another) continue;
      shown = arm.first;
      if (has_row) add_row(chapter, arm, verdict);
    }
  }

  void add_row(const Chapter& chapter, const ArmRows& arm, SafetyVerdict verdict) {
    const auto cell = [&](std::string_view figure) {
      return cell_of(chapter, arm.find(figure), column_of(figure).format);
    };
    Rows& rows = is_elastic(chapter.experiment) ? elastic_ : rigid_;
    rows.push_back({{place_of(chapter, *arm.first) + age_of(chapter)},
                    {fmt::format("{} against {}", arm.first->arm, arm.first->host)},
                    cell("ln_ratio"),
                    {verdict == SafetyVerdict::exceeds ? "EXCEEDS" : "safe"},
                    cell("jct_ratio"),
                    cell("bound"),
                    cell("bound_share"),
                    cell("oracle_share"),
                    cell("over_all")});
  }

  Rows rigid_, elastic_;
  SafetyCount safety_;
};

}  // namespace

void add_summary(Page& report, const std::vector<Chapter>& chapters) {
  Summary summary;
  for (const Chapter& chapter : chapters) summary.add(chapter);
  std::move(summary).write(report);
}

}  // namespace schedmate::evaluation_report
