// SPDX-License-Identifier: Apache-2.0
#include "log/lines/failure_verdict.hpp"

#include <algorithm>
#include <array>

#include "base/text.hpp"

namespace schedmate::lines {
namespace {

/// The value whose name is `text`.
template <class Value, std::size_t size>
bool read_name(std::string_view text, const std::array<Value, size>& values, Value& out) {
  const auto held = std::ranges::find(values, text, [](Value each) { return name_of(each); });
  if (held == values.end()) return false;
  out = *held;
  return true;
}

}  // namespace

Result<FailureVerdict> read_failure_verdict(const RuleRow& row) {
  constexpr std::array classes = {FailureClass::none, FailureClass::infrastructure,
                                  FailureClass::framework, FailureClass::user_script,
                                  FailureClass::other};
  constexpr std::array components = {Component::gpu,  Component::nvlink,  Component::network,
                                     Component::node, Component::storage, Component::other};
  constexpr std::array advice = {Recommendation::restart_same, Recommendation::restart_elsewhere,
                                 Recommendation::do_not_restart, Recommendation::test_first,
                                 Recommendation::notify};
  FailureVerdict made;
  made.rule = row.text("name");
  made.reason = row.has("says") ? row.text("says") : row.text("reason");
  made.advice = row.text("advice");
  if (!read_name(row.text("class"), classes, made.verdict))
    return row.refuse("class must be infrastructure, framework, user_script, other or none");
  if (row.has("component") && !read_name(row.text("component"), components, made.component))
    return row.refuse("component must be gpu, nvlink, network, node, storage or other");
  if ((made.verdict == FailureClass::infrastructure) != row.has("component"))
    return row.refuse("infrastructure, and no other class, must have a component");
  if (!read_name(row.text("recommendation"), advice, made.recommendation))
    return row.refuse(
        "recommendation must be restart_same, restart_elsewhere, do_not_restart, test_first or "
        "notify");
  const auto confidence = parse_number<double>(row.text("confidence"));
  if (!confidence || *confidence < 0 || *confidence > 1)
    return row.refuse("confidence must be from 0 to 1");
  made.confidence = *confidence;
  made.open = row.has("open") && row.text("open") == "true";
  made.outside = row.has("outside") && row.text("outside") == "true";
  return made;
}

}  // namespace schedmate::lines
