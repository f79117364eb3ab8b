// SPDX-License-Identifier: Apache-2.0
#include "base/check.hpp"
#include "base/utf8.hpp"
#include "ray_live/answers.hpp"
#include "ray_live/logs.hpp"
#include "ray_live/start.hpp"
#include "tests/fuzz/targets.hpp"

namespace schedmate::fuzz {
namespace {

void check_ray_text(std::string_view text) {
  for (std::size_t i = 0; i < text.size();) {
    const std::size_t length = utf8_length(text, i);
    SCHEDMATE_CHECK(length > 0, "texts are valid");
    i += length;
  }
}

void check_job(const ray_live::RayJob& job) {
  SCHEDMATE_CHECK(!job.id.empty(), "a job has an id");
  for (const std::string& text : {job.id, job.message, job.entrypoint, job.name, job.user})
    check_ray_text(text);
  SCHEDMATE_CHECK(job.submitted >= at(0) && (!job.ended || *job.ended >= at(0)), "times are");
  (void)ray_live::end_of(job);
}

}  // namespace

/// What the head of a Ray answers, and the last lines of a log.
void fuzz_ray(std::string_view input) {
  if (const auto job = ray_live::read_job(input)) check_job(*job);
  if (const auto jobs = ray_live::read_jobs(input))
    for (const ray_live::RayJob& job : *jobs) check_job(job);
  if (const auto nodes = ray_live::read_nodes(input))
    for (const char* version : {"2.60.0", "2.41.0", ""})
      for (const ray_live::KnownNode& node : ray_live::name_nodes(*nodes, version, {})) {
        check_ray_text(node.name);
        SCHEDMATE_CHECK(!node.name.empty() && node.gpus >= 1 && node.gpus <= 64, "GPUs are");
      }
  if (const auto used = ray_live::read_usage(input, "GPU"))
    for (const auto& [node, gpus] : *used) SCHEDMATE_CHECK(gpus >= 0 && gpus <= 1e6, "usage is");
  (void)ray_live::read_version(input);
  (void)ray_live::read_logs(input);
  const std::size_t half = input.size() / 2;
  const std::string fresh = ray_live::new_of(input.substr(0, half), input.substr(half));
  SCHEDMATE_CHECK(input.substr(half).ends_with(fresh) || fresh.ends_with(input.substr(half)),
                  "what is new is an end of what there is");
}

}  // namespace schedmate::fuzz
