// SPDX-License-Identifier: Apache-2.0
#include <doctest/doctest.h>

#include <cstdlib>

#include "tests/cli/program.hpp"

namespace schedmate {
namespace {

/// What bash offers for a command line whose last word is incomplete.
std::string offered(const Scratch& here, const std::string& words) {
  here.write("ask.sh", "source ./schedmate.bash\nCOMP_WORDS=(" + words +
                           ")\nCOMP_CWORD=$((${#COMP_WORDS[@]} - 1))\n_schedmate\n"
                           "printf '%s\\n' \"${COMPREPLY[@]}\" > answer\n");
  const std::string command = "cd '" + here.path("") + "' && bash ask.sh";
  REQUIRE(std::system(command.c_str()) == 0);
  return here.read("answer");
}

}  // namespace

TEST_CASE("bash loads the completion and offers commands, flags, policies, formats and paths") {
  const Scratch here;
  const Ran ran = here.run({"completion", "bash"});
  REQUIRE(ran.status == 0);
  here.write("schedmate.bash", ran.out);
  const std::string check = "bash -n '" + here.path("schedmate.bash") + "'";
  CHECK(std::system(check.c_str()) == 0);

  CHECK(offered(here, "schedmate sim") == "simulate\n");
  CHECK(offered(here, "schedmate simulate --expl") == "--explain\n");
  CHECK(offered(here, "schedmate simulate --policy tir") == "tiresias\ntiresias+sm\n");
  CHECK(offered(here, "schedmate simulate --trace hel") == "helios:\n");
  CHECK(offered(here, "schedmate simulate --set plac") == "placement=\n");
  CHECK(offered(here, "schedmate list estimato") == "estimators\n");
  here.write("traces.csv", "");
  CHECK(offered(here, "schedmate simulate --trace helios : tra") == "traces.csv\n");
}

TEST_CASE("zsh and fish completions name every command and policy") {
  const Scratch here;
  for (const char* shell : {"zsh", "fish"}) {
    CAPTURE(shell);
    const Ran ran = here.run({"completion", shell});
    REQUIRE(ran.status == 0);
    for (const char* name : {"simulate", "generate", "doctor", "backfill_easy", "sacct", "explain"})
      CHECK(ran.out.contains(name));
  }
}

}  // namespace schedmate
