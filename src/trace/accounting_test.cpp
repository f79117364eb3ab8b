// SPDX-License-Identifier: Apache-2.0
#include <doctest/doctest.h>
#include <fmt/format.h>

#include <algorithm>

#include "tests/support/broken_dumps.hpp"
#include "tests/support/places.hpp"
#include "trace/accounting_readers.hpp"
#include "trace/readers.hpp"

namespace schedmate::trace {
namespace {

using testing::fixtures;

using Counts = std::map<std::string, std::uint64_t>;

Result<AccountingDump> parse(std::string_view text, bool strict = false) {
  return parse_accounting(bytes_of(text), "t", {.strict = strict});
}

const std::string header =
    "JobID|User|Partition|State|Submit|Eligible|Start|End|TimelimitRaw|AllocTRES|NodeList\n";

const AccountedJob& job(const AccountingDump& dump, std::string_view id) {
  return *std::ranges::find(dump.jobs, id, &AccountedJob::id);
}

}  // namespace

TEST_CASE("accounting text: every kind of row") {
  const AccountingDump dump =
      read_accounting(fixtures + "sacct/accounting_small.txt", {.strict = true}).value();
  CHECK(dump.report.dropped == Counts{{"component of a het job, counted with its first one", 1},
                                      {"ended before it started", 1},
                                      {"job step", 2},
                                      {"still waiting at the end of the dump", 2},
                                      {"the same attempt again", 1}});
  std::vector<std::string> ids;
  for (const AccountedJob& each : dump.jobs) ids.push_back(each.id);
  CHECK(ids == std::vector<std::string>{"10", "12_3", "14", "11", "11#2", "17+0", "20"});

  CHECK(job(dump, "10").gpus == 4);  // the typed part is not counted again
  CHECK(job(dump, "10").gpu_type == "a100");
  CHECK(job(dump, "10").nodes.size() == 2);
  CHECK(job(dump, "10").limit == Seconds(3600));
  CHECK(job(dump, "10").submit_line == "sbatch -N2 a.sh");
  CHECK(job(dump, "12_3").limit_kind == LimitKind::unlimited);
  CHECK(job(dump, "12_3").eligible - job(dump, "12_3").submit == Seconds(300));
  CHECK(job(dump, "14").limit_kind == LimitKind::partition);
  CHECK(job(dump, "14").state == "CANCELLED");
  CHECK(job(dump, "11").state == "NODE_FAIL");
  CHECK(job(dump, "11#2").start - job(dump, "11").end == Seconds(60));
  CHECK(job(dump, "17+0").gpus == 3);  // two components in one partition
  CHECK(job(dump, "17+0").nodes.size() == 2);
  CHECK(job(dump, "20").running);
  CHECK(job(dump, "20").end == dump.last);
  CHECK(dump.first_end == job(dump, "14").end);
}

TEST_CASE("accounting JSON: plain numbers and {set, infinite, number} alike") {
  const AccountingDump dump =
      read_accounting(fixtures + "sacct/accounting_small.json", {.strict = true}).value();
  REQUIRE(dump.jobs.size() == 3);
  CHECK(job(dump, "10").gpus == 4);
  CHECK(job(dump, "10").gpu_type == "a100");
  CHECK(job(dump, "10").user == "ann");
  CHECK(job(dump, "10").limit == Seconds(3600));
  CHECK(job(dump, "12_3").limit_kind == LimitKind::unlimited);
  CHECK(job(dump, "12_3").restarts == 2);
  CHECK(job(dump, "12_3").exit_code == "1:9");
  CHECK(job(dump, "17+0").gpus == 3);
  CHECK(dump.report.dropped == Counts{{"component of a het job, counted with its first one", 1},
                                      {"still waiting at the end of the dump", 1}});
}

TEST_CASE("accounting: both forms of a real Slurm's dump are the same jobs") {
  const AccountingDump text =
      read_accounting(fixtures + "sacct/testbed.txt.gz", {.strict = true}).value();
  const AccountingDump json =
      read_accounting(fixtures + "sacct/testbed.json.gz", {.strict = true}).value();
  REQUIRE(text.jobs.size() == 322);
  REQUIRE(json.jobs.size() == text.jobs.size());
  for (const AccountedJob& a : text.jobs) {
    const auto found = std::ranges::find(json.jobs, a.id, &AccountedJob::id);
    REQUIRE_MESSAGE(found != json.jobs.end(), a.id);
    // The text names the user 5, games; the JSON of 22.05 has only the Unix group 5, tty.
    CHECK((a.user == "games" ? "tty" : a.user) == found->user);
    CHECK(std::tuple(a.partition, a.state, a.submit, a.eligible, a.start, a.end) ==
          std::tuple(found->partition, found->state, found->submit, found->eligible, found->start,
                     found->end));
    CHECK(std::tuple(a.gpus, a.gpu_type, a.cpus, a.limit, a.nodes.size(), a.name, a.work_dir) ==
          std::tuple(found->gpus, found->gpu_type, found->cpus, found->limit, found->nodes.size(),
                     found->name, found->work_dir));
  }
}

TEST_CASE("accounting text: a submit line over several lines is one field") {
  const std::string text =
      "JobID|User|Partition|State|Submit|Start|End|AllocTRES|SubmitLine|NodeList\n"
      "1|ann|gpu|COMPLETED|100|110|120|gres/gpu=1|sbatch --wrap \"cd x\n\nrun\"|n1\n"
      "2|ann|gpu|COMPLETED|100|110|120|gres/gpu=1|sbatch b.sh|n1\n";
  const AccountingDump dump = parse(text, true).value();
  REQUIRE(dump.jobs.size() == 2);
  CHECK(dump.jobs[0].submit_line == "sbatch --wrap \"cd x\n\nrun\"");
  CHECK_FALSE(parse(text).value().has_eligible);
}

TEST_CASE("accounting text: a submit line of several lines and bars may be the last field") {
  const std::string text =
      "JobID|User|Partition|State|Submit|Start|End|AllocTRES|NodeList|JobName|SubmitLine\n"
      "1|ann|gpu|COMPLETED|100|110|120|gres/gpu=1|n1|a|sbatch --wrap \"cd x\n\n1 | sort\nrun\"\n"
      "12_3|ann|gpu|COMPLETED|100|110|120|gres/gpu=1|n1|b|sbatch --wrap \"a | b\nc || d\"\n"
      "3|ann|gpu|COMPLETED|100|110|120|gres/gpu=1|n1|c|sbatch c.sh\n\n";
  const AccountingDump dump = parse(text, true).value();
  REQUIRE(dump.jobs.size() == 3);
  CHECK(job(dump, "1").submit_line == "sbatch --wrap \"cd x\n\n1 | sort\nrun\"");
  CHECK(job(dump, "12_3").submit_line == "sbatch --wrap \"a | b\nc || d\"");
  CHECK(job(dump, "12_3").name == "b");
  CHECK(job(dump, "3").submit_line == "sbatch c.sh");
  // The end of the file cut the last row off: that is reported, not made part of the row before.
  const auto cut = parse(text + "4|ann|gpu|COMPL", true);
  REQUIRE_FALSE(cut.has_value());
  CHECK(cut.error().message.starts_with("t:10:1: fewer fields"));
}

TEST_CASE("accounting text: fields behind a submit line of several lines and bars") {
  const std::string head =
      "JobID|User|Partition|State|Submit|Start|End|AllocTRES|SubmitLine|NodeList\n";
  const std::string row =
      "1|ann|gpu|COMPLETED|100|110|120|gres/gpu=1|sbatch --wrap \"a | b\nc\"|n1\n";
  const AccountingDump dump = parse(head + row, true).value();
  CHECK(dump.jobs[0].submit_line == "sbatch --wrap \"a | b\nc\"");
  CHECK(dump.nodes == std::vector<std::string>{"n1"});
  // What belongs to no row costs none.
  std::string text = head;
  for (int i = 10; i < 30; ++i)
    text += std::to_string(i) + "|ann|gpu|COMPLETED|100|110|120|gres/gpu=1|sbatch|n1\n";
  const AccountingDump more = parse(text + "sacct: error: gone\nfor good\n").value();
  CHECK(more.jobs.size() == 20);
  CHECK(more.report.messages.size() == 1);
  CHECK(more.report.messages[0].starts_with("t:22:1: this is an error message from sacct"));
}

TEST_CASE("accounting text: an error of sacct's at the end is reported and joins no job") {
  std::string text = "JobID|User|Partition|State|Submit|Start|End|AllocTRES|NodeList|SubmitLine\n";
  for (int i = 10; i < 30; ++i)
    text += std::to_string(i) + "|ann|gpu|COMPLETED|100|110|120|gres/gpu=1|n1|sbatch a.sh\n";
  const std::string error = "sacct: error: slurmdbd: connection lost\n";
  const AccountingDump dump = parse(text + error).value();
  CHECK(dump.jobs.size() == 20);
  CHECK(job(dump, "29").submit_line == "sbatch a.sh");
  REQUIRE(dump.report.messages.size() == 1);
  CHECK(dump.report.messages[0].contains(
      "t:22:1: this is an error message from sacct: the dump may"));
  CHECK(parse(text + error, true).error().message.contains("end too early"));
}

TEST_CASE(
    "accounting text: a bar in a name is only put right where no field of Slurm's can shift") {
  const std::string row = "1|a|b|ann|gpu|COMPLETED|100|110|120|gres/gpu=1|n1|sbatch a.sh\n";
  const auto dump = parse(
      "JobID|JobName|User|Partition|State|Submit|Start|End|AllocTRES|NodeList|SubmitLine\n" + row);
  REQUIRE_FALSE(dump.has_value());
  CHECK(dump.error().message.contains("t:2:1: more fields"));
  CHECK(dump.error().message.contains("SubmitLine last"));
}

TEST_CASE("accounting: of two dumps in one file the row that knows the end counts") {
  const std::string old = "1|a|g|RUNNING|100|100|110|Unknown|60|gres/gpu=1|n1\n";
  const std::string now = "1|a|g|COMPLETED|100|100|110|120|60|gres/gpu=1|n1\n";
  const std::string other = "2|a|g|COMPLETED|100|100|110|900|60|gres/gpu=1|n2\n";
  for (const auto& rows : {std::vector{old, header, now, other}, {now, header, other, old}}) {
    std::string text = header;
    for (const std::string& row : rows) text += row;
    const AccountingDump dump = parse(text, true).value();
    REQUIRE(dump.jobs.size() == 2);
    CHECK_FALSE(job(dump, "1").running);
    CHECK(job(dump, "1").end == at(120));
    CHECK(dump.report.dropped == Counts{{"the same attempt again", 1}});
  }
  // Of two that ended the later one in the file: the first may be of a job that went on.
  const std::string longer = "1|a|g|FAILED|100|100|110|130|60|gres/gpu=1|n1\n";
  CHECK(job(parse(header + now + longer, true).value(), "1").end == at(130));
  // A component of a het job is not its own second component.
  const std::string het = "7+0|a|g|RUNNING|100|100|110|Unknown|60|gres/gpu=2|n1\n";
  const std::string het_end = "7+0|a|g|COMPLETED|100|100|110|120|60|gres/gpu=2|n1\n";
  CHECK(job(parse(header + het + het_end, true).value(), "7+0").gpus == 2);
  // The old dump saw the first attempt, the new one (without --duplicates) the second alone.
  const std::string again = "1|a|g|COMPLETED|100|150|160|170|60|gres/gpu=1|n1\n";
  const AccountingDump requeued = parse(header + old + again + other, true).value();
  REQUIRE(requeued.jobs.size() == 2);
  CHECK(job(requeued, "1").end == at(170));
  CHECK(requeued.report.dropped == Counts{{"still running, but started again later", 1}});
}

TEST_CASE("accounting: nodes of a het job's component without GPUs are not where its GPUs are") {
  const std::string cpus = "7+0|a|g|COMPLETED|100|100|110|120|60|cpu=4|c1\n";
  const std::string gpus = "7+1|a|g|COMPLETED|100|100|110|120|60|cpu=2,gres/gpu:a100=4|n1\n";
  const std::string more = "7+2|a|g|COMPLETED|100|100|110|120|60|cpu=1|c2\n";
  const AccountingDump dump = parse(header + cpus + gpus + more, true).value();
  REQUIRE(dump.jobs.size() == 1);
  const AccountedJob& whole = dump.jobs[0];
  REQUIRE(whole.nodes.size() == 1);
  CHECK(dump.nodes[whole.nodes[0]] == "n1");
  CHECK(whole.gpus == 4);
  CHECK(whole.cpus == 7);
  CHECK(whole.gpu_type == "a100");
  // Without any GPUs all nodes count, for their CPUs.
  CHECK(parse(header + cpus + more, true).value().jobs[0].nodes.size() == 2);
}

TEST_CASE("accounting: a job that was cancelled while it waited never started") {
  const std::string ran = "1|a|g|CANCELLED by 7|100|100|110|110|60|gres/gpu=1|n1\n";
  const std::string gone = "2|a|g|CANCELLED by 7|100|100|110|110|60||None assigned\n";
  const std::string nodeless = "3|a|g|CANCELLED by 7|100|100|110|110|60||\n";
  const AccountingDump dump = parse(header + ran + gone + nodeless, true).value();
  REQUIRE(dump.jobs.size() == 1);
  CHECK(dump.jobs[0].id == "1");
  CHECK(dump.report.dropped == Counts{{"ended before it started", 2}});
}

TEST_CASE("accounting: what Slurm 25.11 calls a job that is requeued at once") {
  const std::string waits = "1|a|g|EXPEDITING|100|100|Unknown|Unknown|60||\n";
  const std::string attempt = "1|a|g|EXPEDITING|100|100|110|120|60|gres/gpu=1|n1\n";
  const AccountingDump dump = parse(header + attempt + waits, true).value();
  CHECK(dump.jobs.size() == 1);
  CHECK(dump.report.dropped == Counts{{"still waiting at the end of the dump", 1}});
}

TEST_CASE("accounting text: a number of restarts that cannot be is none") {
  const std::string head = "JobID|User|Partition|State|Submit|Start|End|AllocTRES|Restarts\n";
  const std::string row = "|a|g|COMPLETED|100|110|120|gres/gpu=1|";
  const AccountingDump dump =
      parse(head + "1" + row + "3\n2" + row + "4294967294\n3" + row + "-1\n", true).value();
  CHECK(job(dump, "1").restarts == 3);
  CHECK(job(dump, "2").restarts == 0);
  CHECK(job(dump, "3").restarts == 0);
}

TEST_CASE("accounting text: where fields are missing the documented command is named") {
  std::string documented = read_file(SCHEDMATE_SOURCE_DIR "/docs/formats/whatif.md").value();
  const std::string broken_line = "\\\n      ";
  for (auto at = documented.find(broken_line); at != std::string::npos;
       at = documented.find(broken_line))
    documented.erase(at, broken_line.size());
  const std::string message = parse("JobID|User|Partition\n1|a|g\n").error().message;
  const std::size_t begin = message.find('`') + 1;
  const std::string command = message.substr(begin, message.rfind('`') - begin);
  CHECK(command.ends_with(",Reason,AdminComment,WorkDir,JobName,SubmitLine"));
  CHECK_MESSAGE(documented.contains(command), command);
}

TEST_CASE("accounting text: a job has what its steps used, and the attempts keep theirs apart") {
  const std::string text =
      "JobID|User|Account|Partition|State|Submit|Start|End|ElapsedRaw|AllocTRES|TotalCPU|MaxRSS|"
      "NTasks|TRESUsageInTot|ReqMem|NodeList\n"
      "1|a|lab|g|NODE_FAIL|100|110|120|10|cpu=8,gres/gpu=2,mem=4G|00:08||||4G|n[1-2]\n"
      "1.batch||||FAILED|110|110|120|10|cpu=8,gres/gpu=2,mem=4G|00:08|1024K|1||| n1\n"
      "1|a|lab|g|COMPLETED|100|200|260|60|cpu=8,gres/gpu=2,mem=4G|1-00:00:01.5||||4G|n[3-4]\n"
      "1.batch||||COMPLETED|200|200|260|60|cpu=8,gres/gpu=2|00:01|2048K|2||| n3\n"
      "1.0||||COMPLETED|200|200|260|60|cpu=8,gres/gpu=2|00:02||2|"
      "cpu=00:00:02,gres/gpumem=6G,gres/gpuutil=150,mem=3145728|| n3\n"
      "2|a|lab|g|COMPLETED|100|200|260|60|cpu=2,gres/gpu=1|00:00:00||||4Gc|n3\n"
      "2.batch||||COMPLETED|200|200|260|60|cpu=2|00:00:00|0|1||| n3\n";
  const AccountingDump dump = parse(text, true).value();
  const AccountedJob& first = job(dump, "1");
  CHECK(first.account == "lab");
  CHECK(first.node_list == "n[1-2]");
  CHECK(first.memory_mib == 4096);
  CHECK(first.use.memory_mib == 1);  // not what the second attempt used
  CHECK(first.use.cpu_time == FractionalSeconds(8));
  const AccountedJob& second = job(dump, "1#2");
  CHECK(second.elapsed == Seconds(60));
  CHECK(second.use.cpu_time == FractionalSeconds(86'401.5));  // the job's own, not its steps'
  CHECK(second.use.memory_mib == 4);                          // two tasks of the batch step
  CHECK(second.use.gpu_util_pct == 75);                       // of each of two GPUs
  CHECK(second.use.gpu_memory_mib == 3072);
  const AccountedJob& third = job(dump, "2");
  CHECK(third.memory_mib == 8192);              // for each of two CPUs
  CHECK_FALSE(third.use.cpu_time.has_value());  // nothing was measured
  CHECK_FALSE(third.use.memory_mib.has_value());
}

TEST_CASE("accounting: what reads single jobs takes dumps with few fields and many bad rows") {
  const std::string text =
      "JobID|Submit|Start|ElapsedRaw|AllocTRES\n"
      "1|100|110|60|gres/gpu=1\n2|x|110|60|gres/gpu=1\n3|100|y|60|gres/gpu=1\n";
  CHECK_FALSE(parse(text));
  const auto dump = parse_accounting(bytes_of(text), "t", {.strict = false, .lenient = true});
  REQUIRE(dump.has_value());
  REQUIRE(dump->jobs.size() == 1);
  CHECK(dump->jobs[0].end == at(170));
  CHECK(dump->report.messages.size() == 2);
  CHECK(dump->report.messages[0].starts_with("t:3:3: submit "));
  CHECK(dump->report.messages[1].starts_with("t:4:7: start "));
  const std::string nothing = "JobID|Submit|Start|End|AllocTRES\n";
  CHECK(parse_accounting(bytes_of(nothing), "t", {.strict = false, .lenient = true})->jobs.empty());
}

TEST_CASE("the default output of sacct is refused with the command to use") {
  const std::string screen =
      "JobID           JobName  Partition    Account  AllocCPUS      State ExitCode \n"
      "------------ ---------- ---------- ---------- ---------- ---------- -------- \n"
      "17           train.sh          gpu        lab          8  COMPLETED      0:0 \n";
  for (const std::string& message :
       {parse(screen).error().message, parse_sacct(screen, "t", {}).error().message}) {
    CHECK_MESSAGE(message.contains("formatted for the screen"), message);
    CHECK_MESSAGE(message.contains("sacct --allusers --duplicates --parsable2"), message);
    CHECK_MESSAGE(message.contains("TimelimitRaw"), message);
  }
}

TEST_CASE("accounting: group and energy, from text and from JSON; zero and nothing are not known") {
  const std::string head =
      "JobID|User|Group|Partition|State|Submit|Start|End|AllocTRES|ConsumedEnergyRaw\n";
  const auto job = [&](std::string_view tres, std::string_view energy, std::string_view steps) {
    return parse(fmt::format("{}1|ann|users|gpu|COMPLETED|100|100|200|gres/gpu=1{}|{}\n{}", head,
                             tres, energy, steps))
        .value()
        .jobs.at(0);
  };
  CHECK(job("", "7200", "").group == "users");
  CHECK(job("", "7200", "").use.energy_j == 7200);
  CHECK(job(",energy=360", "", "").use.energy_j == 360);
  // Steps that run side by side meter the same nodes.
  CHECK(job("", "", "1.batch||||COMPLETED|100|100|200||500\n1.0||||COMPLETED|100|100|200||900\n")
            .use.energy_j == 900);
  for (const char* const none : {"", "0", "-5", "18446744073709551614", "1.5K", "nan"})
    CHECK_MESSAGE(!job("", none, "").use.energy_j.has_value(), none);
  const auto json = [](std::string_view tres, std::string_view steps) {
    return read_accounting_text(
               fmt::format(
                   R"({{"jobs": [{{"job_id": 1, "user": "ann", "group": "users", )"
                   R"("partition": "gpu", "state": {{"current": ["COMPLETED"]}}, )"
                   R"("time": {{"submission": 100, "start": 100, "end": 200}}, )"
                   R"("tres": {{"allocated": [{{"type": "gres", "name": "gpu", "count": 1}}{}]}},)"
                   R"("steps": [{}]}}]}})",
                   tres, steps),
               "t", {})
        .value()
        .jobs.at(0);
  };
  CHECK(json("", "").group == "users");
  CHECK_FALSE(json("", "").use.energy_j.has_value());
  CHECK(json(R"(, {"type": "energy", "name": "", "count": 360})", "").use.energy_j == 360);
  CHECK(json("", R"({"statistics": {"energy": {"consumed": {"set": true, "infinite": false,)"
                 R"( "number": 900}}}})")
            .use.energy_j == 900);
  CHECK_FALSE(json("", R"({"statistics": {"energy": {"consumed": 18446744073709551614}}})")
                  .use.energy_j.has_value());
}

TEST_CASE("accounting: the documented command asks for everything that is read") {
  for (const char* const field :
       {"Group", "Cluster", "ConsumedEnergyRaw", "AdminComment", "TotalCPU"})
    CHECK_MESSAGE(accounting_fields().contains(field), field);
}

TEST_CASE("accounting: the ways of AllocGRES to name GPUs") {
  for (const auto& [gres, type] : {std::pair<std::string, std::string>{"gpu:4", ""},
                                   {"gpu:a100:4", "a100"},
                                   {"gpu:a100:4(IDX:0-1,3,5)", "a100"},
                                   {"gpu:a100:4(S:0-1)", "a100"},
                                   {"gres:gpu:4", ""},
                                   {"gres:gpu:a100:3,gpu:a100:1", "a100"},
                                   {"gres:gpu:a100:3,gpu:a10:1", "a100,a10"}}) {
    const std::string text =
        "JobID|User|Partition|State|Submit|Start|End|AllocGRES|NodeList\n"
        "1|a|g|COMPLETED|100|110|120|" +
        gres + "|n1\n";
    const AccountingDump dump = parse(text, true).value();
    CHECK_MESSAGE(dump.jobs[0].gpus == 4, gres);
    CHECK_MESSAGE(dump.jobs[0].gpu_type == type, gres);
  }
}

TEST_CASE(
    "accounting: one bad row in ten is skipped and reported, two are too many; strict takes none") {
  std::string text = header;
  for (int i = 1; i < 20; ++i)
    text += std::to_string(i) + "|a|g|COMPLETED|100|100|110|120|60|gres/gpu=1|n1\n";
  const std::string bad = "99|a|g|COMPLETED|100|100|x|120|60|gres/gpu=1|n1\n";
  const AccountingDump dump = parse(text + bad + bad).value();
  CHECK(dump.jobs.size() == 19);
  CHECK(dump.report.messages.size() == 2);
  CHECK(dump.report.rows == dump.report.kept + dump.report.dropped.at("bad row"));
  CHECK(parse(text + bad + bad + bad).error().message.contains("3 of 22 rows"));
  CHECK(parse(text + bad, true).error().message.starts_with("t:21:26: start is neither"));
}

TEST_CASE("broken accounting dumps: the message says where, what and how to fix it") {
  int count = 0;
  for (const BrokenDump& dump : broken_dumps()) {
    if (dump.of_file) continue;
    const auto read = parse(dump.text);
    REQUIRE_MESSAGE(!read.has_value(), dump.name);
    CHECK_MESSAGE(exit_code(read.error().code) == 3, dump.name);
    for (std::string part : dump.says) {
      if (part.starts_with("FILE")) part.replace(0, 4, "t");
      CHECK_MESSAGE(read.error().message.contains(part), dump.name << ": " << read.error().message);
    }
    ++count;
  }
  CHECK(count >= 30);
}

}  // namespace schedmate::trace
