// SPDX-License-Identifier: Apache-2.0
#include "live/ledger.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <string_view>

#include "base/text.hpp"

namespace schedmate::live {
namespace {

constexpr std::string_view kept_rows = "ledger ", kept_since = "ledger since";
constexpr Ledger::Day longest_days = 366;

Ledger::Day day_of(SimTime when) {
  return std::chrono::floor<std::chrono::days>(Seconds(seconds_of(when))).count();
}

/// "used jobs", then for each cause "GPU-seconds attempts", the same of repeats, and
/// "sampled idle".
std::string text_of(const GpuTime& time) {
  std::string text = fmt::format("{} {}", time.used_gpu_s, time.jobs);
  for (const GpuTime::Loss& each : time.lost)
    text += fmt::format(" {} {}", each.gpu_s, each.attempts);
  return text + fmt::format(" {} {} {} {}", time.repeats.gpu_s, time.repeats.attempts,
                            time.sampled.gpu_s, time.sampled.idle_gpu_s);
}

std::optional<GpuTime> time_of(std::string_view text) {
  const auto words = split(text, ' ');
  GpuTime made;
  const std::size_t all = 6 + 2 * made.lost.size();
  if (words.size() != all) return std::nullopt;
  std::vector<std::int64_t> numbers;
  for (const auto& word : words) {
    const auto number = parse_number<std::int64_t>(word);
    if (!number) return std::nullopt;
    numbers.push_back(*number);
  }
  made.used_gpu_s = numbers[0];
  made.jobs = numbers[1];
  for (std::size_t i = 0; i < made.lost.size(); ++i)
    made.lost.at(i) = {numbers[2 + 2 * i], numbers[3 + 2 * i]};
  made.lost.at(static_cast<std::size_t>(LossCause::cancelled)) = {};  // earlier versions counted it
  made.repeats = {numbers[all - 4], numbers[all - 3]};
  made.sampled = {numbers[all - 2], numbers[all - 1]};
  return made;
}

std::string key_of(Ledger::Day day, const std::string& user) {
  return day == Ledger::before_days ? fmt::format("{}before {}", kept_rows, user)
                                    : fmt::format("{}{} {}", kept_rows, day, user);
}

}  // namespace

std::string_view name_of(LossCause cause) {
  constexpr std::array<std::string_view, loss_causes> names = {
      "node_fail", "failed",   "out_of_memory",  "timeout",   "cancelled",
      "preempted", "requeued", "infrastructure", "framework", "user_script"};
  return names.at(static_cast<std::size_t>(cause));
}

std::string_view method_of(LossCause cause) {
  constexpr std::string_view whole =
      "GPUs times run time of the attempts that ended so; what a checkpoint has saved is not "
      "known here, so this is the most that can be lost";
  constexpr std::string_view before =
      "GPUs times run time before the job left its GPUs; what a checkpoint has saved is not known "
      "here, so this is the most that can be lost";
  constexpr std::string_view by_log =
      "GPUs times run time of the attempts that failed, or reached their limit, and whose log says "
      "that this was why; what a checkpoint has saved is not known here, so this is the most that "
      "can be lost";
  if (cause >= LossCause::infrastructure) return by_log;
  return cause == LossCause::preempted || cause == LossCause::requeued ? before : whole;
}

namespace {

std::optional<LossCause> loss_of(FailureClass verdict) {
  switch (verdict) {
    case FailureClass::infrastructure:
      return LossCause::infrastructure;
    case FailureClass::framework:
      return LossCause::framework;
    case FailureClass::user_script:
      return LossCause::user_script;
    case FailureClass::none:
    case FailureClass::other:
      return std::nullopt;
  }
  return std::nullopt;
}

/// Clusters lie.
constexpr std::int64_t far_s = 1LL << 40;

std::int64_t gpus_of(const SeenJob& job) {
  constexpr std::int64_t most_gpus = 1'000'000;
  return std::clamp<std::int64_t>(job.gpus, 0, most_gpus);
}

std::int64_t run_s(Seconds run) {
  constexpr std::int64_t longest_s = 10LL * 366 * 86400;
  return std::clamp<std::int64_t>(run.count(), 0, longest_s);
}

SimTime near(SimTime when) { return std::clamp(when, at(-far_s), at(far_s)); }

/// Of an attempt that began.
std::int64_t used_gpu_s(const SeenJob& ended, SimTime now) {
  return gpus_of(ended) * run_s(near(ended.ended.value_or(now)) - near(*ended.started));
}

}  // namespace

std::optional<LossCause> loss_of(EndState state) {
  if (state == EndState::cancelled) return std::nullopt;
  const std::string name = lower_case(to_string(state));
  for (int i = 0; i < loss_causes; ++i)
    if (name_of(static_cast<LossCause>(i)) == name) return static_cast<LossCause>(i);
  return std::nullopt;
}

void GpuTime::add(const GpuTime& other) {
  used_gpu_s += other.used_gpu_s;
  jobs += other.jobs;
  for (std::size_t i = 0; i < lost.size(); ++i) {
    lost.at(i).gpu_s += other.lost.at(i).gpu_s;
    lost.at(i).attempts += other.lost.at(i).attempts;
  }
  repeats.gpu_s += other.repeats.gpu_s;
  repeats.attempts += other.repeats.attempts;
  sampled.gpu_s += other.sampled.gpu_s;
  sampled.idle_gpu_s += other.sampled.idle_gpu_s;
}

std::int64_t GpuTime::lost_gpu_s() const {
  std::int64_t sum = 0;
  for (const Loss& each : lost) sum += each.gpu_s;
  return sum;
}

void Ledger::note(const SeenJob& ended, SimTime now, const Sampled& sampled) {
  if (!ended.started) return;
  const SimTime end = near(ended.ended.value_or(now));
  const std::int64_t used = used_gpu_s(ended, now);
  GpuTime time{.used_gpu_s = used};
  // At most what it has used: clocks of nodes are off by a little.
  time.sampled.gpu_s = std::clamp<std::int64_t>(sampled.gpu_s, 0, used);
  time.sampled.idle_gpu_s = std::clamp<std::int64_t>(sampled.idle_gpu_s, 0, time.sampled.gpu_s);
  time.jobs = ended.end_state == EndState::requeued ? 0 : 1;
  if (const auto cause = loss_of(ended.end_state))
    time.lost.at(static_cast<std::size_t>(*cause)) = {used, 1};
  if (!since_) {
    since_ = near(*ended.started);
    is_new_ = true;
  }
  const auto [row, fresh] = days_[day_of(end)].try_emplace(ended.user);
  row->second.add(time);
  rows_ += fresh ? 1 : 0;
  changed_.emplace(day_of(end), ended.user);
  sum_oldest(day_of(now));
}

/// Of the day of its end; null: there is none, or not any more.
GpuTime* Ledger::row_of(const SeenJob& ended) {
  if (!ended.started || !ended.ended) return nullptr;
  const auto day = days_.find(day_of(near(*ended.ended)));
  if (day == days_.end()) return nullptr;
  const auto row = day->second.find(ended.user);
  if (row == day->second.end()) return nullptr;
  changed_.emplace(day->first, ended.user);
  return &row->second;
}

void Ledger::explain(const SeenJob& ended, FailureClass verdict) {
  const bool says_why = ended.end_state != EndState::failed && ended.end_state != EndState::timeout;
  const auto cause = loss_of(verdict);
  GpuTime* const row = says_why || !cause ? nullptr : row_of(ended);
  if (row == nullptr) return;
  const std::int64_t used = used_gpu_s(ended, *ended.ended);
  GpuTime::Loss& before = row->lost.at(static_cast<std::size_t>(*loss_of(ended.end_state)));
  if (before.attempts < 1 || before.gpu_s < used) return;
  before.gpu_s -= used;
  --before.attempts;
  GpuTime::Loss& now = row->lost.at(static_cast<std::size_t>(*cause));
  now.gpu_s += used;
  ++now.attempts;
}

void Ledger::note_avoided(const SeenJob& ended, Seconds run) {
  if (GpuTime* const row = row_of(ended)) {
    row->repeats.gpu_s += gpus_of(ended) * run_s(run);
    ++row->repeats.attempts;
  }
}

void Ledger::sum_oldest(Day today) {
  const auto oldest = [&] { return days_.upper_bound(before_days); };
  while (oldest() != days_.end() && (oldest()->first <= today - longest_days ||
                                     (rows_ > most_ && oldest()->first < days_.rbegin()->first))) {
    const auto day = oldest();
    for (const auto& [user, time] : day->second) {
      const auto [sum, fresh] = days_[before_days].try_emplace(user);
      sum->second.add(time);
      rows_ -= fresh ? 0 : 1;
      changed_.emplace(before_days, user);
      changed_.emplace(day->first, user);
    }
    days_.erase(day);
  }
}

std::vector<journal::Kept> Ledger::take() {
  std::vector<journal::Kept> kept;
  if (is_new_) kept.push_back({std::string(kept_since), std::to_string(seconds_of(*since_))});
  is_new_ = false;
  for (const auto& [day, user] : changed_) {
    const auto of_day = days_.find(day);
    const bool is_there = of_day != days_.end() && of_day->second.contains(user);
    kept.push_back({key_of(day, user), is_there ? text_of(of_day->second.at(user)) : ""});
  }
  changed_.clear();
  return kept;
}

void Ledger::restore(const std::map<std::string, std::string>& kept) {
  for (auto each = kept.lower_bound(std::string(kept_rows));
       each != kept.end() && each->first.starts_with(kept_rows); ++each) {
    if (each->first == kept_since) {
      if (const auto when = parse_number<std::int64_t>(each->second)) since_ = at(*when);
      continue;
    }
    const std::string_view rest = std::string_view(each->first).substr(kept_rows.size());
    const std::size_t blank = rest.find(' ');
    const auto time = time_of(each->second);
    const auto day = parse_number<Day>(rest.substr(0, blank));
    const bool is_before = rest.substr(0, blank) == "before";
    if (blank == std::string_view::npos || !time || (!day && !is_before)) continue;
    days_[is_before ? before_days : *day][std::string(rest.substr(blank + 1))] = *time;
    ++rows_;
  }
}

}  // namespace schedmate::live
