// SPDX-License-Identifier: Apache-2.0
#include "lab/simulate.hpp"

#include <doctest/doctest.h>

#include <filesystem>

#include "tests/support/cluster_site.hpp"

namespace schedmate::lab {

TEST_CASE("a simulation reports its beginning and writes its files") {
  const testing::ClusterSite site;
  const auto trace = site.write(
      "jobs.csv", "job_id,user,vc,gpu_num,state,submit_s,duration_s\n1,ann,a,1,COMPLETED,0,60\n");
  const auto cluster =
      site.write("cluster.toml", "[[vc]]\nname = \"a\"\nnodes = 1\ngpus_per_node = 8\n");
  int began = 0;
  const auto made = simulate(site.session(),
                             {.trace = "helios:" + trace,
                              .policies = {"fifo"},
                              .cluster = cluster,
                              .tables = "",
                              .explain = "",
                              .out = site.here.path("out"),
                              .commit = "test"},
                             [&](const Experiment&) { ++began; });
  if (!made) FAIL(made.error().message);
  CHECK(began == 1);
  CHECK(made->runs.size() == 1);
  CHECK(std::filesystem::exists(site.here.path("out/fifo.jobs.csv")));
}

}  // namespace schedmate::lab
