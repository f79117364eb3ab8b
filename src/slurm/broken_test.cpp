// SPDX-License-Identifier: Apache-2.0

/// Broken snapshots: what each is, and the error, or the note and the answer, that it must give.

#include <doctest/doctest.h>

#include <algorithm>
#include <chrono>
#include <fstream>
#include <iterator>

#include "slurm/snapshot.hpp"
#include "tests/support/patience.hpp"

namespace schedmate::slurm {
namespace {

// As scontrol of 22.05 prints it, without most of what is not read.
constexpr std::string_view settings_part = R"(Configuration data as of 2026-11-25T14:42:21
ClusterName             = testbed
AccountingStorageEnforce = associations,limits,qos
SLURM_VERSION           = 22.05.8

Slurmctld(primary) at vm is UP

)";
constexpr std::string_view jobs_part = R"(JobId=1 JobName=one
   UserId=ann(1019) GroupId=ann(1019) MCS_label=N/A
   Priority=9 Nice=0 Account=lab QOS=normal
   JobState=RUNNING Reason=None Dependency=(null)
   RunTime=00:00:06 TimeLimit=00:30:00 TimeMin=N/A
   SubmitTime=2026-11-25T14:42:14 EligibleTime=2026-11-25T14:42:14
   StartTime=2026-11-25T14:42:15 EndTime=2026-11-25T15:12:15 Deadline=N/A
   Partition=gpu AllocNode:Sid=localhost:14167
   NodeList=n0
   NumNodes=1 NumCPUs=1 NumTasks=1 CPUs/Task=1 ReqB:S:C:T=0:0:*:*
   TRES=cpu=1,mem=100M,node=1,billing=1,gres/gpu=4
   JOB_GRES=gpu:fake:4
     Nodes=n0 CPU_IDs=0 Mem=100 GRES=gpu:fake:4(IDX:0-3)
   Command=(null)
   WorkDir=/tmp

JobId=2 JobName=two
   UserId=bob(1020) GroupId=bob(1020) MCS_label=N/A
   Priority=8 Nice=0 Account=lab QOS=normal
   JobState=RUNNING Reason=None Dependency=(null)
   SubmitTime=2026-11-25T14:42:14 EligibleTime=2026-11-25T14:42:14
   StartTime=2026-11-25T14:42:15 EndTime=2026-11-25T15:12:15 Deadline=N/A
   Partition=gpu AllocNode:Sid=localhost:14167
   NodeList=n1
   NumNodes=1 NumCPUs=1 NumTasks=1 CPUs/Task=1 ReqB:S:C:T=0:0:*:*
   TRES=cpu=1,mem=100M,node=1,billing=1,gres/gpu=8
   JOB_GRES=gpu:fake:8
     Nodes=n1 CPU_IDs=0 Mem=100 GRES=gpu:fake:8(IDX:0-7)
   Command=(null)
   WorkDir=/tmp

JobId=3 ArrayJobId=3 ArrayTaskId=0-3%1 JobName=three
   UserId=ann(1019) GroupId=ann(1019) MCS_label=N/A
   Priority=7 Nice=0 Account=lab QOS=normal
   JobState=PENDING Reason=Resources Dependency=(null)
   SubmitTime=2026-11-25T14:42:17 EligibleTime=2026-11-25T14:42:17
   StartTime=Unknown EndTime=Unknown Deadline=N/A
   Partition=gpu AllocNode:Sid=localhost:14167
   NodeList=(null)
   NumNodes=1 NumCPUs=1 NumTasks=1 CPUs/Task=1 ReqB:S:C:T=0:0:*:*
   TRES=cpu=1,mem=100M,node=1,billing=1,gres/gpu=6
   Command=(null)
   WorkDir=/tmp

)";
constexpr std::string_view nodes_part = R"(NodeName=n0 Arch=x86_64 CoresPerSocket=1
   Gres=gpu:fake:8
   GresUsed=gpu:fake:4(IDX:0-3)
   State=MIXED ThreadsPerCore=1 TmpDisk=0
   Partitions=gpu
   CfgTRES=cpu=64,mem=500G,billing=64,gres/gpu=8
   AllocTRES=cpu=1,mem=100M,gres/gpu=4

NodeName=n1 Arch=x86_64 CoresPerSocket=1
   Gres=gpu:fake:8
   GresUsed=gpu:fake:8(IDX:0-7)
   State=MIXED ThreadsPerCore=1 TmpDisk=0
   Partitions=gpu
   CfgTRES=cpu=64,mem=500G,billing=64,gres/gpu=8
   AllocTRES=cpu=1,mem=100M,gres/gpu=8

)";
constexpr std::string_view partition_part = R"(PartitionName=gpu
   AllowGroups=ALL QoS=N/A
   MaxNodes=UNLIMITED MaxTime=UNLIMITED MinNodes=0
   Nodes=n[0-1]
   PriorityJobFactor=1 PriorityTier=1
   State=UP TotalCPUs=128 TotalNodes=2
)";
constexpr std::string_view json_jobs =
    R"JSON({"meta": {}, "errors": [], "jobs": [{"job_id": 1, "job_state": "RUNNING", "name": "one",
 "user_name": "ann", "partition": "gpu", "nodes": "n0", "node_count": 1, "start_time": 1795617735,
 "submit_time": 1795617734, "tres_alloc_str": "cpu=1,gres/gpu=4",
 "gres_detail": ["gpu:fake:4(IDX:0-3)"]}]}
)JSON";
constexpr std::string_view json_nodes =
    R"JSON({"errors": [], "nodes": [{"name": "n0", "state": "mixed", "state_flags": [],
 "gres": "gpu:fake:8", "gres_used": "gpu:fake:4(IDX:0-3)", "partitions": ["gpu"]}]}
)JSON";

using Text = std::string;

Text all() {
  return Text(settings_part).append(jobs_part).append(nodes_part).append(partition_part);
}
Text nodes_first() {
  return Text(settings_part).append(nodes_part).append(jobs_part).append(partition_part);
}
Text edited(Text text, std::string_view from, std::string_view to) {
  const std::size_t at = text.find(from);
  REQUIRE_MESSAGE(at != Text::npos, Text(from));
  return text.replace(at, from.size(), to);
}
Text edited(std::string_view from, std::string_view to) { return edited(all(), from, to); }
Text json(std::string_view from = "", std::string_view to = "") {
  return edited(Text(json_jobs).append(json_nodes), from, to);
}
Text before(std::string_view mark) {
  const Text text = all();
  REQUIRE(text.contains(mark));
  return text.substr(0, text.find(mark));
}
Text in_crlf() {
  Text text;
  for (const char c : all()) text += c == '\n' ? Text("\r\n") : Text(1, c);
  return text;
}
Text in_utf16() {
  Text text = "\xff\xfe";
  for (const char c : all()) text += {c, '\0'};
  return text;
}

struct Broken {
  std::string what;
  Text text;
  std::string_view fails;   ///< in the error; "" = it is read
  std::string_view notes;   ///< in a note; "" = none at all
  int runs = 2, waits = 1;  ///< jobs, where it is read
};

std::vector<Broken> cut_off() {
  return {
      {"an empty file", "", "is empty", ""},
      {"blank lines", " \n\n\t\r\n", "is empty", ""},
      {"binary",
       Text("\x7f"
            "ELF\0\1\2",
            7),
       "is no text", ""},
      {"UTF-16", in_utf16(), "is no text", ""},
      {"HTML of an error page", "\n<!DOCTYPE html><title>502 Bad Gateway</title>", "is HTML", ""},
      {"sacct's rows", "JobID|User|State\n1|ann|RUNNING\n", "is sacct's", ""},
      {"squeue's table", "             JOBID PARTITION     NAME\n 1 gpu one\n", "is squeue's table",
       ""},
      {"prose", "the queue was long yesterday\n", "is nothing that Slurm shows", ""},
      {"scontrol's one-line form", "JobId=1 JobName=one UserId=ann(1) JobState=RUNNING\n",
       "1: JobId 1: has no JobState", ""},
      {"cut in a job's name", before("=one"), "has no JobState", ""},
      {"cut in a date", before("14:42:14 EligibleTime"), "8: JobId 1: is cut off", ""},
      {"cut after a job's dates", before("   Partition=gpu"), "JobId 1: is cut off", ""},
      {"cut within the second job", before("   TRES=cpu=1,mem=100M,node=1,billing=1,gres/gpu=8"),
       "JobId 2: is cut off", ""},
      {"cut after the jobs", before("NodeName=n0"), "shows no node: add `scontrol show node`", ""},
      {"cut within a node", before("   CfgTRES"), "NodeName n0: is cut off", ""},
      {"without the second node",
       edited(Text(settings_part).append(jobs_part).append(nodes_part),
              nodes_part.substr(nodes_part.find("NodeName=n1")), ""),
       "", "job 2 runs on n1, which is not among the nodes"},
      {"cut within the partition", before("   State=UP TotalCPUs"), "PartitionName gpu: is cut off",
       ""},
      {"without the partitions", before("PartitionName"), "", "no partitions are shown"},
      {"a partition of more nodes", edited("Nodes=n[0-1]\n", "Nodes=n[0-3]\n"), "",
       "partition gpu has nodes that are not shown (the first: n2)"},
      {"without the settings", edited(Text(settings_part), ""), "", ""},
      {"without the jobs", edited(jobs_part, ""), "shows no job: add `scontrol show job -d`", ""},
      {"the empty queue", edited(jobs_part, "No jobs in the system\n\n"), "",
       "on 2 nodes other GPUs are in use", 0, 0},
  };
}

std::vector<Broken> contradictions() {
  return {
      {"a job twice", edited("JobId=2 ", "JobId=1 "), "JobId 1: is there twice", ""},
      {"a node twice", edited("NodeName=n1 ", "NodeName=n0 "), "NodeName n0: is there twice", ""},
      {"a job without a number", edited("JobId=2 ", "JobId= "), "JobId : has no name", ""},
      {"a running job without a start",
       edited("StartTime=2026-11-25T14:42:15", "StartTime=Unknown"),
       "JobId 1: runs, but has no StartTime", ""},
      {"a running job on no node",
       edited(edited("     Nodes=n0 CPU_IDs=0 Mem=100 GRES=gpu:fake:4(IDX:0-3)\n", ""),
              "NodeList=n0", "NodeList=(null)"),
       "runs, but on no node", ""},
      {"a submission that is no date", edited("SubmitTime=2026-11-25", "SubmitTime=yesterday"),
       "has a SubmitTime that is no date", ""},
      {"a job on a node that is not there",
       edited(edited("Nodes=n0 CPU", "Nodes=n7 CPU"), "NodeList=n0", "NodeList=n7"), "",
       "job 1 runs on n7, which is not among the nodes"},
      {"a job with more GPUs than its node",
       edited("GRES=gpu:fake:4(IDX:0-3)", "GRES=gpu:fake:12(IDX:0-11)"),
       "job 1: with it 12 GPUs of n0 are held, which has 8", ""},
      {"two jobs on one GPU",
       edited("     Nodes=n1 CPU_IDs=0 Mem=100 GRES=gpu:fake:8(IDX:0-7)",
              "     Nodes=n0 CPU_IDs=0 Mem=100 GRES=gpu:fake:2(IDX:2-3)"),
       "jobs 1 and 2 both have GPU 2 of n0", ""},
      {"one of two jobs on a GPU suspended",
       edited(edited("     Nodes=n1 CPU_IDs=0 Mem=100 GRES=gpu:fake:8(IDX:0-7)",
                     "     Nodes=n0 CPU_IDs=0 Mem=100 GRES=gpu:fake:4(IDX:0-3)"),
              "RUNNING", "SUSPENDED"),
       "", "on 1 node other GPUs are in use"},
      {"negative GPUs of a node", edited("Gres=gpu:fake:8", "Gres=gpu:fake:-8"),
       "its GPUs are no number: gpu:fake:-8", ""},
      {"negative GPUs of a job", edited("gres/gpu=6", "gres/gpu=-6"), "its GPUs are no number", ""},
      {"more GPUs than are believed", edited("gres/gpu=6", "gres/gpu=99999999999999999999"),
       "its GPUs are no number", ""},
      {"a node with 1,000 GPUs", edited("Gres=gpu:fake:8", "Gres=gpu:fake:1000"),
       "has 1000 GPUs, more than 64", ""},
      {"a time limit beyond numbers",
       edited("TimeLimit=00:30:00", "TimeLimit=99999999999999-00:00:00"), "", ""},
      {"a priority beyond numbers", edited("Priority=9 ", "Priority=99999999999999999999 "), "",
       ""},
      {"CPUs beyond what can be counted",
       edited("NumNodes=1 NumCPUs=1 NumTasks=1 CPUs/Task=1 ReqB:S:C:T=0:0:*:*\n   "
              "TRES=cpu=1,mem=100M,node=1,billing=1,gres/gpu=6",
              "NumNodes=2 NumCPUs=9223372036854775807 NumTasks=1\n   TRES=gres/gpu=6"),
       "", ""},
      {"a host list of a million",
       edited("   NodeList=(null)", "   ReqNodeList=n[0-999999] NodeList=(null)"), "",
       "names more than 65536 nodes"},
      {"an array of four million", edited("ArrayTaskId=0-3%1", "ArrayTaskId=1-4000000%2"), "", ""},
      {"an array of all numbers", edited("ArrayTaskId=0-3%1", "ArrayTaskId=0-9223372036854775807"),
       "", ""},
      {"arrays beyond numbers",
       edited("ArrayTaskId=0-3%1", "ArrayTaskId=0-9223372036854775806,0-9223372036854775806"), "",
       ""},
  };
}

std::vector<Broken> surprises() {
  return {
      {"a start in the future",
       edited("StartTime=2026-11-25T14:42:15", "StartTime=2030-01-01T00:00:00"), "",
       "submitted or started after the time that this was recorded: 1 job (the first: 1)"},
      {"a clock that is behind", edited("as of 2026-11-25T14:42:21", "as of 2026-11-25T13:00:00"),
       "", "was recorded: 3 jobs (the first: 1)"},
      {"a state that is not known", edited("JobState=PENDING", "JobState=DREAMING"), "",
       "job 3_[0-3%1] is left out: what the state DREAMING is, is not known", 2, 0},
      {"a node's state that is not known", edited("State=MIXED", "State=LOST"), "",
       "node n0 is taken to start no job: what the state LOST is, is not known"},
      {"a job that has ended", edited("JobState=RUNNING", "JobState=CANCELLED"), "",
       "on 1 node other GPUs are in use", 1, 1},
      {"a job that ended before the nodes were read",
       edited("GresUsed=gpu:fake:4(IDX:0-3)", "GresUsed=gpu:fake:0(IDX:N/A)"), "",
       "while the queue was read, 1 job ended (the first: 1)", 1, 1},
      {"a job that began after the nodes were read",
       edited(nodes_first(), "GresUsed=gpu:fake:4(IDX:0-3)", "GresUsed=gpu:fake:0(IDX:N/A)"), "",
       "n0: 0 in use, 4 held"},
      {"jobs of others that are not shown",
       edited("GresUsed=gpu:fake:4(IDX:0-3)", "GresUsed=gpu:fake:7(IDX:0-6)"), "",
       "or not all of them are shown (PrivateData"},
  };
}

/// So many that a reader with quadratic work would not end.
Text many(char c) { return Text().append(20'000'000U, c); }

std::vector<Broken> odd_text() {
  return {
      {"CRLF", in_crlf(), "", ""},
      {"no line end at the end", all().substr(0, all().size() - 1), "", ""},
      {"a very long line", edited("JobName=one", "JobName=" + many('x')), "", ""},
      {"a long line without keys", edited("JobName=one\n", "JobName=one\n   " + many('x') + "\n"),
       "", ""},
      {"millions of empty lines", all().append(Text(5'000'000, '\n')), "", ""},
      {"a name with escape sequences", edited("JobName=one", "JobName=\033]52;c;aGk=\007\xc2\x9b"),
       "", ""},
      {"a name with line ends",
       edited("JobName=one", "JobName=one\nJobId=77 JobState=RUNNING\nNodeName=n9"), "", ""},
      {"a name that ends a record",
       edited("JobName=one", "JobName=one\n\nJobId=77 JobState=RUNNING"),
       "8: JobId 1: has no JobState", ""},
      {"a name like other keys", edited("JobName=one", "JobName=one JobState=PENDING NodeList=n9"),
       "", ""},
      {"a complaint in place of the jobs",
       edited(jobs_part,
              "slurm_load_jobs error: Unable to contact slurm controller (connect failure)\n"),
       "8: Slurm said: slurm_load_jobs error: Unable to contact slurm controller", ""},
      {"a complaint beside the rest", all() + "\nslurm_load_reservations error: Invalid user id\n",
       "", "Slurm said: slurm_load_reservations error: Invalid user id"},
      {"keys that nobody knows", edited("   Command=(null)", "   Warp=9 Flux=\n   Command=(null)"),
       "", ""},
  };
}

std::vector<Broken> broken_json() {
  return {
      {"JSON as it should be", json(), "", "no partitions are shown", 1, 0},
      {"half a document", json().substr(0, 200), "1: the JSON that begins here has no end", ""},
      {"the second document cut off", json().substr(0, json().size() - 20),
       "5: the JSON that begins here has no end", ""},
      {"no JSON within", json("\"user_name\": \"ann\"", "\"user_name\": ann"), "2: is no JSON here",
       ""},
      {"nested without end", Text(1'000'000, '{'), "1: the JSON that begins here has no end", ""},
      {"jobs that are no list", json("\"jobs\": [", "\"jobs\": 5, \"other\": ["), "shows no job",
       ""},
      {"jobs that are no objects", json("\"jobs\": [", "\"jobs\": [5, null, [[]], "), "",
       "no partitions are shown", 1, 0},
      {"no jobs", Text(R"({"jobs": []})") + "\n" + Text(json_nodes) + Text(settings_part), "",
       "n0: 4 in use, 0 held", 0, 0},
      {"an error within",
       Text(R"({"errors": [{"error_number": 111, "error": "Connection refused"}]})") + "\n",
       "1: Slurm said: Connection refused", ""},
      {"sacct's JSON",
       json("\"job_state\": \"RUNNING\"", "\"state\": {\"current\": [\"RUNNING\"]}"),
       "has no job_state", ""},
      {"a job twice in JSON",
       json("\"jobs\": [", "\"jobs\": [{\"job_id\": 1, \"job_state\": \"FAILED\"}, "),
       "JobId 1: is there twice", ""},
      {"a time that is no number",
       json("\"submit_time\": 1795617734", "\"submit_time\": {\"set\": false}"),
       "has a SubmitTime that is no date", ""},
      {"a time beyond numbers", json("\"submit_time\": 1795617734", "\"submit_time\": 1e400"),
       "1: has a number that is none", ""},
      {"a time far away", json("\"submit_time\": 1795617734", "\"submit_time\": 99999999999"),
       "has a SubmitTime that is no date", ""},
      {"the same as text and JSON", all() + Text(json_jobs), "",
       "both as text and as JSON was read once"},
      {"settings of another time zone",
       Text(json_jobs) + Text(json_nodes) + edited(Text(settings_part), "14:42:21", "09:42:21"), "",
       "the settings are of another time than the jobs, by 5 h", 1, 0},
      {"text after a document", json() + "and so on\n", "", "no partitions are shown", 1, 0},
  };
}

void check_broken(const Broken& broken) {
  CAPTURE(broken.what);
  Result<std::decay_t<decltype(*read_queue(broken.text))>> queue;
  CHECK(testing::cpu_seconds([&] { queue = read_queue(broken.text); }) < 20);
  if (!broken.fails.empty()) {
    REQUIRE_FALSE(queue);
    CAPTURE(queue.error().message);
    CHECK(queue.error().code == ErrorCode::invalid);
    CHECK(queue.error().message.contains(broken.fails));
    CHECK_FALSE(queue.error().message.contains('\n'));
    return;
  }
  REQUIRE_MESSAGE(queue, queue.error().message);
  const Text notes = [&] {
    Text text;
    for (const Text& each : queue->notes) text += each + "\n";
    return text;
  }();
  CAPTURE(notes);
  CHECK(notes.contains(broken.notes));
  CHECK(notes.empty() == broken.notes.empty());
  CHECK(std::ranges::count_if(queue->jobs, &QueuedJob::runs) == broken.runs);
  CHECK(std::ranges::count_if(queue->jobs, &QueuedJob::waits) == broken.waits);
  for (const QueuedJob& job : queue->jobs) CHECK(job.submit <= queue->now);
  const auto made =
      snapshot_of(*queue, [](const QueuedJob&) { return JobBelief{{nullptr, 60}, 0, {}}; });
  REQUIRE_MESSAGE(made, made.error().message);
  CHECK(made->snapshot.jobs.size() <= queue->jobs.size() + 256);
}

}  // namespace

TEST_CASE("a snapshot that is cut off, empty or of something else") {
  for (const Broken& each : cut_off()) check_broken(each);
}

TEST_CASE("a snapshot that contradicts itself") {
  for (const Broken& each : contradictions()) check_broken(each);
  for (const Broken& each : surprises()) check_broken(each);
}

TEST_CASE("a snapshot with odd text") {
  for (const Broken& each : odd_text()) check_broken(each);
}

TEST_CASE("a snapshot of broken JSON") {
  for (const Broken& each : broken_json()) check_broken(each);
  CHECK(cut_off().size() + contradictions().size() + surprises().size() + odd_text().size() +
            broken_json().size() >=
        40);
}

TEST_CASE("cut anywhere, a recording is an error or what came before the cut") {
  std::ifstream file(SCHEDMATE_SOURCE_DIR "/tests/fixtures/slurm/queue_22_05.txt");
  const std::string text(std::istreambuf_iterator<char>(file), {});
  const auto whole = read_queue(text);
  REQUIRE(whole);
  const std::size_t partitions = text.find("PartitionName=");
  for (std::size_t cut = 0; cut < text.size(); cut += 211) {
    CAPTURE(cut);
    const auto queue = read_queue(text.substr(0, cut));
    if (cut < text.find("NodeName=")) CHECK_FALSE(queue);
    if (!queue) continue;
    CHECK(queue->jobs.size() == whole->jobs.size());
    if (cut <= partitions) CHECK_FALSE(queue->notes.empty());
  }
}

}  // namespace schedmate::slurm
