// SPDX-License-Identifier: Apache-2.0
#include "trace/builder.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cstring>
#include <functional>
#include <numeric>
#include <optional>
#include <utility>

#include "trace/values.hpp"

namespace schedmate::trace {
namespace {

constexpr std::size_t most_messages = 20;
constexpr std::size_t longest_name = 1024;
constexpr std::size_t block_bytes = std::size_t{1} << 16U;

bool has_control_characters(std::string_view text) {
  return std::ranges::any_of(text, [](char c) { return (c >= 0 && c < ' ') || c == '\x7f'; });
}

struct RowError {
  Part part;
  std::string_view reason;
};

std::optional<RowError> error_of(const Draft& job) {
  if (job.id.empty()) return RowError{Part::id, "job id is empty"};
  if (std::max({job.id.size(), job.user.size(), job.vc.size()}) > longest_name) {
    return RowError{Part::id, "job id, user or VC is longer than 1,024 characters"};
  }
  if (has_control_characters(job.id) || has_control_characters(job.user) ||
      has_control_characters(job.vc)) {
    return RowError{Part::id, "control characters in job id, user or VC"};
  }
  if (job.gpus < 0) return RowError{Part::gpus, "negative number of GPUs"};
  if (job.gpus > most_gpus) return RowError{Part::gpus, "more than a million GPUs"};
  if (job.duration_s < 0) return RowError{Part::duration, "negative duration"};
  if (job.duration_s > longest_run_s) return RowError{Part::duration, "duration above 10 years"};
  if (job.submit_s > latest_submit_s || job.submit_s < -latest_submit_s) {
    return RowError{Part::submit, "submission more than 250 years from the clock's zero"};
  }
  return std::nullopt;
}

}  // namespace

std::uint32_t NameTable::index_of(std::string_view name) {
  if (last_ < names_.size() && names_[last_] == name) return last_;  // neighbours are often alike
  const auto found = index_.find(name);
  if (found != index_.end()) return last_ = found->second;
  last_ = static_cast<std::uint32_t>(names_.size());
  names_.emplace_back(name);
  index_.emplace(name, last_);
  return last_;
}

TraceBuilder::TraceBuilder(std::string name, const ReadOptions& options)
    : name_(std::move(name)), options_(options), extra_(options.columns.size()) {}

void TraceBuilder::add(const Draft& job, const RowPlace& place) {
  if (const auto error = error_of(job)) {
    return reject(error->reason, place.line, place.column[static_cast<std::size_t>(error->part)]);
  }
  if (job.gpus == 0) return skip("no GPUs requested");
  Job kept;
  kept.id = job.id;
  if (!is_new(job.id)) {
    return reject("duplicate job id", place.line, place.column[static_cast<std::size_t>(Part::id)]);
  }
  kept.id = keep(job.id);
  kept.user = users_.index_of(job.user);
  kept.vc = vcs_.index_of(job.vc);
  kept.gpus = static_cast<std::int32_t>(job.gpus);
  kept.profile = job.profile;
  kept.submit = at(job.submit_s);
  kept.duration = Seconds(job.duration_s);
  kept.state = job.state;
  ++trace_.report.rows;
  if (!trace_.jobs.empty() && kept.submit < trace_.jobs.back().submit) {
    ++trace_.report.out_of_order;
  }
  trace_.jobs.push_back(kept);
  for (std::size_t i = 0; i < extra_.size(); ++i) extra_[i].push_back(job.extra[i]);
}

void TraceBuilder::skip(std::string_view reason) {
  ++trace_.report.rows;
  ++trace_.report.dropped[std::string(reason)];
}

void TraceBuilder::reject(std::string_view reason, std::uint64_t line, std::size_t column) {
  skip(reason);
  if (trace_.report.messages.size() < most_messages) {
    trace_.report.messages.push_back(
        column == 0 ? fmt::format("{}:{}: {}", name_, line, reason)
                    : fmt::format("{}:{}:{}: {}", name_, line, column, reason));
  }
  stopped_ = options_.strict;
}

std::string_view TraceBuilder::keep(std::string_view text) {
  if (text.size() > free_bytes_) {
    free_bytes_ = std::max(block_bytes, text.size());
    free_ = trace_.text.emplace_back(std::make_unique<char[]>(free_bytes_)).get();
  }
  char* const kept = free_;
  std::memcpy(kept, text.data(), text.size());
  free_ += text.size();
  free_bytes_ -= text.size();
  return {kept, text.size()};
}

bool TraceBuilder::rises(std::string_view before, std::string_view id) {
  return id.size() == before.size() ? id > before : id.size() > before.size();
}

// Enters the id of the job that is about to be pushed.
bool TraceBuilder::is_new(std::string_view id) {
  // Most traces count upwards; then the last id is all there is to look at.
  ids_rise_ = ids_rise_ && (trace_.jobs.empty() || rises(trace_.jobs.back().id, id));
  if (ids_rise_) return true;
  if (2 * trace_.jobs.size() >= ids_.size()) grow_ids();
  const std::size_t mask = ids_.size() - 1;
  std::size_t slot = std::hash<std::string_view>()(id) & mask;
  for (; ids_[slot] != 0; slot = (slot + 1) & mask) {
    if (trace_.jobs[ids_[slot] - 1].id == id) return false;
  }
  ids_[slot] = static_cast<std::uint32_t>(trace_.jobs.size() + 1);
  return true;
}

void TraceBuilder::grow_ids() {
  ids_.assign(std::bit_ceil(4 * (trace_.jobs.size() + 256)), 0);
  const std::size_t mask = ids_.size() - 1;
  for (std::size_t job = 0; job < trace_.jobs.size(); ++job) {
    std::size_t slot = std::hash<std::string_view>()(trace_.jobs[job].id) & mask;
    while (ids_[slot] != 0) slot = (slot + 1) & mask;
    ids_[slot] = static_cast<std::uint32_t>(job + 1);
  }
}

// Stable: jobs submitted in the same second stay in file order, on which schedules depend.
void TraceBuilder::sort() {
  if (trace_.report.out_of_order == 0) return;
  std::vector<std::uint32_t> order(trace_.jobs.size());
  std::iota(order.begin(), order.end(), 0U);
  std::ranges::sort(order, {},
                    [&](std::uint32_t i) { return std::pair(trace_.jobs[i].submit, i); });
  const auto reorder = [&](auto& values) {
    auto sorted = values;
    std::ranges::transform(order, sorted.begin(), [&](std::uint32_t i) { return values[i]; });
    values = std::move(sorted);
  };
  reorder(trace_.jobs);
  for (auto& column : extra_) reorder(column);
}

std::string TraceBuilder::why_empty() const {
  const ReadReport& report = trace_.report;
  std::string text = fmt::format("{}: no GPU job in {} rows", name_, report.rows);
  for (const auto& [reason, count] : report.dropped) {
    text += fmt::format("; {}: {}", reason, count);
  }
  if (!report.messages.empty()) text += fmt::format(" (first: {})", report.messages.front());
  return text;
}

Result<Trace> TraceBuilder::finish() && {
  if (stopped_) return fail(ErrorCode::invalid, trace_.report.messages.front());
  if (trace_.jobs.empty()) return fail(ErrorCode::invalid, why_empty());
  sort();
  trace_.report.kept = trace_.jobs.size();
  trace_.users = std::move(users_).names();
  trace_.vcs = std::move(vcs_).names();
  for (std::size_t i = 0; i < extra_.size(); ++i) {
    trace_.columns.emplace(options_.columns[i], std::move(extra_[i]));
  }
  return std::move(trace_);
}

}  // namespace schedmate::trace
