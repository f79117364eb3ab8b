// SPDX-License-Identifier: Apache-2.0
#include "reader/answers/asked.hpp"

#include <sys/stat.h>

#include <nlohmann/json.hpp>

#include "advisor/advice_document.hpp"
#include "base/foreign_file.hpp"
#include "core/facts_json.hpp"
#include "secrets/outgoing.hpp"
#include "service/diagnose.hpp"
#include "service/facts.hpp"
#include "service/track.hpp"

namespace schedmate::reader {
namespace {

/// What says how the command line takes a witness helps nobody here.
Document without_flags(Document diagnosis) {
  for (Document& witness : diagnosis["witness"])
    if (witness["asked"] == false) witness["says"] = "was not asked";
  return diagnosis;
}

}  // namespace

service::JobRequest job_asked(const Request& request) {
  service::JobRequest job;
  job.root = request.dir;
  job.command = request.command;
  job.workdir = request.workdir;
  job.gpus = request.gpus;
  job.nodes = request.nodes;
  job.gpu_type = request.gpu_type;
  return job;
}

service::AdviseRequest advice_asked(const Request& request) {
  service::AdviseRequest asked;
  asked.job = job_asked(request);
  asked.user = request.user;
  asked.branch = request.branch;
  asked.vc = request.partition;
  asked.time_limit_s = request.time_limit_s;
  return asked;
}

Request facts_asked(Request advise) {
  advise.what = What::facts;
  advise.branch.clear();
  advise.partition.clear();
  advise.time_limit_s = 0;
  return advise;
}

Result<Document> advise(const settings::Session& session, const Request& request) {
  return service::advise(session, advice_asked(request)).map(advisor::advice_document);
}

Result<Document> facts(const settings::Session& session, const Request& request) {
  return service::read_facts(session, job_asked(request)).map([](const Facts& facts) {
    return facts_document(facts);
  });
}

Result<Document> diagnose(const settings::Session& session, const Request& request) {
  service::DiagnoseRequest asked;
  asked.logs = request.logs;
  return service::diagnose(session, asked).map(service::diagnose_document).map(without_flags);
}

Document file_document(const struct stat& status) {
  return {{"inode", status.st_ino}, {"size", status.st_size}, {"mtime_s", status.st_mtim.tv_sec}};
}

Result<Document> track(const settings::Session& session, const Request& request) {
  const FileAccess access{.identity = {}, .budget = session.budget, .note = {}};
  auto file = ForeignFile::open({request.logs.front(), access});
  if (!file) return tl::unexpected(file.error());
  const auto status = file->status();
  if (!status) return tl::unexpected(status.error());
  auto tracked = service::track(session, {request.logs});
  if (!tracked) return tl::unexpected(tracked.error());
  Document made = service::track_document(*tracked);
  made["file"] = file_document(*status);
  return made;
}

Result<Document> failure(const settings::Session& session, const Request& request) {
  auto diagnosis = diagnose(session, request);
  if (!diagnosis) return diagnosis;
  auto progress = track(session, request);
  return Document{{"diagnosis", std::move(*diagnosis)},
                  {"progress", progress ? std::move(*progress) : Document()}};
}

Result<Document> without_secrets(Result<Document> made) {
  if (made) return made;
  return fail(made.error().code, secrets::safe_line(made.error().message));
}

}  // namespace schedmate::reader
