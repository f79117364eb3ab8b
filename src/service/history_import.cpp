// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <nlohmann/json.hpp>
#include <schedmate/trace.hpp>
#include <unordered_map>

#include "advisor/command_flags.hpp"
#include "base/input.hpp"
#include "service/advisor_state.hpp"
#include "service/held_input.hpp"
#include "service/history.hpp"
#include "service/redaction.hpp"
#include "trace/csv.hpp"

namespace schedmate::service {
namespace {

/// What sacct knows of a job beyond a trace.
struct Origin {
  std::string command, folder;
};
using Origins = std::unordered_map<std::string, Origin>;

/// Empty for other formats, and for `sacct --json`.
Origins read_origins(const std::string& spec) {
  constexpr std::string_view prefix = "sacct:";
  Origins origins;
  if (!spec.starts_with(prefix)) return origins;
  const auto text = read_file(spec.substr(prefix.size()));
  if (!text || text->starts_with('{')) return origins;
  auto rows = trace::CsvRows::open(*text, spec, '|');
  if (!rows) return origins;
  const trace::Column id = rows->find("JobID");
  const trace::Column line = rows->find("SubmitLine");
  const trace::Column name = rows->find("JobName");
  const trace::Column folder = rows->find("WorkDir");
  while (rows->next()) {
    if (!rows->fault().empty()) continue;
    const std::string_view command = rows->field(line);
    origins[std::string(rows->field(id))] = {
        redacted(command.empty() ? rows->field(name) : command), std::string(rows->field(folder))};
  }
  return origins;
}

JobRecord record_of(const Job& job, const Trace& trace, const Origins& origins) {
  JobRecord record;
  record.id = job.id;
  record.user = trace.users[job.user];
  record.vc = trace.vcs[job.vc];
  record.submit = job.submit;
  record.gpus = job.gpus;
  record.workdir = ".";
  record.nodes = 1;
  if (const auto origin = origins.find(record.id); origin != origins.end()) {
    record.command = origin->second.command;
    record.root = origin->second.folder;
    record.entry =
        advisor::read_command_flags(record.command, advisor::FlagRules::built_in()).entry;
  }
  record.fields["gpus"] = fmt::format("{}", job.gpus);
  record.outcome.emplace();
  record.outcome->state = job.state;
  record.outcome->duration = job.duration;
  return record;
}

Result<void> put_all(const settings::Session& session, const Trace& trace, const Origins& origins) {
  constexpr std::size_t batch = 5000;
  const auto history = open_history(session);
  if (!history) return tl::unexpected(history.error());
  const settings::ShowProgress progress = session.progress("importing");
  std::vector<JobRecord> records;
  for (std::size_t i = 0; i < trace.jobs.size(); ++i) {
    records.push_back(record_of(trace.jobs[i], trace, origins));
    if (records.size() < batch && i + 1 < trace.jobs.size()) continue;
    if (auto done = history->store->put_many(records); !done) return done;
    records.clear();
    progress(static_cast<double>(i + 1) / static_cast<double>(trace.jobs.size()));
  }
  return {};
}

Result<Imported> import_held(const settings::Session& session, const std::string& spec) {
  const auto trace = read_trace(spec, {.strict = session.settings.flag("strict"), .columns = {}});
  if (!trace) return tl::unexpected(trace.error());
  if (auto done = put_all(session, *trace, read_origins(spec)); !done)
    return tl::unexpected(done.error());
  return Imported{trace->jobs.size(), trace->report.rows, trace->report.dropped};
}

}  // namespace

Result<Imported> import_jobs(const settings::Session& session, const std::string& spec) {
  return read_held(spec, [&](const std::string& path) { return import_held(session, path); });
}

Document import_document(const Imported& imported) {
  Document document = {
      {"schema", "schedmate.import.v1"}, {"jobs", imported.jobs}, {"rows", imported.rows}};
  document["dropped"] = imported.dropped;
  return document;
}

}  // namespace schedmate::service
