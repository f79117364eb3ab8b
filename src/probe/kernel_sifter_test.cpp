// SPDX-License-Identifier: Apache-2.0
#include "probe/kernel_sifter.hpp"

#include <doctest/doctest.h>

#include <string>
#include <vector>

namespace schedmate::probe {
namespace {

constexpr std::int64_t now_s = 1'790'000'000;

KernelSifter sifter() {
  auto made = KernelSifter::load("");
  REQUIRE(made);
  Sample sample;
  for (const auto& [index, pci] : {std::pair{0U, "0000:1b:00"}, std::pair{5U, "0000:9b:00"}}) {
    GpuSample gpu;
    gpu.index = index;
    gpu.pci = pci;
    sample.gpus.push_back(gpu);
  }
  made->take(sample);
  return std::move(*made);
}

std::vector<KernelEvent> events_of(std::string_view text) {
  KernelSifter made = sifter();
  made.take(text, now_s);
  return made.take_out();
}

}  // namespace

TEST_CASE("an Xid names its GPU and nobody's process") {
  const auto events = events_of(
      "[  812.123456] NVRM: Xid (PCI:0000:9b:00): 79, pid=4711, name=secret_model, GPU has fallen "
      "off "
      "the bus.\n");
  REQUIRE(events.size() == 1);
  CHECK(events[0].xid == 79U);
  CHECK(events[0].gpu == 5U);
  CHECK(events[0].severity == Severity::fault);
  CHECK(events[0].at_s == now_s);
  CHECK(events[0].text.contains("fallen off the bus"));
  CHECK_FALSE(events[0].text.contains("4711"));
  CHECK_FALSE(events[0].text.contains("secret_model"));
}

TEST_CASE("Xids of an application are no fault of the node") {
  for (const char* code : {"13", "31"}) {
    const auto events = events_of("NVRM: Xid (PCI:0000:1b:00): " + std::string(code) + ", x\n");
    REQUIRE(events.size() == 1);
    CHECK(events[0].severity == Severity::application);
  }
  for (const char* code : {"43", "45"}) {
    const auto events = events_of("NVRM: Xid (PCI:0000:1b:00): " + std::string(code) + ", x\n");
    REQUIRE(events.size() == 1);
    CHECK(events[0].severity == Severity::note);
  }
}

TEST_CASE("what the kernel says of the machine") {
  struct Case {
    const char* line;
    Severity severity;
  };
  for (const Case& each : {
           Case{"EDAC MC1: 1 UE memory read error on CPU_SrcID#1_MC#0_Chan#1_DIMM#0",
                Severity::fault},
           Case{"mce: [Hardware Error]: CPU 12: Machine Check: 0 Bank 7: 8c00", Severity::fault},
           Case{"nvidia 0000:9b:00.0: PCIe Bus Error: severity=Uncorrected (Fatal), type=T",
                Severity::fault},
           Case{"pcieport 0000:00:01.0: AER: Corrected error received: 0000:01:00.0",
                Severity::note},
           Case{"nvidia-nvswitch0: SXid (PCI:0000:c1:00.0): 23001, Fatal, Link 12 Always Fatal",
                Severity::fault},
           Case{"mlx5_core 0000:1a:00.0 ib0: Link down", Severity::fault},
           Case{"ixgbe 0000:3b:00.0 eth0: NIC Link is Down", Severity::fault},
           Case{"I/O error, dev nvme0n1, sector 1234 op 0x0:(READ) flags 0x0", Severity::fault},
           Case{"EXT4-fs (sda1): Remounting filesystem read-only", Severity::fault},
           Case{"watchdog: BUG: soft lockup - CPU#3 stuck for 22s! [python:123]", Severity::fault},
           Case{"INFO: task python:1234 blocked for more than 120 seconds.", Severity::note},
           Case{"nfs: server store1 not responding, still trying", Severity::note},
       }) {
    const auto events = events_of(std::string(each.line) + "\n");
    REQUIRE_MESSAGE(events.size() == 1, each.line);
    CHECK_MESSAGE(events[0].severity == each.severity, each.line);
    CHECK_MESSAGE(!events[0].text.contains("python"), each.line);
  }
}

TEST_CASE("a job that was killed at its memory limit is named, its process is not") {
  const auto events = events_of(
      "oom-kill:constraint=CONSTRAINT_MEMCG,nodemask=(null),cpuset=step_0,mems_allowed=0-1,"
      "oom_memcg=/slurm/uid_1000/job_17,task_memcg=/slurm/uid_1000/job_17/step_0/task_0,"
      "task=python,pid=4711,uid=1000\n");
  REQUIRE(events.size() == 1);
  CHECK(events[0].severity == Severity::application);
  CHECK(events[0].job == "17");
  for (const char* hidden : {"python", "4711", "1000"})
    CHECK_FALSE(events[0].text.contains(hidden));
}

TEST_CASE("what programs may say of themselves is not sent") {
  CHECK(events_of("python[4711]: segfault at 0 ip 00007f sp 00007ffd error 4 in x.so\n").empty());
  CHECK(events_of("NVRM: Xid[4711]: segfault at 0 ip 0 sp 0 error 4\n").empty());
  CHECK(events_of("Mar 04 12:00:01 n1 python[1]: NVRM: Xid (PCI:0000:9b:00): 79, x\n").empty());
  KernelSifter made = sifter();
  // Facility 1, user: written into /dev/kmsg by a program.
  made.take_record("14,1,1000,-;NVRM: Xid (PCI:0000:9b:00): 79, x", now_s, 2000);
  CHECK(made.take_out().empty());
}

TEST_CASE("records of /dev/kmsg are dated by their stamps") {
  KernelSifter made = sifter();
  made.take_record("3,77,5000000,-;NVRM: Xid (PCI:0000:9b:00): 79, x\n SUBSYSTEM=pci\n", now_s,
                   65'000'000);
  const auto events = made.take_out();
  REQUIRE(events.size() == 1);
  CHECK(events[0].at_s == now_s - 60);
  for (const char* bad : {"", ";", "3;x", "3,1;x", "a,b,c;x", "3,1,99999999999999999999;x"})
    made.take_record(bad, now_s, 0);
  CHECK(made.take_out().empty());
}

TEST_CASE("the same a thousand times is one event") {
  std::string text;
  for (int i = 0; i < 1000; ++i) text += "NVRM: Xid (PCI:0000:9b:00): 45, x\n";
  text += "NVRM: Xid (PCI:0000:9b:00): 79, x\n";
  const auto events = events_of(text);
  REQUIRE(events.size() == 2);
  CHECK(events[0].xid == 79U);  // the more severe first
  CHECK(events[1].times == 1000);
}

TEST_CASE("lines come in pieces, of any length, with any bytes") {
  const std::string line = "NVRM: Xid (PCI:0000:9b:00): 79, x\n";
  KernelSifter made = sifter();
  for (const char c : line) made.take(std::string_view(&c, 1), now_s);
  CHECK(made.take_out().size() == 1);
  made.take(std::string(100'000, '\xff') + "\n" + std::string(5000, '\0') + "\n" + line, now_s);
  CHECK(made.take_out().size() == 1);
  made.take("NVRM: Xid (PCI:00", now_s);
  made.restart();
  made.take("00:9b:00): 79, x\n" + line, now_s);
  CHECK(made.take_out().size() == 1);
}

TEST_CASE("an Xid that only DCGM tells of is told when it comes") {
  KernelSifter made = sifter();
  Sample sample;
  GpuSample gpu;
  gpu.index = 5;
  gpu.pci = "0000:9b:00";
  gpu.last_xid = 31;  // of whenever
  sample.gpus = {gpu};
  sample.at_s = now_s;
  made.take(sample);
  CHECK(made.take_out().empty());
  sample.gpus[0].last_xid = 79;
  made.take(sample);
  made.take(sample);
  const auto events = made.take_out();
  REQUIRE(events.size() == 1);
  CHECK(events[0].gpu == 5U);
  CHECK(events[0].severity == Severity::fault);
  CHECK(events[0].times == 1);
}

TEST_CASE("a flood is skipped and counted") {
  KernelSifter made = sifter();
  const std::string flood(KernelSifter::most_bytes, 'x');
  made.take(flood, now_s);
  made.take(flood, now_s);
  CHECK(made.skipped_bytes() == flood.size());
  (void)made.take_out();
  made.take("\nNVRM: Xid (PCI:0000:9b:00): 79, x\n", now_s);
  CHECK(made.take_out().size() == 1);
}

}  // namespace schedmate::probe
