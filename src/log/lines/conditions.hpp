// SPDX-License-Identifier: Apache-2.0
#pragma once

/// Which phrases a rule wants: one of `any`, every one of `all`, none of `none`.

#include "log/lines/phrases.hpp"
#include "log/lines/rule_rows.hpp"

namespace schedmate::lines {

struct Condition {
  std::vector<std::uint32_t> any, all, none;

  [[nodiscard]] bool empty() const { return any.empty() && all.empty(); }
  [[nodiscard]] bool holds(const Found& found) const {
    return (any.empty() || found.has_any(any)) && found.has_all(all) && !found.has_any(none);
  }
};

/// The phrases of one key, by their numbers. Errors: invalid, with the row's place.
[[nodiscard]] Result<std::vector<std::uint32_t>> read_phrases(const RuleRow& row,
                                                              std::string_view key,
                                                              Phrases& phrases);
[[nodiscard]] Result<Condition> read_condition(const RuleRow& row, Phrases& phrases);

}  // namespace schedmate::lines
