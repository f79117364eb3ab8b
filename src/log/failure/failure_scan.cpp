// SPDX-License-Identifier: Apache-2.0
#include "log/failure/failure_scan.hpp"

#include <algorithm>
#include <array>
#include <ranges>

#include "base/text.hpp"
#include "log/failure/exceptions.hpp"

namespace schedmate::failure {
namespace {

constexpr std::size_t most_found = 4096;
constexpr std::size_t most_traces = 1024;
constexpr std::size_t shortest_first_line = 12;
constexpr std::uint64_t first_lines_apart = 30;
constexpr std::uint64_t lines_of_frame = 3;  ///< the frame, its code, marks beneath
constexpr std::uint64_t lines_of_announcement = 3;
constexpr std::uint64_t quiet_between_eras = 60;
constexpr std::uint64_t longest_gap = 4;       ///< between an exception and the traceback it quotes
constexpr std::uint64_t longest_trace = 1000;  ///< lines; further apart is another one

/// Looked up and not found, then said better by whoever handled it.
bool is_incidental(std::string_view name) {
  constexpr auto names = std::to_array<std::string_view>(
      {"KeyError", "StopIteration", "AttributeError", "IndexError", "LookupError", "queue.Empty",
       "Empty", "_queue.Empty", "binascii.Error", "json.decoder.JSONDecodeError"});
  return std::ranges::find(names, name) != names.end();
}

std::string_view body_of(const FailureLine& line) { return lines::read_prefixes(line.text).body; }

}  // namespace

void FailureScan::take(const lines::Line& line) {
  lines_ = line.number;
  for (const auto state : lines::states_of(lines::without_escapes(line.text, scratch_)))
    take_state(line.number, state);
}

void FailureScan::take_state(std::uint64_t number, std::string_view state) {
  const auto hash = lines::template_hash(state);
  const LineVerdict verdict = input_.kinds.of(hash, state);
  if (verdict.kind == LineKind::progress) {
    ++progress_;
    progress_line_ = number;
  }
  const bool plain_other = verdict.kind == LineKind::other && verdict.mark == LineMark::none;
  if (plain_other && lines_ > trace_seen_ + 2 * longest_gap) ++quiet_;
  const bool failure = verdict.kind == LineKind::failure;
  if (state.size() > shortest_first_line && begins_again(hash, verdict)) begin_run();
  const bool plain = !failure && verdict.mark == LineMark::none;
  if (lines_ > trace_seen_ + longest_trace) forget_traces();
  // Outside of tracebacks most lines need no more than this.
  if (plain && !may_belong(number)) return;
  auto at = failure_line(state, verdict);
  at.file = file_;
  at.line = at.begins = number;
  at.hash = hash;
  at.progress_before = progress_;
  at.progress_line = progress_line_;
  at.run = run_;
  if (verdict.mark != LineMark::none) return take_mark(at, verdict.mark);
  if (failure && input_.known != nullptr && input_.known->contains(hash)) return;
  take_plain(std::move(at), failure);
}

void FailureScan::begin_run() {
  if (!found_.empty() && found_.back().run == run_) ++run_;
  forget_traces();
}

void FailureScan::forget_traces() {
  traces_.clear();
  frame_open_ = false;
}

/// A line that is no failure by itself says something right behind a traceback, or where it was
/// announced.
bool FailureScan::may_belong(std::uint64_t number) const {
  if (announced_ != 0 && number <= announced_ + lines_of_announcement) return true;
  return !traces_.empty() && (frame_open_ || number <= trace_line_ + lines_of_frame);
}

bool FailureScan::begins_again(std::uint64_t hash, const LineVerdict& verdict) {
  const bool plain = verdict.mark == LineMark::none &&
                     (verdict.kind == LineKind::other || verdict.kind == LineKind::warning);
  const bool known =
      first_lines_.size() == 2 && std::ranges::find(first_lines_, hash) != first_lines_.end();
  // What stands right behind a traceback may be the rest of a message.
  const bool rest = trace_seen_ != 0 && lines_ <= trace_seen_ + longest_gap;
  if (!plain || (rest && !known)) return false;
  if (found_.empty() && first_lines_.size() < 2) {
    if (std::ranges::find(first_lines_, hash) == first_lines_.end()) first_lines_.push_back(hash);
    return false;
  }
  if (first_lines_.size() < 2) return false;
  if (hash == first_lines_[0]) first_again_ = lines_;
  return !found_.empty() && hash == first_lines_[1] && first_again_ > found_.back().line &&
         lines_ <= first_again_ + first_lines_apart;
}

/// An exception that only introduces the traceback of another one: "failed to import:".
void FailureScan::drop_introduction(const FailureLine& at, const Trace& trace) {
  constexpr std::uint64_t near = 6;
  if (trace.last >= found_.size()) return;
  FailureLine& last = found_[trace.last];
  if (trim(last.text).ends_with(':') && at.line <= last.line + near) last.role = LineRole::cascade;
}

void FailureScan::take_mark(const FailureLine& at, LineMark mark) {
  if (mark == LineMark::starts_run) return begin_run();
  if (mark == LineMark::announces) {
    announced_ = at.line;
    add(at);
    return;
  }
  if (!traces_.contains(at.rank) && traces_.size() >= most_traces) return;
  Trace& trace = traces_[at.rank];
  // A traceback within another one follows it closely.
  const auto longest = mark == LineMark::traceback && trace.wrapped ? longest_gap : longest_trace;
  if (trace.begins != 0 && at.line > trace.seen + longest) trace = {};
  trace.ignored = trace.ignored || mark == LineMark::ignores;
  trace_seen_ = at.line;
  if (mark == LineMark::ignores) return;
  if (mark == LineMark::quotes) {
    trace.quoted = true;
    return;
  }
  if (mark == LineMark::handles || mark == LineMark::follows) {
    trace.chain = mark;
  } else {
    if (trace.begins == 0) trace.begins = at.line;
    if (mark == LineMark::traceback) drop_introduction(at, trace);
    if (mark == LineMark::traceback && trace.chain == LineMark::none && !trace.ignored) add(at);
  }
  trace.after_frame = mark == LineMark::frame;
  frame_open_ = frame_open_ || trace.after_frame;
  trace.seen = trace_line_ = at.line;
}

bool FailureScan::is_code(const Trace& trace, std::string_view text) const {
  if (!trace.after_frame || exception_name(text)) return false;
  return !may_be_exception(text) || text.starts_with(' ');
}

void FailureScan::take_plain(FailureLine at, bool failure) {
  const std::string_view body = body_of(at);
  if (announced_ != 0 && !body.empty() && at.line <= announced_ + lines_of_announcement) {
    announced_ = 0;
    // What was announced says more than those who announced it.
    for (auto it = found_.rbegin(); it != found_.rend() && it->line + 6 >= at.line; ++it)
      if (it->weight <= 2) it->role = LineRole::cascade;
    at.role = LineRole::cause;
    at.weight = std::max(at.weight, 2);
    add(std::move(at));
    return;
  }
  const auto held = traces_.find(at.rank);
  if (held == traces_.end()) {
    if (failure) add(std::move(at));
    return;
  }
  Trace& trace = held->second;
  const bool code = is_code(trace, body);
  const bool named = failure && exception_name(body);
  const bool inside = trace.begins != 0 && at.line <= trace.seen + lines_of_frame;
  const bool foreign = !failure && inside && !code && may_be_exception(body);
  trace.after_frame = false;
  if (frame_open_)
    frame_open_ = std::ranges::any_of(traces_ | std::views::values, &Trace::after_frame);
  if (code) return;
  if (foreign) {
    at.role = LineRole::cause;
    at.weight = 3;
  }
  if (named || foreign) return add_exception(std::move(at), trace);
  if (failure) add(std::move(at));
}

void FailureScan::add_exception(FailureLine at, Trace& trace) {
  if (trace.ignored) {
    trace = {};
    return;
  }
  if (trace.begins != 0) at.begins = trace.begins;
  const bool chained = trace.chain != LineMark::none && trace.last < found_.size();
  if (chained && at.role == LineRole::cause) {
    FailureLine& first = found_[trace.last];
    at.begins = std::min(at.begins, first.begins);
    if (trace.quoted && first.hash == at.hash) {
      trace = {};  // the frames of the other process say where it was raised
      return;
    }
    if (trace.chain == LineMark::follows && first.hash == at.hash) {
      // "raise KeyError(key) from error": the same once more, with the longer traceback.
      first = std::move(at);
      trace = {};
      return;
    }
    const auto name = exception_name(body_of(first)).value_or("");
    const bool is_explained_by_next = trace.chain == LineMark::handles && is_incidental(name);
    FailureLine& lesser = is_explained_by_next ? first : at;
    lesser.role = LineRole::cascade;
  }
  const auto outer = at.role == LineRole::cascade && !chained ? trace : Trace();
  const bool quoted = trace.quoted && !chained;
  trace = {};
  trace.quoted = quoted;
  trace.begins = outer.begins;
  trace.seen = trace_line_ = at.line;
  trace.wrapped = outer.begins != 0;
  trace.last = add(std::move(at));
}

std::size_t FailureScan::add(FailureLine at) {
  constexpr std::size_t near = 12;
  const auto from =
      found_.size() > near ? found_.end() - static_cast<std::ptrdiff_t>(near) : found_.begin();
  const auto again = std::find_if(from, found_.end(), [&](const FailureLine& each) {
    return each.hash == at.hash && each.role == at.role && each.weight == at.weight &&
           each.run == at.run && each.progress_before == at.progress_before;
  });
  if (!found_.empty() && quiet_ >= quiet_between_eras) ++era_;
  quiet_ = 0;
  if (again != found_.end()) {
    ++again->count;
    return static_cast<std::size_t>(again - found_.begin());
  }
  at.era = era_;
  found_.push_back(std::move(at));
  if (found_.size() >= most_found) shrink();
  return found_.size() - 1;
}

/// Keeps the beginning and the end.
void FailureScan::shrink() {
  const auto quarter = static_cast<std::ptrdiff_t>(most_found / 4);
  found_.erase(found_.begin() + quarter, found_.begin() + 2 * quarter);
  for (auto& [rank, trace] : traces_) trace.last = nothing;
}

}  // namespace schedmate::failure
