// SPDX-License-Identifier: Apache-2.0
#include "slurm/job_log.hpp"

#include <doctest/doctest.h>

namespace schedmate::slurm {

TEST_CASE("a log is found by its pattern") {
  ScheduledJob job;
  job.record.id = "120_7";
  job.record.name = "net";
  job.record.user = "ann";
  job.record.root = "/w";
  job.attempts = {Attempt{.start = {},
                          .end = {},
                          .state = EndState::unknown,
                          .word = "",
                          .exit_code = "",
                          .nodes = "n[07-09].cluster"}};
  CHECK(expand_log_pattern("slurm-%A_%a.out", job) == "/w/slurm-120_7.out");
  CHECK(expand_log_pattern("%j_%a.out", job, "128") == "/w/128_7.out");
  CHECK(expand_log_pattern("logs/%x/%u-%4a-%N.%t%%", job) == "/w/logs/net/ann-0007-n07.0%");
  CHECK(expand_log_pattern("/abs/%x.log", job) == "/abs/net.log");
  CHECK(expand_log_pattern("%Q-%", job) == "/w/%Q-%");
  CHECK(expand_log_pattern("a\\%x", job) == "/w/a%x");
  job.record.id = "17";
  CHECK(expand_log_pattern("%j-%A.out", job) == "/w/17-17.out");
  CHECK(expand_log_pattern("%99999999j", job).size() <= 14);
  CHECK(id_in_log_name("/w/slurm-17.out") == "17");
  CHECK(id_in_log_name("slurm-12_3.out") == "12_3");
  for (const char* const name : {"slurm-.out", "slurm-x.out", "train.log", "slurm-17.out.1"})
    CHECK_MESSAGE(id_in_log_name(name).empty(), name);
  for (const char* const id : {"", "x", "-17", "17_", "17_x", "17 18", "17;18", "_3"})
    CHECK_MESSAGE(!is_slurm_id(id), id);
}

}  // namespace schedmate::slurm
