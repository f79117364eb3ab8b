// SPDX-License-Identifier: Apache-2.0

/// What witnesses do to a verdict: scheduler, kernel, nvml.

#include "log/failure/recommend.hpp"

#include <doctest/doctest.h>

#include <fstream>

#include "tests/support/scratch.hpp"

namespace schedmate::failure {
namespace {

using Nodes = std::vector<std::string>;

const std::string ecc = "RuntimeError: CUDA error: uncorrectable ECC error encountered\n";
const std::string on_n2 = "Mar 04 12:30:00 n2 kernel: ";
const std::string xid_79 = "NVRM: Xid (PCI:0000:9b:00): 79, pid=1, GPU has fallen off the bus.\n";
const std::string killed = "step 1 loss 2\nKilled\n";

/// A job of two nodes from 12:00 to 13:00.
class WitnessedLog {
 public:
  WitnessedLog() {
    JobContext job;
    job.job_id = "17";
    job.state = "FAILED";
    job.nodes = {"n1", "n2"};
    job.start = "2021-03-04T12:00:00";
    job.end = "2021-03-04T13:00:00";
    input.job = job;
  }
  std::string file(const std::string& name, const std::string& text) const {
    std::ofstream(folder_.path(name)) << text;
    return folder_.path(name);
  }
  WitnessedLog& kernel(const std::string& text, const std::string& node = "") {
    const auto name = "kernel" + std::to_string(input.kernel_logs.size());
    input.kernel_logs.push_back({file(name, text), node});
    return *this;
  }
  WitnessedLog& gpus(const GpuState& gpu, const std::string& node = "n2") {
    GpuReading reading;
    reading.node = node;
    reading.gpus = {gpu};
    input.gpus.push_back(reading);
    return *this;
  }
  Diagnosis diagnose(const std::string& log) {
    input.paths = {file("log", log)};
    auto made = schedmate::diagnose(input);
    REQUIRE_MESSAGE(made, made.error().message);
    REQUIRE(made->witnesses.size() == witness_names().size());
    return *std::move(made);
  }
  DiagnoseInput input;

 private:
  testing::Scratch folder_;
};

const Witness& witness(const Diagnosis& made, std::string_view name) {
  for (const Witness& each : made.witnesses)
    if (each.name == name) return each;
  FAIL("no such witness");
  return made.witnesses.front();
}

GpuState healthy() {
  GpuState gpu;
  gpu.recovery_action = 0;
  gpu.ecc_uncorrected = 0;
  gpu.remapped = RemappedRows{};
  return gpu;
}

}  // namespace

TEST_CASE("every witness is named, those that were not asked as missing") {
  WitnessedLog one;
  one.input.job.reset();
  const auto made = one.diagnose(ecc);
  for (const char* name : {"scheduler", "kernel", "nvml"}) {
    CHECK_FALSE(witness(made, name).asked);
    CHECK_FALSE(witness(made, name).agrees);
  }
  CHECK(made.recommendation == Recommendation::test_first);
}

TEST_CASE("a kernel's Xid confirms a GPU fault, decides what to do and names its node") {
  const auto made = WitnessedLog().kernel(on_n2 + xid_79).diagnose(ecc);
  CHECK(witness(made, "kernel").agrees == true);
  CHECK(made.recommendation == Recommendation::restart_elsewhere);
  CHECK(made.nodes == Nodes{"n2"});
  CHECK(witness(made, "kernel").events.at(0).rule == "xid 79");
  // A contained memory error asks for a test of the same GPU.
  const auto other =
      WitnessedLog().kernel(on_n2 + "NVRM: Xid (PCI:0000:9b:00): 94, pid=1\n").diagnose(ecc);
  CHECK(other.recommendation == Recommendation::test_first);
  CHECK(other.nodes == Nodes{"n2"});
  // Of several actions the one that trusts the machine less.
  const auto both = WitnessedLog()
                        .kernel(on_n2 + "NVRM: Xid (PCI:0000:9b:00): 48, pid=1\n" + on_n2 +
                                "NVRM: Xid (PCI:0000:9b:00): 154, GPU recovery action changed from "
                                "0x0 (None) to 0x2 (Node Reboot Required)\n")
                        .diagnose(ecc);
  CHECK(both.recommendation == Recommendation::restart_elsewhere);
}

TEST_CASE("what was out of the job's time, on other nodes or only noise agrees with nothing") {
  for (const auto& text :
       {"Mar 04 09:30:00 n2 kernel: " + xid_79, "Mar 04 12:30:00 n3 kernel: " + xid_79,
        "Mar 04 12:30:00 n2 python[1]: " + xid_79,
        on_n2 + "NVRM: Xid (PCI:0000:9b:00): 45, pid=1, Ch 8\n",
        std::string("[  5.000000] ") + xid_79, std::string()}) {
    CAPTURE(text);
    const auto made = WitnessedLog().kernel(text).diagnose(ecc);
    CHECK_FALSE(witness(made, "kernel").agrees.value_or(false));
    CHECK(made.recommendation == Recommendation::test_first);
    CHECK(made.nodes.empty());
  }
  CHECK(WitnessedLog()
            .kernel("[Thu Mar  4 12:30:00 2021] " + xid_79, "n9")
            .diagnose(ecc)
            .nodes.empty());
}

TEST_CASE("the node of a file without hosts is the caller's word; seconds since boot are dated") {
  const std::string boot =
      "[    1.000000] rtc_cmos 00:01: setting system clock to 2021-03-04T12:00:00 UTC "
      "(1614859200)\n";
  CHECK(WitnessedLog().kernel(boot + "[  600.000000] " + xid_79, "n1").diagnose(ecc).nodes ==
        Nodes{"n1"});
  CHECK(WitnessedLog().kernel("[  600.000000] " + xid_79 + boot, "n1").diagnose(ecc).nodes ==
        Nodes{"n1"});
  CHECK(WitnessedLog().kernel(boot + "[9000.000000] " + xid_79, "n1").diagnose(ecc).nodes.empty());
  WitnessedLog untimed;
  untimed.input.job->start.clear();
  untimed.input.job->end.clear();
  CHECK(untimed.kernel("[  600.000000] " + xid_79, "n1").diagnose(ecc).nodes == Nodes{"n1"});
}

TEST_CASE("without the name of its node a kernel log agrees and names none of several") {
  const auto made = WitnessedLog().kernel("[Thu Mar  4 12:30:00 2021] " + xid_79).diagnose(ecc);
  CHECK(witness(made, "kernel").agrees == true);
  CHECK(made.nodes.empty());
}

TEST_CASE("a witness agrees only with a verdict of its component") {
  const std::string retries = "NET/IB : Got completion with status 12 retry exceeded\n";
  const std::string link = on_n2 + "mlx5_core 0000:1a:00.0 ib0: Link down\n";
  const std::string disk = on_n2 + "blk_update_request: I/O error, dev nvme0n1, sector 1\n";
  const std::string memory = on_n2 + "EDAC MC1: 1 UE memory read error on CPU_SrcID#1\n";
  const std::string io = "OSError: [Errno 5] Input/output error: '/data/x'\n";
  const std::string node = "srun: error: Node failure on n2\n";
  const auto agreed = [](const std::string& kernel, const std::string& log) {
    return witness(WitnessedLog().kernel(kernel).diagnose(log), "kernel").agrees;
  };
  CHECK(agreed(link, "n1: NCCL WARN " + retries) == true);
  CHECK(agreed(disk, io) == true);
  CHECK(agreed(memory, node) == true);
  CHECK_FALSE(agreed(memory, ecc).value_or(false));
  CHECK_FALSE(agreed(link, ecc).value_or(false));
  CHECK_FALSE(agreed(on_n2 + xid_79, io).value_or(false));
  CHECK_FALSE(agreed(link, io));  // it says nothing of a file server
}

TEST_CASE("a kernel log of all nodes that shows no fault of a GPU disagrees with one") {
  const std::string quiet = "Mar 04 12:30:00 n1 kernel: x\n" + on_n2 + "usb 1-1: new device\n";
  CHECK(witness(WitnessedLog().kernel(quiet).diagnose(ecc), "kernel").agrees == false);
  CHECK_FALSE(
      witness(WitnessedLog().kernel(on_n2 + "usb 1-1: x\n").diagnose(ecc), "kernel").agrees);
}

TEST_CASE("a line that does not say why is explained by the kernel") {
  const std::string of_17 =
      "oom-kill:constraint=CONSTRAINT_MEMCG,nodemask=(null),oom_memcg=/slurm/uid_1/job_17,"
      "task_memcg=/slurm/uid_1/job_17/step_0,task=python,pid=4711,uid=1\n";
  const auto made = WitnessedLog().kernel(on_n2 + of_17).diagnose(killed);
  CHECK(made.verdict == FailureClass::user_script);
  CHECK(made.recommendation == Recommendation::do_not_restart);
  CHECK(made.reason.contains("process 4711, cgroup /slurm/uid_1/job_17/step_0"));
  CHECK(witness(made, "kernel").agrees == true);
  CHECK(made.by.contains("out of memory, job"));
  CHECK(made.root_line == 2);
  const auto lost = WitnessedLog().kernel(on_n2 + xid_79).diagnose(killed);
  CHECK(lost.verdict == FailureClass::infrastructure);
  CHECK(lost.component == Component::gpu);
  CHECK(lost.nodes == Nodes{"n2"});
  CHECK(lost.recommendation == Recommendation::restart_elsewhere);
}

TEST_CASE("a process of another job that the kernel killed explains nothing") {
  const std::string of_18 =
      "oom-kill:constraint=CONSTRAINT_MEMCG,task_memcg=/slurm/uid_1/job_18/step_0,task=python,"
      "pid=4712,uid=1\n" +
      on_n2 + "Memory cgroup out of memory: Killed process 4712 (python) total-vm:1kB\n";
  CHECK(WitnessedLog().kernel(on_n2 + of_18).diagnose(killed).verdict == FailureClass::other);
}

TEST_CASE("a verdict with its reason is not explained away") {
  const std::string oom = on_n2 + "Memory cgroup out of memory: Killed process 1 (python)\n";
  const auto error = WitnessedLog().kernel(oom).diagnose("ValueError: bad shape\n");
  CHECK(error.reason == WitnessedLog().diagnose("ValueError: bad shape\n").reason);
  const auto cancelled = WitnessedLog().kernel(oom).diagnose(
      "slurmstepd: error: *** JOB 17 ON n1 CANCELLED AT 2021-03-04\n");
  CHECK(cancelled.verdict == FailureClass::other);
  CHECK_FALSE(cancelled.reason.contains("witness"));
}

TEST_CASE("a log without a failure stays one unless the scheduler saw a bad end") {
  WitnessedLog done;
  done.input.job->state = "COMPLETED";
  CHECK(done.kernel(on_n2 + xid_79).diagnose("step 1 loss 2\n").verdict == FailureClass::none);
  const auto failed = WitnessedLog().kernel(on_n2 + xid_79).diagnose("step 1 loss 2\n");
  CHECK(failed.verdict == FailureClass::infrastructure);
  CHECK_FALSE(failed.root_line);
  CHECK(failed.nodes == Nodes{"n2"});
}

TEST_CASE("an Xid that the job itself printed is no witness") {
  const auto made = WitnessedLog().kernel(on_n2 + "usb 1-1: new device\n").diagnose(xid_79);
  CHECK(made.verdict == FailureClass::infrastructure);
  CHECK(made.recommendation == Recommendation::test_first);
  CHECK(made.nodes.empty());
}

TEST_CASE("the driver's word on a GPU decides; a healthy one disagrees") {
  GpuState bad = healthy();
  bad.recovery_action = 2;
  const auto reboot = WitnessedLog().gpus(bad).diagnose(ecc);
  CHECK(witness(reboot, "nvml").agrees == true);
  CHECK(reboot.recommendation == Recommendation::restart_elsewhere);
  CHECK(reboot.nodes == Nodes{"n2"});
  bad = healthy();
  bad.ecc_uncorrected = 3;
  CHECK(WitnessedLog().gpus(bad).diagnose(ecc).recommendation == Recommendation::test_first);
  CHECK(WitnessedLog().gpus(bad).diagnose(ecc).nodes == Nodes{"n2"});
  const auto well =
      WitnessedLog().gpus(healthy(), "n1").gpus(healthy(), "n2.cluster").diagnose(xid_79);
  CHECK(witness(well, "nvml").agrees == false);
  CHECK(well.recommendation == Recommendation::test_first);
  CHECK_FALSE(
      witness(WitnessedLog().gpus(healthy()).diagnose(ecc), "nvml").agrees);  // n1 was not asked
}

TEST_CASE("GPUs of other nodes and readings that failed are no witness") {
  GpuState bad = healthy();
  bad.lost = true;
  const auto foreign = WitnessedLog().gpus(bad, "n9").diagnose(ecc);
  CHECK_FALSE(witness(foreign, "nvml").asked);
  CHECK(foreign.nodes.empty());
  WitnessedLog failed;
  GpuReading reading;
  reading.node = "n2";
  reading.error = "Driver Not Loaded";
  failed.input.gpus = {reading};
  const auto made = failed.diagnose(ecc);
  CHECK_FALSE(witness(made, "nvml").agrees);
  CHECK(witness(made, "nvml").says.contains("Driver Not Loaded"));
}

TEST_CASE("a kernel log that cannot be read is an error") {
  WitnessedLog one;
  one.input.kernel_logs.push_back({"/nonexistent/kernel", ""});
  one.input.paths = {one.file("log", ecc)};
  CHECK_FALSE(schedmate::diagnose(one.input));
}

}  // namespace schedmate::failure
