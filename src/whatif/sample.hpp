// SPDX-License-Identifier: Apache-2.0
#pragma once

/// Small dumps, for the tests of this folder.

#include <schedmate/accounting.hpp>
#include <utility>

namespace schedmate::whatif::sample {

struct Wanted {
  std::string id, user, partition = "p";
  std::int64_t gpus = 1;
  std::int64_t eligible_s = 0, start_s = 0, end_s = 0;
  std::vector<std::uint32_t> nodes{0};
  std::string type{};
};

inline AccountedJob past_job(Wanted wanted) {
  AccountedJob job;
  job.id = std::move(wanted.id);
  job.user = std::move(wanted.user);
  job.partition = std::move(wanted.partition);
  job.gpus = wanted.gpus;
  job.submit = job.eligible = at(wanted.eligible_s);
  job.start = at(wanted.start_s);
  job.end = at(wanted.end_s);
  job.nodes = std::move(wanted.nodes);
  job.gpu_type = std::move(wanted.type);
  job.state = "COMPLETED";
  return job;
}

inline AccountingDump past_dump(std::vector<Wanted> jobs, std::size_t nodes) {
  AccountingDump dump;
  for (std::size_t n = 0; n < nodes; ++n) dump.nodes.push_back("n" + std::to_string(n));
  for (Wanted& wanted : jobs) {
    dump.jobs.push_back(past_job(std::move(wanted)));
    dump.first_end = std::min(dump.first_end, dump.jobs.back().end);
    dump.last = std::max(dump.last, dump.jobs.back().end);
  }
  return dump;
}

inline std::string same(std::string_view name) { return std::string(name); }

}  // namespace schedmate::whatif::sample
