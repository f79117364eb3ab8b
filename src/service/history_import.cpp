// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <schedmate/trace.hpp>

#include "service/accounted_jobs.hpp"
#include "service/advisor_state.hpp"
#include "service/held_input.hpp"
#include "service/history.hpp"
#include "service/job_use.hpp"

namespace schedmate::service {
namespace {

constexpr std::string_view sacct = "sacct:";

JobRecord record_of(const Job& job, const Trace& trace) {
  JobRecord record;
  record.id = job.id;
  record.user = trace.users[job.user];
  record.vc = trace.vcs[job.vc];
  record.submit = job.submit;
  record.gpus = job.gpus;
  record.workdir = ".";
  record.nodes = 1;
  record.fields["gpus"] = fmt::format("{}", job.gpus);
  record.outcome.emplace();
  record.outcome->state = job.state;
  record.outcome->duration = job.duration;
  return record;
}

/// An advised job keeps what was known at its submission, and gains what the dump says.
JobRecord merged(JobRecord kept, JobRecord from_dump) {
  kept.name = std::move(from_dump.name);
  kept.account = std::move(from_dump.account);
  if (!from_dump.group.empty()) kept.group = std::move(from_dump.group);
  kept.cluster = std::move(from_dump.cluster);
  if (!from_dump.qos.empty()) kept.qos = std::move(from_dump.qos);
  if (from_dump.cpus > 0) kept.cpus = from_dump.cpus;
  if (from_dump.memory_mib) kept.memory_mib = from_dump.memory_mib;
  if (kept.vc.empty()) kept.vc = std::move(from_dump.vc);
  if (kept.log.empty()) kept.log = std::move(from_dump.log);
  if (kept.gpu_type.empty()) kept.gpu_type = std::move(from_dump.gpu_type);
  if (!kept.time_limit) kept.time_limit = from_dump.time_limit;
  const std::optional<Outcome> before = std::move(kept.outcome);
  kept.outcome = std::move(from_dump.outcome);
  if (!before || !kept.outcome) return kept;
  kept.outcome->log_summary = before->log_summary;
  kept.outcome->fingerprint = before->fingerprint;
  kept.outcome->progress = before->progress;
  fill_use(*before, *kept.outcome);
  return kept;
}

/// Puts records in batches, one transaction each.
class Putting {
 public:
  explicit Putting(Store& store) : store_(store) {}

  /// Errors: those of the store.
  Result<void> open() {
    const auto any = store_.list({.limit = 1, .brief = true});
    if (!any) return tl::unexpected(any.error());
    was_empty_ = any->empty();
    return {};
  }
  Result<void> add(JobRecord record) {
    if (!was_empty_) {
      auto before = store_.get(record.id);
      if (!before) return tl::unexpected(before.error());
      const bool advised = *before && ((*before)->advice || !(*before)->facts_json.empty());
      if (advised && (*before)->user == record.user)
        record = merged(**std::move(before), std::move(record));
    }
    records_.push_back(std::move(record));
    constexpr std::size_t batch = 5000;
    return records_.size() < batch ? Result<void>() : flush();
  }
  Result<void> flush() {
    if (records_.empty()) return {};
    auto done = store_.put_many(records_);
    records_.clear();
    return done;
  }

 private:
  Store& store_;
  bool was_empty_ = false;
  std::vector<JobRecord> records_;
};

/// The history opens after the reading: a file that cannot be read leaves no state folder.
Result<void> put_all(const settings::Session& session, std::size_t count,
                     const std::function<JobRecord(std::size_t)>& make) {
  const auto history = open_history(session, {.cache_mib = StoreOptions::import_cache_mib});
  if (!history) return tl::unexpected(history.error());
  const settings::ShowProgress progress = session.progress("importing");
  Putting putting(*history->store);
  if (auto ok = putting.open(); !ok) return ok;
  for (std::size_t i = 0; i < count; ++i) {
    if (auto done = putting.add(make(i)); !done) return done;
    constexpr std::size_t look_every = 1000;
    if (i % look_every == 0) progress(static_cast<double>(i) / static_cast<double>(count));
  }
  return putting.flush();
}

Result<Imported> import_accounting(const settings::Session& session, const std::string& path) {
  auto dump = read_accounting(path, {.strict = session.settings.flag("strict"), .lenient = true});
  if (!dump) return tl::unexpected(dump.error());
  Imported imported{0, dump->report.rows, dump->report.dropped, dump->report.messages};
  auto jobs = accounted_jobs(*dump);
  if (auto words = unread_words(jobs); !words.empty())
    imported.messages.push_back(std::move(words));
  std::erase_if(jobs, [&](const slurm::ScheduledJob& job) {
    const JobRecord& record = job.record;
    const char* const why = !record.outcome    ? "still running at the end of the dump"
                            : record.gpus == 0 ? "no GPUs requested"
                                               : nullptr;
    if (why != nullptr) ++imported.dropped[why];
    return why != nullptr;
  });
  imported.jobs = jobs.size();
  const auto take = [&](std::size_t i) { return std::move(jobs[i].record); };
  if (auto done = put_all(session, jobs.size(), take); !done) return tl::unexpected(done.error());
  return imported;
}

Result<Imported> import_held(const settings::Session& session, const std::string& spec) {
  if (spec.starts_with(sacct)) return import_accounting(session, spec.substr(sacct.size()));
  const auto trace = read_trace(spec, {.strict = session.settings.flag("strict"), .columns = {}});
  if (!trace) return tl::unexpected(trace.error());
  const auto make = [&](std::size_t i) { return record_of(trace->jobs[i], *trace); };
  if (auto done = put_all(session, trace->jobs.size(), make); !done)
    return tl::unexpected(done.error());
  return Imported{trace->jobs.size(), trace->report.rows, trace->report.dropped,
                  trace->report.messages};
}

}  // namespace

Result<Imported> import_jobs(const settings::Session& session, const std::string& spec) {
  return read_held(spec, [&](const std::string& path) { return import_held(session, path); });
}

Document import_document(const Imported& imported) {
  Document document = {
      {"schema", "schedmate.import.v1"}, {"jobs", imported.jobs}, {"rows", imported.rows}};
  document["dropped"] = imported.dropped;
  document["messages"] = imported.messages;
  return document;
}

}  // namespace schedmate::service
