// SPDX-License-Identifier: Apache-2.0
#pragma once

/// Reading traces. One row of src/trace/formats.def per format, one page in docs/formats each.

#include <schedmate/job.hpp>
#include <schedmate/result.hpp>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace schedmate {

struct ReadOptions {
  bool strict = false;               ///< a bad row is an error instead of a counted skip
  std::vector<std::string> columns;  ///< numeric columns to keep in Trace::columns
};

/// One row of formats.def. `read` takes the path after "FORMAT:", a file (.gz and .zst alike) or a
/// folder, as the format says. A row that cannot become a job is dropped with a reason in
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

/// Cluster file: TOML, docs/formats/cluster.md. Errors: invalid with line and column.
[[nodiscard]] Result<ClusterSpec> read_cluster(const std::string& path);

/// Lucid-style tables: profiles and pair speeds, arrival forecast (docs/formats/packing-tables.md).
[[nodiscard]] Result<PackingTables> read_packing_tables(const std::string& profiles_csv,
                                                        const std::string& pairs_csv);

}  // namespace schedmate
