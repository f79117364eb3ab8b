// SPDX-License-Identifier: Apache-2.0

/// docs/formats/acme.md. Acme names no virtual clusters: all jobs are in one. Its `duration` is
/// run time in Seren but includes the waiting in Kalos, so the run time is end - start where both
/// are known.

#include "trace/job_rows.hpp"
#include "trace/readers.hpp"
#include "trace/values.hpp"

namespace schedmate::trace {

Result<Trace> parse_acme(std::string_view text, const std::string& display_name,
                         const ReadOptions& options) {
  auto rows = CsvRows::open(text, display_name);
  if (!rows) return tl::unexpected(rows.error());
  const auto columns = find_job_columns(
      *rows, {"job_id", "user", "", "state", "gpu_num", "submit_time", "duration"});
  if (!columns) return tl::unexpected(columns.error());
  const Column start = rows->find("start_time");
  const Column end = rows->find("end_time");
  return read_rows(*rows, *columns, options, [&](JobRow& row, Draft job, TraceBuilder& builder) {
    job.gpus = row.number(columns->gpus, parse_whole, "a whole number");
    if (job.gpus > 0) {
      job.submit_s = row.number(columns->submit, parse_time, "a date or a number of seconds");
      if (!is_unknown(row.text(start)) && !is_unknown(row.text(end))) {
        job.duration_s = row.number(end, parse_time, "a date or a number of seconds") -
                         row.number(start, parse_time, "a date or a number of seconds");
      } else if (is_unknown(row.text(columns->duration))) {
        return builder.skip("never ran");
      } else {
        job.duration_s = row.number(columns->duration, parse_seconds, "a number of seconds");
      }
    }
    row.finish(job, builder);
  });
}

Result<Trace> read_acme(const std::string& path, const ReadOptions& options) {
  const auto text = read_file(path);
  if (!text) return tl::unexpected(text.error());
  return with_vc_file(parse_acme(*text, path, options), path);
}

}  // namespace schedmate::trace
