// SPDX-License-Identifier: Apache-2.0
#include "store/sqlite_record.hpp"

#include <fmt/format.h>

#include "store/codec.hpp"

namespace schedmate::store {
namespace {

using sqlite::Database;
using sqlite::Query;

std::optional<std::int64_t> seconds(const std::optional<SimTime>& time) {
  return time ? std::optional(seconds_of(*time)) : std::nullopt;
}

// Column numbers of select_jobs.
enum JobColumn : int {
  id,
  user,
  vc,
  submit_s,
  root,
  workdir,
  command,
  branch,
  gpus,
  nodes,
  gpu_type,
  time_limit_s,
  text_id,
  entry,
  closure,
  state,
  start_s,
  end_s,
  duration_s,
  gpu_util_pct,
  gpu_memory_mib,
  fingerprint,
  fields,
  advice,
  request,
  use,
  text,
  facts,
  log_summary,
  progress,
};

std::optional<SimTime> time_or_none(const Query& query, int column) {
  return query.is_null(column) ? std::nullopt : std::optional(at(query.integer(column)));
}

std::optional<double> number_or_none(const Query& query, int column) {
  return query.is_null(column) ? std::nullopt : std::optional(query.number(column));
}

Result<Outcome> read_outcome(const Query& query) {
  Outcome outcome{.state = end_state_named(query.text(state)).value_or(EndState::unknown),
                  .start = time_or_none(query, start_s),
                  .end = time_or_none(query, end_s),
                  .duration = Seconds(query.integer(duration_s)),
                  .gpu_util_pct = number_or_none(query, gpu_util_pct),
                  .gpu_memory_mib = number_or_none(query, gpu_memory_mib),
                  .log_summary = query.text(log_summary),
                  .fingerprint = query.text(fingerprint),
                  .progress = {},
                  .cpu_time = std::nullopt,
                  .memory_mib = std::nullopt,
                  .attempts = {}};
  if (auto read = use_from_json(query.text(use), outcome); !read)
    return tl::unexpected(read.error());
  auto points = progress_from_json(query.text(progress));
  if (!points) return tl::unexpected(points.error());
  outcome.progress = std::move(*points);
  return outcome;
}

}  // namespace

void write_job(Database& database, std::int64_t old_key, const JobRecord& record) {
  Query job(database,
            "INSERT OR REPLACE INTO jobs (key, id, user, vc, submit_s, root, workdir, command, "
            "branch, gpus, nodes, gpu_type, time_limit_s, text_id, entry, closure) "
            "VALUES (?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?)");
  const auto limit =
      record.time_limit ? std::optional<std::int64_t>(record.time_limit->count()) : std::nullopt;
  job.bind(old_key == 0 ? std::nullopt : std::optional(old_key))
      .bind(record.id)
      .bind(record.user)
      .bind(record.vc)
      .bind(seconds_of(record.submit));
  job.bind(record.root).bind(record.workdir).bind(record.command).bind(record.branch);
  job.bind(record.gpus).bind(record.nodes).bind(record.gpu_type).bind(limit);
  job.bind(static_cast<std::int64_t>(record.text_id)).bind(record.entry).bind(record.closure).run();

  const auto key = database.last_row();
  const auto as_fields = fields_to_json(record.fields);
  const auto as_advice = record.advice ? advice_to_json(*record.advice) : "";
  const auto as_request = request_to_json(record);
  Query details(database,
                "INSERT OR REPLACE INTO details (key, fields, facts, advice, log_summary, "
                "progress, request) VALUES (?,?,?,?,'','',?)");
  details.bind(key).bind(as_fields).bind(record.facts_json).bind(as_advice).bind(as_request).run();
  if (record.outcome) write_outcome(database, key, *record.outcome);
}

void write_outcome(Database& database, std::int64_t key, const Outcome& outcome) {
  Query job(database,
            "UPDATE jobs SET state = ?, start_s = ?, end_s = ?, duration_s = ?, gpu_util_pct = ?, "
            "gpu_memory_mib = ?, fingerprint = nullif(?, '') WHERE key = ?");
  job.bind(to_string(outcome.state)).bind(seconds(outcome.start)).bind(seconds(outcome.end));
  job.bind(outcome.duration.count()).bind(outcome.gpu_util_pct).bind(outcome.gpu_memory_mib);
  job.bind(outcome.fingerprint).bind(key).run();
  const auto points = progress_to_json(outcome.progress);
  const auto as_use = use_to_json(outcome);
  Query details(database,
                "UPDATE details SET log_summary = ?, progress = ?, use = ? WHERE key = ?");
  details.bind(outcome.log_summary).bind(points).bind(as_use).bind(key).run();
}

std::string select_jobs(bool brief, const std::string& condition) {
  return fmt::format(
      "SELECT jobs.id, user, vc, submit_s, root, workdir, command, branch, gpus, nodes, gpu_type, "
      "time_limit_s, text_id, entry, closure, state, start_s, end_s, duration_s, gpu_util_pct, "
      "gpu_memory_mib, fingerprint, fields, advice, request, use, ifnull(texts.text, ''), {} FROM "
      "jobs "
      "JOIN details USING (key) LEFT JOIN texts ON texts.id = jobs.text_id {}",
      brief ? "'', '', ''" : "facts, log_summary, progress", condition);
}

Result<JobRecord> read_job(const Query& query) {
  JobRecord record{.id = query.text(id),
                   .user = query.text(user),
                   .vc = query.text(vc),
                   .submit = at(query.integer(submit_s)),
                   .root = query.text(root),
                   .workdir = query.text(workdir),
                   .command = query.text(command),
                   .branch = query.text(branch),
                   .gpus = query.integer(gpus),
                   .nodes = query.integer(nodes),
                   .gpu_type = query.text(gpu_type),
                   .time_limit = std::nullopt,
                   .fields = {},
                   .facts_json = query.text(facts),
                   .text = query.text(text),
                   .text_id = static_cast<std::uint64_t>(query.integer(text_id)),
                   .entry = query.text(entry),
                   .closure = query.text(closure),
                   .name = "",
                   .account = "",
                   .qos = "",
                   .cluster = "",
                   .log = "",
                   .cpus = 0,
                   .memory_mib = std::nullopt,
                   .advice = std::nullopt,
                   .outcome = std::nullopt};
  if (!query.is_null(time_limit_s)) record.time_limit = Seconds(query.integer(time_limit_s));
  auto values = fields_from_json(query.text(fields));
  if (!values) return tl::unexpected(values.error());
  record.fields = std::move(*values);
  if (auto read = request_from_json(query.text(request), record); !read)
    return tl::unexpected(read.error());
  if (const auto given = query.text(advice); !given.empty()) {
    auto read = advice_from_json(given);
    if (!read) return tl::unexpected(read.error());
    record.advice = std::move(*read);
  }
  if (!query.is_null(state)) {
    auto outcome = read_outcome(query);
    if (!outcome) return tl::unexpected(outcome.error());
    record.outcome = std::move(*outcome);
  }
  return record;
}

}  // namespace schedmate::store
