// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <set>

#include "base/check.hpp"
#include "tests/fuzz/targets.hpp"
#include "trace/accounting_readers.hpp"
#include "trace/values.hpp"
#include "whatif/compare.hpp"

namespace schedmate::fuzz {
namespace {

void check_job(const AccountedJob& job, const AccountingDump& dump) {
  SCHEDMATE_CHECK(!job.id.empty(), "a job has an id");
  SCHEDMATE_CHECK(job.submit <= job.start && job.eligible <= job.start && job.start <= job.end,
                  "times are in order");
  SCHEDMATE_CHECK(job.gpus >= 0 && job.cpus >= 0, "resources are not negative");
  SCHEDMATE_CHECK(job.limit >= Seconds(0) && job.limit <= Seconds(trace::longest_run_s),
                  "so are limits");
  SCHEDMATE_CHECK(
      std::ranges::all_of(job.nodes, [&](auto node) { return node < dump.nodes.size(); }),
      "nodes exist");
}

/// What a sound dump promises to those who go on with it.
void check_world(const AccountingDump& dump) {
  const auto cluster = whatif::infer_cluster(dump);
  if (!cluster) return;
  SCHEDMATE_CHECK(cluster->vc_of_job.size() == dump.jobs.size(), "each job has its place");
  for (const PartitionSpec& vc : cluster->spec.partitions)
    SCHEDMATE_CHECK(vc.nodes > 0 && vc.gpus_per_node >= 1 && vc.gpus_per_node <= 64,
                    "a VC has GPUs");
  const auto world =
      whatif::make_world(dump, *cluster, [](std::string_view n) { return std::string(n); });
  if (!world) return;
  SCHEDMATE_CHECK(std::ranges::is_sorted(world->trace.jobs, {}, &Job::submit), "jobs are in order");
  SCHEDMATE_CHECK(world->past.size() == world->trace.jobs.size(), "each has a past");
  for (const whatif::Loss& loss : whatif::find_losses(dump, *world))
    SCHEDMATE_CHECK(loss.share >= 0 && loss.share <= 1, "a share is one");
}

void check_dump(const Result<AccountingDump>& dump) {
  if (!dump) {
    SCHEDMATE_CHECK(!dump.error().message.empty(), "an error says what is wrong");
    return;
  }
  std::set<std::string_view> ids;
  for (const AccountedJob& job : dump->jobs) {
    check_job(job, *dump);
    SCHEDMATE_CHECK(ids.insert(job.id).second, "ids are unique");
  }
  std::uint64_t dropped = 0;
  for (const auto& [reason, count] : dump->report.dropped) dropped += count;
  SCHEDMATE_CHECK(dump->report.rows == dump->jobs.size() + dropped, "every row is counted");
  SCHEDMATE_CHECK(dump->report.messages.size() <= 20, "messages are few");
  check_world(*dump);
}

}  // namespace

void fuzz_accounting(std::string_view input) {
  check_dump(trace::parse_accounting(bytes_of(input), "input", {}));
  check_dump(trace::parse_accounting(bytes_of(input), "input", {.strict = true}));
}

}  // namespace schedmate::fuzz
