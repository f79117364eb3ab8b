// SPDX-License-Identifier: Apache-2.0
#include "probe/report.hpp"

#include <doctest/doctest.h>

#include <limits>
#include <string>

namespace schedmate::probe {
namespace {

Report small_report() {
  Report report;
  report.every_s = 5;
  GpuSample gpu;
  gpu.index = 3;
  gpu.pci = "0000:9b:00";
  gpu.used_pct = 87.5;
  gpu.memory_used_mib = 40'000;
  gpu.memory_total_mib = 81'559;
  gpu.ecc_uncorrected = 2;
  report.samples.push_back({1'790'000'000, "", {gpu}});
  KernelEvent event;
  event.at_s = 1'790'000'001;
  event.rule = "xid 79";
  event.severity = Severity::fault;
  event.xid = 79;
  event.gpu = 3;
  event.text = "GPU has fallen off the bus";
  report.events.push_back(event);
  report.dropped_samples = 4;
  return report;
}

}  // namespace

TEST_CASE("a report is read as it was written") {
  const Report made = small_report();
  const auto read = read_report(report_text(made));
  REQUIRE(read);
  CHECK(report_text(*read) == report_text(made));
  REQUIRE(read->samples.size() == 1);
  CHECK(read->samples[0].gpus.at(0).used_pct == 87.5);
  CHECK_FALSE(read->samples[0].gpus.at(0).power_w);
  REQUIRE(read->events.size() == 1);
  CHECK(read->events[0].severity == Severity::fault);
  CHECK(read->events[0].xid == 79U);
  CHECK(read->dropped_samples == 4);
}

TEST_CASE("numbers that cannot be are not known") {
  const auto read = read_report(
      R"({"every_s": 1e300, "samples": [{"at_s": 5, "gpus": [{"index": 1, "used_pct": 300,
      "power_w": -5, "temperature_c": "hot", "ecc_uncorrected": -1, "memory_used_mib": 90,
      "memory_total_mib": 80, "lost": "yes", "pci": "../../etc"}]}]})");
  REQUIRE(read);
  const GpuSample& gpu = read->samples.at(0).gpus.at(0);
  CHECK(gpu.index == 1);
  CHECK_FALSE(gpu.used_pct);
  CHECK_FALSE(gpu.power_w);
  CHECK_FALSE(gpu.temperature_c);
  CHECK_FALSE(gpu.ecc_uncorrected);
  CHECK_FALSE(gpu.memory_used_mib);
  CHECK_FALSE(gpu.lost);
  CHECK(gpu.pci.empty());
  CHECK(read->every_s == 1);
}

TEST_CASE("a report is bounded") {
  std::string many = R"({"samples": [)";
  for (std::size_t i = 0; i <= most_samples; ++i) many += i == 0 ? "{}" : ",{}";
  CHECK_FALSE(read_report(many + "]}"));
  CHECK_FALSE(read_report(R"({"events": [1]})"));
  CHECK_FALSE(read_report(R"({"samples": {"a": 1}})"));
  CHECK_FALSE(read_report("[]"));
  const auto long_text =
      read_report(R"({"events": [{"text": ")" + std::string(5000, 'x') + "\"}]}");
  REQUIRE(long_text);
  CHECK(long_text->events.at(0).text.size() == longest_text);
}

TEST_CASE("texts are whole characters, whatever a kernel printed") {
  CHECK(shown("a\xff\xc3") == "a??");
  CHECK(shown(std::string(longest_text - 1, 'x') + "\xc3\xa9").size() == longest_text - 1);
  Report odd;
  odd.events.emplace_back().text = std::string(1000, '\xff');
  const auto read = read_report(report_text(odd));
  REQUIRE(read);
  CHECK(report_text(*read) == report_text(odd));
}

TEST_CASE("what NVML said becomes a sample") {
  witness::LoadedGpus gpus;
  GpuState gpu;
  gpu.index = 1;
  gpu.pci = "00000000:9B:00.0";
  gpu.nvlinks = {{0, true, 2, 1, 0, 0}, {1, false, {}, {}, {}, {}}, {2, true, 5, 0, 0, 0}};
  gpus.reading.gpus = {gpu};
  gpus.loads.emplace_back().gpu_pct = 55;
  const Sample sample = sample_of(gpus, 77);
  const GpuSample& made = sample.gpus.at(0);
  CHECK(sample.at_s == 77);
  CHECK(made.pci == "0000:9b:00");
  CHECK(made.used_pct == 55.0);
  CHECK(made.nvlinks_down == 1U);
  CHECK(made.nvlink_recoveries == 1U);
  CHECK(made.nvlink_replays == 7U);
}

TEST_CASE("addresses of devices are compared in one form") {
  CHECK(pci_address("00000000:1B:00.0") == "0000:1b:00");
  CHECK(pci_address("0000:1b:00") == "0000:1b:00");
  CHECK(pci_address("00010000:1b:00.0") == "10000:1b:00");
  CHECK(pci_address("") == "");
  CHECK(pci_address("zz:1b:00") == "");
  CHECK(pci_address("0000:1b:00:1") == "");
}

}  // namespace schedmate::probe
