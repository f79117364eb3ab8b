// SPDX-License-Identifier: Apache-2.0
#include "study/policy_spec.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <schedmate/scheduler.hpp>

#include "base/text.hpp"
#include "elastic/elastic_policies.hpp"

namespace schedmate::study {
namespace {

constexpr std::string_view form = "NAME[:key=value,...][@LABEL]";
constexpr std::size_t longest_label = 100;
/// Seconds, GPUs, weights: more than this is a slip, and products of it overflow.
constexpr double largest_number = 1e12;

bool is_file_name(std::string_view label) {
  const auto allowed = [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '.' ||
           c == '_' || c == '-' || c == '+';
  };
  return !label.empty() && label.size() <= longest_label && label.front() != '.' &&
         std::ranges::all_of(label, allowed);
}

Result<void> check_name(std::string_view name, std::span<const std::string_view> names) {
  if (std::ranges::find(names, name) != names.end()) return {};
  return fail(ErrorCode::not_found, unknown_name("policy", name, names));
}

Result<void> check_number(const PolicySpec& spec, std::string_view key, std::string_view value) {
  if (key == "lenders") return {};  // names of VCs, which may look like numbers
  const auto number = parse_number<double>(value);
  if (!number || std::abs(*number) <= largest_number) return {};
  return fail(ErrorCode::unsupported, fmt::format("--policy {}: {}={}: must be a number up to {}",
                                                  spec.text, key, value, largest_number));
}

Result<void> take_options(std::string_view list, PolicySpec& spec) {
  for (const std::string_view item : split(list, ',')) {
    const std::size_t equals = item.find('=');
    if (equals == 0 || equals >= item.size() - 1) {
      return fail(ErrorCode::unsupported,
                  fmt::format("--policy {}: '{}' is not key=value (the form is {})", spec.text,
                              item, form));
    }
    const std::string key(item.substr(0, equals));
    const std::string value(item.substr(equals + 1));
    if (auto ok = check_number(spec, key, value); !ok) return ok;
    if (!spec.options.emplace(key, value).second) {
      return fail(ErrorCode::unsupported,
                  fmt::format("--policy {}: {} is given twice", spec.text, key));
    }
  }
  if (const auto found = spec.options.find("estimate"); found != spec.options.end()) {
    spec.estimator = found->second;
    spec.options.erase(found);
  }
  return {};
}

}  // namespace

std::vector<std::string_view> policy_names() {
  std::vector<std::string_view> names;
  for (const PolicyRow& row : policy_rows()) names.push_back(row.name);
  for (const elastic::ElasticPolicyRow& row : elastic::elastic_policy_rows())
    if (std::ranges::find(names, row.name) == names.end()) names.push_back(row.name);
  return names;
}

Result<PolicySpec> parse_policy(std::string_view text) {
  return parse_policy(text, policy_names());
}

Result<PolicySpec> parse_policy(std::string_view text, std::span<const std::string_view> names) {
  PolicySpec spec;
  spec.text = text;
  const std::size_t at_sign = text.rfind('@');
  const std::string_view front = text.substr(0, at_sign);
  const std::size_t colon = front.find(':');
  spec.name = front.substr(0, colon);
  spec.label = at_sign == std::string_view::npos ? spec.name : text.substr(at_sign + 1);
  if (auto ok = check_name(spec.name, names); !ok) return tl::unexpected(ok.error());
  if (!is_file_name(spec.label)) {
    return fail(ErrorCode::unsupported,
                fmt::format("--policy {}: the label '{}' names files, so it may contain only "
                            "letters, digits, '.', '_', '-' and '+' and must not start with '.'",
                            text, spec.label));
  }
  if (colon == std::string_view::npos) return spec;
  if (auto ok = take_options(front.substr(colon + 1), spec); !ok) return tl::unexpected(ok.error());
  return spec;
}

Result<std::vector<PolicySpec>> parse_policies(std::span<const std::string> texts) {
  return parse_policies(texts, policy_names());
}

Result<std::vector<PolicySpec>> parse_policies(std::span<const std::string> texts,
                                               std::span<const std::string_view> names) {
  std::vector<PolicySpec> specs;
  for (const std::string& text : texts) {
    auto spec = parse_policy(text, names);
    if (!spec) return tl::unexpected(spec.error());
    const auto same = std::ranges::find(specs, spec->label, &PolicySpec::label);
    if (same != specs.end()) {
      return fail(ErrorCode::unsupported,
                  fmt::format("--policy {} and --policy {} would write the same files: give one of "
                              "them another label, such as {}@{}-2",
                              same->text, text, text.substr(0, text.rfind('@')), spec->label));
    }
    specs.push_back(std::move(*spec));
  }
  return specs;
}

Result<void> check_not_elastic(std::span<const PolicySpec> policies) {
  for (const PolicySpec& spec : policies)
    if (std::ranges::find(policy_rows(), spec.name, &PolicyRow::name) == policy_rows().end())
      return fail(ErrorCode::unsupported,
                  fmt::format("--policy {} is for elastic jobs: it needs simulate --trace sia:FILE "
                              "(docs/formats/elastic.md)",
                              spec.name));
  return {};
}

std::vector<std::string> estimate_columns(std::span<const PolicySpec> policies) {
  constexpr std::string_view prefix = "column:";
  std::vector<std::string> columns;
  for (const PolicySpec& spec : policies) {
    if (!spec.estimator.starts_with(prefix)) continue;
    std::string column = spec.estimator.substr(prefix.size());
    if (std::ranges::find(columns, column) == columns.end()) columns.push_back(std::move(column));
  }
  return columns;
}

}  // namespace schedmate::study
