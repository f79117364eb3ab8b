// SPDX-License-Identifier: Apache-2.0

/// The Philly log: a JSON array of jobs with their attempts. A job's run time is the sum of its
/// attempts and its GPUs those of its largest attempt; docs/formats/philly.md says why.

#include <algorithm>
#include <utility>

#include "trace/builder.hpp"
#include "trace/json_value.hpp"
#include "trace/readers.hpp"
#include "trace/values.hpp"

namespace schedmate::trace {
namespace {

struct Attempts {
  std::int64_t run_s = 0;
  std::int64_t gpus = 0;
  bool any = false;   // one with both times
  bool open = false;  // the last one has begun and not ended
  bool bad_date = false;
  bool ends_early = false;  // one ends before it begins
};

std::int64_t count_gpus(JsonElement attempt) {
  std::int64_t count = 0;
  simdjson::dom::array nodes;
  const auto detail = member(attempt, "detail");
  if (!detail || detail->get(nodes) != simdjson::SUCCESS) return 0;
  for (const JsonElement node : nodes) {
    simdjson::dom::array gpus;
    const auto list = member(node, "gpus");
    if (list && list->get(gpus) == simdjson::SUCCESS) {
      count += static_cast<std::int64_t>(gpus.size());
    }
  }
  return count;
}

Attempts read_attempts(JsonElement job) {
  Attempts all;
  simdjson::dom::array attempts;
  const auto list = member(job, "attempts");
  if (!list || list->get(attempts) != simdjson::SUCCESS) return all;
  for (const JsonElement attempt : attempts) {
    const std::string_view start = text_of(member(attempt, "start_time"));
    const std::string_view end = text_of(member(attempt, "end_time"));
    all.gpus = std::max(all.gpus, count_gpus(attempt));
    all.open = !is_unknown(start) && is_unknown(end);
    if (is_unknown(start) || is_unknown(end)) continue;
    const auto first = parse_date(start);
    const auto last = parse_date(end);
    all.bad_date = all.bad_date || !first || !last;
    if (!first || !last) continue;
    all.any = true;
    all.ends_early = all.ends_early || *last < *first;
    all.run_s += *last - *first;
  }
  return all;
}

void add_job(JsonElement element, std::uint64_t line, TraceBuilder& builder) {
  if (!element.is_object()) return builder.reject("not a JSON object", line, 0);
  Draft job;
  job.id = text_of(member(element, "jobid"));
  job.user = text_of(member(element, "user"));
  job.vc = text_of(member(element, "vc"));
  job.state = parse_state(text_of(member(element, "status")));
  const auto submit = parse_date(text_of(member(element, "submitted_time")));
  if (!submit) return builder.reject("submitted_time is not a date", line, 0);
  const Attempts attempts = read_attempts(element);
  if (attempts.bad_date) return builder.reject("an attempt's time is not a date", line, 0);
  if (attempts.ends_early) return builder.reject("an attempt ends before it begins", line, 0);
  if (attempts.open) return builder.skip("still running at the end of the log");
  if (!attempts.any) return builder.skip("never ran");
  job.submit_s = *submit;
  job.gpus = attempts.gpus;
  job.duration_s = attempts.run_s;
  builder.add(job, {line, {}});
}

}  // namespace

Result<Trace> parse_philly_json(std::string start, const ReadBytes& rest, const std::string& name,
                                const ReadOptions& options) {
  if (!options.columns.empty()) {
    return fail(ErrorCode::invalid, name + ": extra columns can only be read from CSV traces");
  }
  return read_jobs(JsonArray(std::move(start), rest, name, ""), name, options, add_job);
}

}  // namespace schedmate::trace
