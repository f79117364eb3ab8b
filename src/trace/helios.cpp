// SPDX-License-Identifier: Apache-2.0

/// docs/formats/helios.md. Two spellings of the times: submit_time as a date (HeliosData) and
/// submit_s, duration_s in seconds (the bundled Venus days and generated traces).

#include "trace/job_rows.hpp"
#include "trace/readers.hpp"
#include "trace/values.hpp"

namespace schedmate::trace {

Result<Trace> parse_helios(std::string_view text, const std::string& display_name,
                           const ReadOptions& options) {
  auto rows = CsvRows::open(text, display_name);
  if (!rows) return tl::unexpected(rows.error());
  const bool dated = rows->find("submit_s") == absent;
  const auto columns = find_job_columns(
      *rows, {"job_id", "user", "vc", "state", "gpu_num", dated ? "submit_time" : "submit_s",
              dated ? "duration" : "duration_s"});
  if (!columns) return tl::unexpected(columns.error());
  return read_rows(*rows, *columns, options, [&](JobRow& row, Draft job, TraceBuilder& builder) {
    job.gpus = row.number(columns->gpus, parse_whole, "a whole number");
    job.submit_s = row.number(columns->submit, parse_time, "a date or a number of seconds");
    if (job.gpus > 0) {  // many CPU jobs have no run time; they are skipped anyway
      job.duration_s = row.number(columns->duration, parse_seconds, "a number of seconds");
    }
    row.finish(job, builder);
  });
}

Result<Trace> read_helios(const std::string& path, const ReadOptions& options) {
  const auto text = read_file(path);
  if (!text) return tl::unexpected(text.error());
  return with_vc_file(parse_helios(*text, path, options), path);
}

}  // namespace schedmate::trace
