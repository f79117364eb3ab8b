// SPDX-License-Identifier: Apache-2.0
#include "synth/resume.hpp"

#include <doctest/doctest.h>

#include "tests/support/near.hpp"
#include "tests/support/synth_tables.hpp"

namespace schedmate::synth {
namespace {

using testing::near;

SynthJob job(std::int64_t submit_s, std::int64_t run_s, bool fails, std::uint32_t user) {
  SynthJob made;
  made.submit_s = submit_s;
  made.run_s = run_s;
  made.state = fails ? 2 : 0;
  made.cause = fails ? 0 : -1;
  made.restart_s = 60;
  made.user = user;
  made.gpus = 8;
  return made;
}

Behaviour always() {
  Behaviour behaviour;
  behaviour.resume_after_s = 1800;
  behaviour.resumed_percent = 100;
  behaviour.checkpoint_s = 1000;
  return behaviour;
}

}  // namespace

TEST_CASE("a chain: each continuation begins after its parent's end and counts what is left") {
  // Job 0 fails at 3500, restart by hand 60 s: job 2 is moved to 3560, fails at 5660; job 3 is
  // moved to 5720 and ends. Job 1 had begun before the failure.
  SynthJobs jobs = {job(0, 3500, true, 1), job(3000, 50, false, 2), job(4000, 2100, true, 3),
                    job(9000, 700, false, 4)};
  CHECK(link_resumed(always(), 100'000, jobs, Random(1)) == 2);
  CHECK(jobs[1].parent == no_job);
  CHECK(jobs[2].parent == 0);
  CHECK(jobs[2].submit_s == 3560);
  CHECK(jobs[2].user == 1);
  CHECK(jobs[3].parent == 2);
  CHECK(jobs[3].submit_s == 5720);
  CHECK(jobs[3].user == 1);
  CHECK(jobs[3].remaining_s == 700);
  CHECK(jobs[2].remaining_s == 2000 + 700);  // two checkpoints of its own
}

TEST_CASE("short failures, other shapes and the end of the trace have no continuation") {
  SynthJobs early = {job(0, 1700, true, 1), job(2000, 50, false, 2)};
  CHECK(link_resumed(always(), 100'000, early, Random(1)) == 0);
  SynthJobs shapes = {job(0, 2000, true, 1), job(2500, 50, false, 2)};
  shapes[1].gpus = 16;
  CHECK(link_resumed(always(), 100'000, shapes, Random(1)) == 0);
  SynthJobs late = {job(0, 2000, true, 1), job(2500, 50, false, 2)};
  CHECK(link_resumed(always(), 2060, late, Random(1)) == 0);
  CHECK(link_resumed(always(), 2061, late, Random(1)) == 1);
}

TEST_CASE("the share that is resumed is the one asked for") {
  SynthJobs jobs;
  for (std::int64_t i = 0; i < 4000; ++i) jobs.push_back(job(i * 10'000, 2000, true, 1));
  Behaviour half = always();
  half.resumed_percent = 50;
  const auto links = link_resumed(half, 1'000'000'000, jobs, Random(6));
  CHECK(near(static_cast<double>(links), 2000, 0.1, 0));
}

}  // namespace schedmate::synth
