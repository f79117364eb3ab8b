// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <schedmate/result.hpp>
#include <string>
#include <string_view>
#include <vector>

namespace schedmate {

struct ListRow {
  std::string_view name;
  std::string_view summary;
};
struct ListTable {
  std::string_view name;  ///< "policies"
  std::vector<ListRow> rows;
};

/// Every table a user can choose from.
[[nodiscard]] std::vector<ListTable> list_tables();

/// Their names.
[[nodiscard]] std::vector<std::string> list_kinds();

/// The names in one of them, each with `suffix`.
[[nodiscard]] std::vector<std::string> table_names(std::string_view table, std::string_view suffix);

}  // namespace schedmate
