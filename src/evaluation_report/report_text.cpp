// SPDX-License-Identifier: Apache-2.0
#include "evaluation_report/report_text.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <nlohmann/json.hpp>

#include "base/table.hpp"
#include "base/words.hpp"

namespace schedmate::evaluation_report {
namespace {

/// The columns of a terminal: those of them that any arm has.
constexpr auto figures_shown =
    std::to_array<std::string_view>({"ln_ratio", "upper95", "jct_ratio", "longer95", "bound_share",
                                     "jct_s", "within_100", "median_error", "use_error"});

std::string lines_of(const Chapter& chapter, const std::string& trace) {
  const auto arms = arms_of(chapter, trace);
  const bool swept =
      std::ranges::any_of(arms, [](const ArmRows& arm) { return !arm.first->at.empty(); });
  std::vector<const ColumnRow*> columns;
  for (const std::string_view figure : figures_shown)
    if (std::ranges::any_of(arms, [&](const ArmRows& arm) { return arm.find(figure) != nullptr; }))
      columns.push_back(&column_of(figure));
  std::vector<std::string> head{"arm", "against"};
  if (swept) head.insert(head.begin(), "at");
  for (const ColumnRow* column : columns) head.emplace_back(column->title);
  std::vector<std::vector<std::string>> lines{std::move(head)};
  for (const ArmRows& arm : arms) {
    const bool is_host = arm.find("ln_ratio") == nullptr && arm.first->arm == arm.first->host;
    std::vector<std::string> line{printable(arm.first->arm),
                                  is_host ? "" : printable(arm.first->host)};
    if (swept) line.insert(line.begin(), printable(arm.first->at));
    for (const ColumnRow* column : columns)
      line.push_back(cell_of(chapter, arm.find(column->figure), column->format).text);
    lines.push_back(std::move(line));
  }
  return aligned(lines);
}

Document figure_document(const FigureLine& at) {
  const auto number = [](double value) -> Document {
    if (std::isnan(value)) return nullptr;
    return value;
  };
  const study::Interval& interval = at.row.interval;
  Document figure = {{"value", number(interval.value)},
                     {"low", number(interval.low)},
                     {"high", number(interval.high)},
                     {"n", interval.n},
                     {"line", at.line}};
  if (!at.row.note.empty()) figure["note"] = at.row.note;
  return figure;
}

Document chapter_document(const Chapter& chapter) {
  Document arms = Document::array();
  for (const study::ExperimentTrace& trace : chapter.experiment.traces) {
    for (const ArmRows& arm : arms_of(chapter, trace.name)) {
      Document figures = Document::object();
      for (const auto& [name, row] : arm.figures)
        figures[std::string(name)] = figure_document(*row);
      arms.push_back({{"trace", trace.name},
                      {"at", arm.first->at},
                      {"arm", arm.first->arm},
                      {"host", arm.first->host},
                      {"policy", arm.first->policy},
                      {"figures", std::move(figures)}});
    }
  }
  return {{"name", chapter.experiment.name},
          {"csv", chapter.target},
          {"origin", chapter.origin},
          {"arms", std::move(arms)}};
}

}  // namespace

std::string text_of(const Chapter& chapter) {
  std::string text;
  for (const std::string& trace : shown_traces(chapter.experiment))
    text += fmt::format("\n{}{}, {} perturbations\n{}", printable(chapter.experiment.name),
                        trace == "all" ? ", all jobs together" : ", " + printable(trace),
                        chapter.experiment.perturbations, lines_of(chapter, trace));
  return text;
}

Document evaluation_document(const std::vector<Chapter>& chapters, const std::string& page,
                             const std::string& report) {
  Document all = Document::array();
  for (const Chapter& chapter : chapters) all.push_back(chapter_document(chapter));
  return {{"schema", "schedmate.evaluate.v1"},
          {"experiments", std::move(all)},
          {"html", page},
          {"book", report}};
}

}  // namespace schedmate::evaluation_report
