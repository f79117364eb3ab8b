// SPDX-License-Identifier: Apache-2.0
#pragma once

/// Makes a Trace of rows in any format and holds every job to the same rules
/// (docs/formats/helios.md, "What is checked"): unique ids, 1 to a million GPUs, 0 s to 10 years of
/// run time, a believable submission. A row that breaks one is rejected (counted, and reported with
/// its place, or with `strict` the end of the reading); a row that is sound but no GPU job, such as
/// a CPU job, is skipped and only counted.

#include <array>
#include <schedmate/trace.hpp>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace schedmate::trace {

/// VC of the jobs of a trace that has none, and of a cluster file without [[vc]] tables.
inline constexpr std::string_view whole_cluster = "all";

/// The parts of a job whose values are checked, for naming the column of a bad one.
enum class Part : std::uint8_t { id, gpus, submit, duration };

/// One row as it was read. Text need only live until `add` returns.
struct Draft {
  std::string_view id, user, vc;
  std::int64_t gpus = 0;
  std::int64_t submit_s = 0;
  std::int64_t duration_s = 0;
  EndState state = EndState::unknown;
  std::uint32_t profile = no_index;
  std::span<const double> extra;  ///< parallel to ReadOptions::columns
};

/// Where a row stands: a line and, in it, the character where each part begins (0 = not known).
struct RowPlace {
  std::uint64_t line = 0;
  std::array<std::size_t, 4> column{};  // by Part
};

/// Names in order of first appearance.
class NameTable {
 public:
  std::uint32_t index_of(std::string_view name);
  [[nodiscard]] std::vector<std::string> names() && { return std::move(names_); }

 private:
  struct Hash : std::hash<std::string_view> {
    using is_transparent = void;
  };
  std::unordered_map<std::string, std::uint32_t, Hash, std::equal_to<>> index_;
  std::vector<std::string> names_;
  std::uint32_t last_ = 0;
};

class TraceBuilder {
 public:
  /// `name` of the file, for messages.
  TraceBuilder(std::string name, const ReadOptions& options);

  /// Each row of the file ends in exactly one of these three.
  void add(const Draft& job, const RowPlace& place);
  void skip(std::string_view reason);
  void reject(std::string_view reason, std::uint64_t line, std::size_t column);

  /// True once `strict` has met a bad row: read no further.
  [[nodiscard]] bool stopped() const { return stopped_; }
  /// For what a reader adds besides jobs (cluster, tables).
  [[nodiscard]] Trace& trace() { return trace_; }
  /// The jobs in order of submission. Errors: invalid when there is none, or with `strict` for the
  /// first bad row.
  Result<Trace> finish() &&;

 private:
  [[nodiscard]] std::string_view keep(std::string_view text);
  [[nodiscard]] static bool rises(std::string_view before, std::string_view id);
  bool is_new(std::string_view id);
  void grow_ids();
  void sort();
  [[nodiscard]] std::string why_empty() const;

  std::string name_;
  const ReadOptions& options_;
  Trace trace_;
  NameTable users_, vcs_;
  std::vector<std::vector<double>> extra_;
  bool ids_rise_ = true;            // every id so far is longer or greater than the one before
  std::vector<std::uint32_t> ids_;  // else: open hash table of job index + 1, a power of two
  char* free_ = nullptr;            // rest of the newest block of text
  std::size_t free_bytes_ = 0;
  bool stopped_ = false;
};

}  // namespace schedmate::trace
