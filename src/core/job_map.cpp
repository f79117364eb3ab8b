// SPDX-License-Identifier: Apache-2.0
#include <cstdio>
#include <cstdlib>
#include <schedmate/job_map.hpp>

namespace schedmate {

void fail_absent_job(JobId id) {
  std::fprintf(stderr, "broken invariant: job %u of its VC is there\n", index_of(id));
  std::abort();
}

}  // namespace schedmate
