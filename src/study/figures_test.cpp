// SPDX-License-Identifier: Apache-2.0
#include "study/figures.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>

#include "tests/support/near.hpp"

namespace schedmate::study {
namespace {

using testing::near;

double of(const Figures& figures, Figure which) { return figures[static_cast<std::size_t>(which)]; }

Figures with_ratio(double ln_ratio) {
  Figures figures{};
  figures[static_cast<std::size_t>(Figure::ln_ratio)] = ln_ratio;
  figures[static_cast<std::size_t>(Figure::jct_ratio)] = std::exp(-ln_ratio);
  figures[static_cast<std::size_t>(Figure::jobs)] = 10;
  return figures;
}

FigureRow named(std::string policy) {
  FigureRow row;
  row.arm = "sm";
  row.policy = std::move(policy);
  return row;
}

std::string verdict(const std::string& policy, double low, double high) {
  const std::vector figures{with_ratio(low), with_ratio(high)};
  const auto rows = arm_rows(named(policy), figures);
  const auto row_of = [&](std::string_view figure) {
    const auto found = std::ranges::find(rows, figure, &FigureRow::figure);
    REQUIRE(found != rows.end());
    return *found;
  };
  REQUIRE(row_of("upper95").note == row_of("longer95").note);  // both means are the same here
  return row_of("upper95").note;
}

}  // namespace

TEST_CASE("compare: worked by hand; what did not finish in both is left out and counted") {
  const double none = std::nan("");
  const Replayed host{{100, 200, 400, 50, none}, {50, 200, 100, 50, 10}, 1000, 0, 0};
  const Replayed arm{{50, 200, 1600, none, 10}, {50, 200, 100, 50, 10}, 1200, 40, 10};
  const Figures figures = compare(host, arm);
  CHECK(of(figures, Figure::jobs) == 3);
  CHECK(of(figures, Figure::unfinished) == 1);
  CHECK(near(of(figures, Figure::ln_ratio), std::log(2.0) / 3, 1e-12, 0));  // 1/2, 1, 4
  CHECK(near(of(figures, Figure::jct_s), 1850.0 / 3, 1e-12, 0));
  CHECK(near(of(figures, Figure::host_jct_s), 700.0 / 3, 1e-12, 0));
  CHECK(near(of(figures, Figure::jct_ratio), 700.0 / 1850, 1e-12, 0));
  CHECK(near(of(figures, Figure::bound), 2, 1e-12, 0));  // 700 s against 350 s
  CHECK(of(figures, Figure::jct_p50_s) == 200);
  CHECK(of(figures, Figure::jct_p99_s) == 1600);
  CHECK(of(figures, Figure::ratio_p50) == 1);
  CHECK(of(figures, Figure::ratio_p99) == 4);
  CHECK(near(of(figures, Figure::slowed_2x), 1.0 / 3, 1e-12, 0));
  CHECK(of(figures, Figure::makespan_s) == 1200);
  CHECK(near(of(figures, Figure::packed_share), 0.25, 1e-12, 0));
}

TEST_CASE("a job that takes exactly twice as long is not slowed more than twice") {
  const Figures figures = compare({{100, 100}, {9, 9}, 0, 0, 0}, {{200, 201}, {9, 9}, 0, 0, 0});
  CHECK(near(of(figures, Figure::slowed_2x), 0.5, 1e-12, 0));
}

TEST_CASE("the bound of arms that take advice has a verdict") {
  CHECK(verdict("lucid+sm", -0.101, -0.1) == "holds");
  CHECK(verdict("lucid+sm", 0.03, 0.031) == "exceeds");
  CHECK(verdict("lucid+sm", -0.1, 0.1) == "exceeds");  // mean 0, but who knows?
  CHECK(verdict("lucid:advice=last_k", 0.03, 0.031) == "exceeds");
  CHECK(verdict("horus", 0.5, 0.51).empty());
}

TEST_CASE("both means have to hold, and the average has a share of the bound") {
  const auto figures_of = [](double ln_ratio, double host_s, double arm_s) {
    Figures figures = with_ratio(ln_ratio);
    const auto set = [&](Figure which, double value) {
      figures[static_cast<std::size_t>(which)] = value;
    };
    set(Figure::host_jct_s, host_s);
    set(Figure::jct_s, arm_s);
    set(Figure::jct_ratio, host_s / arm_s);
    set(Figure::bound, host_s / 50);  // 50 s without waiting
    return figures;
  };
  const std::vector draws{figures_of(-0.3, 100, 110), figures_of(-0.31, 200, 218)};
  const auto rows = arm_rows(named("lucid+sm"), draws);
  const auto row_of = [&](std::string_view figure) {
    return *std::ranges::find(rows, figure, &FigureRow::figure);
  };
  CHECK(row_of("upper95").note == "holds");
  CHECK(row_of("longer95").note == "exceeds");  // about 9.5 % longer
  CHECK(row_of("longer95").interval.value > 0.095);
  CHECK(near(row_of("bound_share").interval.value, -28.0 / 200, 1e-12, 0));
}

TEST_CASE("share of the oracle's gain: only where there is head-room") {
  const std::vector arm{with_ratio(-0.05), with_ratio(-0.06), with_ratio(-0.055)};
  const std::vector oracle{with_ratio(-0.10), with_ratio(-0.11), with_ratio(-0.12)};
  const FigureRow row = oracle_row(named("lucid+sm"), {arm, oracle});
  CHECK(row.note.empty());
  CHECK(near(row.interval.value, 0.5, 1e-12, 0));
  const std::vector small{with_ratio(-0.020), with_ratio(-0.021), with_ratio(-0.019)};
  CHECK(oracle_row(named("lucid+sm"), {arm, small}).note == "no head-room");
  const std::vector unsure{with_ratio(-0.3), with_ratio(0.1), with_ratio(-0.2)};
  const FigureRow none = oracle_row(named("lucid+sm"), {arm, unsure});
  CHECK(none.note == "no head-room");
  CHECK(std::isnan(none.interval.value));
}

TEST_CASE("the difference from a control is paired") {
  const std::vector arm{with_ratio(-0.1), with_ratio(-0.3)};
  const std::vector control{with_ratio(0.0), with_ratio(-0.2)};
  const Interval over = difference_row(named("lucid+sm"), {arm, control}).interval;
  CHECK(near(over.value, -0.1, 1e-12, 0));
  CHECK(near(over.low, -0.1, 1e-12, 0));  // both pairs differ by as much
}

TEST_CASE("a CSV line has a field for each column, and quotes what needs it") {
  FigureRow row = named("lucid:advice=last_k,shrink=false");
  row.interval = {0.123456789, std::nan(""), 2, 20};
  const std::string line = csv_line(row);
  CHECK(line.contains("\"lucid:advice=last_k,shrink=false\""));
  CHECK(line.contains(",0.123457,,2,20,"));
  const auto header = csv_header();
  CHECK(std::ranges::count(header, ',') + 1 == std::ranges::count(line, ','));  // one in quotes
}

}  // namespace schedmate::study
