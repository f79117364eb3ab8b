// SPDX-License-Identifier: Apache-2.0

/// docs/formats/philly.md. This is the CSV form (one row a job, attempts merged); philly_json.cpp
/// reads the original log.

#include "trace/job_rows.hpp"
#include "trace/readers.hpp"
#include "trace/values.hpp"

namespace schedmate::trace {
namespace {

Result<Trace> parse_philly_csv(std::string_view text, const std::string& name,
                               const ReadOptions& options) {
  auto rows = CsvRows::open(text, name);
  if (!rows) return tl::unexpected(rows.error());
  const auto columns = find_job_columns(
      *rows, {"job_id", "user", "vc", "state", "gpu_num", "submit_s", "duration_s"});
  if (!columns) return tl::unexpected(columns.error());
  return read_rows(*rows, *columns, options, [&](JobRow& row, Draft job, TraceBuilder& builder) {
    job.gpus = row.number(columns->gpus, parse_whole, "a whole number");
    job.submit_s = row.number(columns->submit, parse_time, "a date or a number of seconds");
    job.duration_s = row.number(columns->duration, parse_seconds, "a number of seconds");
    row.finish(job, builder);
  });
}

constexpr JsonOrText philly_parsers{parse_philly_csv, parse_philly_json};

}  // namespace

Result<Trace> parse_philly(std::string_view text, const std::string& display_name,
                           const ReadOptions& options) {
  return parse_json_or_text(bytes_of(text), display_name, options, philly_parsers);
}

Result<Trace> read_philly(const std::string& path, const ReadOptions& options) {
  auto file = InputFile::open(path);
  if (!file) return tl::unexpected(file.error());
  const auto read = [&](std::span<char> out) { return file->read(out); };
  return with_vc_file(parse_json_or_text(read, path, options, philly_parsers), path);
}

}  // namespace schedmate::trace
