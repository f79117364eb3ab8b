// SPDX-License-Identifier: Apache-2.0
#pragma once

/// Jobs from the rows of a delimited file: what helios, acme, lucid, the Philly CSVs and sacct have
/// in common. A format says which column means what and how a time is written; this reads the
/// fields, and the first one that is wrong rejects the row.

#include <functional>
#include <initializer_list>

#include "trace/builder.hpp"
#include "trace/csv.hpp"

namespace schedmate::trace {

/// Columns of a job; `absent` ones read as "" (state, user, vc) or reject the row (numbers).
struct JobColumns {
  Column id = absent, user = absent, vc = absent, state = absent;
  Column gpus = absent, submit = absent, duration = absent;
};

/// One row, read field by field. After a fault the numbers are zero.
class JobRow {
 public:
  using Parse = std::optional<std::int64_t> (*)(std::string_view);

  JobRow(const CsvRows& rows, const JobColumns& columns) : rows_(rows), columns_(columns) {}

  [[nodiscard]] std::string_view text(Column column) const { return rows_.field(column); }
  /// The field as `parse` reads it; `kind` ("a whole number") completes the reason of a fault.
  std::int64_t number(Column column, Parse parse, std::string_view kind);
  double real(Column column);
  /// Id, user, VC and state.
  [[nodiscard]] Draft draft() const;
  /// Adds the job, or rejects the row when a field was wrong.
  void finish(const Draft& job, TraceBuilder& builder) const;

 private:
  void blame(Column column, std::string_view kind);
  const CsvRows& rows_;
  const JobColumns& columns_;
  std::string fault_;
  std::size_t fault_at_ = 0;
};

/// `header` names the columns in the order id, user, vc, state, gpus, submit, duration; "" for one
/// that the format lacks. Errors: invalid when id, gpus, submit or duration has a name that is not
/// in the file.
Result<JobColumns> find_job_columns(const CsvRows& rows,
                                    std::initializer_list<std::string_view> header);

/// Reads all rows. `read_row` gets each sound row and calls JobRow::finish or TraceBuilder::skip.
/// The numeric columns that ReadOptions asks for are read here. Errors: invalid when one is absent.
using ReadRow = std::function<void(JobRow& row, Draft job, TraceBuilder& builder)>;
Result<Trace> read_rows(CsvRows& rows, const JobColumns& columns, const ReadOptions& options,
                        const ReadRow& read_row);

}  // namespace schedmate::trace
