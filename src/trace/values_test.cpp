// SPDX-License-Identifier: Apache-2.0
#include "trace/values.hpp"

#include <doctest/doctest.h>

namespace schedmate::trace {

TEST_CASE("whole numbers may carry zeros behind the point, nothing else") {
  CHECK(parse_whole("12") == 12);
  CHECK(parse_whole("-3") == -3);
  CHECK(parse_whole("12.00") == 12);
  for (const char* bad : {"", ".", "1.5", "1e3", " 1", "0x10", "99999999999999999999", "--1"}) {
    CHECK_MESSAGE(!parse_whole(bad), bad);
  }
}

TEST_CASE("dates count from 1970 and honour their zone") {
  CHECK(parse_date("1970-01-01 00:00:00") == 0);
  CHECK(parse_date("2020-09-01T00:10:00") == 1'598'919'000);
  CHECK(parse_date("2023-03-01 00:18:22+08:00") == parse_date("2023-02-28 16:18:22"));
  CHECK(parse_date("2023-03-01 00:18:22-0500") == parse_date("2023-03-01 05:18:22Z"));
  CHECK(parse_date("2020-02-29 00:00:00.250") == parse_date("2020-02-29"));
  CHECK(parse_date("1969-12-31 23:59:59") == -1);
}

TEST_CASE("impossible dates are not dates") {
  for (const char* bad : {"2021-02-29", "2020-13-01", "2020-01-01 24:00:00", "2020-01-01 00:60:00",
                          "2020-01-01 1:00:00", "2020-01-01x", "2020-01-01 00:00:00+99:00",
                          "2020-01-01 00:00:00.", "20-01-01 00:00:00", ""}) {
    CHECK_MESSAGE(!parse_time(bad), bad);
  }
}

TEST_CASE("seconds lose their fraction") {
  CHECK(parse_seconds("10.9") == 10);
  CHECK(parse_time("13219203") == 13'219'203);
  CHECK(!parse_seconds("10.9e5"));
  CHECK(!parse_seconds("nan"));
}

TEST_CASE("Slurm run times count days, hours, minutes and seconds") {
  CHECK(parse_elapsed("1-02:03:04") == 93'784);
  CHECK(parse_elapsed("02:03:04") == 7'384);
  CHECK(parse_elapsed("03:04.567") == 184);
  CHECK(parse_elapsed("77") == 77);
  for (const char* bad : {"1-02", "1-02:03", "a:b", "1:-2:3", "-1-00:00:00", "",
                          "::", "99999999999:00:00", "9:99999999999:99999999999"}) {
    CHECK_MESSAGE(!parse_elapsed(bad), bad);
  }
}

TEST_CASE("end states have the spellings of all formats") {
  CHECK(parse_state("CANCELLED by 1000") == EndState::cancelled);
  CHECK(parse_state("Pass") == EndState::completed);
  CHECK(parse_state("OUT_OF_MEMORY") == EndState::out_of_memory);
  for (const EndState state : known_end_states) CHECK(parse_state(to_string(state)) == state);
  CHECK(parse_state("TIMEOUT") == EndState::timeout);
  CHECK(parse_state("something") == EndState::unknown);
  CHECK(run_state("RUNNING") == RunState::running);
  CHECK(run_state("PENDING") == RunState::waiting);
  CHECK(run_state("EXPEDITING") == RunState::waiting);
  CHECK(run_state("CANCELLED by 7") == RunState::ended);
}

TEST_CASE("the total of a resource list wins over its typed parts") {
  CHECK(gpus_of_tres("billing=8,cpu=8,gres/gpu:a100=2,gres/gpu=4,mem=64G,node=1") == 4);
  CHECK(gpus_of_tres("gres/gpu:a100=2,gres/gpu:v100=1") == 3);
  CHECK(gpus_of_tres("gpu:2") == 2);
  CHECK(gpus_of_tres("gpu:tesla:2") == 2);
  CHECK(gpus_of_tres("gpu:tesla:2(IDX:0,2),gpu:a100:1(S:0-1)") == 3);
  CHECK(gpus_of_tres("gres:gpu:4") == 4);
  CHECK(gpus_of_tres("gpu:(null):4") == 4);
  CHECK(!gpus_of_tres("cpu=8,gres/gpumem=5G,gres/shard=3,mem=1G"));
  CHECK(!gpus_of_tres("gres/gpu=many"));
  CHECK(!gpus_of_tres(""));
}

TEST_CASE("memory as Slurm prints it") {
  constexpr double byte = 1.0 / (1024 * 1024);
  CHECK(parse_memory_mib("4G", 1) == 4096);
  CHECK(parse_memory_mib("1536K", 1) == 1.5);
  CHECK(parse_memory_mib("16000M", 1) == 16000);
  CHECK(parse_memory_mib("1.5T", 1) == 1.5 * 1024 * 1024);
  CHECK(parse_memory_mib("10", 1) == 10);
  CHECK(parse_memory_mib("1048576", byte) == 1);
  for (const char* const wrong : {"", "G", "x", "-4G", "4Q", "nan", "inf", "1e300", "1e30T", "4 G"})
    CHECK_MESSAGE(!parse_memory_mib(wrong, 1), wrong);
}

TEST_CASE("CPU time keeps its fractions, and a resource list its values") {
  CHECK(parse_cpu_time("00:08") == 8);
  CHECK(parse_cpu_time("1-00:00:01.5") == 86'401.5);
  CHECK(parse_cpu_time("00:00.004") == 0.004);
  for (const char* const wrong : {"", "x", "00:00.", "00:00.x", "1:.5"})
    CHECK_MESSAGE(!parse_cpu_time(wrong), wrong);
  CHECK(tres_value("cpu=8,mem=64G,gres/gpu=2", "mem") == "64G");
  CHECK(tres_value("billing=8,xmem=1,memory=2", "mem").empty());
  CHECK(gpu_types_of_tres("gres/gpu:a100=4,gres/gpu=4,gres/gpu:h100=1") == "a100,h100");
}

}  // namespace schedmate::trace
