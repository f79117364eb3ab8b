// SPDX-License-Identifier: Apache-2.0

/// job and report with the real program, as a terminal of 80 and of 120 columns shows them.

#include <doctest/doctest.h>
#include <fmt/format.h>

#include <algorithm>
#include <sstream>

#include "base/input.hpp"
#include "tests/cli/program.hpp"
#include "tests/support/jobstats_comment.hpp"

namespace schedmate {
namespace {

/// The dumps of a real Slurm (docs/formats/job-screen.md), as scripts that print them.
struct ScreenSite {
  Scratch here;
  ScreenSite() { columns("80"); }

  void columns(const std::string& width) {
    here.variables = {"PATH=" + here.path("bin") + ":/usr/bin:/bin", "COLUMNS=" + width};
  }
  void prints(const std::string& name, const std::string& file) const {
    tool(name, "exec cat '" + file + "'\n");
  }
  void tool(const std::string& name, const std::string& script) const {
    const std::string program = here.write("bin/" + name, "#!/bin/sh\n" + script);
    std::filesystem::permissions(program, std::filesystem::perms::owner_all);
  }
  [[nodiscard]] Ran run(std::vector<std::string> words) const {
    words.insert(words.end(), {"--state-dir", "state"});
    return here.run(words);
  }
};

std::size_t lines_of(const std::string& text) {
  return static_cast<std::size_t>(std::ranges::count(text, '\n'));
}

std::size_t widest_line(const std::string& text) {
  std::istringstream lines(text);
  std::size_t widest = 0;
  for (std::string line; std::getline(lines, line);)
    widest = std::max(widest, static_cast<std::size_t>(std::ranges::count_if(line, [](char c) {
                        return (static_cast<unsigned char>(c) & 0xC0U) != 0x80U;
                      })));
  return widest;
}

const std::string slurm_fixtures = SCHEDMATE_SOURCE_DIR "/tests/fixtures/slurm/";

/// A dump with names of every bad kind, and figures of every size.
std::string hostile_dump() {
  const std::string name = "\033]52;c;eA==\a\xE2\x80\xAE=cmd|' /C calc'!A0 \xff\xf0\x9f\x98\x80" +
                           std::string(3000, 'x');
  std::string text =
      "JobID|User|Partition|State|Submit|Start|End|ElapsedRaw|TimelimitRaw|AllocTRES|TotalCPU|"
      "NodeList|SubmitLine\n";
  for (int i = 1; i <= 30; ++i)
    text += std::to_string(i) + "|\033[31m" + std::string(900, 'u') +
            "|gpu|FAILED|1793577600|1793577600|2093577600|300000000|5000000|"
            "cpu=1000000,gres/gpu=1000000,mem=999999999999M|999999-00:00:00|n[1-60000]|" +
            name.substr(0, 20) + name.substr(23) + "\n";
  return text;
}

}  // namespace

TEST_CASE("job: one screen, at 80 and at 120 columns") {
  ScreenSite site;
  site.tool("scontrol", "echo 'slurm_load_jobs error: Invalid job id specified' >&2; exit 1\n");
  site.prints("sacct", slurm_fixtures + "sacct.txt");
  for (const auto& [columns, width] : {std::pair{"80", 80U}, std::pair{"120", 120U}}) {
    site.columns(columns);
    for (const char* const id : {"1", "2", "3", "4", "5"}) {
      const Ran ran = site.run({"job", id});
      CAPTURE(ran.out);
      CAPTURE(ran.err);
      REQUIRE(ran.status == 0);
      CHECK(ran.out.starts_with(std::string("job ") + id + ", "));
      CHECK(lines_of(ran.out) <= 24);
      CHECK(lines_of(ran.out) >= 5);
      CHECK(widest_line(ran.out) <= width);
      CHECK_FALSE(ran.out.contains('\033'));
    }
  }
  const Ran json = site.run({"job", "1", "--json"});
  CHECK(json.out.contains("\"schema\": \"schedmate.job.v1\""));
  CHECK(json.out.contains("\"time_limit\": null"));
  const Ran absent = site.run({"job", "4711"});
  CHECK(absent.status == 2);
  CHECK(lines_of(absent.err) == 1);
  CHECK(site.run({"job"}).status == 2);
}

TEST_CASE("report: totals, jobs, causes and nodes, at 80 and at 120 columns") {
  ScreenSite site;
  const std::string from = "sacct:" + slurm_fixtures + "sacct.txt";
  for (const auto& [columns, width] : {std::pair{"80", 80U}, std::pair{"120", 120U}}) {
    site.columns(columns);
    for (const char* const by : {"", "user", "node", "day", "cause"}) {
      const Ran ran = *by == '\0' ? site.run({"report", "--from", from})
                                  : site.run({"report", "--from", from, "--by", by});
      CAPTURE(ran.out);
      REQUIRE(ran.status == 0);
      CHECK(ran.out.contains("GPU-hours"));
      CHECK(ran.out.contains("why jobs did not complete"));
      CHECK(widest_line(ran.out) <= width);
    }
    const Ran jobs = site.run({"report", "--from", from});
    for (const char* const name : {"JobID", "State", "Elapsed", "CPUEff", "Wasted"})
      CHECK_MESSAGE(jobs.out.contains(name), name);
  }
  CHECK(site.run({"report", "--from", from, "--json"}).out.contains("schedmate.report.v1"));
  CHECK(site.run({"report", "--from", from, "--csv"}).out.starts_with("job_id,"));
  CHECK(site.run({"report", "--from", from, "--limit", "1"}).out.contains("more (--limit 0"));
  const Ran wrong = site.run({"report", "--by", "usr"});
  CHECK(wrong.status == 2);
  CHECK(wrong.err.contains("nearest: user"));
}

TEST_CASE("report: what jobs lost before they completed stands below the causes, however many") {
  ScreenSite site;
  std::string text = "JobID|User|Partition|State|ExitCode|Submit|Start|End|AllocTRES|NodeList\n";
  const auto add = [&](int id, const char* state, int code, int start_s) {
    text += fmt::format("{0}|ann|gpu|{1}|{2}:0|{3}|{3}|{4}|gres/gpu=1|n1\n", id, state, code,
                        1793577600 + start_s, 1793577700 + start_s);
  };
  for (int i = 1; i <= 12; ++i) add(i, "FAILED", i, 0);
  add(20, "REQUEUED", 0, 0);
  add(20, "COMPLETED", 0, 500);
  const std::string from = "sacct:" + site.here.write("dump.txt", text);
  for (const char* const columns : {"80", ""}) {
    site.columns(columns);
    const std::string out = site.run({"report", "--from", from, "--since", "all"}).out;
    CHECK_MESSAGE(out.contains("attempts before one that completed"), out);
    int shown = 0;
    for (int code = 1; code <= 12; ++code)
      shown += out.contains(fmt::format("1 x exit code {} ", code)) ? 1 : 0;
    CHECK(shown == (*columns == '\0' ? 12 : 8));
  }
}

TEST_CASE("into a pipe nothing is cut or left out, nothing is coloured; COLUMNS still fits") {
  ScreenSite site;
  site.tool("scontrol", "exit 1\n");
  const std::string long_name(60, 'n');
  const std::string command = "python train.py --data " + std::string(300, 'd') + " --end";
  std::string text =
      "JobID|User|Partition|State|Submit|Start|End|ElapsedRaw|TimelimitRaw|AllocTRES|NodeList|"
      "JobName|SubmitLine\n";
  for (int i = 1; i <= 30; ++i)
    text += fmt::format(
        "{0}|{1}|gpu|FAILED|1793577600|1793577600|1793577700|100|60|cpu=8,gres/"
        "gpu=4|node{0}|{1}|{2}\n",
        i, long_name, command);
  const std::string dump = site.here.write("dump.txt", text);
  site.prints("sacct", dump);
  const std::vector<std::string> report = {"report", "--from", "sacct:" + dump};
  CHECK(widest_line(site.run(report).out) <= 80);
  CHECK(widest_line(site.run({"list", "formats"}).out) <= 80);
  site.columns("");
  const Ran whole = site.run(report);
  REQUIRE(whole.status == 0);
  CHECK_FALSE(whole.out.contains("..."));
  CHECK_FALSE(whole.out.contains('\033'));
  for (const char* const column :
       {"JobID", "User", "Name", "Ended", "Waited", "TimeEff", "MemEff", "GPUEff", "GPUMem",
        "GPU-h", "Energy", "Wasted", "Nodes", "Cause"})
    CHECK_MESSAGE(whole.out.contains(column), column);
  CHECK(whole.out.contains("\n30 "));  // more rows than a screen has
  CHECK(whole.out.contains("  node30: 1 of 1 failed"));
  CHECK(whole.out.contains(long_name + "  " + long_name));
  CHECK(site.run({"report", "--from", "sacct:" + dump, "--limit", "2"}).out.contains("28 more"));
  const Ran job = site.run({"job", "7"});
  CHECK(job.out.contains("command   " + command + "\n"));
  CHECK_FALSE(job.out.contains("..."));
}

TEST_CASE("job: what seff, reportseff and jobstats print stands on the screen") {
  ScreenSite site;
  site.tool("scontrol", "exit 1\n");
  const std::string summary = testing::jobstats_comment(
      read_file(SCHEDMATE_SOURCE_DIR "/tests/fixtures/jobstats/two_nodes.json").value());
  site.prints("sacct",
              site.here.write(
                  "dump.txt",
                  "JobID|User|Group|Account|Cluster|Partition|QOS|State|ExitCode|Submit|Start|End|"
                  "ElapsedRaw|TimelimitRaw|AllocTRES|TotalCPU|ConsumedEnergyRaw|NodeList|JobName|"
                  "AdminComment\n17|ann|users|lab|big|gpu|high|COMPLETED|0:0|1793577600|1793577600|"
                  "1793577660|60|2|cpu=8,gres/gpu=4,mem=8G|00:02:31|7200|n[1-2]|net|" +
                      summary + "\n"));
  const Ran ran = site.run({"job", "17"});
  CAPTURE(ran.out);
  for (const char* const part :
       {"of ann/users (lab)", "8 CPUs (4 a node)", "gpu/high", "cluster big", "limit 2 min",
        "50 % of the limit", "50 % busy, of 4 GPUs", "28 % (11 GiB of 40 GiB each)",
        "31 % of 8 CPUs (2 min 31 s of 8 min CPU time)", "(3 GiB of 8 GiB; 4 GiB a node)",
        "2.00 Wh", "nodes     n1: CPU 42 % of 4, memory 50 % (2 GiB of 4 GiB)",
        "GPU 0, 1: 99, 0 % busy; memory 50, 50 % of 40 GiB"})
    CHECK_MESSAGE(ran.out.contains(part), part);
  CHECK(lines_of(ran.out) <= 24);
  CHECK(widest_line(ran.out) <= 80);
}

TEST_CASE("job LOG of a log that cannot be read ends as diagnose does") {
  const ScreenSite site;
  site.tool("sacct", "exit 1\n");
  site.tool("scontrol", "exit 1\n");
  (void)site.here.write("bad.log.gz", "\x1f\x8b\x08 garbage, no gzip");
  (void)site.here.write("empty.log", "");
  (void)site.here.write("blank.log", "\n\n\n");
  (void)site.here.write("binary.log", std::string(5000, '\0'));
  std::filesystem::create_symlink("loop.log", site.here.path("loop.log"));
  for (const char* const log :
       {"bad.log.gz", "empty.log", "blank.log", "binary.log", "loop.log", "/dev/null"}) {
    CAPTURE(log);
    const Ran diagnosed = site.run({"diagnose", log});
    const Ran ran = site.run({"job", log});
    CHECK(ran.status == diagnosed.status);
    CHECK(ran.status >= 3);  // root may follow no loop of links: 4
    CHECK(ran.out == "");
    CHECK(lines_of(ran.err) == 1);
  }
}

TEST_CASE("report and job: hostile names and huge figures command no terminal and fit") {
  const ScreenSite site;
  site.tool("scontrol", "exit 1\n");
  const std::string dump = site.here.write("dump.txt", hostile_dump());
  site.prints("sacct", dump);
  for (const auto& words :
       {std::vector<std::string>{"job", "7"},
        std::vector<std::string>{"report", "--from", "sacct:" + dump},
        std::vector<std::string>{"report", "--from", "sacct:" + dump, "--by", "user"}}) {
    const Ran ran = site.run(words);
    CAPTURE(ran.out);
    CAPTURE(ran.err);
    CHECK(ran.status == 0);
    CHECK_FALSE(ran.out.contains('\033'));
    CHECK_FALSE(ran.out.contains('\a'));
    CHECK(widest_line(ran.out) <= 80);
  }
  CHECK(lines_of(site.run({"job", "7"}).out) <= 24);
}

TEST_CASE("report: no history and a broken sacct are said, in one line each") {
  const ScreenSite site;
  site.tool("sacct", "echo 'sacct: error: Slurm accounting storage is disabled' >&2; exit 1\n");
  const Ran none = site.run({"report"});
  CHECK(none.status == 4);
  CHECK(none.err.contains("there is no history yet"));
  CHECK(none.err.contains("accounting storage is disabled"));
  CHECK(lines_of(none.err) == 1);
  REQUIRE(site.run({"history", "add", "1", "--user", "ann"}).status == 0);
  const Ran empty = site.run({"report"});
  CHECK(empty.status == 0);
  CHECK(empty.out.contains("0 jobs"));
  CHECK(empty.out.contains("accounting storage is disabled"));
  CHECK(site.run({"report", "--csv", "--json"}).status == 2);
  const Ran asked = site.run({"report", "--from", "sacct"});
  CHECK(asked.status == 4);
  CHECK(lines_of(asked.err) == 1);
  site.tool("sacct", "echo JobID; echo garbage\n");
  CHECK(site.run({"report", "--from", "sacct"}).status == 3);
}

TEST_CASE("doctor: each row says what it gives, and how to mend what is missing") {
  const ScreenSite site;
  site.tool("sacct", "exit 1\n");
  site.tool("scontrol", "exit 1\n");
  const Ran ran = site.run({"doctor"});
  CHECK(ran.status == 0);
  for (const char* const word : {"sacct", "scontrol", "slurm.conf", "NVML", "dcgm-exporter",
                                 "Redis", "model servers", "time zone", "state folder", "to mend:"})
    CHECK_MESSAGE(ran.out.contains(word), word);
}

}  // namespace schedmate
