// SPDX-License-Identifier: Apache-2.0
#include "screen/live_site_text.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <map>
#include <nlohmann/json.hpp>
#include <ranges>
#include <set>

#include "base/table.hpp"
#include "base/words.hpp"
#include "screen/fields.hpp"

namespace schedmate::screen {
namespace {

const Document& list_of(const Document& document, const char* key) {
  static const Document nothing = Document::array();
  const Document& list = part(document, key);
  return list.is_array() ? list : nothing;
}

std::string known_or_dashes(const std::string& text) { return text.empty() ? unknown_cell : text; }

std::string dated(const Document& document, const char* key, const ScreenStyle& style) {
  const auto when_s = whole(document, key);
  return when_s ? style.date(*when_s) : unknown_cell;
}

/// Of a node, as a share of what it has.
struct GpuCounts {
  std::int64_t nodes = 0, out = 0, gpus = 0, held = 0;
  void add(const Document& node) {
    ++nodes;
    if (word(node, "state") != "up") ++out;
    gpus += whole(node, "gpus").value_or(0);
    held += whole(node, "held").value_or(0);
  }
};

std::string partitions_table(const Document& cluster, const ScreenStyle& style) {
  std::map<std::string, GpuCounts> partitions;
  for (const Document& node : list_of(cluster, "nodes"))
    partitions[word(node, "partition")].add(node);
  std::vector<std::vector<Cell>> rows;
  for (const auto& [name, counts] : partitions) {
    const double share = counts.gpus > 0 ? 100.0 * static_cast<double>(counts.held) /
                                               static_cast<double>(counts.gpus)
                                         : 0;
    rows.push_back({{style.cell(known_or_dashes(name), 20)},
                    {fmt::format("{}", counts.nodes)},
                    {fmt::format("{}", counts.out), counts.out > 0 ? Style::red : Style::plain},
                    {fmt::format("{}", counts.gpus)},
                    {fmt::format("{}", counts.held)},
                    {fmt::format("{}", counts.gpus - counts.held)},
                    {share_bar(share)}});
  }
  const std::vector<TableColumn> columns = {
      {"Partition", 0},  {"Nodes", 0, true}, {"Out", 1, true}, {"GPUs", 0, true},
      {"Held", 0, true}, {"Free", 0, true},  {"", 2}};
  return table_text(columns, rows, style.width);
}

std::string nodes_table(const Document& cluster, const ScreenStyle& style, bool all) {
  std::vector<std::vector<Cell>> rows;
  for (const Document& node : list_of(cluster, "nodes")) {
    const std::string state = word(node, "state");
    if (!all && state == "up") continue;
    std::vector<std::string> jobs;
    for (const Document& job : list_of(node, "jobs")) jobs.push_back(word(job, "id"));
    rows.push_back({{style.cell(word(node, "name"), 20)},
                    {style.cell(word(node, "partition"), 16)},
                    {state, state == "up" ? Style::plain : Style::red},
                    {fmt::format("{} of {}", known_or_dashes(word(node, "held")),
                                 known_or_dashes(word(node, "gpus")))},
                    {known_or_dashes(fmt::format("{}", fmt::join(jobs, " ")))},
                    {known_or_dashes(word(node, "reason"))}});
  }
  if (rows.empty()) return "";
  const std::vector<TableColumn> columns = {{"Node", 0},  {"Partition", 2},
                                            {"State", 0}, {"Held", 0},
                                            {"Jobs", 1},  {"Reason", 1, false, 16}};
  return "\n" + table_text(columns, rows, style.width);
}

std::string hours_of(const Document& row, const char* key) {
  const auto hours = amount(row, key);
  if (!hours) return unknown_cell;
  return *hours < 10 ? fmt::format("{:.2f}", *hours) : fmt::format("{:.0f}", *hours);
}

std::string ledger_table(const Document& rows_of, const char* name, const char* count,
                         const ScreenStyle& style) {
  std::vector<std::vector<Cell>> rows;
  for (const Document& row : rows_of)
    rows.push_back({{known_or_dashes(spaced(word(row, name)))},
                    {hours_of(row, "gpu_h")},
                    {known_or_dashes(word(row, count))},
                    {known_or_dashes(word(row, "method"))}});
  const std::vector<TableColumn> columns = {
      {name == std::string_view("cause") ? "Lost by" : "Saved by", 0},
      {"GPU-h", 0, true},
      {name == std::string_view("cause") ? "Attempts" : "Count", 0, true},
      {"How it is counted", 1, false, 20, TooLong::folded}};
  return table_text(columns, rows, style.width);
}

/// "job 17, node n3"
std::string targets(const Document& action) {
  return fmt::format("{}", fmt::join(texts(action, "target"), ", "));
}

/// " (drain node: node n3)"; "" where it is not told.
std::string what_it_does(const Document& change) {
  const std::string kind = spaced(word(change, "kind")), target = targets(change);
  if (kind.empty()) return "";
  return target.empty() ? fmt::format(" ({})", kind) : fmt::format(" ({}: {})", kind, target);
}

/// "on n1 n2"; "" where the call names no nodes.
std::string place_of_call(const Document& action) {
  std::string nodes;
  for (const Document& node : list_of(part(action, "call"), "nodes")) {
    nodes += nodes.empty() ? "on " : " ";
    nodes += word(node, "node");
  }
  return nodes;
}

/// The first of its reasons, else where it would happen.
std::string reason_or_place(const Document& action) {
  const auto reasons = texts(action, "why");
  return reasons.empty() ? known_or_dashes(place_of_call(action)) : reasons.front();
}

Style style_of_action(std::string_view state) {
  if (state == "verified") return Style::green;
  if (state == "waiting" || state == "ambiguous") return Style::yellow;
  return state == "failed" || state == "discarded" ? Style::red : Style::plain;
}

/// Where and when of a job's change.
std::string job_change_text(const Document& job, const ScreenStyle& style) {
  const std::string state = word(job, "state");
  const char* const when = state == "pending"   ? "submitted_s"
                           : state == "running" ? "started_s"
                                                : "ended_s";
  std::vector<std::string> nodes;
  for (const Document& node : list_of(job, "nodes")) nodes.push_back(word(node, "node"));
  return fmt::format("{}  job {} {} ({}, {}{})", dated(job, when, style), word(job, "id"), state,
                     word(job, "user"), counted(whole(job, "gpus").value_or(0), "GPU"),
                     nodes.empty() ? "" : fmt::format(" on {}", fmt::join(nodes, " ")));
}

/// What it would change to order the queue; "" where nothing is wished for.
std::string order_line(const Document& effect) {
  const Document& wait = part(effect, "wait_s");
  const auto now_s = amount(part(wait, "now"), "mean");
  const auto would_be_s = amount(part(wait, "would_be"), "mean");
  const Document& change = part(effect, "change_pct");
  const auto mean = amount(change, "mean"), p10 = amount(change, "p10"),
             p90 = amount(change, "p90");
  const std::int64_t jobs = whole(effect, "waiting").value_or(0);
  if (!now_s || !would_be_s || !mean || !p10 || !p90 || jobs == 0) return "";
  return fmt::format("ordered, {} after {}, not {} ({:+.0f} %; 80 %: {:+.0f} to {:+.0f})",
                     jobs == 1 ? "the job that waits starts" : fmt::format("{} jobs start", jobs),
                     in_words(FractionalSeconds(*would_be_s)), in_words(FractionalSeconds(*now_s)),
                     *mean, *p10, *p90);
}

}  // namespace

std::string cluster_line(const Document& cluster) {
  GpuCounts all;
  for (const Document& node : list_of(cluster, "nodes")) all.add(node);
  const Document& queue = part(cluster, "queue");
  const auto running = whole(queue, "running").value_or(0),
             pending = whole(queue, "pending").value_or(0);
  return fmt::format("{} on {} of {} GPUs, {}",
                     running == 1 ? "1 job runs" : fmt::format("{} jobs run", running), all.held,
                     all.gpus, pending == 1 ? "1 waits" : fmt::format("{} wait", pending));
}

std::string live_cluster_text(const Document& cluster, const ScreenStyle& style, bool all_nodes) {
  std::string text =
      style.fit(dated(cluster, "now_s", style) + ": " + cluster_line(cluster)) + "\n";
  if (const std::string trouble = word(cluster, "trouble"); !trouble.empty())
    text += styled(Style::red, style.fit("this is old: the cluster does not answer: " + trouble)) +
            "\n";
  if (const std::string stopped = word(cluster, "stopped"); !stopped.empty())
    text += styled(Style::red, style.fit(stopped)) + "\n";
  else if (part(cluster, "breaker_open") == true)
    text +=
        styled(Style::red, style.fit("the breaker is open: nothing that disturbs is done")) + "\n";
  if (const std::string order = order_line(part(cluster, "order_effect")); !order.empty())
    text += style.fit(order) + "\n";
  if (!all_nodes) text += "\n" + partitions_table(cluster, style);
  return text + nodes_table(cluster, style, all_nodes);
}

std::string undecided_text(const Result<Document>& answer, const Document& cluster,
                           const ScreenStyle& style) {
  if (!answer)
    return "\n" + style.fit(fmt::format("actions: not known: {}", answer.error().message)) + "\n";
  const std::int64_t now_s = whole(cluster, "now_s").value_or(0);
  constexpr std::array<std::string_view, 4> on_nodes = {"drain_node", "undrain_node", "test_nodes",
                                                        "requeue_excluding"};
  constexpr std::int64_t day_s = 86'400;
  constexpr std::size_t most = 8;
  std::set<std::string> newer;
  std::vector<Document> undecided;
  for (const Document& action : list_of(*answer, "actions")) {
    const std::string kind = word(action, "kind");
    if (std::ranges::find(on_nodes, kind) == on_nodes.end() ||
        !newer.insert(kind + targets(action) + place_of_call(action)).second)
      continue;
    const Document& steps = list_of(action, "steps");
    const auto when_s = steps.empty() ? std::nullopt : whole(steps.back(), "when_s");
    if (word(action, "state") == "expired" && when_s && *when_s > now_s - day_s)
      undecided.push_back(action);
  }
  if (undecided.empty()) return "";
  const std::string title = fmt::format(
      "{} that nobody decided on in time, within a day (schedmate actions --state expired)",
      counted(std::ssize(undecided), "action"));
  undecided.resize(std::min(undecided.size(), most));
  return "\n" + styled(Style::yellow, style.fit(title)) + "\n" + actions_text(undecided, style, 0);
}

std::string actions_text(const std::vector<Document>& actions, const ScreenStyle& style,
                         std::size_t most) {
  const std::vector<TableColumn> columns = {{"ID", 0, true},      {"When", 2},   {"State", 0},
                                            {"Kind", 0},          {"Target", 0}, {"Mode", 3},
                                            {"Why", 1, false, 20}};
  std::vector<std::vector<Cell>> rows;
  for (const Document& action : actions) {
    if (most > 0 && rows.size() == most) break;
    const Document& steps = list_of(action, "steps");
    const std::string state = word(action, "state");
    rows.push_back({{word(action, "id")},
                    {steps.empty() ? unknown_cell : dated(steps.back(), "when_s", style)},
                    {state, style_of_action(state)},
                    {spaced(word(action, "kind"))},
                    {style.cell(targets(action), 24)},
                    {word(action, "mode")},
                    {reason_or_place(action)}});
  }
  if (rows.empty()) return "no actions\n";
  std::string text = table_text(columns, rows, style.width);
  if (rows.size() < actions.size()) text += "... and older ones (--limit 0 shows all)\n";
  return text;
}

std::string action_text(const Document& action, const ScreenStyle& style) {
  std::string text =
      style.fit(fmt::format("action {}: {}, {}, {}", word(action, "id"),
                            spaced(word(action, "kind")), targets(action), word(action, "state"))) +
      "\n";
  for (const std::string& reason : texts(action, "why"))
    text += style.fit(fmt::format("  why      {}", reason)) + "\n";
  if (const std::string place = place_of_call(action); !place.empty())
    text += style.fit(fmt::format("  where    {}", place)) + "\n";
  if (const auto undoes = whole(action, "undoes"); undoes && *undoes > 0)
    text += fmt::format("  undoes   {}\n", *undoes);
  for (const Document& step : list_of(action, "steps")) {
    const std::string note = word(step, "note");
    text += style.fit(fmt::format("  {:<8} {} by {}{}", word(step, "state"),
                                  dated(step, "when_s", style), word(step, "by"),
                                  note.empty() ? "" : ": " + note)) +
            "\n";
  }
  return text;
}

std::string audit_entries_text(const Document& document, const ScreenStyle& style) {
  std::vector<std::vector<Cell>> rows;
  for (const Document& entry : list_of(document, "entries")) {
    const auto cell = [&](const char* key) {
      const Document& value = part(entry, key);
      if (value.is_null()) return std::string(unknown_cell);
      return printable(value.is_string() ? value.get<std::string>() : in_one_line(value));
    };
    rows.push_back({cell("sequence"), dated(entry, "when_s", style), cell("by"), cell("action"),
                    cell(entry.contains("what") ? "what" : "state"),
                    cell(entry.contains("call") ? "call" : "seen")});
  }
  const std::vector<TableColumn> names{{"entry"},  {"when", 2}, {"by", 3},
                                       {"action"}, {"became"},  {"seen", 1, false, 24}};
  return table_text(names, rows, style.width);
}

std::string ledger_text(const Document& ledger, const ScreenStyle& style) {
  std::string text =
      style.fit(fmt::format("since {}: {} GPU-hours used by {}", dated(ledger, "since_s", style),
                            hours_of(ledger, "used_gpu_h"),
                            counted(whole(ledger, "jobs").value_or(0), "job"))) +
      "\n";
  if (const Document& idle = part(ledger, "idle"); amount(idle, "sampled_gpu_h").value_or(0) > 0)
    text += style.fit(fmt::format("idle for {} of the {} GPU-hours that samples cover",
                                  hours_of(idle, "gpu_h"), hours_of(idle, "sampled_gpu_h"))) +
            "\n";
  const Document& lost = list_of(ledger, "lost");
  const Document& saved = list_of(ledger, "saved");
  text +=
      lost.empty() ? "nothing was lost\n" : "\n" + ledger_table(lost, "cause", "attempts", style);
  text +=
      saved.empty() ? "nothing was saved\n" : "\n" + ledger_table(saved, "kind", "count", style);
  return text;
}

std::string change_text(const Document& change, const ScreenStyle& style) {
  const std::string kind = word(change, "kind");
  const Document& data = part(change, "data");
  if (kind == "job") return style.fit(job_change_text(data, style)) + "\n";
  if (kind == "action")
    return style.fit(fmt::format("action {}{} is {}", word(data, "id"), what_it_does(data),
                                 word(data, "state"))) +
           "\n";
  return kind == "full" ? "" : style.fit(fmt::format("{} {}", kind, in_one_line(data))) + "\n";
}

}  // namespace schedmate::screen
