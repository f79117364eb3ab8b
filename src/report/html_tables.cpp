// SPDX-License-Identifier: Apache-2.0
#include "report/html_tables.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <iterator>
#include <vector>

#include "base/text_safety.hpp"
#include "report/columns.hpp"

namespace schedmate::report {
namespace {

// One column, ready to print.
struct Cells {
  std::string title;
  std::vector<double> values;
  Scale scale;
  std::vector<bool> best;
};

// Values that look equal are equally good.
std::vector<double> as_printed(const Cells& cells) {
  const double step = cells.scale.divisor / std::pow(10, cells.scale.digits);
  std::vector<double> steps;
  for (const double value : cells.values) steps.push_back(std::round(value / step));
  return steps;
}

std::string row_head(const RunSummary& run, std::size_t index) {
  return fmt::format(
      "<tr><th scope=\"row\"><span class=\"swatch{}\" "
      "style=\"color:var(--s{})\"></span>{}{}</th>",
      index % 9 > 4 ? " dash" : "", index % 9, html_escape(run.run.label),
      run.run.oracle.empty() ? "" : "<small> knows the future</small>");
}

// What an oracle reaches is not to be had, so it is no best value of anything.
std::vector<bool> best_to_be_had(std::span<const RunSummary> runs, std::vector<double> values,
                                 BetterDirection better) {
  for (std::size_t i = 0; i < runs.size(); ++i)
    if (!runs[i].run.oracle.empty()) values[i] = std::nan("");
  return best_of(values, better);
}

std::string head(const std::vector<Cells>& columns, std::string_view corner) {
  std::string html = fmt::format("<thead><tr><th scope=\"col\">{}</th>", corner);
  for (const Cells& column : columns) {
    fmt::format_to(std::back_inserter(html), "<th scope=\"col\">{}<small>{}</small></th>",
                   column.title, column.scale.unit.empty() ? "&nbsp;" : column.scale.unit);
  }
  return html + "</tr></thead>";
}

std::string cell(const Cells& column, std::size_t row) {
  const double value = column.values[row];
  const std::string exact =
      column.scale.unit.empty() || std::isnan(value) || column.scale.unit == "%"
          ? ""
          : fmt::format(" title=\"{} s\"", number(value, {1, "s", 1}));
  return fmt::format("<td{}{}>{}{}</td>", column.best[row] ? " class=\"best\"" : "", exact,
                     number(value, column.scale),
                     column.best[row] ? "<span class=\"visually-hidden\"> (best)</span>" : "");
}

// The bar shows the value's share of the column's largest.
std::string bar_cell(const Cells& column, std::size_t row) {
  const double value = column.values[row];
  const double top = *std::ranges::max_element(column.values);
  const double width = value > 0 && top > 0 ? 100 * value / top : 0;
  return fmt::format("<td class=\"bar\" style=\"--w:{:.1f}\">{}</td>", width,
                     number(value, column.scale));
}

template <class PrintCell>
std::string table(std::span<const RunSummary> runs, const std::vector<Cells>& columns,
                  PrintCell print) {
  std::string html = "<div class=\"scroll\"><table>" + head(columns, "policy") + "<tbody>";
  for (std::size_t row = 0; row < runs.size(); ++row) {
    html += row_head(runs[row], row);
    for (const Cells& column : columns) html += print(column, row);
    html += "</tr>\n";
  }
  return html + "</tbody></table></div>\n";
}

}  // namespace

std::string results_html(std::span<const RunSummary> runs, bool mark_best) {
  std::vector<Cells> columns;
  for (const TableColumn& column : result_columns()) {
    Cells cells{.title = std::string(column.title), .values = {}, .scale = {}, .best = {}};
    for (const RunSummary& run : runs) cells.values.push_back(column.value(run));
    cells.scale = scale_of(column.quantity, cells.values);
    cells.best = best_to_be_had(runs, as_printed(cells),
                                mark_best ? column.better : BetterDirection::neither);
    columns.push_back(std::move(cells));
  }
  return table(runs, columns, cell);
}

std::string waiting_html(std::span<const RunSummary> runs) {
  std::vector<Cells> columns;
  for (std::size_t i = 0; !runs.empty() && i < runs[0].by_size.size(); ++i) {
    const GroupSummary& group = runs[0].by_size[i];
    if (group.jobs == 0) continue;
    Cells cells{.title = html_escape(group.name) + (group.name == "1" ? " GPU" : " GPUs"),
                .values = {},
                .scale = {},
                .best = {}};
    for (const RunSummary& run : runs) cells.values.push_back(run.by_size[i].average_queue.count());
    cells.scale = scale_of(Quantity::seconds, cells.values);
    columns.push_back(std::move(cells));
  }
  return table(runs, columns, bar_cell);
}

std::string settings_html(std::span<const RunSummary> runs) {
  std::string html =
      "<div class=\"scroll\"><table><thead><tr><th scope=\"col\">label</th>"
      "<th scope=\"col\" class=\"text\">policy</th><th scope=\"col\" class=\"text\">estimator</th>"
      "<th scope=\"col\" class=\"text\">mode</th><th scope=\"col\">seed</th>"
      "<th scope=\"col\" class=\"text\">settings</th></tr></thead><tbody>";
  for (const RunSummary& run : runs) {
    std::string settings;
    for (const auto& [key, value] : run.run.settings) {
      settings += (settings.empty() ? "" : ", ") + html_escape(key) + "=" + html_escape(value);
    }
    fmt::format_to(std::back_inserter(html),
                   "<tr><th scope=\"row\">{}</th><td class=\"text\">{}</td>"
                   "<td class=\"text\">{}</td><td class=\"text\">{}</td><td>{}</td>"
                   "<td class=\"text wrap\">{}</td></tr>\n",
                   html_escape(run.run.label), html_escape(run.run.policy),
                   run.run.uses_estimates ? html_escape(run.run.estimator) : "–",
                   html_escape(run.run.mode), run.run.seed, settings);
  }
  return html + "</tbody></table></div>\n";
}

}  // namespace schedmate::report
