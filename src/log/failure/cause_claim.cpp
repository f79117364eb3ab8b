// SPDX-License-Identifier: Apache-2.0
#include "log/failure/cause_claim.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "log/lines/conditions.hpp"
#include "log/witness/xid_table.hpp"

namespace schedmate::embedded {
extern const std::string_view claims_toml;
}  // namespace schedmate::embedded

namespace schedmate::failure {
struct ClaimWords::Rows {
  struct Row {
    FailureClass verdict = FailureClass::other;
    Component component = Component::none;
    std::vector<std::uint32_t> any;
  };
  lines::Phrases phrases;
  std::vector<Row> rows;

  [[nodiscard]] bool fits_any(std::string_view line) const {
    const lines::Found found = phrases.find(line);
    return std::ranges::any_of(rows, [&](const Row& row) { return found.has_any(row.any); });
  }

  /// Some row of this class and component has a phrase of the line.
  [[nodiscard]] bool fits(FailureClass verdict, Component component, std::string_view line) const {
    const lines::Found found = phrases.find(line);
    return std::ranges::any_of(rows, [&](const Row& row) {
      return row.verdict == verdict && row.component == component && found.has_any(row.any);
    });
  }
};

namespace {

Component component_of(std::string_view name) {
  constexpr std::array all = {Component::gpu,  Component::nvlink,  Component::network,
                              Component::node, Component::storage, Component::other};
  const auto held = std::ranges::find(all, name, [](Component each) { return name_of(each); });
  return held == all.end() ? Component::none : *held;
}

/// Whose code raised it, where the traceback shows it.
std::string fault_of_frames(FailureClass verdict, RaisedIn raised) {
  if (verdict == FailureClass::framework && raised == RaisedIn::project)
    return "the exception was raised in the job's own code";
  if (verdict == FailureClass::user_script && raised == RaisedIn::only_library)
    return "no frame of the traceback is the job's own";
  return "";
}

}  // namespace

ClaimWords::ClaimWords(std::unique_ptr<Rows> rows) : rows_(std::move(rows)) {}
ClaimWords::ClaimWords(ClaimWords&&) noexcept = default;
ClaimWords& ClaimWords::operator=(ClaimWords&&) noexcept = default;
ClaimWords::~ClaimWords() = default;

Result<ClaimWords> ClaimWords::load(const std::string& folder) {
  const lines::RuleTable table{
      "claims.toml", "claim", {"class", "component", "any", "test"}, embedded::claims_toml};
  const auto rows = lines::rule_rows(table, folder);
  if (!rows) return tl::unexpected(rows.error());
  auto made = std::make_unique<Rows>();
  for (const lines::RuleRow& row : *rows) {
    Rows::Row claim;
    claim.component = component_of(row.text("component"));
    if (row.text("class") == name_of(FailureClass::infrastructure))
      claim.verdict = FailureClass::infrastructure;
    else if (row.text("class") != name_of(FailureClass::other))
      return row.refuse("class must be infrastructure or other");
    const bool infrastructure = claim.verdict == FailureClass::infrastructure;
    if (infrastructure != (claim.component != Component::none))
      return row.refuse("infrastructure, and no other class, must have a component");
    auto any = lines::read_phrases(row, "any", made->phrases);
    if (!any) return tl::unexpected(any.error());
    if (any->empty()) return row.refuse("a row needs any");
    claim.any = *std::move(any);
    made->rows.push_back(std::move(claim));
  }
  return ClaimWords(std::move(made));
}

std::string ClaimWords::fault_of(const CauseClaim& claim, const CitedLine& line) const {
  if (line.text.empty()) return fmt::format("line {} was not shown", claim.line);
  if (line.verdict.kind == LineKind::progress) return "the cited line reports progress";
  if (line.verdict.kind == LineKind::failure && line.verdict.role == LineRole::teardown)
    return "the cited line is of the end, not of its cause";
  switch (claim.verdict) {
    case FailureClass::none:
      return "there is a failure";
    case FailureClass::infrastructure:
      if (claim.component == Component::none) return "no component is named";
      if (claim.component == Component::gpu && witness::xid_in(line.text)) return "";
      if (!rows_->fits(claim.verdict, claim.component, line.text))
        return fmt::format("the cited line says nothing of {}", name_of(claim.component));
      return "";
    case FailureClass::framework:
    case FailureClass::user_script:
      for (const auto text : {line.text, line.root})
        if (rows_->fits_any(text))
          return "the line reports an end from outside, or a fault of a machine";
      return fault_of_frames(claim.verdict, line.raised);
    case FailureClass::other:
      return "";
  }
  return "unknown class";
}

}  // namespace schedmate::failure
