// SPDX-License-Identifier: Apache-2.0
#include <doctest/doctest.h>

#include <fstream>

#include "log/witness/gpus_file.hpp"
#include "tests/support/scratch.hpp"

namespace schedmate::witness {
namespace {

GpuReading reading_of(const std::string& behaviour, int deadline_ms = 20'000) {
  return read_gpus({.library = FAKE_NVML_FOLDER "/" + behaviour + ".so",
                    .node = "n7",
                    .deadline = std::chrono::milliseconds(deadline_ms)});
}

}  // namespace

TEST_CASE("a healthy node is read: names, counters, links") {
  const GpuReading made = reading_of("healthy");
  CHECK(made.error.empty());
  CHECK(made.node == "n7");
  CHECK(made.driver == "550.54");
  REQUIRE(made.gpus.size() == 2);
  const GpuState& gpu = made.gpus[1];
  CHECK(gpu.uuid == "GPU-1");
  CHECK(gpu.pci == "00000000:9B:00.0");
  CHECK(gpu.name == "FAKE H100");
  CHECK(gpu.recovery_action == 0);
  CHECK(gpu.ecc_uncorrected == 0);
  CHECK_FALSE(gpu.remapped->pending);
  CHECK_FALSE(gpu.retirement_pending);  // not supported there: not known
  REQUIRE(gpu.nvlinks.size() == 2);
  CHECK(gpu.nvlinks[0].recovery == 0);
  CHECK(gpu.nvlinks[1].active == false);
  CHECK_FALSE(gpu.nvlinks[1].recovery);
}

TEST_CASE("faults are read as they are") {
  const GpuReading made = reading_of("faulty");
  REQUIRE(made.gpus.size() == 2);
  CHECK(made.gpus[0].recovery_action == 0);
  CHECK(made.gpus[1].recovery_action == 2);
  CHECK(made.gpus[1].ecc_uncorrected == 3);
  CHECK(made.gpus[1].remapped->uncorrected == 1);
  CHECK(made.gpus[1].remapped->pending);
  CHECK(made.gpus[1].nvlinks[0].recovery == 4);
}

TEST_CASE("a GPU that is lost leaves the others readable") {
  const GpuReading made = reading_of("lost");
  REQUIRE(made.gpus.size() == 2);
  CHECK_FALSE(made.gpus[0].lost);
  CHECK(made.gpus[1].lost);
  CHECK(made.gpus[1].error == "GPU is lost");
}

TEST_CASE("what an old library lacks is not known, and the rest is read") {
  const GpuReading made = reading_of("old");
  REQUIRE(made.gpus.size() == 2);
  CHECK(made.gpus[0].uuid == "GPU-0");
  CHECK(made.gpus[0].ecc_uncorrected == 0);
  CHECK_FALSE(made.gpus[0].recovery_action);
  CHECK_FALSE(made.gpus[0].remapped);
  CHECK(made.gpus[0].nvlinks.empty());
}

TEST_CASE("a library that hangs, crashes, refuses or is absent is an error in the reading") {
  CHECK(reading_of("hanging", 200).error.contains("no answer within 200 ms"));
  CHECK_FALSE(reading_of("crashing").error.empty());
  CHECK(reading_of("refusing").error == "Driver Not Loaded");
  CHECK(reading_of("absent").error.contains("absent.so"));
  // A library of another kind has none of the functions.
  CHECK(read_gpus({.library = "libc.so.6", .node = "n7"}).error.contains("nvmlInit_v2"));
}

TEST_CASE("a reading that was written is read again as it was") {
  const std::string text = gpus_json(reading_of("faulty"));
  const auto again = read_gpus_text(text);
  REQUIRE(again);
  CHECK(gpus_json(again->front()) == text);
  const auto list = read_gpus_text("[" + text + "," + text + "]");
  REQUIRE(list);
  CHECK(list->size() == 2);
  CHECK(read_gpus_text(R"({"schema": "schedmate.diagnosis.v1", "nvml": [)" + text + "]}"));
}

TEST_CASE("a file that is no reading is an error with its path") {
  const testing::Scratch folder;
  for (const char* text : {"", "[]", "{}", "3", R"({"schema":"schedmate.gpus.v1","gpus":[3]})",
                           R"([{"schema":"schedmate.gpus.v1","node":3}])", R"({"nvml":[]})",
                           R"({"schema":"schedmate.gpus.v1","gpus":[{"index":"x"}]})"}) {
    CAPTURE(text);
    std::ofstream(folder.path("gpus.json")) << text;
    const auto read = read_gpus_file(folder.path("gpus.json"));
    REQUIRE_FALSE(read);
    CHECK(read.error().code == ErrorCode::invalid);
    CHECK(read.error().message.contains("gpus.json"));
  }
  CHECK_FALSE(read_gpus_file(folder.path("absent")));
}

}  // namespace schedmate::witness
