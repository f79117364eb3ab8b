// SPDX-License-Identifier: Apache-2.0

/// docs/formats/sacct.md: `sacct --parsable2` with any fields in any order; sacct_json.cpp reads
/// `sacct --json`. Job steps are not jobs, and only a job that has ended has a run time.

#include "trace/job_rows.hpp"
#include "trace/readers.hpp"
#include "trace/sacct_rows.hpp"
#include "trace/values.hpp"

namespace schedmate::trace {
namespace {

struct SacctColumns {
  JobColumns job;
  Column start = absent, end = absent;
  Column allocated = absent, requested = absent;
};

Column first_of(const CsvRows& rows, std::initializer_list<std::string_view> names) {
  for (const std::string_view name : names) {
    if (const Column column = rows.find(name); column != absent) return column;
  }
  return absent;
}

Result<SacctColumns> find_columns(const CsvRows& rows) {
  SacctColumns columns;
  JobColumns& job = columns.job;
  job.id = first_of(rows, {"JobID", "JobIDRaw"});
  job.user = first_of(rows, {"User", "UID"});
  job.vc = rows.find("Partition");
  job.state = rows.find("State");
  job.submit = rows.find("Submit");
  job.duration = first_of(rows, {"ElapsedRaw", "Elapsed"});
  columns.start = rows.find("Start");
  columns.end = rows.find("End");
  columns.allocated = first_of(rows, {"AllocTRES", "AllocGRES"});
  columns.requested = first_of(rows, {"ReqTRES", "ReqGRES"});
  job.gpus = columns.allocated != absent ? columns.allocated : columns.requested;
  std::string_view missing;
  if (job.id == absent) missing = "JobID";
  if (job.submit == absent) missing = "Submit";
  if (job.gpus == absent) missing = "AllocTRES";
  if (job.duration == absent && (columns.start == absent || columns.end == absent)) {
    missing = "Elapsed";
  }
  if (missing.empty()) return columns;
  return tl::unexpected(rows.need(missing).error());
}

void add_job(JobRow& row, Draft job, const SacctColumns& columns, TraceBuilder& builder) {
  if (job.id.find('.') != std::string_view::npos) return builder.skip("job step");
  const RunState life = run_state(row.text(columns.job.state));
  const bool no_start = columns.start != absent && is_unknown(row.text(columns.start));
  if (life == RunState::waiting || no_start) return builder.skip("never ran");
  if (life == RunState::running) return builder.skip("still running at the end of the log");
  const auto allocated = gpus_of_tres(row.text(columns.allocated));
  job.gpus = allocated ? *allocated : gpus_of_tres(row.text(columns.requested)).value_or(0);
  job.submit_s = row.number(columns.job.submit, parse_time, "a date or a number of seconds");
  if (columns.job.duration != absent) {
    job.duration_s = row.number(columns.job.duration, parse_elapsed, "a run time");
  } else {
    job.duration_s = row.number(columns.end, parse_time, "a date or a number of seconds") -
                     row.number(columns.start, parse_time, "a date or a number of seconds");
  }
  row.finish(job, builder);
}

Result<Trace> parse_sacct_text(std::string_view text, const std::string& name,
                               const ReadOptions& options) {
  auto rows = CsvRows::open(text, name, '|');
  if (!rows) return tl::unexpected(rows.error());
  const auto columns = find_columns(*rows);
  if (!columns) {
    // A table for the screen, or no dump at all: what to do about it is said in one place.
    if (const auto other = SacctRows::open(text, name); rows->header().size() == 1 && !other)
      return tl::unexpected(other.error());
    return tl::unexpected(columns.error());
  }
  return read_rows(*rows, columns->job, options,
                   [&](JobRow& row, const Draft& job, TraceBuilder& builder) {
                     add_job(row, job, *columns, builder);
                   });
}

constexpr JsonOrText sacct_parsers{parse_sacct_text, parse_sacct_json};

}  // namespace

Result<Trace> parse_sacct(std::string_view text, const std::string& display_name,
                          const ReadOptions& options) {
  return parse_json_or_text(bytes_of(text), display_name, options, sacct_parsers);
}

Result<Trace> read_sacct(const std::string& path, const ReadOptions& options) {
  auto file = InputFile::open(path);
  if (!file) return tl::unexpected(file.error());
  const auto read = [&](std::span<char> out) { return file->read(out); };
  return with_vc_file(parse_json_or_text(read, path, options, sacct_parsers), path);
}

}  // namespace schedmate::trace
