// SPDX-License-Identifier: Apache-2.0
#include "report/jobs_csv.hpp"

#include <doctest/doctest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <iterator>

#include "base/text.hpp"
#include "report/sample.hpp"

namespace schedmate::report {
namespace {

// A folder of its own, removed at the end.
struct Folder {
  std::filesystem::path path =
      std::filesystem::temp_directory_path() / ("schedmate_report_" + std::to_string(getpid()));
  Folder() { std::filesystem::create_directories(path); }
  Folder(const Folder&) = delete;
  Folder& operator=(const Folder&) = delete;
  ~Folder() { std::filesystem::remove_all(path); }
  [[nodiscard]] std::string read(const char* name) const {
    std::ifstream stream(path / name);
    return {std::istreambuf_iterator<char>(stream), {}};
  }
  [[nodiscard]] bool has(const char* name) const { return std::filesystem::exists(path / name); }
};

}  // namespace

TEST_CASE("the jobs CSV has one row per job in trace order, blank where a time never came") {
  const Folder folder;
  Trace trace = sample::trace();
  trace.users[1] = "bob, \"the\" builder";
  const ClusterSpec cluster = sample::cluster();
  REQUIRE(write_run(folder.path, sample::record(trace, cluster)));
  CHECK(folder.read("fifo.jobs.csv") ==
        "job_id,user,vc,gpus,submit_s,duration_s,start_s,end_s,queue_s,jct_s,preemptions,nodes,"
        "status\n"
        "job,ada,v,1,100,50,100,150,0,50,0,,finished\n"
        "job,\"bob, \"\"the\"\" builder\",v,4,100,100,150,250,50,150,2,\"1:0,1,2,3\",finished\n"
        "job,ada,v,8,200,5,250,255,50,55,0,9999:0;0:3,finished\n"
        "job,\"bob, \"\"the\"\" builder\",v,2,300,100,300,400,0,100,0,,finished\n"
        "job,ada,v,99,300,10,,,,,0,,infeasible\n");
  CHECK_FALSE(folder.has("fifo.scaling.csv"));
}

TEST_CASE("a job that was running when everything stopped has a start and no end") {
  const Folder folder;
  const Trace trace = sample::trace();
  const ClusterSpec cluster = sample::cluster();
  RunRecord record = sample::record(trace, cluster);
  record.result.outcomes[0].status = JobStatus::stalled;
  REQUIRE(write_run(folder.path, record));
  const std::string text = folder.read("fifo.jobs.csv");
  CHECK(split(text, '\n')[1] == "job,ada,v,1,100,50,100,,,,0,,stalled");
}

TEST_CASE("profiling policies add eight cells, numbers reading back as the same value") {
  const Folder folder;
  const Trace trace = sample::trace();
  const ClusterSpec cluster = sample::cluster();
  RunRecord record = sample::record(trace, cluster);
  record.run.profiler_columns = true;
  JobOutcome& outcome = record.result.outcomes[0];
  outcome.profiled = true;
  outcome.exclusive = false;
  outcome.profiler_queue = Seconds(7);
  outcome.rate = 0.1 + 0.2;
  outcome.remaining = -1.0 / 3;
  outcome.packed_at = at(120);
  REQUIRE(write_run(folder.path, record));
  const std::string text = folder.read("fifo.jobs.csv");
  const std::vector<std::string_view> cells = split(split(text, '\n')[1], ',');
  REQUIRE(cells.size() == 21);
  CHECK(cells[12] == "1");
  CHECK(cells[13] == "0");
  CHECK(cells[14] == "7");
  CHECK(cells[15] == "0");
  CHECK(parse_number<double>(cells[16]) == 0.1 + 0.2);
  CHECK(parse_number<double>(cells[17]) == -1.0 / 3);
  CHECK(cells[18] == "120");
  CHECK(cells[19] == "0");
}

TEST_CASE("where jobs have several attempts six cells say what became of their GPU time") {
  const Folder folder;
  const Trace trace = sample::trace();
  const ClusterSpec cluster = sample::cluster();
  RunRecord record = sample::record(trace, cluster);
  record.run.attempt_columns = true;
  JobOutcome& outcome = record.result.outcomes[0];
  outcome.evictions = 1;
  outcome.failures = 2;
  outcome.down = Seconds(120);
  outcome.held_gpu_s = 500;
  outcome.lost_gpu_s = 100.5;
  outcome.overhead_gpu_s = 80;
  REQUIRE(write_run(folder.path, record));
  const std::string text = folder.read("fifo.jobs.csv");
  CHECK(split(text, '\n')[0].ends_with(
      ",nodes,evictions,failures,down_s,held_gpu_s,lost_gpu_s,overhead_gpu_s,status"));
  CHECK(split(text, '\n')[1].ends_with(",1,2,120,500,100.5,80,finished"));
}

TEST_CASE("the timeline and the profiler's scaling have files of their own") {
  const Folder folder;
  const Trace trace = sample::trace();
  const ClusterSpec cluster = sample::cluster();
  RunRecord record = sample::record(trace, cluster);
  record.result.profiler_scaling = {{at(150), 1}, {at(250), -1}};
  REQUIRE(write_run(folder.path, record));
  CHECK(folder.read("fifo.timeline.csv") ==
        "time_s,busy_gpus,stranded_gpus,queued_jobs,queued_gpus,running_jobs,used_gpus\n"
        "100,2.5,1,0.5,0,0,0\n"
        "200,2.4,3,0,0,0,0\n"
        "300,2,0,0,0,0,0\n");
  CHECK(folder.read("fifo.scaling.csv") == "time,scaling_num\n150,1\n250,-1\n");
}

TEST_CASE("a label that would leave the folder is refused, a missing folder is reported") {
  const Folder folder;
  const Trace trace = sample::trace();
  const ClusterSpec cluster = sample::cluster();
  RunRecord record = sample::record(trace, cluster);
  for (const char* label : {"", "../fifo", "a/b", ".hidden"}) {
    record.run.label = label;
    const Result<void> written = write_run(folder.path, record);
    REQUIRE_FALSE(written);
    CHECK(written.error().code == ErrorCode::invalid);
  }
  record.run.label = "fifo";
  const Result<void> written = write_run(folder.path / "absent", record);
  REQUIRE_FALSE(written);
  CHECK(written.error().code == ErrorCode::unavailable);
}

}  // namespace schedmate::report
