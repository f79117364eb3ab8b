// SPDX-License-Identifier: Apache-2.0

/// Scores of the forecasts that eta_study wrote (docs/eta.md), of one draw or of several, each a
/// file. Each way is calibrated as the product does it, on what had been seen of it by then.
/// Intervals: bootstrap over pairs of pool and day.
///
///   eta_scores FIRST_DAY LAST_DAY rows.csv...

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <fstream>
#include <map>
#include <schedmate/eta_calibration.hpp>
#include <set>
#include <sstream>

#include "base/random.hpp"
#include "base/text.hpp"
#include "bench/quantile_of.hpp"
#include "eta/log_span.hpp"

namespace schedmate {
namespace {

struct Row {
  std::int64_t now_s = 0, day = 0, pool = 0, gpus = 0, queued = 0;
  double so_far_s = 0;
  std::string what, way;
  Spans raw{}, told{};
  double then_s = 0;  // -1: never
  std::size_t draw = 0;
};

using eta::log_span;

/// Mean over 0.1, 0.5, 0.9.
double pinball(double then_s, const Spans& told) {
  double sum = 0;
  for (const std::size_t i : {0U, 2U, 4U}) {
    const double off = log_span(then_s) - log_span(told[i]);
    sum += std::max(quantile_shares[i] * off, (quantile_shares[i] - 1) * off);
  }
  return sum / 3;
}

bool is_inside(double then_s, const Spans& told) {
  return then_s >= told.front() - 1 && then_s <= told.back() + 1;
}

std::vector<Row> read_rows(const std::string& path, std::size_t draw) {
  std::ifstream file(path);
  std::vector<Row> rows;
  std::string line;
  std::getline(file, line);
  while (std::getline(file, line)) {
    std::vector<std::string> cells;
    std::stringstream stream(line);
    for (std::string cell; std::getline(stream, cell, ',');) cells.push_back(cell);
    if (cells.size() != 15) continue;
    const auto whole = [&](std::size_t i) {
      return parse_number<std::int64_t>(cells[i]).value_or(0);
    };
    Row row{.now_s = whole(0),
            .day = whole(1),
            .pool = whole(3),
            .gpus = whole(4),
            .queued = whole(5),
            .so_far_s = static_cast<double>(whole(6)),
            .what = cells[7],
            .way = cells[8],
            .raw = {},
            .told = {},
            .then_s = static_cast<double>(whole(14)),
            .draw = draw};
    for (std::size_t i = 0; i < row.raw.size(); ++i)
      row.raw[i] = parse_number<double>(cells[9 + i]).value_or(0);
    row.told = row.raw;
    rows.push_back(std::move(row));
  }
  return rows;
}

/// Rows of one draw, kind and way, in order of time.
void calibrate_forward(std::vector<Row*>& rows) {
  for (std::size_t i = 0; i < rows.size();) {
    const std::int64_t now = rows[i]->now_s;
    std::vector<PastForecast> past;
    for (std::size_t j = 0; j < i; ++j) {
      const Row& each = *rows[j];
      const auto passed = static_cast<double>(now - each.now_s);
      const bool happened = each.then_s >= 0 && each.then_s <= passed;
      past.push_back({.kind = ForecastKind::start,
                      .so_far_s = each.so_far_s,
                      .told = each.raw,
                      .then_s = happened ? each.then_s : passed,
                      .happened = happened,
                      .crowd = static_cast<std::uint64_t>(1000 * (each.pool + 1) + each.day)});
    }
    const EtaCalibration calibration(past);
    for (; i < rows.size() && rows[i]->now_s == now; ++i)
      rows[i]->told = calibration.calibrated(ForecastKind::start, rows[i]->so_far_s, rows[i]->raw);
  }
}

/// Half the width of the 95 % interval of a mean, over pairs of pool and day, which are drawn
/// alike in all draws of instants.
double half_width(const std::vector<const Row*>& rows, const auto& value) {
  std::map<std::pair<std::int64_t, std::int64_t>, std::pair<double, double>> pairs;
  for (const Row* row : rows) {
    auto& [sum, count] = pairs[{row->pool, row->day}];
    sum += value(*row);
    count += 1;
  }
  std::vector<std::pair<double, double>> sums;
  for (const auto& [pair, sum] : pairs) sums.push_back(sum);
  Random random(7);
  std::vector<double> means;
  constexpr int times = 1000;
  for (int k = 0; k < times; ++k) {
    double sum = 0, count = 0;
    for (std::size_t i = 0; i < sums.size(); ++i) {
      const auto& [s, n] = sums[static_cast<std::size_t>(random.below(std::ssize(sums)))];
      sum += s;
      count += n;
    }
    means.push_back(sum / count);
  }
  return (quantile_of(means, 0.975) - quantile_of(means, 0.025)) / 2;
}

void print_scores(const std::string& what, const std::string& way,
                  const std::vector<const Row*>& rows) {
  if (rows.empty()) return;
  std::set<std::pair<std::int64_t, std::int64_t>> pairs;
  std::vector<double> off, off_min;
  double inside = 0, raw_inside = 0, loss = 0, raw_loss = 0, hour = 0;
  Spans below{}, raw_below{};
  for (const Row* row : rows) {
    pairs.insert({row->pool, row->day});
    inside += is_inside(row->then_s, row->told) ? 1 : 0;
    raw_inside += is_inside(row->then_s, row->raw) ? 1 : 0;
    loss += pinball(row->then_s, row->told);
    raw_loss += pinball(row->then_s, row->raw);
    off.push_back(std::abs(log_span(row->then_s) - log_span(row->told[2])));
    off_min.push_back(std::abs(row->then_s - row->told[2]) / 60);
    hour += (row->then_s < 3600) == (row->told[2] < 3600) ? 1 : 0;
    for (std::size_t i = 0; i < below.size(); ++i) {
      below[i] += row->then_s <= row->told[i] ? 1 : 0;
      raw_below[i] += row->then_s <= row->raw[i] ? 1 : 0;
    }
  }
  const auto n = static_cast<double>(rows.size());
  for (auto* each : {&below, &raw_below})
    for (double& share : *each) share = 100 * share / n;
  fmt::print(
      "{},{},{},{},{:.1f},{:.1f},{:.1f},{:.4f},{:.4f},{:.4f},{:.3f},{:.1f},{:.1f},{:.1f},{:.1f}\n",
      what, way, rows.size(), pairs.size(), 100 * raw_inside / n, 100 * inside / n,
      100 * half_width(rows, [](const Row& r) { return is_inside(r.then_s, r.told); }),
      raw_loss / n, loss / n,
      half_width(rows, [](const Row& r) { return pinball(r.then_s, r.told); }),
      quantile_of(off, 0.5), quantile_of(off_min, 0.5), 100 * hour / n, fmt::join(raw_below, " "),
      fmt::join(below, " "));
}

void score(std::int64_t first_day, std::int64_t last_day, std::vector<Row>& rows) {
  std::map<std::tuple<std::size_t, std::string, std::string>, std::vector<Row*>> series;
  for (Row& row : rows) series[{row.draw, row.what, row.way}].push_back(&row);
  std::map<std::pair<std::string, std::string>, std::vector<const Row*>> scored;
  for (auto& [which, each] : series) {
    calibrate_forward(each);
    for (const Row* row : each)
      if (row->day >= first_day && row->day <= last_day && row->then_s >= 0)
        scored[{row->what, row->way}].push_back(row);
  }
  fmt::print(
      "what,way,jobs,pool_days,raw_inside_pct,inside_pct,inside_pm,raw_pinball,pinball,pinball_pm,"
      "log_off,"
      "off_min,hour_right_pct,raw_below_pct,below_pct\n");
  for (const auto& [which, each] : scored) print_scores(which.first, which.second, each);
  const auto grouped = [&](std::string_view name, const std::vector<std::int64_t>& up_to,
                           std::int64_t Row::* member) {
    for (const std::string what : {"start", "end"})
      for (std::size_t g = 0; g <= up_to.size(); ++g) {
        std::vector<const Row*> group;
        const std::int64_t from = g == 0 ? 0 : up_to[g - 1] + 1;
        for (const Row* row : scored[{what, "eta"}])
          if (row->*member >= from && (g == up_to.size() || row->*member <= up_to[g]))
            group.push_back(row);
        print_scores(what, fmt::format("eta {} {}+", name, from), group);
      }
  };
  grouped("GPUs", {1, 4, 8}, &Row::gpus);
  grouped("queued", {3, 20, 100}, &Row::queued);
}

}  // namespace
}  // namespace schedmate

int main(int argc, char** argv) {
  const std::vector<std::string> arguments(argv + 1, argv + argc);
  std::vector<schedmate::Row> rows;
  for (std::size_t i = 2; i < arguments.size(); ++i)
    for (auto& row : schedmate::read_rows(arguments[i], i)) rows.push_back(std::move(row));
  if (rows.empty()) {
    fmt::print(stderr, "usage: eta_scores FIRST_DAY LAST_DAY rows.csv...\n");
    return 2;
  }
  const auto day = [&](std::size_t i) {
    return schedmate::parse_number<std::int64_t>(arguments[i]).value_or(0);
  };
  schedmate::score(day(0), day(1), rows);
  return 0;
}
