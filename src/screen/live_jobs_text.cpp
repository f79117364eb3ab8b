// SPDX-License-Identifier: Apache-2.0
#include "screen/live_jobs_text.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <limits>
#include <nlohmann/json.hpp>
#include <tuple>

#include "base/table.hpp"
#include "base/words.hpp"
#include "core/step_ends.hpp"
#include "screen/fields.hpp"
#include "screen/lines.hpp"

namespace schedmate::screen {
namespace {

using Instant = std::optional<std::int64_t>;

std::string length_of(std::int64_t length_s) {
  return in_words(Seconds(std::max<std::int64_t>(length_s, 0)));
}

/// "in 2 h" of the cluster's clock; "now" for what is due.
std::string ahead(Instant when_s, Instant now_s, const ScreenStyle& style) {
  if (!when_s) return "later";
  if (!now_s) return style.date(*when_s);
  return *when_s <= *now_s ? "now" : "in " + length_of(*when_s - *now_s);
}

/// "in 2 h (1 h to 5 h)", "in 2 h or later": of {p10, p50, p90}, of which the last ones may be
/// missing; "" where nothing is foreseen.
std::string foreseen(const Document& quantiles, Instant now_s, const ScreenStyle& style) {
  if (!quantiles.is_object()) return "";
  const Instant low = whole(quantiles, "p10"), middle = whole(quantiles, "p50"),
                high = whole(quantiles, "p90");
  if (!low || (!middle && now_s && *low <= *now_s)) return "";
  if (!middle) return ahead(low, now_s, style) + " or later";
  const auto bare = [&](Instant when_s) {
    const std::string text = ahead(when_s, now_s, style);
    return text.starts_with("in ") ? text.substr(3) : text;
  };
  std::string likely = ahead(middle, now_s, style);
  if (bare(low) == bare(high)) return likely;
  return fmt::format("{} ({} to {})", likely, bare(low), bare(high));
}

bool waits(const Document& job) { return word(job, "state") == "pending"; }
bool runs(const Document& job) { return word(job, "state") == "running"; }

/// A line each, of schedmate.job.v1 or schedmate.why.v1.
std::string foreseen_lines(const Document& job, Instant now_s, const ScreenStyle& style) {
  const auto line = [&](const char* label, const char* key) {
    const std::string text = foreseen(part(part(job, "eta"), key), now_s, style);
    return fmt::format("  {:<11}{}\n", label, text.empty() ? "not known" : text);
  };
  return (waits(job) ? line("starts", "start_s") : "") + line("ends", "end_s");
}

/// How long it has waited, run, or ran.
std::string lasted(const Document& job, Instant now_s) {
  const Instant begin = whole(job, waits(job) ? "submitted_s" : "started_s");
  const Instant end = waits(job) || runs(job) ? now_s : whole(job, "ended_s");
  return begin && end ? length_of(*end - *begin) : unknown_cell;
}

/// What waits for people: when they decide is not foreseen. "": nothing does.
std::string held_up(const std::string& by) {
  if (by == "approval") return "waits for approval";
  return by == "mode" ? "nobody starts jobs" : "";
}

std::string expected(const Document& job, Instant now_s, const ScreenStyle& style) {
  const Document& eta = part(job, "eta");
  if (waits(job)) {
    if (const std::string by = held_up(word(job, "held_up_by")); !by.empty()) return by;
    const std::string start = foreseen(part(eta, "start_s"), now_s, style);
    return start.empty() ? unknown_cell : "starts " + start;
  }
  if (runs(job)) {
    const std::string end = foreseen(part(eta, "end_s"), now_s, style);
    return end.empty() ? unknown_cell : "ends " + end;
  }
  const Instant ended = whole(job, "ended_s");
  if (!ended) return unknown_cell;
  return now_s ? fmt::format("ended {} ago", length_of(*now_s - *ended))
               : "ended " + style.date(*ended);
}

/// "41 %", from a step and how many there are.
std::string share_done(const Document& job) {
  const Document& progress = part(job, "progress");
  const auto step = amount(progress, "step");
  auto of = amount(progress, "of");
  if (!of) of = amount(progress, "total_steps");
  return step && of && *of > 0 ? fmt::format("{:.0f} %", std::clamp(100 * *step / *of, 0.0, 999.0))
                               : unknown_cell;
}

std::string node_names(const Document& job) {
  const Document& nodes = part(job, "nodes");
  std::vector<std::string> names;
  if (nodes.is_array())
    for (const Document& node : nodes) names.push_back(word(node, "node"));
  return fmt::format("{}", fmt::join(names, " "));
}

/// Running ones first, then waiting ones, then those that ended; each what comes next first.
auto place_in_list(const Document& job) {
  constexpr auto last = std::numeric_limits<std::int64_t>::max();
  const Document& eta = part(job, "eta");
  if (runs(job)) return std::tuple(0, whole(part(eta, "end_s"), "p50").value_or(last));
  if (waits(job)) return std::tuple(1, whole(part(eta, "start_s"), "p50").value_or(last));
  return std::tuple(2, -whole(job, "ended_s").value_or(0));
}

std::string failure_in_words(const Document& job) {
  std::string verdict = word(job, "verdict");
  if (verdict.empty()) verdict = word(part(job, "diagnosis"), "reason");
  return verdict;
}

void add_times(const Document& job, Instant now_s, const ScreenStyle& style, Lines& screen) {
  const auto row = [&](const char* label, const char* key) {
    if (const Instant when_s = whole(job, key)) screen.row(label, style.date(*when_s));
  };
  row("submitted", "submitted_s");
  row("started", "started_s");
  row("ended", "ended_s");
  const std::string time = lasted(job, now_s);
  if (time != unknown_cell) screen.row(waits(job) ? "waited" : "ran", time);
  if (runs(job) || waits(job)) {
    const std::string eta = expected(job, now_s, style);
    screen.row("eta", eta == unknown_cell ? "nothing is foreseen yet" : eta);
  }
}

/// "0 (train) on n0 n1 was killed by signal 9": of those that the script started.
std::string failed_step_words(const Document& job) {
  const std::vector<SeenStep> steps = steps_in(part(job, "steps"));
  const SeenStep* const found = failed_step(steps);
  return found == nullptr ? "" : step_words(*found).substr(std::string_view("step ").size());
}

/// How its script ended; "": well, or the daemon does not tell.
std::string exit_words(const Document& job) {
  const auto code = whole(job, "exit_code"), signal = whole(job, "exit_signal");
  if (signal && *signal > 0) return fmt::format("signal {}", *signal);
  return code && *code != 0 ? fmt::format("code {}", *code) : "";
}

void add_diagnosis(const Document& job, Lines& screen) {
  const std::string why = failure_in_words(job);
  screen.row("why", why);
  const Document& made = part(job, "diagnosis");
  screen.row("step", failed_step_words(job));
  screen.row("exit", exit_words(job));
  const std::string todo = spaced(word(made, "recommendation"));
  const std::string advice = word(made, "advice");
  screen.long_row("do", todo.empty() ? advice : advice.empty() ? todo : todo + ": " + advice, 2);
}

void add_actions(const Document& job, Lines& screen) {
  const Document& actions = part(job, "actions");
  if (!actions.is_array()) return;
  std::size_t left = actions.size();
  for (const Document& action : actions) {
    if (!screen.has_room(2)) {
      screen.row("", fmt::format("{} more: schedmate actions", left));
      return;
    }
    screen.row(left-- == actions.size() ? "actions" : "",
               fmt::format("{} {} is {}", word(action, "id"), spaced(word(action, "kind")),
                           word(action, "state")));
  }
}

std::string label_and_text(std::string_view label, const std::string& text) {
  return text.empty() ? "" : fmt::format("{:<11}{}\n", label, text);
}

}  // namespace

std::string live_jobs_text(const std::vector<Document>& jobs, std::optional<std::int64_t> now_s,
                           const ScreenStyle& style, std::size_t most) {
  std::vector<const Document*> order;
  for (const Document& job : jobs) order.push_back(&job);
  std::ranges::stable_sort(order, {}, [](const Document* job) { return place_in_list(*job); });
  const std::vector<TableColumn> columns = {{"JobID", 0},
                                            {"User", 1},
                                            {"Name", 7},
                                            {"State", 0},
                                            {"GPUs", 0, true},
                                            {"Time", 2, true},
                                            {"Progress", 3, true},
                                            {"Expected", 0},
                                            {"Nodes", 5},
                                            {"Health", 4},
                                            {"Cause", 6, false, 12}};
  std::vector<std::vector<Cell>> rows;
  for (const Document* job : order) {
    if (most > 0 && rows.size() == most) break;
    const auto cell = [&](const std::string& text, std::size_t width) {
      return text.empty() ? std::string(unknown_cell) : style.cell(text, width);
    };
    const std::string state = word(*job, "state");
    rows.push_back({{cell(word(*job, "id"), 20)},
                    {cell(word(*job, "user"), 12)},
                    {cell(word(*job, "name"), 18)},
                    {cell(state, 13), style_of_state(state)},
                    {cell(word(*job, "gpus"), 7)},
                    {lasted(*job, now_s)},
                    {share_done(*job)},
                    {expected(*job, now_s, style)},
                    {cell(node_names(*job), 18)},
                    {cell(word(*job, "health"), 8)},
                    {cell(failure_in_words(*job), 200)}});
  }
  if (rows.empty()) return "no jobs\n";
  std::string text = table_text(columns, rows, style.width);
  if (rows.size() < jobs.size())
    text += fmt::format("... and {} more (--limit 0 shows all)\n", jobs.size() - rows.size());
  return text;
}

std::string live_job_text(const Document& job, std::optional<std::int64_t> now_s,
                          const ScreenStyle& style) {
  Lines screen(style);
  const std::string state = word(job, "state");
  std::string title = fmt::format("job {}, {}", word(job, "id"), state);
  for (const char* key : {"name", "user"})
    if (const std::string text = word(job, key); !text.empty())
      title += key == std::string_view("user") ? ", of " + text : ", " + text;
  if (part(job, "held") == true) title += ", held";
  const Style colour = style_of_state(state);
  screen.title(title, colour == Style::plain ? Style::bold : colour);
  const Document& request = part(job, "request");
  screen.row("command", word(request, "command"));
  if (const std::string folder = word(request, "dir"); !folder.empty())
    screen.path_row("folder", folder);
  const std::string partition = word(job, "partition");
  screen.row("asked", counted(whole(job, "gpus").value_or(0), "GPU") +
                          (partition.empty() ? "" : ", partition " + partition));
  screen.row("nodes", node_names(job));
  if (const auto restarts = whole(job, "restarts"); restarts && *restarts > 0)
    screen.row("restarts", fmt::format("{}", *restarts));
  add_times(job, now_s, style, screen);
  screen.row("health", word(job, "health"));
  if (const std::string done = share_done(job); done != unknown_cell) screen.row("progress", done);
  add_diagnosis(job, screen);
  add_actions(job, screen);
  return screen.text();
}

std::string live_eta_text(const Document& job, std::optional<std::int64_t> now_s,
                          const ScreenStyle& style) {
  const Document& eta = part(job, "eta");
  std::string text =
      fmt::format("job {}, {} for {}\n", word(job, "id"), word(job, "state"), lasted(job, now_s));
  if (!runs(job) && !waits(job))
    return fmt::format("job {}, {}, {}\n", word(job, "id"), word(job, "state"),
                       expected(job, now_s, style));
  if (const std::string by = held_up(word(job, "held_up_by")); waits(job) && !by.empty())
    return text +
           fmt::format("  {}; when is not foreseen (schedmate why {})\n", by, word(job, "id"));
  if (!eta.is_object()) return text + "  nothing is foreseen yet\n";
  text += foreseen_lines(job, now_s, style);
  text += fmt::format("  rests on   {} samples, run time by {}; a span holds 80 % of them\n",
                      word(eta, "samples"), word(eta, "by"));
  return text;
}

std::string live_why_text(const Document& why, std::optional<std::int64_t> now_s,
                          const ScreenStyle& style) {
  std::string text = fmt::format("job {}, {}\n", word(why, "job_id"), word(why, "state"));
  const Document& block = part(why, "blocked_by");
  if (block.is_object()) {
    std::string reason = word(block, "text");
    if (reason.empty()) reason = spaced(word(block, "reason"));
    const std::string said = word(block, "scheduler_says");
    text += fmt::format("  why        {}{}\n", reason,
                        said.empty() ? "" : " (the cluster says " + said + ")");
    std::vector<std::string> ends = texts(block, "jobs");
    if (const auto others = whole(block, "jobs_of_others"); others && *others > 0)
      ends.push_back(counted(*others, "job") + " of others");
    if (!ends.empty()) text += fmt::format("  waits for  the end of {}\n", fmt::join(ends, ", "));
  } else if (word(why, "state") == "pending") {
    text += "  why        nothing is foreseen yet; the daemon looks again each second\n";
  }
  if (!held_up(word(block, "reason")).empty()) return text;
  return part(why, "eta").is_object() ? text + foreseen_lines(why, now_s, style) : text;
}

std::string live_progress_text(const Document& job) {
  const Document& progress = part(job, "progress");
  if (!progress.is_object()) return "";
  const auto of = [&](const char* count, std::initializer_list<const char*> totals) {
    std::string text = word(progress, count);
    for (const char* total : totals)
      if (const std::string all = word(progress, total); !text.empty() && !all.empty())
        return fmt::format("{} of {}", text, all);
    return text;
  };
  std::string step_time = word(progress, "step_time_s");
  if (!step_time.empty()) step_time += " s";
  const auto left = amount(progress, "remaining_s");
  std::string text = label_and_text("step", of("step", {"of", "total_steps"}));
  text += label_and_text("epoch", of("epoch", {"total_epochs"}));
  text += label_and_text("step time", step_time);
  text += label_and_text("loss", word(progress, "loss"));
  text += label_and_text("remaining", left ? in_words(FractionalSeconds(*left)) : "");
  text += label_and_text("health", word(job, "health"));
  return text;
}

std::string live_diagnosis_text(const Document& job, const ScreenStyle& style) {
  const Document& made = part(job, "diagnosis");
  if (!made.is_object()) return "";
  std::vector<std::vector<std::string>> rows;
  const auto add = [&](const char* label, const std::string& text) {
    if (!text.empty()) rows.push_back({label, text});
  };
  add("class", spaced(word(made, "class")));
  add("component", word(made, "component"));
  add("reason", word(made, "reason"));
  add("recommendation", spaced(word(made, "recommendation")));
  add("", word(made, "advice"));
  add("nodes", fmt::format("{}", fmt::join(texts(made, "nodes"), " ")));
  add("confidence", word(made, "confidence"));
  std::string text = aligned(rows);
  const Document& evidence = part(made, "evidence");
  if (!evidence.is_array() || evidence.empty()) return text;
  text += "\nevidence\n";
  for (const Document& line : evidence)
    text += style.fit(fmt::format("  {}:{}  {}", word(line, "file"), word(line, "line"),
                                  word(line, "text"))) +
            "\n";
  return text;
}

std::string live_advice_text(const Document& job) {
  const Document& advice = part(job, "advice");
  if (!advice.is_object()) return "";
  const Document& length = part(advice, "duration_s");
  const auto span = [&](const char* key) {
    const auto value = amount(length, key);
    return value ? in_words(FractionalSeconds(*value)) : std::string("not known");
  };
  std::string text = label_and_text(
      "length", length.is_object()
                    ? fmt::format("{} ({} to {})", span("p50"), span("p10"), span("p90"))
                    : "not known");
  if (const auto early = amount(advice, "early_end"))
    text += label_and_text("ends early", fmt::format("{:.0f} %", 100 * *early));
  text += label_and_text("--time", word(part(advice, "time_limit"), "slurm"));
  text += label_and_text("source", spaced(word(advice, "source")));
  return text;
}

}  // namespace schedmate::screen
