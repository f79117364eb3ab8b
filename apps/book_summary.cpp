// SPDX-License-Identifier: Apache-2.0
#include "apps/book_summary.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>

namespace schedmate {
namespace {

enum class Verdict : std::uint8_t { none, safe, exceeds };

/// Of an arm with advice: each of its bounds has to hold.
Verdict verdict_of(const ArmRows& arm) {
  Verdict verdict = Verdict::none;
  for (const std::string_view figure : {"upper95", "longer95"}) {
    const BookRow* row = arm.find(figure);
    if (row == nullptr || row->row.note.empty()) continue;
    if (row->row.note == "exceeds") return Verdict::exceeds;
    verdict = Verdict::safe;
  }
  return verdict;
}

std::string place_of(const Chapter& chapter, const FigureRow& row) {
  return chapter.experiment.name + (row.trace == "all" ? "" : ", " + row.trace);
}

/// "lucid+sm:bypass=all" of "lucid+sm:bypass=all cost.advice_s=60".
std::string_view policy_of(std::string_view text) { return text.substr(0, text.find(' ')); }

/// "lucid" of "lucid+sm:bypass=all".
std::string_view scheduler_of(std::string_view policy) {
  return policy.substr(0, policy.find_first_of("+: "));
}

/// Why there is no promise for an arm above its bound, if so.
std::string_view why_no_promise(const Chapter& chapter, const std::vector<ArmRows>& arms,
                                const ArmRows& arm) {
  const FigureRow& row = *arm.first;
  if (row.policy.contains("shrink=false")) return ", what protects the host being switched off";
  if (chapter.experiment.sweep == "cost.advice_s") return ", jobs wait for their advice";
  const auto host = std::ranges::find_if(arms, [&](const ArmRows& other) {
    return other.first->arm == row.host && other.first->at == row.at;
  });
  if (host == arms.end()) return "";
  const std::string_view its = policy_of(host->first->policy);
  if (policy_of(row.policy) == its) return ", the same policy where other things cost";
  if (scheduler_of(row.policy) != scheduler_of(its)) return ", another scheduler";
  const BookRow* ratio = arm.find("ln_ratio");
  return ratio != nullptr && ratio->row.interval.value <= 0 ? ", its mean is not above 0" : "";
}

/// Arms that exceed their bound, the points of a sweep in one line.
class Exceeding {
 public:
  void add(const Chapter& chapter, const std::vector<ArmRows>& arms, const ArmRows& arm) {
    ++count_;
    const FigureRow& row = *arm.first;
    Line line{
        place_of(chapter, row), chapter.experiment.sweep,
        fmt::format(": {} against {}{}", row.arm, row.host, why_no_promise(chapter, arms, arm)),
        row.at};
    const auto same = std::ranges::find_if(lines_, [&](const Line& other) {
      return other.place == line.place && other.arm == line.arm;
    });
    if (same == lines_.end())
      lines_.push_back(std::move(line));
    else
      same->points += ", " + line.points;
  }
  [[nodiscard]] std::size_t count() const { return count_; }
  [[nodiscard]] std::vector<std::string> lines() const {
    std::vector<std::string> texts;
    for (const auto& [place, setting, arm, points] : lines_) {
      const std::string at = setting.empty() ? "at" : setting + " =";
      texts.push_back(points.empty() ? place + arm
                                     : fmt::format("{}, {} {}{}", place, at, points, arm));
    }
    return texts;
  }

 private:
  struct Line {
    std::string place, setting, arm, points;
  };
  std::vector<Line> lines_;
  std::size_t count_ = 0;
};

class Summary {
 public:
  void add(const Chapter& chapter) {
    const auto shown = shown_traces(chapter.experiment);
    const bool one_point = chapter.experiment.points.size() == 1;
    for (const std::string& trace : shown) add(chapter, trace, one_point);
    for (const ExperimentTrace& trace : chapter.experiment.traces)
      if (std::ranges::find(shown, trace.name) == shown.end()) add(chapter, trace.name, false);
  }

  void write(Document& book) && {
    book.heading(2, "In short");
    book.paragraph(
        "Of each experiment without a sweep the arm with the Advisor against its host. All of it "
        "is construction, as metadata is made up; what is gained over the control that reads other "
        "jobs' code (over "
        "all, below 0: better) at least comes from what is read. An ln ratio of -0.15 is a JCT "
        "14 % shorter in the geometric mean over jobs. The bound is that of the mean ln ratio "
        "(elastic jobs: of the average JCT, too); where arms are safe the average JCT may still be "
        "longer (below 1).");
    write(book, rigid_);
    write(book, elastic_);
    book.paragraph(fmt::format("Of {} arms with advice, controls included, {} are safe.{}",
                               verdicts_, verdicts_ - exceeding_.count(),
                               exceeding_.count() == 0 ? "" : " Not safe:"));
    if (exceeding_.count() > 0) book.list(exceeding_.lines());
  }

 private:
  using Rows = std::vector<std::vector<Cell>>;

  static void write(Document& book, Rows& rows) {
    if (rows.empty()) return;
    rows.insert(rows.begin(), {{"experiment"},
                               {"arm"},
                               {"ln ratio"},
                               {"bound"},
                               {"average JCT x"},
                               {"share of oracle"},
                               {"over all"}});
    book.table(std::move(rows), "");
  }

  /// `has_row`: in the table, not in the count alone.
  void add(const Chapter& chapter, const std::string& trace, bool has_row) {
    const auto arms = arms_of(chapter, trace);
    const bool has_sm =
        std::ranges::any_of(arms, [](const ArmRows& arm) { return arm.first->arm == "sm"; });
    const FigureRow* shown = nullptr;  // one arm a point
    for (const ArmRows& arm : arms) {
      const Verdict verdict = verdict_of(arm);
      if (verdict == Verdict::none) continue;
      ++verdicts_;
      if (verdict == Verdict::exceeds) exceeding_.add(chapter, arms, arm);
      const bool another = shown == nullptr || shown->at != arm.first->at;
      if (has_sm ? arm.first->arm != "sm" : !another) continue;
      shown = arm.first;
      if (has_row) add_row(chapter, arm, verdict);
    }
  }

  void add_row(const Chapter& chapter, const ArmRows& arm, Verdict verdict) {
    const auto cell = [&](std::string_view figure) {
      return cell_of(chapter, arm.find(figure), column_of(figure).look);
    };
    Rows& rows = is_elastic(chapter.experiment) ? elastic_ : rigid_;
    rows.push_back(
        {{place_of(chapter, *arm.first) + (chapter.by_earlier_code ? " (an earlier state)" : "")},
         {fmt::format("{} against {}", arm.first->arm, arm.first->host)},
         cell("ln_ratio"),
         {verdict == Verdict::exceeds ? "EXCEEDS" : "safe"},
         cell("jct_ratio"),
         cell("oracle_share"),
         cell("over_all")});
  }

  Rows rigid_, elastic_;
  Exceeding exceeding_;
  std::size_t verdicts_ = 0;
};

}  // namespace

void add_summary(Document& book, const std::vector<Chapter>& chapters) {
  Summary summary;
  for (const Chapter& chapter : chapters) summary.add(chapter);
  std::move(summary).write(book);
}

}  // namespace schedmate
