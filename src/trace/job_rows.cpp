// SPDX-License-Identifier: Apache-2.0
#include "trace/job_rows.hpp"

#include <fmt/format.h>

#include <array>
#include <cmath>

#include "base/text.hpp"
#include "trace/values.hpp"

namespace schedmate::trace {

std::int64_t JobRow::number(Column column, Parse parse, std::string_view kind) {
  const auto value = parse(rows_.field(column));
  if (value) return *value;
  blame(column, kind);
  return 0;
}

double JobRow::real(Column column) {
  const auto value = parse_number<double>(rows_.field(column));
  if (value && std::isfinite(*value)) return *value;
  blame(column, "a number");
  return 0;
}

void JobRow::blame(Column column, std::string_view kind) {
  if (!fault_.empty()) return;
  const std::string name = column == absent ? "a needed column" : rows_.header()[column];
  fault_ =
      fmt::format("{} is {} {}", name, rows_.field(column).empty() ? "empty, not" : "not", kind);
  fault_at_ = rows_.position(column);
}

Draft JobRow::draft() const {
  Draft job;
  job.id = text(columns_.id);
  job.user = text(columns_.user);
  job.vc = columns_.vc == absent ? whole_cluster : text(columns_.vc);
  job.state = parse_state(text(columns_.state));
  return job;
}

void JobRow::finish(const Draft& job, TraceBuilder& builder) const {
  if (!fault_.empty()) return builder.reject(fault_, rows_.line(), fault_at_);
  builder.add(job, {rows_.line(),
                    {rows_.position(columns_.id), rows_.position(columns_.gpus),
                     rows_.position(columns_.submit), rows_.position(columns_.duration)}});
}

Result<JobColumns> find_job_columns(const CsvRows& rows,
                                    std::initializer_list<std::string_view> header) {
  JobColumns columns;
  const std::array<Column*, 7> places = {&columns.id,      &columns.user, &columns.vc,
                                         &columns.state,   &columns.gpus, &columns.submit,
                                         &columns.duration};
  std::size_t i = 0;
  for (const std::string_view name : header) {
    Column& place = *places[i++];
    if (name.empty()) continue;
    place = rows.find(name);
    const bool optional =
        &place == &columns.user || &place == &columns.vc || &place == &columns.state;
    if (place != absent || optional) continue;
    return tl::unexpected(rows.need(name).error());
  }
  return columns;
}

Result<Trace> read_rows(CsvRows& rows, const JobColumns& columns, const ReadOptions& options,
                        const ReadRow& read_row) {
  std::vector<Column> extra;
  for (const std::string& name : options.columns) {
    const auto column = rows.need(name);
    if (!column) return tl::unexpected(column.error());
    extra.push_back(*column);
  }
  TraceBuilder builder(rows.name(), options);
  std::vector<double> values(extra.size());
  while (!builder.stopped() && rows.next()) {
    if (!rows.fault().empty()) {
      builder.reject(rows.fault(), rows.line(), 1);
      continue;
    }
    JobRow row(rows, columns);
    for (std::size_t i = 0; i < extra.size(); ++i) values[i] = row.real(extra[i]);
    Draft job = row.draft();
    job.extra = values;
    read_row(row, job, builder);
  }
  return std::move(builder).finish().map([&](Trace&& trace) {
    for (const std::string& name : rows.header())
      if (name.starts_with("syn_")) trace.report.invented_columns.push_back(name);
    return std::move(trace);
  });
}

}  // namespace schedmate::trace
