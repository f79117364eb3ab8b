// SPDX-License-Identifier: Apache-2.0
#include <doctest/doctest.h>

#include "tests/cli/program.hpp"

namespace schedmate {
namespace {

using Words = std::vector<std::string>;

void check_refused(const Words& arguments, int status, std::string_view reason) {
  const Scratch here;
  const Ran ran = here.run(arguments);
  CAPTURE(ran.err);
  CHECK(ran.status == status);
  CHECK(ran.err.contains(reason));
  CHECK(ran.out.empty());
  CHECK(here.files("out").empty());
}

Words simulate(const Words& more) {
  Words words{"simulate", "--trace", venus(), "--out", "out"};
  words.insert(words.end(), more.begin(), more.end());
  return words;
}

}  // namespace

TEST_CASE("a wrong name ends with 2 and the nearest right one") {
  check_refused({"simulat"}, 2, "nearest: simulate");
  check_refused({"--jsom", "list"}, 2, "nearest: --json");
  check_refused(simulate({"--polcy", "fifo"}), 2, "nearest: --policy");
  check_refused(simulate({"--policy", "tiresia"}), 2, "nearest: tiresias");
  check_refused({"simulate", "--trace", "helio:x", "--policy", "fifo", "--out", "out"}, 2,
                "nearest: helios");
  check_refused(simulate({"--policy", "sjf:estimate=orakle"}), 2, "nearest: oracle");
  check_refused(simulate({"--policy", "fifo:estimat=oracle"}), 2, "nearest: estimate");
  check_refused(simulate({"--policy", "fifo", "--set", "placement=consolidat"}), 2,
                "nearest: consolidate");
  check_refused(simulate({"--policy", "fifo", "--set", "defects.late_ends=true"}), 2,
                "nearest: defects.late_end");
  check_refused(simulate({"--policy", "fifo", "--mode", "repared"}), 2, "nearest: repaired");
  check_refused(simulate({"--policy", "fifo", "--explain", "76547"}), 2, "nearest id: 765472");
  check_refused({"list", "polices"}, 2, "nearest: policies");
  check_refused({"completion", "bsh"}, 2, "nearest: bash");
}

TEST_CASE("a missing flag, a wrong value or two labels alike end with 2") {
  check_refused({"simulate", "--policy", "fifo", "--out", "out"}, 2, "--trace FORMAT:PATH");
  check_refused({"generate", "--from", "venus", "--out", "out"}, 2, "--jobs N");
  check_refused({"completion"}, 2, "bash, zsh or fish");
  check_refused(simulate({"--policy", "fifo", "--seed", "some"}), 2, "a whole number");
  check_refused(simulate({"--policy", "fifo", "--policy", "fifo:estimate=oracle"}), 2, "@fifo-2");
  check_refused(simulate({"--policy", "fifo@../up"}), 2, "letters");
  check_refused(simulate({"--policy", "fifo:estimate"}), 2, "key=value");
  check_refused({"generate", "--from", "venus", "--jobs", "5", "--gpus", "8", "--load", "0.9",
                 "--out", "out"},
                2, "each needs a node");
  check_refused({"generate", "--from", "venus", "--jobs", "5", "--gpus", "1080", "--load", "-1",
                 "--out", "out"},
                2, "above 0");
}

TEST_CASE("generate --like refuses what does not go with it") {
  check_refused({"generate", "--like", "acme-sern", "--out", "out"}, 2, "nearest: acme-seren");
  check_refused({"generate", "--like", "saturn"}, 2, "--out DIR");
  check_refused({"generate", "--like", "saturn", "--from", "venus", "--out", "out"}, 2, "--from");
  check_refused({"generate", "--like", "saturn", "--load", "1", "--out", "out"}, 2, "--load");
  check_refused({"generate", "--like", "saturn", "--days", "0", "--out", "out"}, 2, "--days");
  check_refused({"generate", "--like", "saturn", "--jobs", "-5", "--out", "out"}, 2, "at least 1");
  check_refused({"generate", "--like", "saturn", "--gpus", "7", "--out", "out"}, 2, "--gpus 7");
  check_refused({"generate", "--like", "nowhere.toml", "--out", "out"}, 3, "nowhere.toml");
  check_refused({"generate", "--from", "venus", "--days", "3", "--out", "out"}, 2, "--like");
  check_refused({"generate", "--from", "venus", "--most-gpus", "3", "--out", "out"}, 2, "--like");
}

TEST_CASE("no command at all prints the help and ends with 2") {
  const Ran ran = Scratch().run({});
  CHECK(ran.status == 2);
  CHECK(ran.err.contains("simulate"));
}

TEST_CASE("bad input ends with 3, a place that cannot be written with 4") {
  check_refused({"simulate", "--trace", "helios:nowhere.csv", "--policy", "fifo", "--out", "out"},
                3, "nowhere.csv");
  check_refused(simulate({"--policy", "fifo", "--cluster", "nowhere.toml"}), 3, "nowhere.toml");
  check_refused(simulate({"--policy", "sjf:estimate=column:est"}), 3, "est");
  const Scratch here;
  here.write("file", "");
  const Ran ran = here.run({"simulate", "--trace", venus(), "--policy", "fifo", "--out", "file/x"});
  CHECK(ran.status == 4);
  CHECK(ran.err.contains("file/x"));
}

TEST_CASE("a trace that does not say its cluster asks for one") {
  const Scratch here;
  here.write("jobs.csv", "job_id,user,vc,gpu_num,state,submit_s,duration_s\n1,u,a,1,,0,5\n");
  const Ran ran =
      here.run({"simulate", "--trace", "helios:jobs.csv", "--policy", "fifo", "--out", "out"});
  CHECK(ran.status == 2);
  CHECK(ran.err.contains("--cluster FILE"));
}

TEST_CASE("every command has help with an example, and says what it is in JSON") {
  const Scratch here;
  for (const char* command :
       {"simulate", "generate", "list", "config", "doctor", "version", "completion"}) {
    CAPTURE(command);
    const Ran ran = here.run({command, "--help"});
    CHECK(ran.status == 0);
    CHECK(ran.out.contains("Example"));
    CHECK(ran.out.contains("--config"));
  }
  for (const char* command : {"list", "config", "doctor", "version"}) {
    const Ran ran = here.run({command, "--json", "--state-dir", "state"});
    CHECK(ran.status == 0);
    CHECK(ran.out.contains("\"schema\": \"schedmate." + std::string(command) + ".v1\""));
  }
}

}  // namespace schedmate
