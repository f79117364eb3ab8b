// SPDX-License-Identifier: Apache-2.0
#include "probe/gpu_source.hpp"

#include <doctest/doctest.h>

#include <chrono>
#include <filesystem>
#include <fstream>
#include <string>

#include "tests/support/scratch.hpp"

namespace schedmate::probe {
namespace {

using std::chrono::milliseconds;

GpuSource fake(const std::string& behaviour, milliseconds deadline = milliseconds(20'000)) {
  return nvml_source(FAKE_NVML_FOLDER "/" + behaviour + ".so", deadline);
}

std::string gpus_line(int use) {
  return R"({"schema": "schedmate.gpus.v1", "gpus": [{"index": 0, "load": {"gpu_pct": )" +
         std::to_string(use) + "}}]}\n";
}

void write(const std::string& path, const std::string& text, bool append = false) {
  std::ofstream(path, append ? std::ios::app : std::ios::trunc) << text;
}

}  // namespace

TEST_CASE("a library is asked again and again, with its load") {
  const GpuSource source = fake("eight");
  for (std::int64_t at_s = 0; at_s < 8; ++at_s) {
    const Sample sample = source(at_s);
    CHECK(sample.error.empty());
    REQUIRE(sample.gpus.size() == 8);
    CHECK(sample.at_s == at_s);
    CHECK(sample.gpus[1].used_pct == 90.0);
    CHECK(sample.gpus[1].memory_used_mib == 20'480.0);
    CHECK(sample.gpus[1].power_w == 412.5);
    CHECK(sample.gpus[1].throttle == 0U);
    CHECK(sample.gpus[1].nvlinks_down == 1U);  // also where links were not read again
  }
  CHECK(fake("faulty")(0).gpus.at(1).recovery_action == 2U);
  CHECK(fake("lost")(0).gpus.at(1).lost);
  CHECK(fake("old")(0).gpus.at(1).used_pct == 90.0);
}

TEST_CASE("memory is what was allocated; an old library counts what the driver keeps, too") {
  CHECK(fake("healthy")(0).gpus.at(1).memory_used_mib == 20'480.0);
  for (const char* behaviour : {"old", "faulty"}) {  // lacks the newer call, refuses it
    const Sample sample = fake(behaviour)(0);
    CHECK(sample.gpus.at(1).memory_used_mib == 21'504.0);
    CHECK(sample.gpus.at(1).memory_total_mib == 81'920.0);
  }
}

TEST_CASE("a library that hangs, crashes or is missing gives samples that say so") {
  const GpuSource hanging = fake("hanging", milliseconds(100));
  for (int i = 0; i < 6; ++i) CHECK(hanging(i).error.contains("hangs"));
  const GpuSource crashing = fake("crashing");
  for (int i = 0; i < 3; ++i) CHECK(crashing(i).error.contains("crashed"));
  CHECK(fake("refusing")(0).error == "Driver Not Loaded");
  CHECK_FALSE(fake("no such")(0).error.empty());
}

TEST_CASE("a file stands for the library: its last line is the present") {
  const testing::Scratch scratch;
  const std::string path = scratch.path("gpus.jsonl");
  const GpuSource source = file_source(path);
  CHECK_FALSE(source(0).error.empty());
  write(path, gpus_line(10));
  CHECK(source(1).gpus.at(0).used_pct == 10.0);
  CHECK(source(2).gpus.at(0).used_pct == 10.0);
  write(path, gpus_line(20) + gpus_line(30), true);
  CHECK(source(3).gpus.at(0).used_pct == 30.0);
  write(path, gpus_line(40).substr(0, 20), true);  // not whole yet
  CHECK(source(4).gpus.at(0).used_pct == 30.0);
  write(path, gpus_line(40).substr(20), true);
  CHECK(source(5).gpus.at(0).used_pct == 40.0);
  write(path, gpus_line(50));  // cut
  CHECK(source(6).gpus.at(0).used_pct == 50.0);
  std::filesystem::rename(path, path + ".1");
  write(path, gpus_line(60));
  CHECK(source(7).gpus.at(0).used_pct == 60.0);
  for (const std::string& junk : {std::string("{\n"), std::string(100, '\0'), std::string("[]")}) {
    write(path, junk);
    CHECK_FALSE(source(8).error.empty());
  }
}

}  // namespace schedmate::probe
