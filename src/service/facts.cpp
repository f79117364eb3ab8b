// SPDX-License-Identifier: Apache-2.0
#include "service/facts.hpp"

#include <chrono>

#include "service/file_access.hpp"
#include "service/model_facts.hpp"

namespace schedmate::service {

Result<Facts> read_facts(const settings::Session& session, const JobRequest& request) {
  auto job = job_source(request);
  if (!job) return tl::unexpected(job.error());
  job->rules = session.settings.text("rules");
  const auto models = open_models(session, "");
  if (!models) return tl::unexpected(models.error());
  const auto files = request_files(session);
  if (!files) return tl::unexpected(files.error());
  job->identity = files->access.identity;
  const auto sources = run_sources(request, files->access);
  if (!sources) return tl::unexpected(sources.error());
  const auto began = session.clock.now();
  auto found = extract_facts(*job);
  if (!found) return found;
  const JobSource resolved = with_request(*std::move(job), *found);
  Facts facts = with_model_facts(*std::move(found), resolved, *sources, *models);
  facts.wall_ms = std::chrono::duration<double, std::milli>(session.clock.now() - began).count();
  return facts;
}

}  // namespace schedmate::service
