// SPDX-License-Identifier: Apache-2.0
#pragma once

/// The two forms of an accounting dump, on text alone so that tests and fuzzers need no files;
/// `name` is what messages call it.

#include <schedmate/accounting.hpp>
#include <string>
#include <string_view>

#include "base/input.hpp"

namespace schedmate::trace {

/// What makes a dump with all fields, for messages.
[[nodiscard]] std::string sacct_command();

/// Either form; the first character decides. Errors: as read_accounting.
[[nodiscard]] Result<AccountingDump> parse_accounting(const ReadBytes& read,
                                                      const std::string& name,
                                                      const AccountingOptions& options);

[[nodiscard]] Result<AccountingDump> parse_accounting_text(std::string_view text,
                                                           const std::string& name,
                                                           const AccountingOptions& options);
/// The text begins with `start`.
[[nodiscard]] Result<AccountingDump> parse_accounting_json(std::string start, const ReadBytes& rest,
                                                           const std::string& name,
                                                           const AccountingOptions& options);

}  // namespace schedmate::trace
