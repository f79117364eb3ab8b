// SPDX-License-Identifier: Apache-2.0
#pragma once

/// The rows of the rule tables as read (tables_read.cpp) and as looked up (tables.cpp).

#include <map>
#include <unordered_map>

#include "facts/name_index.hpp"
#include "facts/tables.hpp"

namespace schedmate::facts {

struct ModelMember {
  std::string name;
  std::optional<double> params_millions;
  Evidence row;
};

struct ModelRow {
  std::string name, family, type, task;
  std::optional<double> params_millions;
  std::string sized;  ///< "OPT-{size}", "" when the family's sizes are not in its names
  std::vector<ModelMember> members;
  Evidence row;
};

struct OptimizerRow {
  std::string name;
  Evidence row;
};

struct DefaultRow {
  std::vector<int> before;  ///< version that it held until; empty = the newest
  std::map<std::string, DefaultMatch, std::less<>> arguments;
};

/// A callee with a `*` in it.
struct CalleePattern {
  std::string start, end;
  std::size_t row = 0;
};

struct Tables::Rows {
  std::vector<ModelRow> models;
  std::vector<DatasetMatch> datasets;
  std::vector<OptimizerRow> optimizers;
  std::vector<DefaultRow> defaults;
  NameIndex model_names, dataset_names, optimizer_names;
  std::unordered_multimap<std::string, std::size_t> callees;
  std::vector<CalleePattern> callee_patterns;
};

/// One table file: its name ("models.toml") and text.
struct TableFile {
  std::string_view name;
  std::string_view text;
};
/// The tables built in, in order of reading.
[[nodiscard]] std::span<const TableFile> builtin_tables();
/// Adds the rows of a table; rows of the same name are replaced.
[[nodiscard]] Result<void> add_models(const TableFile& table, Tables::Rows& rows);
[[nodiscard]] Result<void> add_datasets(const TableFile& table, Tables::Rows& rows);
[[nodiscard]] Result<void> add_optimizers(const TableFile& table, Tables::Rows& rows);
[[nodiscard]] Result<void> add_defaults(const TableFile& table, Tables::Rows& rows);

/// "8.0.103" as numbers.
[[nodiscard]] std::vector<int> version_numbers(std::string_view text);

}  // namespace schedmate::facts
