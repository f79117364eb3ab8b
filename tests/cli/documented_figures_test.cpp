// SPDX-License-Identifier: Apache-2.0
// The tables that README.md and decision 0012 give by hand are those of evaluation/*.csv.
#include <doctest/doctest.h>
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

#include "base/text.hpp"
#include "evaluation_report/figure_rows.hpp"
#include "tests/cli/program.hpp"

namespace schedmate {
namespace {

using Cells = std::vector<std::string>;

Cells cells_of(std::string_view line) {
  Cells cells;
  for (const auto cell : split(line, '|')) cells.emplace_back(trim(cell));
  return {cells.begin() + 1, cells.end() - 1};
}

/// The rows of the table whose header begins with `head`.
std::vector<Cells> table_of(const std::string& document, std::string_view head) {
  const std::string text = contents(std::string(SCHEDMATE_SOURCE_DIR "/") + document);
  std::vector<Cells> rows;
  bool inside = false;
  for (const auto line : split(text, '\n')) {
    if (inside && !line.starts_with("|")) break;
    if (inside && !line.starts_with("| ---")) rows.push_back(cells_of(line));
    inside = inside || line.starts_with(head);
  }
  return rows;
}

/// An experiment of one trace without a sweep.
class Measured {
 public:
  Measured(std::string_view host, std::string_view trace, std::string_view recipe) {
    std::string place = lower_case(trace);
    if (place == "saturn-like") place = "saturn_like";
    if (place == "acme-like") place = "acme_seren_like";
    name_ = host == "lucid" ? fmt::format("fig12_{}_{}", place, recipe)
                            : fmt::format("{}_{}", host, place);
    auto rows = evaluation_report::read_rows_of(
        fmt::format(SCHEDMATE_SOURCE_DIR "/evaluation/{}.csv", name_));
    REQUIRE_MESSAGE(rows, rows.error().message);
    rows_ = std::move(*rows);
  }

  /// `document_text` is VALUE, VALUE +-HALF or, where the CSV has no figure, -.
  void check(std::string_view document_text, std::string_view arm, std::string_view figure) const {
    const study::FigureRow& row = find(arm, figure);
    const std::string place = fmt::format("{}, {}, {}", name_, arm, figure);
    if (document_text == "-") {
      CHECK_MESSAGE(row.note == "no head-room", place);
      return;
    }
    check_number(document_text.substr(0, document_text.find(' ')), row.interval.value, place);
    if (const auto half = document_text.find("+-"); half != std::string_view::npos)
      check_number(document_text.substr(half + 2), (row.interval.high - row.interval.low) / 2,
                   place + ", half of the interval");
  }

  [[nodiscard]] bool has(std::string_view arm) const {
    return std::ranges::any_of(rows_, [&](const auto& at) { return at.row.arm == arm; });
  }

 private:
  [[nodiscard]] const study::FigureRow& find(std::string_view arm, std::string_view figure) const {
    for (const auto& [row, line] : rows_)
      if (row.arm == arm && row.figure == figure) return row;
    FAIL(fmt::format("{} has no {} of {}", name_, figure, arm));
    return rows_.front().row;
  }
  /// What the document says has been rounded to its last digit; a plain 0 to a tenth.
  static void check_number(std::string_view document_text, double value, const std::string& place) {
    const auto number = parse_number<double>(
        document_text.starts_with('+') ? document_text.substr(1) : document_text);
    REQUIRE_MESSAGE(number, fmt::format("{}: {}", place, document_text));
    const auto point = document_text.find('.');
    const auto digits = point == std::string_view::npos ? 1 : document_text.size() - point - 1;
    CHECK_MESSAGE(std::abs(*number - value) <= 0.501 * std::pow(0.1, digits),
                  fmt::format("{}: documented {}, measured {}", place, document_text, value));
  }

  std::string name_;
  std::vector<evaluation_report::FigureLine> rows_;
};

}  // namespace

TEST_CASE("documents: the figures of hosts with SchedMate in README.md are the measured ones") {
  const auto rows = table_of("README.md", "| experiment, heavy workload on ");
  CHECK(rows.size() == 4);
  for (const auto& row : rows) {
    const Measured lucid("lucid", row[0].substr(0, row[0].find(',')), "heavy");
    lucid.check(row[1], "sm", "ln_ratio");
    lucid.check(row[2], "sm", "oracle_share");
    lucid.check(row[3], "sm.all", "ln_ratio");
    lucid.check(row[4], "sm", "jct_ratio");
  }
}

TEST_CASE("documents: the figures of hosts with SchedMate in decision 0012 are the measured ones") {
  const auto rows =
      table_of("docs/decisions/0012-schedmate-in-hosts.md", "| host, trace, recipe |");
  CHECK(rows.size() == 18);
  for (const auto& row : rows) {
    const auto place = split(row[0], ',');
    const Measured measured(place[0], trim(place[1]), trim(place[2]));
    measured.check(row[1], "sm", "ln_ratio");
    measured.check(row[2], "sm.oracle", "ln_ratio");
    measured.check(row[3], "sm", "oracle_share");
    measured.check(row[4], measured.has("sm.own") ? "sm.own" : "sm.metadata", "ln_ratio");
    measured.check(row[5], "sm.all", "ln_ratio");
    const auto slash = row[6].find(" / ");
    measured.check(row[6].substr(0, slash), "sm", "jct_ratio");
    measured.check(row[6].substr(slash + 3), "sm.oracle", "jct_ratio");
  }
}

}  // namespace schedmate
