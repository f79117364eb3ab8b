// SPDX-License-Identifier: Apache-2.0

/// `sacct --json` of Slurm 21.08 to 25.11, one job at a time. Between these releases the state
/// became an array, numbers became {set, infinite, number} objects and times gained siblings; the
/// places of what is read here stayed.

#include <array>
#include <utility>

#include "trace/builder.hpp"
#include "trace/readers.hpp"
#include "trace/sacct_objects.hpp"
#include "trace/values.hpp"

namespace schedmate::trace {
namespace {

/// Sum of the GPUs in tres.allocated or tres.requested; nothing when the list has none. As in
/// values.hpp a total ("gpu") wins over its typed parts ("gpu:a100").
std::optional<std::int64_t> gpus_in(JsonElement job, std::string_view which) {
  const auto tres = member(job, "tres");
  const auto list = tres ? member(*tres, which) : std::nullopt;
  simdjson::dom::array items;
  if (!list || list->get(items) != simdjson::SUCCESS) return std::nullopt;
  std::optional<std::int64_t> total;
  std::optional<std::int64_t> typed;
  for (const JsonElement item : items) {
    if (text_of(member(item, "type")) != "gres") continue;
    const std::string_view name = text_of(member(item, "name"));
    const auto count = whole_of(member(item, "count"));
    if (!count || *count < 0 || *count > most_gpus) continue;
    if (name == "gpu") total = count;
    if (name.starts_with("gpu:")) typed = typed.value_or(0) + *count;
  }
  return total ? total : typed;
}

void add_sacct_job(JsonElement element, std::uint64_t line, TraceBuilder& builder) {
  std::array<char, 64> id{};
  Draft job;
  job.id = print_id(element, id);
  job.user = text_of(member(element, "user"));
  const auto association = member(element, "association");
  if (job.user.empty() && association) job.user = text_of(member(*association, "user"));
  job.vc = text_of(member(element, "partition"));
  const std::string_view state = state_of(element);
  job.state = parse_state(state);
  const auto time = member(element, "time");
  if (!time) return builder.reject("the job has no object \"time\"", line, 0);
  const auto submit = whole_of(member(*time, "submission"));
  if (!submit) return builder.reject("time.submission is not a whole number", line, 0);
  const auto start = whole_of(member(*time, "start"));
  if (run_state(state) == RunState::waiting || start.value_or(0) == 0) {
    return builder.skip("never ran");
  }
  if (run_state(state) == RunState::running) {
    return builder.skip("still running at the end of the log");
  }
  const auto elapsed = whole_of(member(*time, "elapsed"));
  const auto end = whole_of(member(*time, "end"));
  if (!elapsed && !end) return builder.reject("neither time.elapsed nor time.end is set", line, 0);
  job.submit_s = *submit;
  job.duration_s = elapsed ? *elapsed : *end - *start;
  const auto allocated = gpus_in(element, "allocated");
  job.gpus = allocated ? *allocated : gpus_in(element, "requested").value_or(0);
  builder.add(job, {line, {}});
}

}  // namespace

Result<Trace> parse_sacct_json(std::string start, const ReadBytes& rest, const std::string& name,
                               const ReadOptions& options) {
  if (!options.columns.empty()) {
    return fail(ErrorCode::invalid, name + ": extra columns can only be read from sacct text");
  }
  return read_jobs(JsonArray(std::move(start), rest, name, "jobs"), name, options, add_sacct_job);
}

}  // namespace schedmate::trace
