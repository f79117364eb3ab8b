// SPDX-License-Identifier: Apache-2.0
#include "trace/jobstats_summary.hpp"

#include <doctest/doctest.h>
#include <fmt/format.h>

#include <cmath>
#include <vector>

#include "base/input.hpp"
#include "tests/support/jobstats_comment.hpp"
#include "tests/support/places.hpp"

namespace schedmate::trace {
namespace {

bool is_close(double have, double want) { return std::abs(have - want) < 1e-6 * (1 + want); }

// {"nodes": {"n1": {"used_memory": 2147483648, "total_memory": 4294967296, "total_time": 100.5,
//  "cpus": 4, "gpu_utilization": {"0": 40, "1": 60}, "gpu_used_memory": {"0": 1073741824,
//  "1": 3221225472}}, "n2": {"used_memory": 1073741824, ...}}, "gpus": 2, "total_time": 60}, gzip,
// base64, as jobstats writes it.
constexpr const char* comment =
    "JS1:H4sIAAAAAAACA42OwQ7CIAyGX2XhbAyUDjZfZlkcMSQbLA4OuvDuljk1GA+e2vL9pd/KnB/Mwk7V"
    "ypzYSlzM0E1m8tcbzSBQYyMVNoeKBR/68cMQWmyVhla9WbCTISI4P9b0eJ5j/hupvcyxi8GO9t4H6912"
    "imfGCebLiqdXrDB4xgTXUqNoAPe4BBAANWpIec/BD/li6W/5unRPu1Ye4DtL0g/UWaZoQwEAAA==";

TEST_CASE("a summary of jobstats gives what GPUs, CPUs and memory were used") {
  AccountedUse use;
  CHECK(read_summary(comment, use) == "");
  CHECK(is_close(use.memory_mib.value(), 3072));
  CHECK(is_close(use.cpu_time->count(), 151));
  CHECK(is_close(use.gpu_util_pct.value(), 50));
  CHECK(is_close(use.gpu_memory_mib.value(), 2048));
  CHECK_FALSE(use.gpu_memory_total_mib.has_value());
}

TEST_CASE("a summary of jobstats gives each node and each GPU by itself") {
  AccountedUse use;
  const auto json = read_file(testing::fixtures + "jobstats/two_nodes.json").value();
  CHECK(read_summary(testing::jobstats_comment(json), use) == "");
  REQUIRE(use.nodes.size() == 2);
  CHECK(use.nodes[0] == UsedNode{.node = "n1",
                                 .cpus = 4,
                                 .cpu_time = FractionalSeconds(100.5),
                                 .memory_mib = 2048,
                                 .memory_total_mib = 4096,
                                 .gpus = {{"0", 40, 1024, 40960}, {"1", 60.5, 3072, 40960}}});
  CHECK(use.nodes[1].node == "n2");
  CHECK(use.nodes[1].gpus[1] == UsedGpu{"1", 0, 20480, 40960});  // idle is a measurement
  CHECK(is_close(use.gpu_util_pct.value(), 49.875));
  CHECK(is_close(use.gpu_memory_total_mib.value(), 40960));
}

TEST_CASE("figures of a summary that cannot be are those that nobody measured") {
  AccountedUse use;
  const std::string json =
      R"({"nodes": {"n1": {"cpus": -4, "total_time": "x", "used_memory": 1e300,)"
      R"("total_memory": null, "gpu_utilization": {"10": 250, "2": 7, "x": -1},)"
      R"("gpu_used_memory": [1, 2]}, "n2": 7}})";
  CHECK(read_summary(testing::jobstats_comment(json), use) == "");
  REQUIRE(use.nodes.size() == 2);
  CHECK(use.nodes[0] == UsedNode{.node = "n1",
                                 .cpus = 0,
                                 .cpu_time = std::nullopt,
                                 .memory_mib = std::nullopt,
                                 .memory_total_mib = std::nullopt,
                                 .gpus = {{"2", 7, {}, {}}, {"10", 100, {}, {}}}});
  CHECK(use.nodes[1].gpus.empty());
  CHECK_FALSE(use.memory_mib.has_value());
}

TEST_CASE("any other comment is none, and a damaged one changes nothing and is said") {
  for (const char* const other :
       {"", "a note of the operator", "JS1:Short", "JS1:None", "JS2:H4sIAAAAAAACA42OwQ7CIAyGX2X"}) {
    AccountedUse use;
    CHECK_MESSAGE(read_summary(other, use) == "", other);
    CHECK_FALSE(use.gpu_util_pct.has_value());
  }
  const std::string whole = comment;
  std::vector<std::string> wrong = {
      "JS1:",
      "JS1:####",
      "JS1:" + std::string(1 << 20, 'A'),
      testing::jobstats_comment(std::string(std::size_t{8} << 20U, ' ')),  // a bomb
      testing::jobstats_comment("no JSON"),
      testing::jobstats_comment("[1]"),
      testing::jobstats_comment(R"({"nodes": 7})"),
      testing::jobstats_comment(std::string(20'000, '[') + std::string(20'000, ']'))};
  for (std::size_t length = 5; length < whole.size() - 8; length += 7)
    wrong.push_back(whole.substr(0, length));
  for (const std::string& each : wrong) {
    AccountedUse use;
    use.memory_mib = 7;
    CHECK_MESSAGE(read_summary(each, use).starts_with("not read: "), each.substr(0, 40));
    CHECK(use.memory_mib == 7);
    CHECK(use.nodes.empty());
    CHECK_FALSE(use.gpu_util_pct.has_value());
  }
}

TEST_CASE("of very many nodes and GPUs the first are kept, and all of the nodes are counted") {
  std::string json = "{\"nodes\": {";
  for (int node = 0; node < 3000; ++node)
    json += fmt::format("{}\"n{}\": {{\"used_memory\": 1048576}}", node == 0 ? "" : ", ", node);
  AccountedUse use;
  CHECK(read_summary(testing::jobstats_comment(json + "}}"), use) ==
        "of its 3000 nodes the first 1024 are kept one by one");
  CHECK(use.nodes.size() == 1024);
  CHECK(is_close(use.memory_mib.value(), 3000));
  json = "{\"nodes\": {\"n0\": {\"gpu_utilization\": {";
  for (int gpu = 0; gpu < 5000; ++gpu)
    json += fmt::format("{}\"{}\": 1", gpu == 0 ? "" : ", ", gpu);
  CHECK(read_summary(testing::jobstats_comment(json + "}}}}"), use) == "");
  CHECK(use.nodes.at(0).gpus.size() == 64);
}

}  // namespace
}  // namespace schedmate::trace
