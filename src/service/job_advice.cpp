// SPDX-License-Identifier: Apache-2.0
#include "service/job_advice.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>

#include "advisor/admission.hpp"
#include "advisor/advisor.hpp"
#include "base/words.hpp"
#include "core/facts_json.hpp"

namespace schedmate::service {
namespace {

/// A tree that nobody looks into.
advisor::TreeAccess no_tree() {
  return {[](const std::string&, std::span<const std::string>) -> Result<advisor::Closure> {
            return fail(ErrorCode::unavailable, "its files are not looked at here");
          },
          [](const std::string&, std::span<const advisor::FileStamp>) { return false; },
          [](const std::string&, std::string_view) { return std::optional<std::string>(); }};
}

Submission again(const JobRecord& record, SimTime now) {
  Submission submission;
  submission.job.root = record.root;
  submission.job.workdir = record.workdir;
  submission.job.command = record.command;
  submission.job.gpus = static_cast<int>(std::clamp<std::int64_t>(record.gpus, 1, 1'000'000));
  submission.job.nodes = static_cast<int>(std::clamp<std::int64_t>(record.nodes, 1, 1'000'000));
  submission.job.gpu_type = record.gpu_type;
  submission.user = record.user;
  submission.branch = record.branch;
  submission.vc = record.vc;
  submission.time_limit = record.time_limit;
  submission.submit = now;
  return submission;
}

/// The time of a step that the log of a finished job showed.
std::optional<double> seconds_per_step(const JobRecord& record) {
  if (!record.outcome) return std::nullopt;
  const auto summary = nlohmann::json::parse(record.outcome->log_summary, nullptr, false);
  const nlohmann::json::json_pointer place("/progress/step_time_s");
  if (!summary.is_object() || !summary.contains(place) || !summary[place].is_number())
    return std::nullopt;
  return summary[place].get<double>();
}

template <class Value>
std::optional<Value> median_of(std::vector<Value> values) {
  if (values.empty()) return std::nullopt;
  const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
  std::ranges::nth_element(values, middle);
  return *middle;
}

/// The next whole GiB above what was used and a fifth more, for one node.
std::int64_t gib_to_ask(double used_mib, std::int64_t nodes) {
  constexpr double spare = 1.2;
  return static_cast<std::int64_t>(
      std::ceil(spare * used_mib / 1024 / static_cast<double>(std::max<std::int64_t>(1, nodes))));
}

/// For a job that the kernel ended because its memory was used up.
std::optional<SizeAdvice> more_memory(const JobRecord& record) {
  if (end_word(record) != "out_of_memory" || !record.memory_mib) return std::nullopt;
  const auto gib = gib_to_ask(1.25 * *record.memory_mib, record.nodes);
  return SizeAdvice{
      "memory", fmt::format("--mem={}G", gib),
      fmt::format("{:.3g} GiB were not enough; half as much again", *record.memory_mib / 1024)};
}

std::optional<SizeAdvice> memory_advice(const JobRecord& record, const JobUse& use) {
  constexpr double much_pct = 60;  // a fifth more than this is still less than was asked for
  const Outcome& outcome = *record.outcome;
  if (!use.memory_pct || *use.memory_pct >= much_pct || !record.memory_mib) return std::nullopt;
  const auto gib = gib_to_ask(*outcome.memory_mib, record.nodes);
  if (static_cast<double>(gib * record.nodes) * 1024 >= *record.memory_mib) return std::nullopt;
  return SizeAdvice{"memory", fmt::format("--mem={}G", gib),
                    fmt::format("used {:.3g} of {:.3g} GiB", *outcome.memory_mib / 1024,
                                *record.memory_mib / 1024)};
}

std::optional<SizeAdvice> cpu_advice(const JobRecord& record, const JobUse& use) {
  constexpr double much_pct = 50;
  constexpr double spare = 1.5;  // data loading comes in bursts
  if (!use.cpu_pct || *use.cpu_pct >= much_pct || record.cpus < 2) return std::nullopt;
  const double busy = *use.cpu_pct / 100 * static_cast<double>(record.cpus);
  const auto asked = std::max<std::int64_t>(std::max<std::int64_t>(1, record.gpus),
                                            static_cast<std::int64_t>(std::ceil(spare * busy)));
  if (asked >= record.cpus) return std::nullopt;
  return SizeAdvice{"cpus", counted(asked, "CPU") + " in all",
                    fmt::format("{:.2g} of {} were busy", busy, record.cpus)};
}

std::optional<SizeAdvice> gpu_advice(const JobRecord& record, const JobUse& use) {
  constexpr double idle_pct = 15;  // the limit below which jobstats warns
  if (!use.gpu_util_pct || *use.gpu_util_pct >= idle_pct || record.gpus == 0) return std::nullopt;
  return SizeAdvice{"gpus", "",
                    fmt::format("{} busy {:.0f} % of the time: larger batches, faster loading of "
                                "data{}",
                                record.gpus == 1 ? "the GPU was" : "the GPUs were",
                                *use.gpu_util_pct, record.gpus == 1 ? "" : ", or fewer GPUs")};
}

}  // namespace

std::optional<Advice> advice_on(const settings::Session& session, const JobRecord& record) {
  const auto estimate = find_estimate(session.settings.text("estimate"));
  if (record.user.empty() || !estimate) return std::nullopt;
  const auto state = open_state(session);
  if (!state) return std::nullopt;
  const auto facts = [&](const JobSource&) -> Result<Facts> {
    auto read = read_facts_json(record.facts_json);
    return read ? *std::move(read) : Facts();
  };
  const advisor::AdvisorParts parts{*state->store,
                                    *state->index,
                                    advisor::FlagRules::built_in(),
                                    **estimate,
                                    {.paper = session.settings.text("similarity") == "paper",
                                     .similar_cosine = state->embedder->threshold},
                                    facts,
                                    no_tree(),
                                    state->role};
  Submission submission = again(record, session.clock.wall());
  if (const auto limits = limit_policy(session.settings)) submission.limits = *limits;
  auto advised = advisor::advise(submission, parts);
  if (!advised || source_of(advised->advice) == AdviceSource::none) return std::nullopt;
  return std::move(advised->advice);
}

Result<EarlierRuns> earlier_runs(Store& store, const JobRecord& record) {
  constexpr std::size_t most = 64;
  EarlierRuns earlier;
  if (record.user.empty() || record.entry.empty()) return earlier;
  std::vector<Seconds> durations;
  std::vector<double> steps;
  const Submission ours = again(record, record.submit);
  const auto look = [&](const JobRecord& each) {
    if (each.id == record.id) return true;
    const auto verdict = advisor::judge({ours, nullptr, each}, advisor::FlagRules::built_in());
    if (verdict.relation >= advisor::FlagClass::scaled) return true;
    ++earlier.runs;
    if (each.outcome->state == EndState::completed) durations.push_back(each.outcome->duration);
    if (const auto step = seconds_per_step(each)) steps.push_back(*step);
    return true;
  };
  const JobFilter filter{
      .user = record.user, .entry = record.entry, .finished = true, .limit = most};
  if (auto done = store.each(filter, look); !done) return tl::unexpected(done.error());
  earlier.completed = durations.size();
  if (!durations.empty()) {
    earlier.shortest = std::ranges::min(durations);
    earlier.longest = std::ranges::max(durations);
  }
  earlier.median = median_of(std::move(durations));
  earlier.seconds_per_step = median_of(std::move(steps));
  return earlier;
}

std::optional<ExpectedEnd> expected_end(const JobView& view, const std::optional<Advice>& advice) {
  if (!view.is_running() || !view.started) return std::nullopt;
  const auto after = [](SimTime from, FractionalSeconds length) {
    constexpr double longest_s = 1e9;
    return from + Seconds(std::llround(std::clamp(length.count(), 0.0, longest_s)));
  };
  std::optional<ExpectedEnd> end;
  if (view.progress && view.progress->remaining_s && view.log_written) {
    end = ExpectedEnd{after(*view.log_written, FractionalSeconds(*view.progress->remaining_s)),
                      std::nullopt, std::nullopt, "its log"};
  } else if (advice && advice->answer.known() &&
             after(*view.started, advice->answer.centre) > view.now) {
    // What the limit does to the run is said beside it; a p90 that it cut says nothing.
    const RunAnswer& answer = advice->answer;
    const bool is_cut = answer.p90 < answer.centre;
    end = ExpectedEnd{after(*view.started, answer.centre), after(*view.started, answer.p10),
                      is_cut ? std::nullopt : std::optional(after(*view.started, answer.p90)),
                      "earlier runs"};
  }
  const auto& limit = view.job.record.time_limit;
  if (end && limit) end->over_limit = end->at > *view.started + *limit;
  return end;
}

std::vector<SizeAdvice> size_advice(const JobRecord& record, const JobUse& use) {
  std::vector<SizeAdvice> advice;
  if (!record.outcome) return advice;
  if (const auto more = more_memory(record)) return {*more};
  // One that broke off, or hardly began, has not shown what it needs.
  constexpr Seconds shortest{600};
  const EndState state = record.outcome->state;
  const bool ran_on = state == EndState::completed || state == EndState::timeout;
  if (!ran_on || record.outcome->duration < shortest) return advice;
  for (auto& each : {memory_advice(record, use), cpu_advice(record, use), gpu_advice(record, use)})
    if (each) advice.push_back(*each);
  return advice;
}

}  // namespace schedmate::service
