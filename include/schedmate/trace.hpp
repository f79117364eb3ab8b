// SPDX-License-Identifier: Apache-2.0
#pragma once

/// Reading traces: what happened on a real cluster, for replays of it. One row of
/// src/trace/formats.def per format, one page in docs/formats each. The functions keep nothing;
/// threads may read at the same time.

#include <schedmate/job.hpp>
#include <schedmate/result.hpp>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace schedmate {

struct ReadOptions {
  /// A bad row is an error instead of a counted skip.
  bool strict = false;
  /// Numeric columns to keep in Trace::columns, by their names in the file.
  std::vector<std::string> columns;
};

/// One row of formats.def. `read` takes the path after "FORMAT:", a file (.gz and .zst alike) or a
/// folder, as the format says. It drops a row that cannot become a job, with a reason in
/// Trace::report. Errors: invalid when the file is absent, unreadable, truncated (gzip/zstd), lacks
/// a needed column, or yields no job at all; with `strict` also on the first bad row.
struct FormatRow {
  std::string_view name;
  std::string_view summary;
  Result<Trace> (*read)(const std::string& path, const ReadOptions& options);
};
[[nodiscard]] std::span<const FormatRow> format_rows();

/// Reads "FORMAT:PATH". Errors: not_found for an unknown format (names the nearest), else as above.
[[nodiscard]] Result<Trace> read_trace(std::string_view spec, const ReadOptions& options);

/// The cluster that a TOML file describes (docs/formats/cluster.md). Errors: invalid, with line and
/// column; those of reading the file.
[[nodiscard]] Result<ClusterSpec> read_cluster(const std::string& path);

/// Lucid-style tables of profiles and pair speeds (docs/formats/packing-tables.md). Errors:
/// invalid, at the first bad row. Pairs that the file does not have run at full speed.
[[nodiscard]] Result<PackingTables> read_packing_tables(const std::string& profiles_csv,
                                                        const std::string& pairs_csv);

}  // namespace schedmate
