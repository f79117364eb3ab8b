// SPDX-License-Identifier: Apache-2.0
#pragma once

/// --policy NAME[:key=value,...][@LABEL]

#include <map>
#include <schedmate/result.hpp>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace schedmate::study {

struct PolicySpec {
  std::string text;  ///< as given
  std::string name;
  std::string label;      ///< names the output files; NAME when none was given
  std::string estimator;  ///< of estimate=; "" = the policy's own
  std::map<std::string, std::string, std::less<>> options;
};

/// Of all policies, elastic ones too.
[[nodiscard]] std::vector<std::string_view> policy_names();

/// Of any policy, elastic ones too. Errors: not_found for an unknown one; unsupported for a text of
/// another form.
[[nodiscard]] Result<PolicySpec> parse_policy(std::string_view text);
/// The same where only these are to be had.
[[nodiscard]] Result<PolicySpec> parse_policy(std::string_view text,
                                              std::span<const std::string_view> names);

/// All of a command line. Errors: as above; unsupported when two have the same label.
[[nodiscard]] Result<std::vector<PolicySpec>> parse_policies(std::span<const std::string> texts);
[[nodiscard]] Result<std::vector<PolicySpec>> parse_policies(
    std::span<const std::string> texts, std::span<const std::string_view> names);

/// Errors: unsupported for policies that only resize jobs, where the trace is one of plain jobs.
[[nodiscard]] Result<void> check_not_elastic(std::span<const PolicySpec> policies);

/// Columns of the trace that their estimators read.
[[nodiscard]] std::vector<std::string> estimate_columns(std::span<const PolicySpec> policies);

}  // namespace schedmate::study
