// SPDX-License-Identifier: Apache-2.0
#pragma once

/// Profile and pair tables (docs/formats/packing-tables.md), and how a job finds its profile.

#include <map>
#include <schedmate/trace.hpp>
#include <tuple>

#include "trace/csv.hpp"

namespace schedmate::trace {

/// What names a workload configuration in all tables.
using ProfileKey = std::tuple<std::string, std::string, int, bool>;  // model, dataset, batch, amp
using ProfileIndex = std::map<ProfileKey, std::uint32_t>;

[[nodiscard]] ProfileIndex index_profiles(const PackingTables& tables);

/// The columns that name a configuration, and those that measure it.
struct ProfileColumns {
  Column model = absent, dataset = absent, batch_size = absent, mixed_precision = absent;
  Column gpu_util = absent, memory_util = absent, memory = absent, score = absent;
  Column interference_free = absent;  ///< only in our own tables
};
/// Columns model, dataset, batchsize, amp, gpu_util, gmem_util, gmem and `score`. Errors: invalid
/// when one is missing.
Result<ProfileColumns> find_profile_columns(const CsvRows& rows, std::string_view score);

/// The profile in the present row. Errors: invalid with file, line and column.
Result<Profile> read_profile(const CsvRows& rows, const ProfileColumns& columns);

/// All profiles of a file. Errors: invalid on the first bad row: a table has no rows to spare.
Result<std::vector<Profile>> parse_profiles(std::string_view text, const std::string& name);
/// Fills `tables.pairs` for its profiles; rows about others are left out.
Result<void> parse_pairs(std::string_view text, const std::string& name, PackingTables& tables);

}  // namespace schedmate::trace
