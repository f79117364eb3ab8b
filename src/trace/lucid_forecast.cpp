// SPDX-License-Identifier: Apache-2.0
#include "trace/lucid_forecast.hpp"

#include <fmt/format.h>

#include <cmath>

#include "base/text.hpp"
#include "trace/csv.hpp"
#include "trace/values.hpp"

namespace schedmate::trace {

Result<ForecastTable> parse_lucid_forecast(std::string_view text, const std::string& name) {
  auto rows = CsvRows::open(text, name);
  if (!rows) return tl::unexpected(rows.error());
  const auto time = rows->need("time");
  const auto jobs = rows->need("pred_gpu_job");
  const auto gpus = rows->need("pred_gpu_num");
  for (const auto* column : {&time, &jobs, &gpus}) {
    if (!*column) return tl::unexpected(column->error());
  }
  ForecastTable table;
  std::int64_t row = 0;
  for (; rows->next(); ++row) {
    const auto bad = [&](Column column, std::string_view why) {
      return fail(ErrorCode::invalid,
                  fmt::format("{}:{}:{}: {}", name, rows->line(), rows->position(column), why));
    };
    if (!rows->fault().empty()) return bad(0, rows->fault());
    const auto date = parse_date(rows->field(*time));
    if (!date) return bad(*time, "time is not a date");
    const SimTime from = at(*date - lucid_epoch_s);
    if (row == 0) table.first = from;
    if (row == 1) table.step = from - table.first;
    if (table.step <= Seconds(0)) return bad(*time, "rows must go forward in time");
    if (from != table.first + row * table.step) return bad(*time, "rows are not evenly spaced");
    const auto job_count = parse_number<double>(rows->field(*jobs));
    const auto gpu_count = parse_number<double>(rows->field(*gpus));
    if (!job_count || !std::isfinite(*job_count)) return bad(*jobs, "not a number");
    if (!gpu_count || !std::isfinite(*gpu_count)) return bad(*gpus, "not a number");
    table.jobs.push_back(*job_count);
    table.gpus.push_back(*gpu_count);
  }
  if (row == 0) return fail(ErrorCode::invalid, fmt::format("{}: no row in the table", name));
  return table;
}

}  // namespace schedmate::trace
