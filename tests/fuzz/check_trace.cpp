// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <set>

#include "base/check.hpp"
#include "tests/fuzz/targets.hpp"
#include "trace/values.hpp"

namespace schedmate::fuzz {
namespace {

void check_job(const Job& job, const Trace& trace) {
  SCHEDMATE_CHECK(!job.id.empty(), "a job has an id");
  SCHEDMATE_CHECK(job.gpus >= 1 && job.gpus <= trace::most_gpus, "a job has GPUs");
  SCHEDMATE_CHECK(job.duration >= Seconds(0) && job.duration <= Seconds(trace::longest_run_s),
                  "run times are believable");
  SCHEDMATE_CHECK(std::abs(seconds_of(job.submit)) <= trace::latest_submit_s, "so are submissions");
  SCHEDMATE_CHECK(job.user < trace.users.size() && job.vc < trace.vcs.size(), "names exist");
  SCHEDMATE_CHECK(
      job.profile == no_index || (trace.packing && job.profile < trace.packing->profiles.size()),
      "profiles exist");
}

}  // namespace

void check_trace(const Result<Trace>& trace) {
  if (!trace) {
    SCHEDMATE_CHECK(!trace.error().message.empty(), "an error says what is wrong");
    return;
  }
  SCHEDMATE_CHECK(!trace->jobs.empty(), "a trace has jobs");
  SCHEDMATE_CHECK(std::ranges::is_sorted(trace->jobs, {}, &Job::submit), "jobs are in order");
  std::set<std::string_view> ids;
  for (const Job& job : trace->jobs) {
    check_job(job, *trace);
    SCHEDMATE_CHECK(ids.insert(job.id).second, "ids are unique");
  }
  std::uint64_t dropped = 0;
  for (const auto& [reason, count] : trace->report.dropped) dropped += count;
  SCHEDMATE_CHECK(trace->report.kept == trace->jobs.size(), "kept rows are the jobs");
  SCHEDMATE_CHECK(trace->report.rows == trace->report.kept + dropped, "every row is counted");
  SCHEDMATE_CHECK(trace->report.messages.size() <= 20, "messages are few");
}

}  // namespace schedmate::fuzz
