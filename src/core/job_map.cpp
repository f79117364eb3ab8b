// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <schedmate/job_map.hpp>

#include "base/check.hpp"

namespace schedmate {

void fail_absent_job(JobId id) {
  check_failed(__FILE__, __LINE__, fmt::format("job {} of its VC is there", index_of(id)).c_str());
}

}  // namespace schedmate
