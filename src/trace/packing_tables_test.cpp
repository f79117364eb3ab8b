// SPDX-License-Identifier: Apache-2.0
#include "trace/packing_tables.hpp"

#include <doctest/doctest.h>

#include "tests/support/needs.hpp"
#include "tests/support/places.hpp"

namespace schedmate::trace {
namespace {

using testing::fixtures;
using testing::needs_shared;
using testing::shared;

constexpr std::string_view table_header =
    "model,dataset,batchsize,amp,gpu_util,gmem_util,gmem,label";

std::string profile_complaint(const std::string& row) {
  const auto profiles = parse_profiles(std::string(table_header) + "\n" + row + "\n", "p");
  return profiles ? "" : profiles.error().message;
}

}  // namespace

TEST_CASE("pair speeds are found in both orders and only those of one GPU count") {
  const PackingTables tables = read_packing_tables(fixtures + "traces/lucid/single_data.csv",
                                                   fixtures + "traces/lucid/colocate_info.csv")
                                   .value();
  REQUIRE(tables.profiles.size() == 2);
  CHECK(tables.pairs[0 * 2 + 1].newcomer == 0.9);
  CHECK(tables.pairs[0 * 2 + 1].resident == 0.8);
  CHECK(tables.pairs[1 * 2 + 0].newcomer == 0.8);
  CHECK(tables.pairs[1 * 2 + 0].resident == 0.9);
  CHECK(tables.pairs[0].newcomer == 0.6);
  CHECK(tables.pairs[0].resident == 0.7);
  CHECK(tables.pairs[3].newcomer == 1.0);    // not in the table
  CHECK(tables.rate(0, 1).newcomer == 1.0);  // NeuMF is interference-free
}

TEST_CASE("a column can say which workloads are free of interference") {
  const auto profiles =
      parse_profiles(std::string(table_header) +
                         ",interference_free\nBERT,d,1,0,1,1,1,0,0\nx,d,1,0,1,1,1,0,1\n",
                     "p")
          .value();
  CHECK(!profiles[0].interference_free);
  CHECK(profiles[1].interference_free);
}

TEST_CASE("impossible profiles are errors with their place") {
  CHECK(profile_complaint("m,d,32,0,50,20,2000,1").empty());
  CHECK(profile_complaint("m,d,32,0,101,20,2000,1") ==
        "p:2:10: gpu_util is not a number from 0 to 100");
  CHECK(profile_complaint("m,d,32,2,50,20,2000,1").starts_with("p:2:8: amp"));
  CHECK(profile_complaint("m,d,32,0,50,20,nan,1").starts_with("p:2:16: gmem"));
  CHECK(profile_complaint("m,d,32,0,50,20,2000,3").starts_with("p:2:21: label"));
  CHECK(profile_complaint("m,d,32,0,50,20,2000,1\nm,d,32,0,50,20,2000,1").starts_with("p:3: this"));
  CHECK(profile_complaint("m,d").starts_with("p:2: fewer fields"));
  CHECK(parse_profiles("model,dataset\n", "p").error().message.find("batchsize") !=
        std::string::npos);
}

TEST_CASE("impossible pair speeds are errors with their place") {
  PackingTables tables;
  const std::string pairs =
      "model1,dataset1,gpu_num1,batchsize1,amp1,speed1,model2,dataset2,gpu_num2,batchsize2,amp2,"
      "speed2\n";
  CHECK(parse_pairs(pairs + "a,b,1,1,0,0.5,c,d,1,1,0,0.5\n", "p", tables));
  const auto zero = parse_pairs(pairs + "a,b,1,1,0,0,c,d,1,1,0,0.5\n", "p", tables);
  REQUIRE(!zero);
  CHECK(zero.error().message.starts_with("p:2:11: speed1"));
  CHECK(!parse_pairs("model1\n", "p", tables));
}

TEST_CASE("the released tables have 66 profiles and 1,388 pairs" *
          needs_shared("data/lucid/input")) {
  const PackingTables tables = read_packing_tables(shared("data/lucid/input/single_data.csv"),
                                                   shared("data/lucid/input/colocate_info.csv"))
                                   .value();
  CHECK(tables.profiles.size() == 66);
  std::size_t measured = 0;
  for (const PairRate& pair : tables.pairs) {
    measured += pair.newcomer != 1.0 || pair.resident != 1.0 ? 1U : 0U;
  }
  // Both orders, less pairs of one kind with itself and those at exactly 1: counted with awk.
  CHECK(measured == 2'674);
}

}  // namespace schedmate::trace
