// SPDX-License-Identifier: Apache-2.0
#pragma once

/// Every row of stores.def with a place to open it at, for suites that run over all of them.

#include <doctest/doctest.h>

#include <functional>
#include <memory>
#include <schedmate/store.hpp>
#include <string>
#include <vector>

#include "tests/support/redis_server.hpp"
#include "tests/support/scratch.hpp"

namespace schedmate::testing {

inline std::unique_ptr<Store> open_or_fail(const std::string& spec) {
  auto store = open_store(spec);
  INFO(spec);
  REQUIRE_MESSAGE(store.has_value(), (store ? "" : store.error().message));
  return std::move(*store);
}

/// Runs the body once for each row, with the specification of an empty store.
inline void on_every_store(const std::function<void(const std::string& spec)>& body) {
  for (const auto& row : store_rows()) {
    const std::string name(row.name);
    CAPTURE(name);
    const Scratch folder;
    if (name == "memory") body(name);
    if (name == "sqlite") body("sqlite:" + folder.path("history.db"));
    if (name != "redis") continue;
    const RedisServer server;
    body(server.spec());
  }
}

/// A record with every member set, different for each number.
inline JobRecord full_record(int number) {
  const auto n = std::to_string(number);
  return {.id = "job-" + n,
          .user = "ada",
          .vc = "gpu",
          .submit = at(1000 + number),
          .root = "/cluster/ada/net",
          .workdir = "src",
          .command = "python train.py --seed " + n,
          .branch = "main",
          .gpus = 8,
          .nodes = 2,
          .gpu_type = "a100",
          .time_limit = Seconds(3600),
          .fields = {{"model_name", "resnet50"}, {"batch_size", n}},
          .facts_json = R"({"schema":"schedmate.facts.v1"})",
          .text = "model_name=resnet50 batch_size=" + n,
          .text_id = 0,
          .entry = "train.py",
          .closure = "c0ffee",
          .name = "resnet",
          .account = "vision",
          .qos = "normal",
          .cluster = "big",
          .log = "/cluster/ada/net/slurm-" + n + ".out",
          .cpus = 64,
          .memory_mib = 131072.5,
          .advice = GivenAdvice{.source = "similar",
                                .mean = FractionalSeconds(100.5),
                                .p10 = FractionalSeconds(50),
                                .p50 = FractionalSeconds(90),
                                .p90 = FractionalSeconds(200),
                                .gpu_util_pct = 71.5,
                                .gpu_memory_mib = std::nullopt,
                                .neighbours = {{"job-0", 0.93, "same task"}},
                                .length = GivenLength{.source = "similar",
                                                      .p50 = FractionalSeconds(80),
                                                      .not_known = "too few runs",
                                                      .early_end = 0.25,
                                                      .runs_by_state = {{EndState::failed, 2}}}},
          .outcome = std::nullopt,
          .group = "vision-users"};
}

inline Outcome full_outcome() {
  return {.state = EndState::completed,
          .start = at(2000),
          .end = at(5000),
          .duration = Seconds(3000),
          .gpu_util_pct = 88.25,
          .gpu_memory_mib = 40536,
          .log_summary = R"({"lines":12})",
          .fingerprint = "c0ffee0123456789",
          .progress = {{Seconds(1), 10, 0.5}, {Seconds(2), 20, std::nullopt}},
          .cpu_time = FractionalSeconds(81234.5),
          .memory_mib = 99000.25,
          .attempts = {{.start = at(1500),
                        .end = std::nullopt,
                        .state = EndState::node_fail,
                        .word = "NODE_FAIL",
                        .exit_code = "0:9",
                        .nodes = "n[11-12]"},
                       {.start = at(2000),
                        .end = at(5000),
                        .state = EndState::completed,
                        .word = "COMPLETED",
                        .exit_code = "0:0",
                        .nodes = "n[13-14]"}},
          .gpu_memory_total_mib = 81920,
          .energy_j = 1234567.5,
          .node_use = {{.node = "n13",
                        .cpus = 32,
                        .cpu_time = FractionalSeconds(40000.5),
                        .memory_mib = 49000.5,
                        .memory_total_mib = 65536,
                        .gpus = {{"0", 91.5, 40536, 81920}, {"1", std::nullopt, 7, std::nullopt}}},
                       {.node = "n14",
                        .cpus = 0,
                        .cpu_time = std::nullopt,
                        .memory_mib = std::nullopt,
                        .memory_total_mib = std::nullopt,
                        .gpus = {}}}};
}

}  // namespace schedmate::testing
