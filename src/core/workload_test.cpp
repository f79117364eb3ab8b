// SPDX-License-Identifier: Apache-2.0
#include "core/workload.hpp"

#include <doctest/doctest.h>

#include <set>

namespace schedmate {
namespace {

std::shared_ptr<const PackingTables> seven_profiles() {
  PackingTables tables;
  tables.profiles.resize(7);
  tables.pairs.resize(49);
  return std::make_shared<const PackingTables>(std::move(tables));
}

Trace forty_jobs() {
  Trace trace;
  for (std::uint32_t i = 0; i < 40; ++i) {
    Job job;
    job.user = i % 20;
    job.gpus = 1 << (i % 4);
    job.duration = Seconds(100 + i);
    trace.jobs.push_back(job);
  }
  return trace;
}

TEST_CASE(
    "resubmissions of one user, VC and GPU count get the same profile, whatever their duration") {
  Trace trace = forty_jobs();
  assign_profiles(trace, seven_profiles(), 1);
  for (std::size_t i = 0; i < 20; ++i) CHECK(trace.jobs[i].profile == trace.jobs[i + 20].profile);
}

TEST_CASE("profiles spread over the table and depend on the seed") {
  Trace one = forty_jobs();
  Trace two = forty_jobs();
  assign_profiles(one, seven_profiles(), 1);
  assign_profiles(two, seven_profiles(), 2);
  std::set<std::uint32_t> used;
  bool differs = false;
  for (std::size_t i = 0; i < one.jobs.size(); ++i) {
    used.insert(one.jobs[i].profile);
    differs = differs || one.jobs[i].profile != two.jobs[i].profile;
  }
  CHECK(used.size() >= 4);
  CHECK(differs);
}

TEST_CASE("a trace with tables of its own keeps them") {
  Trace trace = forty_jobs();
  trace.packing = seven_profiles();
  assign_profiles(trace, std::make_shared<const PackingTables>(), 1);
  CHECK(trace.packing->profiles.size() == 7);
  CHECK(trace.jobs.front().profile == no_index);
}

}  // namespace
}  // namespace schedmate
