// SPDX-License-Identifier: Apache-2.0
#include <doctest/doctest.h>

#include <algorithm>

#include "tests/support/broken_dumps.hpp"
#include "tests/support/places.hpp"
#include "trace/accounting_readers.hpp"

namespace schedmate {
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

TEST_CASE(
    "accounting: one bad row in ten is skipped and told, two are too many; strict takes none") {
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

TEST_CASE("broken accounting dumps: the message says where, what and how to mend it") {
  int count = 0;
  for (const BrokenDump& dump : broken_dumps()) {
    if (dump.name == "UTF-16" || dump.name == "half a gzip" || dump.name == "no nodes") continue;
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

}  // namespace schedmate
