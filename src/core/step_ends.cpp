// SPDX-License-Identifier: Apache-2.0
#include "core/step_ends.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <string_view>
#include <utility>

#include "base/document_value.hpp"
#include "base/text.hpp"
#include "base/utf8.hpp"

namespace schedmate {
namespace {

constexpr std::size_t most_nodes = 8;  // that are named

Document seconds_or_null(const std::optional<SimTime>& when) {
  return when ? Document(seconds_of(*when)) : Document(nullptr);
}

std::int32_t number_in(const Document& value) {
  const std::int64_t number = whole_in(value).value_or(0);
  return static_cast<std::int32_t>(std::clamp<std::int64_t>(number, INT32_MIN, INT32_MAX));
}

/// Names that users or sites have chosen.
std::string short_name(const std::string& name) {
  constexpr std::size_t longest = 256;
  return name.size() > longest ? with_valid_utf8(name.substr(0, longest)) : name;
}

/// Of which steps the nodes are named: of the one that tells why before others.
std::vector<bool> with_nodes(std::span<const SeenStep> steps) {
  std::size_t left = 256;
  std::vector<bool> named(steps.size());
  const auto name = [&](std::size_t i) {
    const std::size_t count = steps[i].nodes.size();
    if (named[i] || count > left) return;
    left -= count;
    named[i] = true;
  };
  if (const SeenStep* const why = failed_step(steps))
    name(static_cast<std::size_t>(why - steps.data()));
  for (std::size_t i = 0; i < steps.size(); ++i) name(i);
  return named;
}

std::string how_it_ended(const SeenStep& step) {
  if (step.end_state == EndState::out_of_memory) return "ran out of memory";
  if (step.end_state == EndState::node_fail) return "was lost with its node";
  if (step.exit_signal > 0) return fmt::format("was killed by signal {}", step.exit_signal);
  if (step.exit_code != 0) return fmt::format("failed with exit code {}", step.exit_code);
  return step.end_state == EndState::cancelled
             ? "was cancelled"
             : fmt::format("ended as {}", to_string(step.end_state));
}

}  // namespace

bool is_of_script(const SeenStep& step) {
  const std::string_view id = step.id;
  const std::size_t dot = id.rfind('.');
  const std::string_view name = dot == std::string_view::npos ? id : id.substr(dot + 1);
  return name != "batch" && name != "extern" && name != "interactive";
}

const SeenStep* failed_step(std::span<const SeenStep> steps) {
  const SeenStep* found = nullptr;
  for (const SeenStep& each : steps) {
    const bool is_well =
        each.end_state == EndState::completed || each.end_state == EndState::unknown;
    if (is_well || !each.ended || !is_of_script(each)) continue;
    if (found == nullptr || *each.ended < *found->ended) found = &each;
  }
  return found;
}

std::string step_words(const SeenStep& step) {
  std::string text = fmt::format("step {}", step.id);
  if (!step.name.empty()) text += fmt::format(" ({})", step.name);
  for (std::size_t i = 0; i < std::min(most_nodes, step.nodes.size()); ++i)
    text += fmt::format("{}{}", i == 0 ? " on " : " ", step.nodes[i]);
  if (step.nodes.size() > most_nodes)
    text += fmt::format(" and {} more", step.nodes.size() - most_nodes);
  return fmt::format("{} {}", text, how_it_ended(step));
}

Document steps_document(std::span<const SeenStep> steps) {
  Document all = Document::array();
  const std::vector<bool> named = with_nodes(steps);
  for (std::size_t i = 0; i < steps.size(); ++i) {
    const SeenStep& each = steps[i];
    Document nodes = Document::array();
    for (const std::string& node : each.nodes)
      if (named[i]) nodes.push_back(short_name(node));
    all.push_back({{"id", short_name(each.id)},
                   {"name", short_name(each.name)},
                   {"state", lower_case(to_string(each.end_state))},
                   {"exit_code", each.exit_code},
                   {"exit_signal", each.exit_signal},
                   {"nodes", std::move(nodes)},
                   {"started_s", seconds_or_null(each.started)},
                   {"ended_s", seconds_or_null(each.ended)}});
  }
  return all;
}

std::vector<SeenStep> steps_in(const Document& document) {
  std::vector<SeenStep> steps;
  if (!document.is_array()) return steps;
  for (const Document& each : document) {
    if (!each.is_object() || steps.size() >= most_steps) continue;
    SeenStep& step = steps.emplace_back();
    step.id = text_in(part(each, "id"));
    step.name = text_in(part(each, "name"));
    for (const EndState state : known_end_states)
      if (lower_case(to_string(state)) == text_in(part(each, "state"))) step.end_state = state;
    step.exit_code = number_in(part(each, "exit_code"));
    step.exit_signal = number_in(part(each, "exit_signal"));
    if (const Document& nodes = part(each, "nodes"); nodes.is_array())
      for (const Document& node : nodes) step.nodes.push_back(text_in(node));
    step.started = whole_in(part(each, "started_s")).transform(at);
    step.ended = whole_in(part(each, "ended_s")).transform(at);
  }
  return steps;
}

}  // namespace schedmate
