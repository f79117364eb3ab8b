// SPDX-License-Identifier: Apache-2.0

/// docs/formats/lucid.md: a folder with the input of the Lucid simulator. Dates in it count from 1
/// April 2020, the zero of that simulator's clock. Jobs of one second stay in the order of the
/// file: the released schedules depend on it.

#include <fmt/format.h>

#include <filesystem>
#include <system_error>
#include <utility>

#include "base/text.hpp"
#include "trace/job_rows.hpp"
#include "trace/lucid_forecast.hpp"
#include "trace/packing_tables.hpp"
#include "trace/readers.hpp"
#include "trace/values.hpp"

namespace schedmate::trace {
namespace {

namespace fs = std::filesystem;

/// Finds the profile of a job; a configuration that the profile table lacks gets one from the
/// job's own columns.
class JobProfiles {
 public:
  explicit JobProfiles(PackingTables& tables) : tables_(tables), index_(index_profiles(tables)) {}

  void bind(const CsvRows& rows) {
    const auto columns = find_profile_columns(rows, "share_label");
    if (columns) columns_ = *columns;
  }

  /// Nothing when the row's workload columns are wrong; no_index when the file has none.
  std::optional<std::uint32_t> of(const CsvRows& rows) {
    if (columns_.model == absent) return no_index;
    auto profile = read_profile(rows, columns_);
    if (!profile) return std::nullopt;
    const auto next = static_cast<std::uint32_t>(tables_.profiles.size());
    const auto [found, is_new] = index_.try_emplace(
        ProfileKey(profile->model, profile->dataset, profile->batch_size, profile->mixed_precision),
        next);
    if (is_new) tables_.profiles.push_back(std::move(*profile));
    return found->second;
  }

 private:
  PackingTables& tables_;
  ProfileIndex index_;
  ProfileColumns columns_;
};

std::optional<std::int64_t> parse_lucid_time(std::string_view text) {
  const auto date = parse_date(text);
  return date ? std::optional(*date - lucid_epoch_s) : parse_seconds(text);
}

Result<Trace> parse_jobs(std::string_view text, const std::string& name, const ReadOptions& options,
                         PackingTables& tables) {
  auto rows = CsvRows::open(text, name);
  if (!rows) return tl::unexpected(rows.error());
  const auto columns = find_job_columns(
      *rows, {"job_id", "user", "vc", "state", "gpu_num", "submit_time", "duration"});
  if (!columns) return tl::unexpected(columns.error());
  JobProfiles profiles(tables);
  profiles.bind(*rows);
  return read_rows(*rows, *columns, options, [&](JobRow& row, Draft job, TraceBuilder& builder) {
    job.gpus = row.number(columns->gpus, parse_whole, "a whole number");
    job.submit_s = row.number(columns->submit, parse_lucid_time, "a date or a number of seconds");
    job.duration_s = row.number(columns->duration, parse_seconds, "a number of seconds");
    const auto profile = profiles.of(*rows);
    if (!profile) return builder.reject("bad workload columns", rows->line(), 0);
    job.profile = *profile;
    row.finish(job, builder);
  });
}

/// The text of a table in the folder; nothing when it is not there.
Result<std::optional<std::string>> read_table(const fs::path& file) {
  std::error_code unreadable;
  if (!fs::exists(file, unreadable)) return std::nullopt;
  auto text = read_file(file.string());
  if (!text) return tl::unexpected(text.error());
  return std::move(*text);
}

Result<PackingTables> read_profiles(const fs::path& folder) {
  const fs::path file = folder / "single_data.csv";
  PackingTables tables;
  const auto text = read_table(file);
  if (!text) return tl::unexpected(text.error());
  if (!*text) return tables;
  auto profiles = parse_profiles(**text, file.string());
  if (!profiles) return tl::unexpected(profiles.error());
  tables.profiles = std::move(*profiles);
  return tables;
}

/// Pair speeds, forecast and VCs; each may be absent.
Result<void> add_tables(const fs::path& folder, PackingTables tables, Trace& trace) {
  const fs::path pairs_file = folder / "colocate_info.csv";
  const auto pairs = read_table(pairs_file);
  if (!pairs) return tl::unexpected(pairs.error());
  tables.pairs.assign(tables.profiles.size() * tables.profiles.size(), PairRate{});
  if (*pairs) {
    const auto read = parse_pairs(**pairs, pairs_file.string(), tables);
    if (!read) return read;
  }
  if (!tables.profiles.empty()) {
    trace.packing = std::make_shared<const PackingTables>(std::move(tables));
  }
  const fs::path forecast_file = folder / "throughput_pred.csv";
  const auto forecast = read_table(forecast_file);
  if (!forecast) return tl::unexpected(forecast.error());
  if (*forecast) {
    auto table = parse_lucid_forecast(**forecast, forecast_file.string());
    if (!table) return tl::unexpected(table.error());
    trace.forecast = std::make_shared<const ForecastTable>(std::move(*table));
  }
  return {};
}

/// The jobs file of a folder, or the path itself when it is one.
Result<fs::path> find_jobs(const fs::path& path) {
  std::error_code unreadable;
  if (!fs::is_directory(path, unreadable)) return path;
  for (const char* name : {"jobs.csv", "jobs.csv.gz", "jobs.csv.zst"}) {
    if (fs::exists(path / name, unreadable)) return path / name;
  }
  return fail(
      ErrorCode::invalid,
      fmt::format("{}: no jobs.csv, jobs.csv.gz or jobs.csv.zst in the folder", path.string()));
}

}  // namespace

Result<Trace> parse_lucid(std::string_view text, const std::string& display_name,
                          const ReadOptions& options) {
  PackingTables tables;
  auto trace = parse_jobs(text, display_name, options, tables);
  if (!trace || tables.profiles.empty()) return trace;
  tables.pairs.assign(tables.profiles.size() * tables.profiles.size(), PairRate{});
  trace->packing = std::make_shared<const PackingTables>(std::move(tables));
  return trace;
}

Result<Trace> read_lucid(const std::string& path, const ReadOptions& options) {
  const auto jobs = find_jobs(path);
  if (!jobs) return tl::unexpected(jobs.error());
  const fs::path folder = jobs->parent_path();
  auto tables = read_profiles(folder);
  if (!tables) return tl::unexpected(tables.error());
  const auto text = read_file(jobs->string());
  if (!text) return tl::unexpected(text.error());
  auto trace = parse_jobs(*text, jobs->string(), options, *tables);
  if (!trace) return trace;
  if (const auto added = add_tables(folder, std::move(*tables), *trace); !added) {
    return tl::unexpected(added.error());
  }
  return with_vc_file(std::move(trace), jobs->string());
}

}  // namespace schedmate::trace
