// SPDX-License-Identifier: Apache-2.0
/// What became of GPU time.
#include <nlohmann/json.hpp>
#include <string>

#include "base/json.hpp"
#include "daemon/parts.hpp"

namespace schedmate::daemon {
namespace {

double hours(std::int64_t seconds) { return as_known(static_cast<double>(seconds) / 3600, 9); }

Document lost_of(const live::GpuTime& time) {
  Document rows = Document::array();
  for (int i = 0; i < live::loss_causes; ++i) {
    const auto cause = static_cast<live::LossCause>(i);
    const live::GpuTime::Loss& loss = time.lost.at(static_cast<std::size_t>(i));
    if (loss.attempts == 0) continue;
    rows.push_back({{"cause", name_of(cause)},
                    {"gpu_h", hours(loss.gpu_s)},
                    {"attempts", loss.attempts},
                    {"method", method_of(cause)}});
  }
  return rows;
}

constexpr const char* used_method =
    "GPUs times run time of attempts that have ended, on the day of their end";

Document idle_of(const live::GpuTime& time) {
  return {
      {"gpu_h", hours(time.sampled.idle_gpu_s)},
      {"sampled_gpu_h", hours(time.sampled.gpu_s)},
      {"method",
       "part of what was used: time between two samples of a job's GPU, at most two intervals of "
       "its probe apart, that both show 0 %. What samples do not cover is not counted; work "
       "that begins and ends between two samples is not seen"}};
}

/// What an action has saved is what would have happened without it. That is known of one only.
Document saved_of(const live::GpuTime& time) {
  return Document::array(
      {{{"kind", "repeat_avoided"},
        {"gpu_h", hours(time.repeats.gpu_s)},
        {"count", time.repeats.attempts},
        {"method",
         "jobs that failed again of the same cause at the same step, were not started again for "
         "that, and would have been else: GPUs times the shorter of these two runs. The least that "
         "this has saved; of nothing else is it known what would have been"}}});
}

Document day_of(live::Ledger::Day day, const live::GpuTime& time) {
  constexpr std::int64_t day_s = 86400;
  Document row;
  if (day == live::Ledger::before_days)
    row["day"] = nullptr;
  else
    put_instant(row, "day", at(day * day_s));
  if (!row["day"].is_null()) row["day"] = row["day"].get<std::string>().substr(0, 10);
  row.erase("day_s");
  row["used_gpu_h"] = hours(time.used_gpu_s);
  row["lost_gpu_h"] = hours(time.lost_gpu_s());
  row["idle_gpu_h"] = hours(time.sampled.idle_gpu_s);
  row["saved_gpu_h"] = hours(time.repeats.gpu_s);
  return row;
}

}  // namespace

/// Each sees the sums of the jobs that he may see.
http::Reply ledger_reply(const http::Request& request, const State& state) {
  const live::Ledger& ledger = state.loop.ledger();
  live::GpuTime sum;
  Document days = Document::array();
  for (const auto& [day, users] : ledger.days()) {
    live::GpuTime of_day;
    bool is_seen = false;
    for (const auto& [user, time] : users) {
      if (!request.caller.may_see_jobs_of(user)) continue;
      is_seen = true;
      of_day.add(time);
    }
    if (!is_seen) continue;
    sum.add(of_day);
    days.push_back(day_of(day, of_day));
  }
  Document made{{"schema", "schedmate.ledger.v1"}};
  put_instant(made, "since", ledger.since());
  made["used_gpu_h"] = hours(sum.used_gpu_s);
  made["used_method"] = used_method;
  made["jobs"] = sum.jobs;
  made["lost"] = lost_of(sum);
  made["idle"] = idle_of(sum);
  made["saved"] = saved_of(sum);
  made["days"] = std::move(days);
  return http::json_reply(made);
}

}  // namespace schedmate::daemon
