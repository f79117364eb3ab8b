// SPDX-License-Identifier: Apache-2.0
#include "service/report.hpp"

#include <doctest/doctest.h>
#include <fmt/format.h>

#include <cmath>
#include <nlohmann/json.hpp>

#include "service/doctor.hpp"
#include "service/history.hpp"
#include "tests/support/cluster_site.hpp"
#include "tests/support/jobstats_comment.hpp"

namespace schedmate::service {
namespace {

bool is_close_to(double have, double want) { return std::abs(have - want) < 1e-6 * (1 + want); }

using testing::ClusterSite;

constexpr std::int64_t monday_s = 1'793'577'600;  // 2026-11-02 00:00 UTC

struct Line {
  std::string id, user = "ann", state = "COMPLETED", exit = "0:0", node = "n1";
  std::int64_t start_s = monday_s, ran_s = 3600;
  int gpus = 2;
};

std::string dump_of(const std::vector<Line>& lines) {
  std::string text =
      "JobID|User|Partition|State|ExitCode|Submit|Start|End|ElapsedRaw|TimelimitRaw|AllocTRES|"
      "TotalCPU|TRESUsageInTot|NodeList|JobName\n";
  for (const Line& line : lines)
    text += fmt::format(
        "{0}|{1}|gpu|{2}|{3}|{4}|{5}|{6}|{7}|120|cpu=4,gres/gpu={8},mem=8G|||{9}|job{0}\n"
        "{0}.batch|||{2}|{3}|{4}|{5}|{6}|{7}||cpu=4,gres/gpu={8}|01:00:00|"
        "gres/gpuutil={10},mem=4294967296|{9}|batch\n",
        line.id, line.user, line.state, line.exit, line.start_s - 60, line.start_s,
        line.start_s + line.ran_s, line.ran_s, line.gpus, line.node, 50 * line.gpus);
  return text;
}

/// Seven jobs on n11, five of which failed; ten on n1, one of which failed.
std::vector<Line> week() {
  std::vector<Line> lines;
  for (int i = 0; i < 7; ++i)
    lines.push_back({.id = fmt::format("{}", 100 + i),
                     .user = "bob",
                     .state = i < 5 ? "FAILED" : "COMPLETED",
                     .exit = i < 5 ? "0:9" : "0:0",
                     .node = "n11"});
  for (int i = 0; i < 10; ++i)
    lines.push_back({.id = fmt::format("{}", 200 + i),
                     .state = i == 0   ? "FAILED"
                              : i == 1 ? "TIMEOUT"
                              : i == 2 ? "CANCELLED by 7"
                                       : "COMPLETED",
                     .exit = i == 0 ? "1:0" : "0:0",
                     .start_s = monday_s + 86'400});
  return lines;
}

Result<UsageReport> report_on(const ClusterSite& site, const std::string& dump,
                              ReportQuestion question = {}) {
  question.from = "sacct:" + site.write("dump.txt", dump);
  return report_usage(site.session(), question);
}

}  // namespace

TEST_CASE("preemption is no failure, and what it cost a job that completed has a line of its own") {
  const ClusterSite site;
  std::vector<Line> lines{{.id = "1", .state = "PREEMPTED"}, {.id = "2", .state = "REQUEUED"}};
  lines.push_back({.id = "2", .start_s = monday_s + 7200});
  const auto report = report_on(site, dump_of(lines)).value();
  CHECK(report.total.jobs == 2);
  CHECK(report.total.completed == 1);
  CHECK(report.total.cancelled == 1);
  CHECK(report.total.failed == 0);
  REQUIRE(report.causes.size() == 2);
  CHECK(report.causes[1].cause == "attempts before one that completed");
  CHECK(report.causes[1].jobs == 1);
  CHECK(is_close_to(report.causes[1].lost_gpu_hours, 2));
}

TEST_CASE("a report counts efficiency, waste, causes and nodes") {
  const ClusterSite site;
  const auto report = report_on(site, dump_of(week())).value();
  CHECK(report.total.jobs == 17);
  CHECK(report.total.completed == 9);
  CHECK(report.total.failed == 6);
  CHECK(report.total.timeout == 1);
  CHECK(report.total.cancelled == 1);
  CHECK(is_close_to(report.total.gpu_hours, 34));
  CHECK(is_close_to(report.total.lost_gpu_hours, 14));  // seven jobs of two GPU-hours
  CHECK(is_close_to(report.total.idle_gpu_hours, 10));  // half of what was not lost
  CHECK(is_close_to(report.total.gpu_util_pct.value(), 50));
  REQUIRE(report.nodes.size() == 2);
  CHECK(report.nodes[0].node == "n11");
  CHECK(report.nodes[0].failed == 5);
  CHECK(report.nodes[0].jobs == 7);
  CHECK(report.nodes[0].suspect);
  CHECK_FALSE(report.nodes[1].suspect);
  REQUIRE(report.causes.size() == 4);
  CHECK(report.causes[0].cause == "signal 9");
  CHECK(report.causes[0].jobs == 5);
  const ReportJob& worst = report.jobs.front();
  CHECK(is_close_to(worst.use.wasted_gpu_hours(), 2));
  CHECK(is_close_to(worst.use.cpu_pct.value(), 25));
  CHECK(is_close_to(worst.use.memory_pct.value(), 50));
  CHECK(is_close_to(worst.use.limit_pct.value(), 50));
  CHECK(worst.waited == Seconds(60));
}

TEST_CASE("a report is grouped by user, node, day and cause, and filtered") {
  const ClusterSite site;
  const std::string dump = dump_of(week());
  const auto by = [&](const std::string& what) {
    ReportQuestion question;
    question.by = what;
    std::string text;
    const UsageReport report = report_on(site, dump, question).value();
    for (const ReportGroup& group : report.groups)
      text += fmt::format("{}:{}/{} ", group.key, group.failed, group.jobs);
    return text;
  };
  CHECK(by("user") == "ann:1/10 bob:5/7 ");
  CHECK(by("node") == "n1:1/10 n11:5/7 ");
  CHECK(by("day") == "2026-11-02:5/7 2026-11-03:1/10 ");
  CHECK(by("cause") == "completed:0/9 signal 9:5/5 cancelled:0/1 exit code 1:1/1 time limit:0/1 ");
  ReportQuestion question;
  question.user = "bob";
  CHECK(report_on(site, dump, question)->total.jobs == 7);
  question.state = "failed";
  CHECK(report_on(site, dump, question)->total.jobs == 5);
  question = {};
  question.since = "12h";  // before the end of the dump
  CHECK(report_on(site, dump, question)->total.jobs == 10);
  question.since = "2026-11-03";
  CHECK(report_on(site, dump, question)->total.jobs == 10);
  question = {};
  question.sort = "job";
  CHECK(report_on(site, dump, question)->jobs.front().record.id == "100");
}

TEST_CASE("the history gives the same report as the dump it came from") {
  const ClusterSite site;
  const std::string path = site.write("dump.txt", dump_of(week()));
  const auto imported = import_jobs(site.session(), "sacct:" + path).value();
  CHECK(imported.jobs == 17);
  Document from_dump =
      usage_document(report_usage(site.session(), {.from = "sacct:" + path}).value());
  Document kept = usage_document(report_usage(site.session(), {.since = "all"}).value());
  CHECK(kept["source"] == "history");
  for (const char* const key : {"total", "jobs", "causes", "nodes"})
    CHECK_MESSAGE(kept[key] == from_dump[key], key);
}

TEST_CASE("a report has groups, energy and the memory of GPUs, where they are known") {
  const ClusterSite site;
  const std::string summary = testing::jobstats_comment(
      R"({"nodes": {"n1": {"gpu_utilization": {"0": 20}, "gpu_used_memory": {"0": 1073741824},)"
      R"("gpu_total_memory": {"0": 4294967296}}}})");
  const auto report = report_on(
      site,
      "JobID|User|Group|Partition|State|Submit|Start|End|AllocTRES|ConsumedEnergyRaw|NodeList|"
      "AdminComment\n1|ann|users|gpu|COMPLETED|1000|1000|4600|cpu=8,gres/gpu=1|7200|n[1-2]|" +
          summary +
          "\n2|ann|users|gpu|COMPLETED|1000|1000|4600|gres/gpu=1|3600|n1|JS1:damaged\n"
          "3|ann|users|gpu|COMPLETED|1000|1000|4600|gres/gpu=1||n1|JS1:damaged\n",
      {.by = "node"});
  REQUIRE(report.has_value());
  CHECK(report->total.energy_jobs == 2);
  CHECK(is_close_to(report->total.energy_j, 10'800));
  const auto n2 = std::ranges::find(report->groups, "n2", &ReportGroup::key);
  REQUIRE(n2 != report->groups.end());
  CHECK(is_close_to(n2->energy_j, 3600));  // its half of job 1
  REQUIRE(report->notes.size() == 1);
  CHECK(report->notes[0].contains("job 2 and 1 more: not read: "));
  const std::string dump = site.here.path("dump.txt");
  const auto jobs = report_usage(site.session(), {.sort = "job", .from = "sacct:" + dump}).value();
  const Document document = usage_document(jobs);
  CHECK(document["total"]["energy_j"] == 10'800);
  CHECK(document["jobs"][0]["group"] == "users");
  CHECK(document["jobs"][0]["energy_j"] == 7200);
  CHECK(document["jobs"][0]["gpu_mem_eff_pct"] == 25);
  CHECK(document["jobs"][0]["gpu_eff_pct"] == 20);
  CHECK(document["jobs"][0]["node_count"] == 2);
  CHECK(document["jobs"][0]["cpus_per_node"] == 4);
  CHECK(document["jobs"][2]["energy_j"].is_null());
  CHECK(usage_csv(jobs).contains(",gpu_mem_eff_pct,energy_j\n"));
}

TEST_CASE("where the history has nothing of the period, the program is asked") {
  const ClusterSite site;
  site.no_slurm();
  const auto none = report_usage(site.session(), {});
  REQUIRE_FALSE(none);
  CHECK(none.error().code == ErrorCode::unavailable);
  CHECK(none.error().message.contains("no cluster here"));
  CHECK(none.error().message.contains("history import"));
  site.prints("sacct", dump_of({{.id = "1", .start_s = site.wall_s - 7200}}));
  const auto asked = report_usage(site.session(), {}).value();
  CHECK(asked.source == "sacct");
  CHECK(asked.total.jobs == 1);
  CHECK(report_usage(site.session(), {.from = "history"})->total.jobs == 0);
}

TEST_CASE("wrong words are refused with what is right") {
  const ClusterSite site;
  const auto message = [&](const ReportQuestion& question) {
    return report_usage(site.session(), question).error().message;
  };
  CHECK(message({.by = "usr"}).contains("nearest: user"));
  CHECK(message({.sort = "wast"}).contains("nearest: waste"));
  CHECK(message({.state = "failled"}).contains("nearest: failed"));
  CHECK(message({.from = "squeue"}).contains("sacct:FILE"));
  for (const char* const since : {"7", "x", "-7d", "2026-13-45", "99999999999999w"})
    CHECK_MESSAGE(message({.since = since, .from = "history"}).contains("--since"), since);
  CHECK(message({.from = "sacct:/nowhere"}).contains("/nowhere"));
}

TEST_CASE("CSV has every field, and no cell that a spreadsheet would calculate") {
  const ClusterSite site;
  const auto csv =
      usage_csv(report_on(site, dump_of({{.id = "1", .user = "=HYPERLINK(1)", .node = "n1"},
                                         {.id = "2", .user = "@x", .node = "n1"},
                                         {.id = "3", .user = "a,\"b\"", .node = "n1"}}))
                    .value());
  CHECK(csv.starts_with("job_id,user,account,name,partition,"));
  CHECK(csv.contains("1,'=HYPERLINK(1),"));
  CHECK(csv.contains("2,'@x,"));
  CHECK(csv.contains("3,\"a,\"\"b\"\"\","));
  const auto empty = usage_csv(UsageReport());
  CHECK(empty.starts_with("job_id,user,"));
  CHECK(std::ranges::count(empty, '\n') == 1);
}

TEST_CASE("import keeps everything that the dump says, and names bad rows") {
  const ClusterSite site;
  const std::string text =
      "JobID|User|Account|Partition|QOS|State|ExitCode|Submit|Start|End|ElapsedRaw|TimelimitRaw|"
      "AllocTRES|TotalCPU|MaxRSS|NTasks|NodeList|WorkDir|JobName|SubmitLine\n"
      "7|ann|lab|gpu|high|PREEMPTED|0:15|1000|1100|1200|100|90|cpu=8,gres/gpu:h100=2,mem=32G|||"
      "|n[4-5]|/w/net|net|sbatch --gres=gpu:h100:2 ./train.sh --token hf_secretsecretsecret1\n"
      "7|ann|lab|gpu|high|COMPLETED|0:0|1000|1300|1900|600|90|cpu=8,gres/gpu:h100=2,mem=32G|"
      "00:40:00|||n6|/w/net|net|sbatch --gres=gpu:h100:2 ./train.sh --token "
      "hf_secretsecretsecret1\n"
      "7.batch|||||COMPLETED|0:0|1300|1300|1900|600||cpu=8|00:40:00|1024M|4|n6||batch|\n"
      "8|ann|lab|gpu|high|COMPLETED|0:0|1000|never|1900|600|90|gres/gpu=1||||n6|/w|x|x\n"
      "9|ann|lab|cpu|high|COMPLETED|0:0|1000|1300|1900|600|90|cpu=8||||n6|/w|x|x\n"
      "10|ann|lab|gpu|high|REQUEUED|0:0|1000|1300|1900|600|90|gres/gpu=1||||n6|/w|x|x\n";
  const std::string path = site.write("dump.txt", text);
  const auto imported = import_jobs(site.session(), "sacct:" + path).value();
  CHECK(imported.jobs == 1);
  CHECK(imported.dropped.at("no GPUs requested") == 1);
  CHECK(imported.dropped.at("still running at the end of the dump") == 1);
  REQUIRE(imported.messages.size() == 1);
  CHECK(imported.messages[0].starts_with(path + ":5:"));
  CHECK(imported.messages[0].contains("start is neither a date"));
  const JobRecord job = show_job(site.session(), "7").value();
  CHECK(job.time_limit == Seconds(5400));
  CHECK(job.gpu_type == "h100");
  CHECK(job.nodes == 1);
  CHECK(job.name == "net");
  CHECK(job.account == "lab");
  CHECK(job.qos == "high");
  CHECK(job.cpus == 8);
  CHECK(job.memory_mib == 32768);
  CHECK(job.entry == "train.sh");
  CHECK_FALSE(job.command.contains("hf_secret"));
  REQUIRE(job.outcome->attempts.size() == 2);
  CHECK(job.outcome->attempts[0].word == "PREEMPTED");
  CHECK(job.outcome->attempts[0].exit_code == "0:15");
  CHECK(job.outcome->attempts[0].nodes == "n[4-5]");
  CHECK(job.outcome->attempts[0].end == at(1200));
  CHECK(job.outcome->start == at(1300));
  CHECK(job.outcome->end == at(1900));
  CHECK(job.outcome->duration == Seconds(600));
  CHECK(job.outcome->cpu_time == FractionalSeconds(2400));
  CHECK(job.outcome->memory_mib == 4096);
}

TEST_CASE("importing an advised job keeps its facts and advice") {
  const ClusterSite site;
  AddRequest added;
  added.id = "7";
  added.user = "ann";
  added.job.command = "python train.py";
  added.facts =
      site.write("facts.json", R"({"schema":"schedmate.facts.v1","facts":{"model_name":{"value":)"
                               R"("resnet50","confidence":1,"source":"code","evidence":[]}}})");
  const auto put = add_job(site.session(), added);
  REQUIRE_MESSAGE(put.has_value(), (put ? "" : put.error().message));
  const std::string text =
      "JobID|User|Partition|State|Submit|Start|End|AllocTRES|NodeList\n"
      "7|ann|gpu|COMPLETED|1000|1300|1900|gres/gpu:h100=2|n6\n";
  REQUIRE(import_jobs(site.session(), "sacct:" + site.write("dump.txt", text)));
  const JobRecord job = show_job(site.session(), "7").value();
  CHECK(job.command == "python train.py");
  CHECK(job.fields.contains("model_name"));
  CHECK(job.vc == "gpu");
  CHECK(job.outcome->duration == Seconds(600));
  CHECK(job.outcome->attempts.size() == 1);
}

TEST_CASE("a job that was finished with its job file counts for its nodes") {
  const ClusterSite site;
  AddRequest added;
  added.id = "7";
  added.user = "ann";
  added.job.command = "python train.py";
  REQUIRE(add_job(site.session(), added));
  FinishRequest finish;
  finish.id = "7";
  finish.outcome.state = "failed";
  finish.outcome.duration_s = 60;
  finish.job_file = site.write(
      "job.json", R"({"state":"FAILED","exit_code":"0:9","end":1800000000,"nodes":["n4","n5"]})");
  REQUIRE(finish_job(site.session(), finish));
  const auto report = report_usage(site.session(), {.since = "all"}).value();
  REQUIRE(report.nodes.size() == 2);
  CHECK(report.nodes[0].failed == 1);
  CHECK(report.causes.at(0).cause == "signal 9");
}

TEST_CASE("doctor says what is there, what it gives and how to mend the rest") {
  const ClusterSite site;
  site.tool("sacct",
            "[ \"$1\" = --version ] && echo 'slurm 23.11.4' && exit 0\n"
            "echo 'sacct: error: slurmdbd is away' >&2; exit 1\n");
  site.tool("scontrol", "echo 'slurm 23.11.4'\n");
  std::filesystem::create_directories(site.here.path("state/schedmate"));
  std::filesystem::permissions(site.here.path("state/schedmate"), std::filesystem::perms::all);
  const auto rows = examine(site.session());
  const auto row = [&](std::string_view what) {
    const auto found = std::ranges::find(rows, what, &DoctorRow::what);
    REQUIRE(found != rows.end());
    return *found;
  };
  CHECK_FALSE(row("sacct").works);
  CHECK(row("sacct").detail.contains("slurm 23.11.4"));
  CHECK(row("sacct").detail.contains("slurmdbd is away"));
  CHECK(row("scontrol").works);
  CHECK(row("scontrol").mend.empty());
  CHECK_FALSE(row("state folder").works);
  CHECK(row("state folder").mend.starts_with("chmod 700 "));
  std::filesystem::rename(site.here.path("state/schedmate"), site.here.path("elsewhere"));
  std::filesystem::permissions(site.here.path("elsewhere"), std::filesystem::perms::owner_all);
  std::filesystem::create_symlink(site.here.path("elsewhere"), site.here.path("state/schedmate"));
  const auto at_link = examine(site.session());
  const auto folder = std::ranges::find(at_link, "state folder", &DoctorRow::what);
  CHECK_FALSE(folder->works);
  CHECK(folder->detail.contains("is a link"));
  for (const char* const what :
       {"slurm.conf", "NVML", "dcgm-exporter", "Redis", "model servers", "time zone", "memory"})
    CHECK_MESSAGE(!row(what).gives.empty(), what);
  for (const DoctorRow& each : rows) CHECK_MESSAGE((each.works || !each.mend.empty()), each.what);
}

}  // namespace schedmate::service
