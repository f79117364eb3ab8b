// SPDX-License-Identifier: Apache-2.0
#pragma once

/// What a message of a kernel means, by rules/kernel_log.toml and, for Xids, rules/xid.toml.

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "log/lines/conditions.hpp"
#include "log/witness/witness.hpp"

namespace schedmate::witness {

class KernelRules {
 public:
  /// `folder`: an operator's rules, "" = none. Errors: as rule_rows, invalid for a row that cannot
  /// be.
  static Result<KernelRules> load(const std::string& folder);

  /// A finding without node and time; nothing for a message that no row knows. `xids` is asked for
  /// an Xid that no row names.
  [[nodiscard]] std::optional<WitnessFinding> judge(std::string_view message,
                                                    const XidTable& xids) const;

 private:
  struct Row {
    lines::Condition words;
    WitnessFinding finding;
  };
  lines::Phrases phrases_;
  std::vector<Row> rows_;
};

/// The code of "NVRM: Xid (PCI:0000:9b:00): 79, ...", at the beginning of the message only.
[[nodiscard]] std::optional<int> kernel_xid(std::string_view message);

/// A message that begins with the name of a process ("python[4711]: segfault at ..."), which its
/// user chose: what stands there proves nothing of the machine.
[[nodiscard]] bool begins_with_process(std::string_view message);

}  // namespace schedmate::witness
