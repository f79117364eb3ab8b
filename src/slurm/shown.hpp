// SPDX-License-Identifier: Apache-2.0
#pragma once

/// What `scontrol show` prints (without -o, where a job's name may look like other keys): records
/// of "Key=Value" over several lines, an empty line between two, and the list of settings.

#include <cstdint>
#include <map>
#include <optional>
#include <schedmate/time.hpp>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace schedmate::slurm {

/// One record. A key that is not there, "(null)" and "N/A" are alike.
class Shown {
 public:
  /// At most 64 KiB of a value are kept, and 4,096 values of a key.
  void put(std::string_view key, std::string_view value);
  /// Instead of what the key had.
  void replace(std::string_view key, std::string_view value);

  [[nodiscard]] bool has(std::string_view key) const { return values_.contains(key); }
  /// The first value of the key; "" where it has none.
  [[nodiscard]] std::string_view text(std::string_view key) const;
  /// All of them, in order.
  [[nodiscard]] std::span<const std::string> texts(std::string_view key) const;
  /// The number that the value begins with ("3" of "3-3"), at most 1e15; 0 where it has none.
  [[nodiscard]] std::int64_t whole(std::string_view key) const;
  /// A date, on the clock of the machine that printed it, or seconds since 1970.
  [[nodiscard]] std::optional<SimTime> when(std::string_view key) const;
  /// "1-02:03:04"; nothing for UNLIMITED and the like.
  [[nodiscard]] std::optional<Seconds> duration(std::string_view key) const;
  [[nodiscard]] bool empty() const { return values_.empty(); }

 private:
  std::map<std::string, std::vector<std::string>, std::less<>> values_;
};

struct ShownRecord {
  std::size_t line = 0;  ///< 1-based, of the text
  std::string kind;      ///< its first key: JobId, NodeName, PartitionName, ...
  Shown values;
  /// Not cut off: what is read of such a record has been printed.
  bool whole = false;
  bool json = false;  ///< from read_json()
};

/// The records of a text in which the outputs of several commands may follow one another. The
/// settings are one record of the kind "Configuration", whose value of that key is the date. "No
/// jobs in the system" is one of the kind "NoJobs", and what a tool could not do one of the kind
/// "Error", with its words. Lines that are of none are left out, as is what follows "Current
/// Association Manager state" (limits.hpp).
[[nodiscard]] std::vector<ShownRecord> read_shown(std::string_view text,
                                                  std::size_t first_line = 1);

}  // namespace schedmate::slurm
