// SPDX-License-Identifier: Apache-2.0
#include "policy/packing_watch.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <bit>

namespace schedmate::policy {
namespace {

/// Work left, seconds alone; a job beyond its estimate is expected to go on for as long as it has.
double work_left_s(const JobInfo& job, SimTime now) {
  const double left = job.remaining(now).count();
  return left > 0 ? left : std::max<double>(1, static_cast<double>(job.run_time(now).count()));
}

/// Sum of the times until both have ended, when they share until the first does.
double both_end_s(double first_s, double first_speed, double second_s, double second_speed) {
  const double first_alone = first_s / first_speed;
  const double second_alone = second_s / second_speed;
  const double together = std::min(first_alone, second_alone);
  const double first_end = together + (first_s - together * first_speed);
  const double second_end = together + (second_s - together * second_speed);
  return first_end + second_end;
}

bool are_together(const Cluster& cluster, const PackingWatch::Pair& pair) {
  const Slice& first = cluster.allocation(pair.newcomer).front();
  const auto residents = cluster.residents(first.node, std::countr_zero(first.gpus));
  return std::ranges::find(residents, pair.resident) != residents.end();
}

}  // namespace

Result<CancelOptions> take_cancel_options(PolicyOptions& settings) {
  CancelOptions options;
  const std::string rule = settings.take_text("cancel", "off");
  if (rule != "off" && rule != "slowdown" && rule != "gain") {
    return fail(ErrorCode::unsupported,
                fmt::format("cancel={}: must be off, slowdown or gain", rule));
  }
  if (rule == "slowdown") options.rule = CancelRule::slowdown;
  if (rule == "gain") options.rule = CancelRule::gain;
  const auto threshold = settings.take_number("threshold", options.threshold);
  if (!threshold) return tl::unexpected(threshold.error());
  const auto after = settings.take_integer("cancel_after_s", options.after.count());
  if (!after) return tl::unexpected(after.error());
  const auto both = settings.take_flag("check_both", false);
  if (!both) return tl::unexpected(both.error());
  if (!(*threshold >= 0 && *threshold <= 1) || *after < 1) {
    return fail(ErrorCode::unsupported, fmt::format("threshold={}, cancel_after_s={}: threshold "
                                                    "must be 0 to 1 and cancel_after_s at least 1",
                                                    *threshold, *after));
  }
  options.threshold = *threshold;
  options.after = Seconds(*after);
  options.both = *both;
  return options;
}

void PackingWatch::packed(const View& view, JobId newcomer, JobId resident) {
  if (options_.rule == CancelRule::off) return;
  checks_.push({view.now + options_.after, {newcomer, resident}});
}

void PackingWatch::started_alone(const View& view, JobId id) {
  constexpr double weight = 0.02;
  const JobInfo& job = view.job(id);
  const auto waited = static_cast<double>((view.now - job.entered).count());
  usual_wait_s_ += weight * (waited - usual_wait_s_);
}

std::optional<PackingWatch::Pair> PackingWatch::next_to_cancel(const View& view) {
  while (!checks_.empty() && checks_.top().at <= view.now) {
    const Check check = checks_.top();
    checks_.pop();
    if (!still_shares(view, check)) continue;
    if (has_to_go(view, check.pair)) return check.pair;
    checked_.insert_or_assign(check.pair.resident, check);
  }
  for (const JobId id : view.tracked) {
    const auto found = checked_.find(id);
    if (found == checked_.end()) continue;
    const Check check = found->second;
    const bool still = still_shares(view, check);
    const bool goes = still && has_to_go(view, check.pair);
    if (!still || goes) checked_.erase(found);
    if (goes) return check.pair;
  }
  return std::nullopt;
}

bool PackingWatch::still_shares(const View& view, const Check& check) {
  const JobInfo* newcomer = view.jobs.find(check.pair.newcomer);  // null: it has ended
  const JobInfo* resident = view.jobs.find(check.pair.resident);
  return newcomer != nullptr && newcomer->running && newcomer->sharing && resident != nullptr &&
         resident->running && are_together(view.cluster, check.pair);
}

bool PackingWatch::has_to_go(const View& view, const Pair& pair) const {
  const auto speed = view.job(pair.resident).seen_speed(view.now, options_.after);
  if (!speed) return false;
  if (options_.rule == CancelRule::gain) return gains(view, pair, *speed);
  if (*speed < options_.threshold) return true;
  const JobInfo& newcomer = view.job(pair.newcomer);
  const auto other = newcomer.seen_speed(view.now, options_.after);
  // Only similar jobs show how fast the newcomer would be alone: a profiled one has none.
  return options_.both && !newcomer.profiled && other && *other < options_.threshold;
}

bool PackingWatch::gains(const View& view, const Pair& pair, double speed) const {
  const JobInfo& newcomer = view.job(pair.newcomer);
  const auto other = newcomer.seen_speed(view.now, options_.after);
  const double newcomer_speed = options_.both && other ? *other : speed;
  const double resident_s = work_left_s(view.job(pair.resident), view.now);
  const double newcomer_s = work_left_s(newcomer, view.now);
  const double keep =
      both_end_s(resident_s, std::max(speed, 0.01), newcomer_s, std::max(newcomer_speed, 0.01));
  const double anew_s = newcomer_s + static_cast<double>(newcomer.run_time(view.now).count());
  const double cancel = resident_s + usual_wait_s_ + anew_s;
  return cancel < keep;
}

}  // namespace schedmate::policy
