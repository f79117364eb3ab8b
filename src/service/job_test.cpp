// SPDX-License-Identifier: Apache-2.0
#include "service/job.hpp"

#include <doctest/doctest.h>
#include <fmt/format.h>

#include <cmath>
#include <nlohmann/json.hpp>

#include "base/input.hpp"
#include "service/advisor_state.hpp"
#include "service/history.hpp"
#include "slurm/job_log.hpp"
#include "tests/support/cluster_site.hpp"
#include "tests/support/jobstats_comment.hpp"

namespace schedmate::service {
namespace {

bool is_close(double have, double want) { return std::abs(have - want) < 1e-6 * (1 + want); }

using testing::ClusterSite;

constexpr const char* header =
    "JobID|User|Account|Partition|QOS|State|ExitCode|Submit|Start|End|ElapsedRaw|TimelimitRaw|"
    "AllocTRES|TotalCPU|MaxRSS|NTasks|NodeList|WorkDir|JobName|SubmitLine\n";

/// Submitted an hour before `start_s`, with four GPUs, 32 CPUs and 64 GiB, for four hours.
struct Row {
  std::string id, state;
  std::int64_t start_s = 0;
  std::optional<std::int64_t> end_s{};
  std::string folder = "/w";
};

std::string row(const Row& job) {
  const std::string end = job.end_s ? fmt::format("{}", *job.end_s) : "Unknown";
  const std::string ran = job.end_s ? fmt::format("{}", *job.end_s - job.start_s) : "";
  return fmt::format(
      "{}|ann|lab|gpu|normal|{}|1:0|{}|{}|{}|{}|240|cpu=32,gres/gpu:a100=4,gres/gpu=4,mem=64G|"
      "08:00:00|||n[1-2]|{}|net|sbatch train.sh\n",
      job.id, job.state, job.start_s - 3600, job.start_s, end, ran, job.folder);
}

/// Ten steps a minute, up to `steps` of 1000.
std::string steps_text(int steps) {
  std::string text;
  for (int i = 1; i <= steps; ++i)
    text += fmt::format("2026-11-01 10:{:02}:{:02} step {}/1000 loss: {:.3f}\n", i / 10, i % 10 * 6,
                        i, 3.0 - 0.001 * i);
  return text;
}

std::string shown(std::string_view id, std::string_view state, const std::string& folder) {
  return fmt::format(
      "JobId={} JobName=net with blanks\n   UserId=ann(1000) GroupId=ann(1000) MCS_label=N/A\n"
      "   Priority=1 Nice=0 Account=lab QOS=normal\n   JobState={} Reason=Priority "
      "Dependency=(null)"
      "\n   Requeue=1 Restarts=0 BatchFlag=1 Reboot=0 ExitCode=0:0\n   RunTime=00:00:00 "
      "TimeLimit=1-04:00:00 TimeMin=N/A\n   SubmitTime=2026-11-01T09:00:00 EligibleTime=Unknown\n"
      "   StartTime=2026-11-01T10:00:00 EndTime=Unknown Deadline=N/A\n   Partition=gpu\n"
      "   NodeList=n3\n   NumNodes=1 NumCPUs=8 NumTasks=1\n"
      "   TRES=cpu=8,mem=16G,node=1,billing=8,gres/gpu=2,gres/gpu:a100=2\n"
      "   Command=/w/train.sh --lr 1\n   WorkDir={}\n   StdOut={}/%x-%j.log\n\nJobId=18 "
      "JobName=b\n",
      id, state, folder, folder);
}

const JobSourceState& source(const JobView& view, std::string_view name) {
  const auto found = std::ranges::find(view.sources, name, &JobSourceState::name);
  REQUIRE(found != view.sources.end());
  return *found;
}

}  // namespace

TEST_CASE("a job that failed: what it used, why it died, what to do, what to ask for next") {
  const ClusterSite site;
  const std::string work = site.here.path("work");
  site.no_slurm();
  site.prints("sacct", header + row({"17", "FAILED", 1'793'527'200, 1'793'541'600, work}) +
                           "17.batch||||||1:0|1793527200|1793527200|1793541600|||cpu=32|"
                           "08:00:00|6G|1|n1||batch|\n");
  (void)site.write(
      "work/slurm-17.out",
      steps_text(40) +
          "Traceback (most recent call last):\n  File \"train.py\", line 9, in <module>\n"
          "torch.cuda.OutOfMemoryError: CUDA out of memory. Tried to allocate 2.00 GiB\n");
  const auto view = look_at_job(site.session(), "17");
  REQUIRE_MESSAGE(view.has_value(), (view ? "" : view.error().message));
  CHECK(view->state == "failed");
  CHECK(view->ran == Seconds(14'400));
  CHECK(view->log == work + "/slurm-17.out");
  CHECK(view->progress->step == 40);
  REQUIRE(view->diagnosis.has_value());
  CHECK(view->diagnosis->verdict == FailureClass::user_script);
  CHECK(is_close(view->use.limit_pct.value(), 100));
  CHECK(is_close(view->use.cpu_pct.value(), 6.25));  // 8 h of 32 CPUs x 4 h
  CHECK(is_close(view->use.memory_pct.value(), 9.375));
  CHECK(is_close(view->use.lost_gpu_hours, 16));
  CHECK_FALSE(view->use.gpu_util_pct.has_value());
  CHECK(view->sizes.empty());  // it broke off: nobody knows what it would have needed
  CHECK_FALSE(view->time_limit.has_value());
  CHECK(source(*view, "sacct").gave);
  CHECK_FALSE(source(*view, "history").gave);
  CHECK(source(*view, "scontrol").says.contains("no cluster here"));
  const Document document = job_document(*view);
  CHECK(document["schema"] == "schedmate.job.v1");
  CHECK(document["next"]["time_limit"].is_null());
  CHECK(document["attempts"][0]["exit_code"] == "1:0");
  CHECK(document["diagnosis"]["class"] == "user_script");
}

TEST_CASE("without a log the scheduler's word says what to do, where it can") {
  const ClusterSite site;
  site.no_slurm();
  const auto advice = [&](const char* state) {
    site.prints("sacct", header + row({"17", state, 1'793'527'200, 1'793'541'600, "/nowhere"}));
    const auto view = look_at_job(site.session(), "17");
    REQUIRE_MESSAGE(view.has_value(), (view ? "" : view.error().message));
    const Document told = job_document(*view)["next"]["do"];
    return told.is_null() ? "" : told.get<std::string>();
  };
  CHECK(advice("TIMEOUT").starts_with("ask for a longer --time"));
  CHECK(advice("NODE_FAIL").starts_with("submit it again: the node"));
  CHECK(advice("OUT_OF_MEMORY").contains("--mem"));
  CHECK(advice("PREEMPTED").contains("--requeue"));
  CHECK(advice("FAILED") == "");
  CHECK(advice("DEADLINE") == "");
  CHECK(advice("COMPLETED") == "");
}

TEST_CASE("a job that completed says what to ask for next time, one without memory for more") {
  const ClusterSite site;
  site.no_slurm();
  const std::string step =
      ".batch||||||1:0|1793527200|1793527200|1793541600|||cpu=32|08:00:00|6G|"
      "1|n1||batch|\n";
  site.prints("sacct", header + row({"17", "COMPLETED", 1'793'527'200, 1'793'541'600}) + "17" +
                           step + row({"18", "OUT_OF_MEMORY", 1'793'527'200, 1'793'527'300}));
  const auto view = look_at_job(site.session(), "17").value();
  REQUIRE(view.sizes.size() == 2);
  CHECK(view.sizes[0].flag == "--mem=4G");  // 6 GiB and a fifth, on two nodes
  CHECK(view.sizes[1].flag == "4 CPUs in all");
  const auto small = look_at_job(site.session(), "18").value();
  REQUIRE(small.sizes.size() == 1);
  CHECK(small.sizes[0].flag == "--mem=48G");  // half as much again as 64 GiB, on two nodes
}

TEST_CASE("a job that runs: how far, when it ends, and that its limit comes first") {
  ClusterSite site;
  const std::string work = site.here.path("work");
  site.no_slurm();
  const std::string log = site.write("work/slurm-17.out", steps_text(100));
  const std::int64_t written = seconds_of(slurm::written_at(log).value());
  site.wall_s = written + 60;
  site.prints("sacct", header + row({"17", "RUNNING", written - 14'000, std::nullopt, work}));
  const auto view = look_at_job(site.session(), "17").value();
  CHECK(view.is_running());
  CHECK(view.ran == Seconds(14'060));
  CHECK_FALSE(view.diagnosis.has_value());
  REQUIRE(view.expected.has_value());
  CHECK(view.expected->at == at(written + 5400));  // 900 steps of 6 s
  CHECK(view.expected->by == "its log");
  CHECK(view.expected->over_limit);  // 4 h after its start
}

TEST_CASE("a dump with less in it takes nothing from what the history knows of a job's use") {
  ClusterSite site;
  site.no_slurm();
  const std::string line = row({"5", "COMPLETED", 1'793'000'000, 1'793'020'000});
  const auto with = [](std::string text, std::string_view value) {
    return text.insert(text.find('\n'), std::string("|") + std::string(value));
  };
  const std::string full = with(header, "ConsumedEnergyRaw") + with(line, "7200");
  REQUIRE(import_jobs(site.session(), "sacct:" + site.write("a.txt", full)).has_value());
  {
    const auto history = open_history(site.session());
    REQUIRE(history.has_value());
    auto record = history->store->get("5").value().value();
    REQUIRE(record.outcome->energy_j == 7200);
    record.facts_json = "{}";  // it was advised, so a dump is merged into it
    REQUIRE(history->store->put(record).has_value());
  }
  REQUIRE(import_jobs(site.session(), "sacct:" + site.write("b.txt", header + line)).has_value());
  CHECK(look_at_job(site.session(), "5")->job.record.outcome->energy_j == 7200);
}

TEST_CASE(
    "the limit of the next run keeps to the settings; earlier runs say what a limit will kill") {
  ClusterSite site;
  site.no_slurm();
  std::string rows = header;
  for (int i = 0; i < 6; ++i)
    rows += row({fmt::format("{}", i + 1), "COMPLETED", 1'793'000'000 + 40'000 * i,
                 1'793'000'000 + 40'000 * i + 20'000 + i});
  site.wall_s = 1'793'527'200 + 3600;
  rows += row({"17", "RUNNING", 1'793'527'200, std::nullopt});
  REQUIRE(import_jobs(site.session(), "sacct:" + site.write("dump.txt", rows)).has_value());
  site.prints("sacct", header + row({"17", "RUNNING", 1'793'527'200, std::nullopt}));
  const auto view = look_at_job(site.session(), "17").value();
  REQUIRE(view.time_limit.has_value());
  CHECK(view.time_limit->suggested > Seconds(20'000));
  REQUIRE(view.expected.has_value());
  CHECK(view.expected->by == "earlier runs");
  CHECK(view.expected->over_limit);  // 20,000 s of a limit of 4 h
  CHECK_FALSE(view.expected->high.has_value());
  auto session = site.session();
  REQUIRE(session.settings.set("time_limit.longest_s", "7200", "here").has_value());
  const auto kept = look_at_job(session, "17").value();
  REQUIRE(kept.time_limit.has_value());
  CHECK(kept.time_limit->suggested == Seconds(7200));
}

TEST_CASE("group, cluster, energy, each node and each GPU, as the accounting has them") {
  const ClusterSite site;
  site.no_slurm();
  const std::string summary = testing::jobstats_comment(
      read_file(SCHEDMATE_SOURCE_DIR "/tests/fixtures/jobstats/two_nodes.json").value());
  const auto dump = [](const std::string& comment) {
    return "JobID|User|Group|Cluster|Partition|State|Submit|Start|End|ElapsedRaw|AllocTRES|"
           "ConsumedEnergyRaw|NodeList|AdminComment\n"
           "17|ann|users|big|gpu|PREEMPTED|1000|1100|1130|30|cpu=8,gres/gpu=4,mem=8G|400|n[1-2]|\n"
           "17|ann|users|big|gpu|COMPLETED|1000|1200|1260|60|cpu=8,gres/gpu=4,mem=8G|7200|n[1-2]|" +
           comment + "\n";
  };
  site.prints("sacct", dump(summary));
  const auto view = look_at_job(site.session(), "17").value();
  const Outcome& outcome = *view.job.record.outcome;
  CHECK(view.job.record.group == "users");
  CHECK(view.job.record.cluster == "big");
  CHECK(outcome.energy_j == 7600);  // of both attempts
  REQUIRE(outcome.node_use.size() == 2);
  CHECK(outcome.node_use[1].gpus[1].util_pct == 0);
  CHECK(is_close(view.use.gpu_util_pct.value(), 49.875));
  CHECK(is_close(view.use.gpu_memory_pct.value(), 100 * 11'264.0 / 40'960));
  CHECK(view.notes.empty());
  const Document document = job_document(view);
  CHECK(document["group"] == "users");
  CHECK(document["use"]["energy_j"] == 7600);
  CHECK(document["use"]["cpus_per_node"] == 4);
  CHECK(document["outcome"]["node_use"][0]["gpus"][1]["util_pct"] == 60.5);
  const auto words = words_of_nodes(view.job.record);
  REQUIRE(words.size() == 2);
  CHECK(words[0].node == "n1: CPU 42 % of 4, memory 50 % (2 GiB of 4 GiB)");
  CHECK(words[1].gpus == "GPU 0, 1: 99, 0 % busy; memory 50, 50 % of 40 GiB");
  // A damaged one is said, and takes nothing away.
  site.prints("sacct", dump(summary.substr(0, summary.size() / 2)));
  const auto damaged = look_at_job(site.session(), "17").value();
  CHECK(damaged.job.record.outcome->node_use.empty());
  REQUIRE(damaged.notes.size() == 1);
  CHECK(damaged.notes[0].contains("jobstats' summary in AdminComment, job 17: not read: "));
}

TEST_CASE("the controller's group and comment are read, too, and the history keeps them") {
  ClusterSite site;
  site.no_slurm();
  const std::string summary = testing::jobstats_comment(
      read_file(SCHEDMATE_SOURCE_DIR "/tests/fixtures/jobstats/two_nodes.json").value());
  site.prints("scontrol",
              "JobId=17 JobName=net\n   UserId=ann(1000) GroupId=users(100) MCS_label=N/A\n"
              "   JobState=COMPLETED Reason=None ExitCode=0:0\n   RunTime=00:01:00 TimeLimit=1:00\n"
              "   SubmitTime=2026-11-01T09:00:00\n   StartTime=2026-11-01T10:00:00 "
              "EndTime=2026-11-01T10:01:00\n   Partition=gpu\n   NodeList=n[1-2]\n"
              "   NumNodes=2 NumCPUs=8\n   TRES=cpu=8,mem=8G,node=2,gres/gpu=4\n"
              "   AdminComment=" +
                  summary + "\n");
  const auto view = look_at_job(site.session(), "17").value();
  CHECK(view.job.record.group == "users");
  CHECK(view.job.record.outcome->node_use.size() == 2);
  CHECK(is_close(view.use.cpu_pct.value(), 100 * 151.0 / (60 * 8)));
  const std::string path = site.write(
      "dump.txt",
      "JobID|User|Group|Partition|State|Submit|Start|End|AllocTRES|ConsumedEnergyRaw|NodeList|"
      "AdminComment\n18|ann|users|gpu|COMPLETED|1000|1200|1260|cpu=8,gres/gpu=4|7200|n[1-2]|" +
          summary + "\n19|ann|users|gpu|COMPLETED|1000|1200|1260|gres/gpu=4|0|n1|JS1:x\n");
  const auto imported = import_jobs(site.session(), "sacct:" + path).value();
  REQUIRE(imported.messages.size() == 1);
  CHECK(imported.messages[0].contains("job 19: not read: "));
  const JobRecord kept = show_job(site.session(), "18").value();
  CHECK(kept.group == "users");
  CHECK(kept.outcome->energy_j == 7200);
  CHECK(kept.outcome->node_use.size() == 2);
  CHECK(kept.outcome->gpu_memory_total_mib == 40960);
  CHECK_FALSE(show_job(site.session(), "19")->outcome->energy_j.has_value());
}

TEST_CASE("a log that cannot be read is an error where nobody else knows the job, else a gap") {
  const ClusterSite site;
  site.no_slurm();
  const std::string work = site.here.path("work");
  const auto error = [&](const std::string& subject) {
    const auto view = look_at_job(site.session(), subject);
    REQUIRE_FALSE_MESSAGE(view.has_value(), subject);
    CHECK_FALSE(view.error().message.contains('\n'));
    return view.error();
  };
  const auto gz = error(site.write("work/bad.log.gz", "\x1f\x8b\x08 garbage, no gzip"));
  CHECK(gz.code == ErrorCode::invalid);
  CHECK(gz.message.contains("bad.log.gz: gzip data are damaged"));
  CHECK(error(site.write("work/empty.log", "")).message.contains("is empty"));
  CHECK(error(site.write("work/binary.log", std::string("\0\1\2\3", 4) + std::string(5000, '\0')))
            .code == ErrorCode::invalid);
  std::filesystem::create_symlink("/nowhere/at/all", site.here.path("work/link.log"));
  CHECK(error(site.here.path("work/link.log")).message.contains("link.log: cannot open"));
  CHECK(error("/dev/null").message.contains("/dev/null: "));
  // The newest of a folder, and a job that the accounting knows.
  std::filesystem::create_directory(site.here.path("other"));
  (void)site.write("other/slurm-9.out", "");
  CHECK(error(site.here.path("other")).message.contains("is empty"));
  (void)site.write("work/slurm-9.out", "");
  site.prints("sacct", header + row({"9", "FAILED", 1'793'527'200, 1'793'527'800, work}));
  const auto known = look_at_job(site.session(), site.here.path("work/slurm-9.out")).value();
  CHECK(known.job.record.id == "9");
  REQUIRE(known.notes.size() == 1);
  CHECK(known.notes[0].contains("is empty"));
}

TEST_CASE("a job that waits is known by the controller alone") {
  const ClusterSite site;
  site.no_slurm();
  site.prints("sacct", header);
  site.prints("scontrol", shown("17", "PENDING", "/w"));
  const auto view = look_at_job(site.session(), "17").value();
  CHECK(view.state == "pending");
  CHECK(view.job.reason == "Priority");
  CHECK(view.job.record.name == "net with blanks");
  CHECK(view.job.record.user == "ann");
  CHECK(view.job.record.command == "/w/train.sh --lr 1");
  CHECK(view.job.record.gpus == 2);
  CHECK(view.job.record.gpu_type == "a100");
  CHECK(view.job.record.memory_mib == 16384);
  CHECK(view.job.record.time_limit == Seconds(100'800));
  CHECK(view.job.attempts.empty());
  CHECK_FALSE(source(view, "sacct").gave);
}

TEST_CASE("each attempt of a requeued job is there, and what was lost with it") {
  const ClusterSite site;
  site.no_slurm();
  site.prints("sacct", header + row({"17", "NODE_FAIL", 1'793'527'200, 1'793'530'800}) +
                           row({"17", "COMPLETED", 1'793'534'400, 1'793'541'600}));
  const auto view = look_at_job(site.session(), "17").value();
  CHECK(view.state == "completed");
  REQUIRE(view.job.attempts.size() == 2);
  CHECK(view.job.attempts[0].word == "NODE_FAIL");
  CHECK(view.job.attempts[0].nodes == "n[1-2]");
  CHECK(is_close(view.use.gpu_hours, 12));
  CHECK(is_close(view.use.lost_gpu_hours, 4));
}

TEST_CASE("a log or a folder leads to its job, and earlier runs say how fast it should be") {
  const ClusterSite site;
  const std::string work = site.here.path("work");
  site.no_slurm();
  std::string dump = header;
  for (int i = 1; i <= 4; ++i)
    dump += row({fmt::format("{}", i), i == 4 ? "FAILED" : "COMPLETED", 1'793'527'200 + 10'000 * i,
                 1'793'527'200 + 11'000 * i, work});
  REQUIRE(import_jobs(site.session(), "sacct:" + site.write("dump.txt", dump)));
  const std::string log = site.write("work/slurm-3.out", steps_text(1000));
  for (const std::string& subject : {std::string("3"), log}) {
    const auto view = look_at_job(site.session(), subject).value();
    CHECK(view.job.record.id == "3");
    CHECK(view.log == log);
    CHECK(view.state == "completed");
    CHECK_FALSE(view.diagnosis.has_value());
    CHECK(view.earlier.runs == 3);
    CHECK(view.earlier.completed == 2);
    CHECK(view.earlier.shortest == Seconds(1000));
    CHECK(view.earlier.longest == Seconds(2000));
  }
  CHECK(look_at_job(site.session(), work).value().job.record.id == "4");  // the newest
  // Without a history the accounting knows the job of the newest log.
  const ClusterSite fresh;
  fresh.no_slurm();
  const std::string folder = fresh.here.path("work");
  (void)fresh.write("work/slurm-9.out", steps_text(30));
  fresh.prints("sacct", header + row({"9", "COMPLETED", 1'793'527'200, 1'793'527'800, folder}));
  CHECK(look_at_job(fresh.session(), folder).value().job.record.id == "9");
  // A log of this name elsewhere is none of job 3.
  std::filesystem::create_directory(site.here.path("other"));
  const auto other = look_at_job(site.session(), site.write("other/slurm-3.out", steps_text(30)));
  CHECK(other->job.record.id.empty());
  CHECK(other->progress->step == 30);
}

TEST_CASE("nothing known, broken programs and odd subjects are said in one sentence") {
  const ClusterSite site;
  site.no_slurm();
  const auto nothing = look_at_job(site.session(), "4711");
  CHECK(nothing.error().code == ErrorCode::not_found);
  CHECK(nothing.error().message.contains("history: there is none yet; sacct: "));
  CHECK_FALSE(nothing.error().message.contains('\n'));
  CHECK(look_at_job(site.session(), "--allusers").error().message.contains("not asked"));
  CHECK(look_at_job(site.session(), "\033]52;c;eA==\a").error().message.find('\033') ==
        std::string::npos);
  for (const char* const junk :
       {"", "\n\n\n", "JobId=17", "\xff\xfe", "=|=|=\n", "JobState=RUNNING"}) {
    site.prints("sacct", junk);
    site.prints("scontrol", junk);
    CHECK_FALSE(look_at_job(site.session(), "17").has_value());
  }
  std::ifstream accounting(SCHEDMATE_SOURCE_DIR "/tests/fixtures/slurm/sacct.txt");
  site.prints("sacct", std::string(std::istreambuf_iterator<char>(accounting), {}));
  site.tool("scontrol", "exit 1\n");
  CHECK(
      look_at_job(site.session(), "6").error().message.contains("ask for one task of it, as 6_0"));
  site.prints("scontrol", shown("17", "RUNNING", "/w") + std::string(1 << 20, 'x'));
  CHECK(look_at_job(site.session(), "17")->is_running());
}

TEST_CASE("what a real controller and a real accounting said") {
  const std::string folder = SCHEDMATE_SOURCE_DIR "/tests/fixtures/slurm/";
  const auto read = [&](const std::string& name) {
    return read_shown_job(read_file(folder + name).value()).value();
  };
  const slurm::ScheduledJob running = read("scontrol_running.txt");
  CHECK(running.word == "RUNNING");
  CHECK(running.record.gpus == 4);
  CHECK(running.record.cpus == 4);
  CHECK(running.record.memory_mib == 4096);
  CHECK(running.record.time_limit == Seconds(300));
  CHECK(running.record.log == "/tmp/tbs-work/slurm-1.out");
  CHECK(running.record.entry == "train.sh");
  CHECK(running.attempts.at(0).nodes == "n0");
  CHECK_FALSE(running.record.outcome.has_value());
  const slurm::ScheduledJob counted = read("scontrol_jobstats.txt");
  CHECK(counted.record.group == "root");
  CHECK(counted.unread == "");
  REQUIRE(counted.record.outcome->node_use.size() == 2);
  const auto dump = read_accounting(folder + "sacct_jobstats.txt", {.strict = true}).value();
  CHECK(accounted_jobs(dump).at(0).record.outcome->node_use == counted.record.outcome->node_use);
  CHECK(dump.jobs.at(0).use.nodes.at(1).gpus.at(0).util_pct == 91.3);
  CHECK_FALSE(dump.jobs.at(0).use.energy_j.has_value());  // "" of the job, 0 of its step
  const slurm::ScheduledJob waiting = read("scontrol_pending.txt");
  CHECK(waiting.word == "PENDING");
  CHECK(waiting.reason == "Resources");
  CHECK(waiting.attempts.empty());
  CHECK(waiting.planned_start.value() - waiting.record.submit == Seconds(300));
  CHECK(read("scontrol_array.txt").record.log == "/tmp/tbs-work/slurm-3_4294967294.out");
  const slurm::ScheduledJob killed = read("scontrol_timeout.txt");
  CHECK(killed.record.outcome->state == EndState::timeout);
  CHECK(killed.record.outcome->duration == Seconds(313));
  CHECK(read("scontrol_requeued.txt").attempts.size() == 1);  // it knows the last one alone
  const ClusterSite site;
  const auto imported = import_jobs(site.session(), "sacct:" + folder + "sacct.txt").value();
  CHECK(imported.jobs == 10);
  const JobRecord requeued = show_job(site.session(), "4").value();
  REQUIRE(requeued.outcome->attempts.size() == 2);
  CHECK(requeued.outcome->attempts[0].word == "REQUEUED");
  CHECK(requeued.outcome->attempts[0].nodes == "n2");
  CHECK(requeued.outcome->attempts[1].nodes == "n3");
  CHECK(requeued.entry == "train.sh");
  CHECK(show_job(site.session(), "1")->entry == "train.sh");  // ./train.sh
  CHECK(show_job(site.session(), "10")->outcome->state == EndState::node_fail);
  CHECK(show_job(site.session(), "2")->outcome->state == EndState::timeout);
  CHECK(is_close(show_job(site.session(), "1")->outcome->memory_mib.value(), 6300.0 / 1024));
}

}  // namespace schedmate::service
