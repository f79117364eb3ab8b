// SPDX-License-Identifier: Apache-2.0
#pragma once

/// What NVIDIA's catalogue says of an Xid, by rules/xid.toml.

#include <map>
#include <optional>
#include <schedmate/result.hpp>
#include <string>
#include <string_view>

#include "log/lines/failure_verdict.hpp"

namespace schedmate::witness {

class XidTable {
 public:
  /// `folder`: an operator's rules, "" = none. Errors: as rule_rows, invalid for a row that cannot
  /// be.
  static Result<XidTable> load(const std::string& folder);

  /// Nothing for a code that the table does not have.
  [[nodiscard]] std::optional<lines::FailureVerdict> at(int code) const;

 private:
  std::map<int, lines::FailureVerdict> rows_;
};

/// The code in "NVRM: Xid (PCI:0000:9b:00): 79, ...", or the one that it follows.
[[nodiscard]] std::optional<int> xid_in(std::string_view line);

}  // namespace schedmate::witness
