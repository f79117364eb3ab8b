// SPDX-License-Identifier: Apache-2.0
#include "slurm/hooks.hpp"

#include <doctest/doctest.h>

#include <array>
#include <map>
#include <random>
#include <string>

#include "slurm/conf_lines.hpp"

namespace schedmate::slurm {
namespace {

const ConfHooks both_hooks{.lua = true, .epilog = "/etc/slurm/schedmate_epilog.sh"};
const ConfHooks lua_only{.lua = true};

Result<std::string> no_file(const std::string& /*name*/) {
  return fail(ErrorCode::invalid, "there is no such file");
}

/// With the hooks; and without them it is as before.
std::string hooked(const std::string& text, const ConfHooks& hooks = both_hooks) {
  const auto with = with_hooks(text, hooks, no_file);
  REQUIRE_MESSAGE(with, with.error().message);
  CHECK(without_hooks(*with) == text);
  return *with;
}

std::string why_not(const std::string& text, const ReadInclude& read = no_file) {
  const auto with = with_hooks(text, both_hooks, read);
  return with ? "it was done" : with.error().message;
}

TEST_CASE("slurm.conf is read as Slurm reads it") {
  const std::string text =
      "A=1 # B=2\n"
      "  c = \"two words\" D=4\\\n"
      "5 E=\\#6\r\n"
      "# F=7 \\\n"
      "G=8\n"
      "Include more.conf # and\n"
      "H+=9 nothing = \n"
      "I=10";
  const auto lines = conf_lines(text);
  REQUIRE(lines.size() == 7);
  const auto said = [&](std::size_t i) {
    std::string all;
    for (const ConfValue& value : lines[i].values)
      all += value.key + "=" + value.value + (value.is_plain ? "|" : "?|");
    return all;
  };
  CHECK(said(0) == "a=1|");
  CHECK(said(1) == "c=two words|d=45|e=\\#6?|");
  CHECK(said(2).empty());
  CHECK(said(3) == "g=8|");
  CHECK(lines[4].include == "more.conf");
  CHECK(said(5) == "h=9?|nothing=|");
  CHECK(said(6) == "i=10|");
  CHECK(lines[6].number == 8);
  CHECK(text.substr(0, lines[1].values[0].end).ends_with("two words"));
}

TEST_CASE("what is not there comes at the end, between two marks") {
  const std::string text = hooked("ClusterName=x\n");
  CHECK(text.starts_with("ClusterName=x\n# schedmate: begin "));
  CHECK(
      text.ends_with("\nJobSubmitPlugins=lua\nEpilogSlurmctld=/etc/slurm/schedmate_epilog.sh\n"
                     "# schedmate: end\n"));
  CHECK(hooked("ClusterName=x", lua_only).starts_with("ClusterName=x\n# schedmate: begin "));
  CHECK(hooked("a=1\r\nb=2\r\n").ends_with("\r\n# schedmate: end\r\n"));
}

TEST_CASE("a list of plug-ins becomes longer where it stands") {
  const std::string text = hooked("A=1\nJobSubmitPlugins=throttle # ours\nB=2\n", lua_only);
  CHECK(
      text.contains("\n#was JobSubmitPlugins=throttle # ours\n"
                    "JobSubmitPlugins=throttle,lua # ours\n# schedmate: end\nB=2\n"));
  // The last one counts, in whatever letters; so may one that goes on, is quoted, or ends the file.
  CHECK(hooked("JobSubmitPlugins=a\nJOBSUBMITPLUGINS=b\n", lua_only)
            .starts_with("JobSubmitPlugins=a\n# schedmate"));
  CHECK(hooked("JobSubmitPlugins=a,\\\nb\nB=2\n", lua_only)
            .contains("#was JobSubmitPlugins=a,\\\n#was b\nJobSubmitPlugins=a,\\\nb,lua\n"));
  CHECK(hooked("JobSubmitPlugins = \"a,b\"\n", lua_only)
            .contains("\nJobSubmitPlugins = \"a,b,lua\"\n"));
  CHECK(hooked("X=1\r\nJobSubmitPlugins=a\r\nY=2\r\n").contains("\r\nJobSubmitPlugins=a,lua\r\n"));
  CHECK(hooked("JobSubmitPlugins=a,\n").contains("\nJobSubmitPlugins=a,lua\n"));
  CHECK(hooked("JobSubmitPlugins=a").contains("\nJobSubmitPlugins=a,lua\n"));
  CHECK(hooked("X=1 JobSubmitPlugins=a Y=2\n").contains("\nX=1 JobSubmitPlugins=a,lua Y=2\n"));
}

TEST_CASE("what is there already is left alone") {
  for (const char* const text : {"JobSubmitPlugins=lua\n", "JobSubmitPlugins=a,lua,b\n",
                                 "JobSubmitPlugins=job_submit/lua\n"})
    CHECK(hooked(text, lua_only) == text);
  CHECK(hooked("EpilogSlurmctld=/etc/slurm/schedmate_epilog.sh\n", {.epilog = both_hooks.epilog})
            .starts_with("EpilogSlurmctld"));
  CHECK(hooked("#JobSubmitPlugins=a\n", lua_only).contains("\nJobSubmitPlugins=lua\n"));
  CHECK(hooked("JobSubmitPluginsX=a\n", lua_only).contains("\nJobSubmitPlugins=lua\n"));
  CHECK(hooked("JobSubmitPlugins=luau\n", lua_only).contains("\nJobSubmitPlugins=luau,lua\n"));
}

TEST_CASE("what is not understood is refused with its line") {
  CHECK(why_not("A=1\nEpilogSlurmctld=/site/epilog\n")
            .contains("line 2: EpilogSlurmctld is /site/epilog"));
  CHECK(why_not("JobSubmitPlugins=\n").contains("line 1: cannot tell what JobSubmitPlugins is"));
  CHECK(why_not("JobSubmitPlugins+=a\n").contains("cannot tell"));
  CHECK(why_not("JobSubmitPlugins=a\\#b\n").contains("cannot tell"));
  CHECK(why_not("").contains("is empty"));
  CHECK(why_not(" \n\t").contains("is empty"));
  CHECK(why_not(std::string("A=1\0\n", 5)).contains("zero byte"));
}

TEST_CASE("an included file may not have the settings") {
  const std::map<std::string, std::string> files{{"plain", "A=1\n"},
                                                 {"deep", "# x\ninclude sets\n"},
                                                 {"sets", "\nJobSubmitPlugins=a\n"},
                                                 {"round", "Include round\n"}};
  const auto read = [&](const std::string& name) -> Result<std::string> {
    const auto found = files.find(name);
    if (found == files.end()) return no_file(name);
    return found->second;
  };
  CHECK(with_hooks("include plain\n", both_hooks, read));
  CHECK(
      why_not("include deep\n", read).starts_with("sets:2 sets jobsubmitplugins: move that line"));
  CHECK(why_not("include round\n", read).contains("ten deep"));
  CHECK(why_not("A=1\ninclude absent\n", read)
            .starts_with("line 2 includes absent, which must be read"));
}

TEST_CASE("what people changed since stays") {
  const std::string text = "A=1\nJobSubmitPlugins=a\nB=2";
  std::string with = hooked(text);
  with.insert(with.find("B=2"), "C=3\n");
  CHECK(without_hooks("# new\n" + with) == "# new\nA=1\nJobSubmitPlugins=a\nC=3\nB=2");
  // Behind the last line, which now needs its end.
  CHECK(without_hooks(with + "D=4\n") == "A=1\nJobSubmitPlugins=a\nC=3\nB=2\nD=4\n");
  std::string unix_ends;
  for (const char c : hooked("A=1\r\nJobSubmitPlugins=a\r\n"))
    if (c != '\r') unix_ends += c;
  CHECK(without_hooks(unix_ends) == "A=1\nJobSubmitPlugins=a\n");
}

TEST_CASE("what people changed between the marks is theirs to undo") {
  const std::string with = hooked("A=1\nJobSubmitPlugins=a\n", lua_only);
  const auto error_of = [](const std::string& text) {
    const auto without = without_hooks(text);
    return without ? "none" : without.error().message;
  };
  std::string changed = with;
  changed.replace(changed.find("a,lua"), 5, "a,lua,b");
  CHECK(error_of(changed).starts_with("line 2: somebody changed what stands between"));
  CHECK(error_of(with.substr(0, with.find("# schedmate: end"))).contains("has no end"));
  CHECK(error_of(with + "# schedmate: end\n").contains("has no begin"));
  CHECK(error_of(with.substr(0, with.find("#was")) + with).contains("has no end"));
  CHECK(error_of("# schedmate: begin \n# schedmate: end\n") != "none");
  CHECK(without_hooks("A=1\n# schedmate likes this\n") == "A=1\n# schedmate likes this\n");
}

TEST_CASE("any text is refused or comes back byte by byte") {
  const std::array<std::string, 14> parts{"JobSubmitPlugins=",
                                          "a",
                                          ",lua",
                                          "\n",
                                          "\r\n",
                                          "\\",
                                          "\"",
                                          "#",
                                          " ",
                                          "EpilogSlurmctld=",
                                          "A=1",
                                          "=",
                                          "\xff",
                                          "# schedmate: end"};
  std::mt19937 random(1);  // NOLINT: the same in every run
  int done = 0;
  for (int round = 0; round < 20'000; ++round) {
    std::string text;
    for (std::size_t length = random() % 24; length > 0; --length)
      text += parts[random() % parts.size()];
    const auto with = with_hooks(text, lua_only, no_file);
    if (!with) continue;
    const auto back = without_hooks(*with);
    if (!back) continue;
    ++done;
    REQUIRE_MESSAGE(*back == text, text);
    REQUIRE_MESSAGE(conf_value(*with, "jobsubmitplugins").contains("lua"), *with);
  }
  CHECK(done > 5'000);
}

TEST_CASE("own files are known by their seals") {
  const std::string alone = job_submit_text("").value();
  const std::string chained = job_submit_text("/etc/slurm/job_submit.site.lua").value();
  CHECK(chained.contains("loadfile(\"/etc/slurm/job_submit.site.lua\")"));
  for (const std::string& text : {alone, chained, epilog_text(8643)}) {
    CHECK(seal_of(text) == Seal::whole);
    CHECK(seal_of(text + "\n") == Seal::broken);
  }
  CHECK(epilog_text(8643).contains("echo > /dev/udp/127.0.0.1/8643\n"));
  CHECK(seal_of("") == Seal::none);
  CHECK(seal_of("function slurm_job_submit() end\n-- schedmate: begin 0\n") == Seal::none);
  CHECK(!job_submit_text("/etc/\"/x"));
  CHECK(!job_submit_text("/etc/\n/x"));
}

}  // namespace
}  // namespace schedmate::slurm
