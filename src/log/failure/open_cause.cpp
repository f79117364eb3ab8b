// SPDX-License-Identifier: Apache-2.0
#include "log/failure/open_cause.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <deque>

#include "log/failure/cause_claim.hpp"
#include "log/lines/clean.hpp"
#include "log/lines/lines.hpp"
#include "log/lines/said_words.hpp"

namespace schedmate::failure {
namespace {

constexpr std::size_t tail_lines = 200;
constexpr std::uint64_t lines_after_cause = 49;
constexpr std::size_t most_cited_text = 1000;
constexpr std::size_t most_shown_reason = 200;
constexpr double confidence = 0.5;

Result<OpenCause> lines_around(const ForeignPath& path, std::optional<std::uint64_t> root) {
  std::deque<OpenCause::Line> last;
  std::string scratch;
  const auto done = lines::each_line(path, [&](const lines::Line& line) {
    last.push_back({line.number, std::string(lines::without_escapes(
                                     line.text.substr(0, most_cited_text), scratch))});
    if (last.size() > tail_lines) last.pop_front();
    return !root || line.number < *root + lines_after_cause;
  });
  if (!done && last.empty()) return tl::unexpected(done.error());
  return OpenCause{{last.begin(), last.end()}, root};
}

std::string_view text_of(const OpenCause& shown, std::optional<std::uint64_t> root) {
  const auto held = std::ranges::find(shown.lines, root.value_or(0), &OpenCause::Line::number);
  return held == shown.lines.end() ? std::string_view() : std::string_view(held->text);
}

/// In its own words where the line has them, but without numbers, paths and names: no node is
/// blamed on a model's word.
std::string reason_of(const CauseClaim& claim, std::string_view cited, const DiagnoseInput& input) {
  const auto said = std::string_view(claim.reason).substr(0, most_shown_reason);
  std::string reason;
  if (lines::fault_of_words({said, "", {cited}}).empty()) reason = lines::template_of(said);
  if (input.job)
    for (const std::string& node : input.job->nodes)
      for (auto at = reason.find(node); !node.empty() && at != std::string::npos;
           at = reason.find(node))
        reason.replace(at, node.size(), "");
  return fmt::format("a model's reading of line {}{}{}", claim.line, reason.empty() ? "" : ": ",
                     reason);
}

lines::FailureVerdict verdict_of(const CauseClaim& claim, std::string_view cited,
                                 const DiagnoseInput& input) {
  lines::FailureVerdict made;
  made.rule = "model";
  made.verdict = claim.verdict;
  const bool infrastructure = claim.verdict == FailureClass::infrastructure;
  if (infrastructure) made.component = claim.component;
  made.reason = reason_of(claim, cited, input);
  made.recommendation = infrastructure ? Recommendation::test_first : Recommendation::notify;
  made.advice = "no rule matches this line; read it before anything is done";
  made.confidence = confidence;
  made.open = true;  // a witness takes precedence over a model
  return made;
}

}  // namespace

Result<std::optional<ModelCause>> read_open_cause(const OpenFailure& failure,
                                                  std::vector<std::string>& dropped) {
  const auto shown = lines_around({failure.path, failure.input.access}, failure.root);
  if (!shown) return tl::unexpected(shown.error());
  const auto words = ClaimWords::load(failure.input.rules);
  if (!words) return tl::unexpected(words.error());
  if (shown->lines.empty()) return std::nullopt;
  const auto claim = failure.input.reader(*shown);
  // "other" is what the rules say already.
  if (!claim || claim->verdict == FailureClass::other) return std::nullopt;
  const auto cited = std::ranges::find(shown->lines, claim->line, &OpenCause::Line::number);
  CitedLine line;
  if (cited != shown->lines.end())
    line = {cited->text, text_of(*shown, failure.root), failure.kinds.of(cited->text),
            failure.raised};
  if (const auto fault = words->fault_of(*claim, line); !fault.empty()) {
    dropped.push_back(
        fmt::format("{} by line {}: {}", name_of(claim->verdict), claim->line, fault));
    return std::nullopt;
  }
  return ModelCause{verdict_of(*claim, line.text, failure.input), claim->line,
                    std::string(line.text)};
}

}  // namespace schedmate::failure
