// SPDX-License-Identifier: Apache-2.0
#include "screen/job_text.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>

#include "advisor/command_flags.hpp"
#include "advisor/fields.hpp"
#include "advisor/run_answer.hpp"
#include "base/table.hpp"
#include "base/words.hpp"
#include "core/facts_json.hpp"
#include "screen/facts_text.hpp"
#include "screen/lines.hpp"
#include "screen/screen.hpp"

namespace schedmate::screen {
namespace {

using service::JobView;

std::string known_length(const std::optional<Seconds>& length) {
  return length ? in_words(*length) : "not known";
}

std::string number(double value) { return fmt::format("{:.6g}", value); }

std::string joined(const std::vector<std::string>& parts) {
  return fmt::format("{}", fmt::join(parts, ", "));
}

/// "in 2.2 h", "1.1 h ago".
std::string from_now(SimTime time, SimTime now) {
  if (time == now) return "just now";
  return time >= now ? "in " + in_words(time - now) : in_words(now - time) + " ago";
}

void add_title(const JobView& view, Lines& screen) {
  const JobRecord& record = view.job.record;
  if (record.id.empty())
    return screen.title("a log that belongs to no job that is known here", Style::bold);
  std::vector<std::string> parts = {fmt::format("job {}", record.id)};
  if (!record.name.empty()) parts.push_back(record.name);
  if (!record.user.empty())
    parts.push_back(
        fmt::format("of {}{}{}", record.user, record.group.empty() ? "" : "/" + record.group,
                    record.account.empty() ? "" : fmt::format(" ({})", record.account)));
  std::string state = view.state.empty() ? "state not known" : view.state;
  const auto& attempts = view.job.attempts;
  const std::string exit = attempts.empty() ? "" : attempts.back().exit_code;
  if (!exit.empty() && exit != "0:0") state += fmt::format(" (exit {})", exit);
  if (!view.job.reason.empty() && view.state == "pending")
    state += fmt::format(" ({})", view.job.reason);
  parts.insert(parts.begin() + 1, state);
  const Style style = style_of_state(view.state);
  screen.title(joined(parts), style == Style::plain ? Style::bold : style);
}

void add_what(const JobView& view, Lines& screen) {
  const JobRecord& record = view.job.record;
  const auto facts = read_facts_json(record.facts_json);
  screen.row("what", job_in_words([&](std::string_view name) {
               const Fact* fact = facts ? known_fact(*facts, name) : nullptr;
               return fact != nullptr ? value_text(fact->value)
                                      : std::string(advisor::field(record.fields, name));
             }));
  screen.row("command", advisor::without_submission(record.command));
}

void add_run(const JobView& view, Lines& screen) {
  const auto& attempts = view.job.attempts;
  std::vector<std::string> run;
  if (view.ran) run.push_back(known_length(view.ran));
  if (view.started) {
    std::string when = "from " + screen.date(*view.started);
    if (view.ended) {
      // On the same day the time alone.
      const std::string end = screen.date(*view.ended);
      const std::size_t same = end.substr(0, 10) == when.substr(5, 10) ? 11 : 0;
      when = when.substr(0, when.rfind(' ')) + " to " + end.substr(same);  // one zone for both
    }
    run.push_back(when);
  }
  if (!attempts.empty() && !attempts.back().nodes.empty())
    run.push_back("on " + attempts.back().nodes);
  screen.row("ran", joined(run));
  if (attempts.size() > 1) {
    std::vector<std::string> earlier;
    for (std::size_t i = 0; i + 1 < attempts.size(); ++i)
      earlier.push_back(fmt::format("{} on {}", attempts[i].word, attempts[i].nodes));
    screen.row("attempts",
               fmt::format("{}; before this one: {}", attempts.size(), joined(earlier)));
  }
  const auto start = attempts.empty() ? view.started : attempts.front().start;
  if (start && *start > view.job.record.submit && seconds_of(view.job.record.submit) > 0)
    screen.row("waited", in_words(*start - view.job.record.submit));
}

std::string count_of(const std::optional<double>& value, const std::optional<double>& total) {
  if (!value) return "";
  if (!total || *total <= 0) return number(*value);
  return fmt::format("{} of {} ({:.0f} %)", number(*value), number(*total), 100 * *value / *total);
}

void add_progress(const JobView& view, Lines& screen) {
  if (!view.progress) return;
  const Progress& progress = *view.progress;
  std::vector<std::string> far;
  if (const auto steps = count_of(progress.step, progress.total_steps); !steps.empty())
    far.push_back("step " + steps);
  if (const auto epochs = count_of(progress.epoch, progress.total_epochs); !epochs.empty())
    far.push_back("epoch " + epochs);
  if (progress.loss) far.push_back(fmt::format("loss {:.4g}", *progress.loss));
  screen.row("progress", far.empty() ? "its log shows none" : joined(far));
  if (!progress.step_time_s) return;
  std::string speed = fmt::format("{:.3g} s a step", *progress.step_time_s);
  if (view.earlier.seconds_per_step && *view.earlier.seconds_per_step > 0) {
    const double change = 100 * (*progress.step_time_s / *view.earlier.seconds_per_step - 1);
    speed += fmt::format("; {:.3g} s in earlier runs ({:.0f} % {})", *view.earlier.seconds_per_step,
                         std::abs(change), change > 0 ? "slower" : "faster");
  }
  if (progress.throughput)
    speed += fmt::format("; {:.4g} {}", progress.throughput->value, progress.throughput->unit);
  screen.row("speed", speed);
}

void add_end(const JobView& view, Lines& screen) {
  if (view.state == "pending" && view.job.planned_start)
    screen.row("starts", fmt::format("{} ({}), as the scheduler plans now",
                                     screen.date(*view.job.planned_start),
                                     from_now(*view.job.planned_start, view.now)));
  if (!view.is_running()) return;
  const auto& limit = view.job.record.time_limit;
  std::string text = "not known";
  if (view.expected) {
    const auto& end = *view.expected;
    text = fmt::format("{} ({}), by {}", screen.date(end.at), from_now(end.at, view.now), end.by);
    if (end.high)
      text += fmt::format("; at the latest {} in 9 of 10 cases", screen.date(*end.high));
  }
  const bool late = view.expected && view.expected->over_limit;
  screen.row("ends", text, late ? Style::red : Style::plain);
  if (limit && view.started)
    screen.row("limit",
               fmt::format("{} ({}){}", screen.date(*view.started + *limit),
                           from_now(*view.started + *limit, view.now),
                           late ? ": it will be killed before it is done" : ""),
               late ? Style::red : Style::plain);
}

void add_earlier(const JobView& view, Lines& screen) {
  const auto& earlier = view.earlier;
  if (earlier.runs == 0) return;
  std::string text =
      fmt::format("{} of this job, {} completed", counted(earlier.runs, "run"), earlier.completed);
  if (earlier.completed == 1) text += " in " + known_length(earlier.median);
  if (earlier.completed > 1)
    text += fmt::format(" in {} to {}, median {}", known_length(earlier.shortest),
                        known_length(earlier.longest), known_length(earlier.median));
  screen.row("earlier", text);
}

void add_use(const JobView& view, Lines& screen) {
  const JobRecord& record = view.job.record;
  if (!record.outcome) return;
  const Outcome& outcome = *record.outcome;
  const service::JobUse& use = view.use;
  screen.share("time", use.limit_pct, "of the limit of " + known_length(record.time_limit),
               style_of_middle(use.limit_pct));
  std::string of_gpus = fmt::format("busy, of {}", counted(record.gpus, "GPU"));
  if (outcome.gpu_memory_mib && !use.gpu_memory_pct)
    of_gpus += fmt::format(", {} of memory each", mib_in_words(*outcome.gpu_memory_mib));
  screen.share("GPU", use.gpu_util_pct, of_gpus, style_of_high(use.gpu_util_pct));
  if (use.gpu_memory_pct)
    screen.share("GPU mem", use.gpu_memory_pct,
                 fmt::format("({} of {} each)", mib_in_words(*outcome.gpu_memory_mib),
                             mib_in_words(*outcome.gpu_memory_total_mib)),
                 Style::plain);
  if (use.cpu_pct)
    screen.share("CPU", use.cpu_pct,
                 fmt::format("of {} CPUs ({} of {} CPU time)", record.cpus,
                             in_words(*outcome.cpu_time), in_words(outcome.duration * record.cpus)),
                 record.gpus > 0 ? Style::plain : style_of_high(use.cpu_pct));
  else if (outcome.cpu_time)
    screen.row("CPU", in_words(*outcome.cpu_time) + " of CPU time");
  std::string a_node;
  if (record.nodes > 1 && record.memory_mib)
    a_node = fmt::format("; {} a node",
                         mib_in_words(*record.memory_mib / static_cast<double>(record.nodes)));
  if (outcome.memory_mib && record.memory_mib)
    screen.share("memory", use.memory_pct,
                 fmt::format("({} of {}{})", mib_in_words(*outcome.memory_mib),
                             mib_in_words(*record.memory_mib), a_node),
                 style_of_middle(use.memory_pct));
  screen.row("cost", service::cost_words(record, use));
}

/// Each node and each GPU, as far as the lines go that `kept` leaves.
void add_nodes(const JobView& view, std::size_t kept, Lines& screen) {
  const auto nodes = service::words_of_nodes(view.job.record);
  constexpr std::size_t lines_of_one = 4;  // two for its GPUs, one to say how many are left
  for (std::size_t i = 0; i < nodes.size(); ++i) {
    if (!screen.has_room(kept + lines_of_one)) {
      screen.row(i == 0 ? "nodes" : "",
                 fmt::format("{} more by --json, or in a pipe", nodes.size() - i));
      break;
    }
    screen.row(i == 0 ? "nodes" : "", nodes[i].node);
    screen.long_row("", nodes[i].gpus.empty() ? "" : "  " + nodes[i].gpus, 2);
  }
}

void add_failure(const JobView& view, Lines& screen) {
  if (!view.diagnosis || view.diagnosis->verdict == FailureClass::none) {
    const bool failed = view.job.record.outcome && view.state != "completed";
    if (failed) screen.row("why", service::cause_of(view.job.record) + ", says the scheduler");
    if (const std::string advice = service::what_to_do(view); !advice.empty())
      screen.long_row("do", advice, 2);
    return;
  }
  const Diagnosis& made = *view.diagnosis;
  screen.row("why", fmt::format("{} ({})", made.reason, spaced(name_of(made.verdict))));
  for (const LogEvidence& line : made.evidence) {
    if (line.role != LineRole::cause) continue;
    screen.row("", fmt::format("line {}: {}", line.line, line.text));
    break;
  }
  screen.long_row("do", fmt::format("{}: {}", spaced(name_of(made.recommendation)), made.advice),
                  2);
  if (made.seen)
    screen.row("", fmt::format("seen in {} of {}", counted(made.seen->jobs, "earlier job"),
                               counted(made.seen->users, "user")));
}

void add_next(const JobView& view, Lines& screen) {
  std::string_view label = "next run";
  if (view.time_limit) {
    screen.row(label, advisor::limit_in_words(*view.time_limit));
    label = "";
  }
  for (const service::SizeAdvice& each : view.sizes) {
    screen.row(label, each.flag.empty() ? each.why : fmt::format("{} ({})", each.flag, each.why));
    label = "";
  }
}

void add_sources(const JobView& view, Lines& screen) {
  if (!view.log.empty()) {
    std::string age;
    if (view.log_written && view.is_running())
      age = fmt::format(" (written {})", from_now(*view.log_written, view.now));
    screen.path_row("log", view.log + age);
  }
  for (const std::string& note : view.notes)
    if (screen.has_room()) screen.row("note", note);
  std::vector<std::string> silent;
  for (const service::JobSourceState& source : view.sources)
    if (!source.gave) silent.push_back(fmt::format("{}: {}", source.name, source.says));
  if (screen.has_room()) screen.row("missing", fmt::format("{}", fmt::join(silent, "; ")));
}

}  // namespace

std::string job_text(const JobView& view, const ScreenStyle& style) {
  Lines screen(style);
  add_title(view, screen);
  add_what(view, screen);
  screen.long_row("asked", service::asked_words(view.job.record), 2);
  add_run(view, screen);
  add_progress(view, screen);
  add_end(view, screen);
  add_failure(view, screen);
  add_use(view, screen);
  add_earlier(view, screen);
  add_next(view, screen);
  add_nodes(view, view.notes.size() + 2, screen);
  add_sources(view, screen);
  return screen.text();
}

}  // namespace schedmate::screen
