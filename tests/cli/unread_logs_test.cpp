// SPDX-License-Identifier: Apache-2.0

/// Logs with nothing to judge by, logs that end early, and logs that come through a pipe.

#include <doctest/doctest.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <zstd.h>

#include <cstdio>
#include <cstdlib>
#include <nlohmann/json.hpp>

#include "tests/cli/program.hpp"
#include "tests/support/gzip.hpp"
#include "tests/support/log_text.hpp"

namespace schedmate {
namespace {

using Json = nlohmann::json;

/// A shell's command in the folder; $P is the program.
Ran in_shell(const Scratch& here, const std::string& command) {
  const std::string line = "cd '" + here.path("") +
                           "' && export HOME=. P='" SCHEDMATE_PROGRAM "' && bash -c '" + command +
                           "' >.out 2>.err </dev/null";
  const int status = std::system(line.c_str());  // NOLINT(cert-env33-c): a pipe is what is tested
  return {WIFEXITED(status) ? WEXITSTATUS(status) : -1, here.read(".out"), here.read(".err")};
}

std::string steps(int count) {
  std::string text;
  for (int i = 1; i <= count; ++i)
    text += "step " + std::to_string(i) + "/9000 loss " + std::to_string(1.0 / i) + " dt: 250ms\n";
  return text;
}

std::string zstd(const std::string& text) {
  std::string out(::ZSTD_compressBound(text.size()), '\0');
  out.resize(::ZSTD_compress(out.data(), out.size(), text.data(), text.size(), 3));
  return out;
}

const std::string failure = "RuntimeError: something else failed\n";

Json diagnosed(const Scratch& here, std::vector<std::string> words, int status) {
  words.insert(words.begin(), "diagnose");
  words.emplace_back("--json");
  const Ran ran = here.run(words);
  CHECK_MESSAGE(ran.status == status, ran.err);
  return Json::parse(ran.out);
}

}  // namespace

TEST_CASE("a log without text is not that of a job that went well") {
  const Scratch here;
  std::string noise;
  for (int i = 0; i < 100'000; ++i) noise += static_cast<char>((i * 7919 + i / 251) % 256);
  std::string wide;  // numbers of four bytes
  for (int i = 0; i < 20'000; ++i) (wide += static_cast<char>(i % 200 + 32)).append(3, '\0');
  for (const auto& [text, why] :
       std::vector<std::pair<std::string, std::string>>{{"", "is empty"},
                                                        {"\n", "blank"},
                                                        {" \n\t\n\r\n", "blank"},
                                                        {"----\n====\n", "blank"},
                                                        {std::string(5000, '\0'), "blank"},
                                                        {noise, "binary"},
                                                        {noise + failure, "binary"},
                                                        {wide, "binary"},
                                                        {"\x7f"
                                                         "ELF" +
                                                             noise,
                                                         "binary"},
                                                        {testing::gzipped(""), "is empty"},
                                                        {testing::gzipped(noise), "binary"},
                                                        {zstd(noise), "binary"}}) {
    here.write("x.log", text);
    CAPTURE(why);
    for (const char* locator : {"scan", "tail", "algorithm1"}) {
      const Json made = diagnosed(here, {"x.log", "--locate", locator}, 3);
      CHECK(made["class"].is_null());
      CHECK(made["confidence"] == 0.0);
      CHECK_MESSAGE(made["reason"].get<std::string>().contains(why), made["reason"]);
      CHECK(made["unread"].size() == 1);
    }
    const Ran words = here.run({"diagnose", "x.log"});
    CHECK(words.status == 3);
    CHECK(words.out.contains("not known"));
    CHECK(here.run({"track", "x.log"}).out.contains(why));
  }
}

TEST_CASE("texts with odd bytes are logs") {
  const Scratch here;
  for (const auto& text :
       {testing::utf16("step 1 loss 2\n"), std::string(1 << 20, '\0') + steps(5),
        std::string("\x1b[2J\x1b[1;32mstep 1\x1b[0m\r\n\a"), std::string("pr\xe9t \xfe\xfe 1\n"),
        std::string("\xc4\xe3\xba\xc3 1\n"), std::string("x"), steps(300) + "\x01\x02\n"}) {
    here.write("x.log", text);
    CHECK_MESSAGE(diagnosed(here, {"x.log"}, 0)["class"] == "none", text.substr(0, 20));
  }
}

TEST_CASE("of a log that ends early what can be read counts, and it is said") {
  const Scratch here;
  for (const bool gzip : {true, false}) {
    const auto pack = [&](const std::string& text) {
      return gzip ? testing::gzipped(text) : zstd(text);
    };
    // zstd gives whole blocks of 128 KiB: the failure is in the first, the cut in the last.
    const std::string quiet = steps(9000);
    const std::string failed = pack(failure + std::string(400'000, '-') + "\n");
    const std::string open_end = pack(quiet).substr(0, pack(quiet).size() * 9 / 10);
    for (const char* locator : {"scan", "tail", "algorithm1"}) {
      here.write("x.log", open_end);
      const Json open = diagnosed(here, {"x.log", "--locate", locator}, 3);
      CHECK(open["class"].is_null());
      CHECK(open["reason"].get<std::string>().contains("end early"));
      here.write("x.log", failed.substr(0, failed.size() - 4));
      const Json made = diagnosed(here, {"x.log", "--locate", locator}, 0);
      CHECK(made["class"] == "user_script");
      CHECK(made["unread"].size() == 1);
    }
    CHECK(here.run({"diagnose", "x.log"}).out.contains("end early"));
    here.write("x.log", open_end);
    const Json at = Json::parse(here.run({"track", "x.log", "--json"}).out);
    CHECK(at["step"].get<int>() > 100);
    CHECK(at["unread"].size() == 1);
  }
}

TEST_CASE("a text that stops within a line is not that of a job that went well") {
  const Scratch here;
  const auto bars = [](int to) {
    std::string text;
    for (int i = 1; i <= to; ++i)
      text +=
          fmt::format("\r {}%|##  | {}/100 [00:{:02}<01:00,  5.{}it/s, loss=0.{}]", i, i, i, i, i);
    return text;
  };
  const std::string at = "2026-11-01 10:00:00 saved to /ckpt/";
  const std::vector<std::string> cut = {
      steps(60) + "step 61/10",
      steps(60) + "st",
      bars(40) + "\r 41%|##  | 41/100 [00:41<01:0",
      bars(40) + "\r 41%|##  | 41/100 [00:41<01:00,  5.41it/s, loss=0.41",
      at + "a.pt done\n" + at + "b.pt done\nepoch 3\n" + at + "c.p",
  };
  for (const std::string& text : cut) {
    here.write("x.log", text);
    const Json made = diagnosed(here, {"x.log"}, 3);
    CHECK_MESSAGE(made["class"].is_null(), text.substr(text.size() - 20));
    CHECK(made["unread"] == Json::array({"x.log: its last line is cut off"}));
    for (const char* const question :
         {"why did it fail?", "should I restart it?", "which node was at fault?"}) {
      const std::string said = here.run({"ask", "x.log", question}).out;
      CHECK_MESSAGE(said.contains("not known: x.log: its last line is cut off"), said);
    }
    here.write("x.log", fmt::format("{}\n{}", text, failure));
    CHECK(diagnosed(here, {"x.log"}, 0)["class"] == "user_script");
  }
  const std::vector<std::string> whole = {
      steps(60),
      steps(60).substr(0, steps(60).size() - 1),
      steps(60) + "Training done.",
      bars(100),
      bars(40) + "\n",
      "epoch 1\nepoch 1 of 2 done\nepoch 2 of 2 done\nepoch 2",
      "hello",
  };
  for (const std::string& text : whole) {
    here.write("x.log", text);
    CHECK_MESSAGE(diagnosed(here, {"x.log"}, 0)["class"] == "none", text.substr(text.size() - 5));
  }
}

TEST_CASE("an empty log beside others, and beside a scheduler that knows more") {
  const Scratch here;
  here.write("0.log", "");
  here.write("1.log", steps(10) + failure);
  here.write("2.log", steps(10));
  const Json made = diagnosed(here, {"0.log", "1.log"}, 0);
  CHECK(made["class"] == "user_script");
  CHECK(made["root_file"] == "1.log");
  CHECK(made["unread"] == Json::array({"0.log: is empty"}));
  CHECK(diagnosed(here, {"0.log", "2.log"}, 0)["class"] == "none");
  here.write("job.json", R"({"state": "NODE_FAIL", "nodes": ["n3"]})");
  CHECK(diagnosed(here, {"0.log", "--job", "job.json"}, 0)["class"] == "infrastructure");
  here.write("job.json", R"({"state": "COMPLETED", "nodes": ["n3"]})");
  CHECK(diagnosed(here, {"0.log", "--job", "job.json"}, 3)["class"].is_null());
}

TEST_CASE("an empty log in the history is no earlier failure") {
  const Scratch here;
  here.write("0.log", "");
  REQUIRE(here.run({"history", "add", "1", "--user", "ann", "--command", "python t.py"}).status ==
          0);
  CHECK(here.run({"history", "finish", "1", "--state", "failed", "--duration-s", "9", "--log",
                  "0.log"})
            .status == 0);
  CHECK(here.run({"diagnose", "1"}).status == 3);
}

TEST_CASE("track, diagnose and ask read from pipes by any of their names") {
  const Scratch here;
  here.write("x.log", steps(30) + failure);
  here.write("x.gz", testing::gzipped(steps(30) + failure));
  for (const char* input :
       {"cat x.log | $P VERB - REST", "$P VERB - REST < x.log", "cat x.gz | $P VERB - REST",
        "cat x.log | $P VERB /dev/stdin REST", "$P VERB <(cat x.log) REST",
        "$P VERB /dev/fd/7 REST 7< <(cat x.log)", "$P VERB /dev/stdin REST < x.log"}) {
    const auto run = [&](const std::string& verb, const std::string& rest) {
      std::string line = input;
      line.replace(line.find("VERB"), 4, verb);
      line.replace(line.find("REST"), 4, rest);
      return in_shell(here, line);
    };
    CAPTURE(input);
    const Ran track = run("track", "--json");
    CHECK_MESSAGE(Json::parse(track.out, nullptr, false).value("step", 0) == 30, track.err);
    const Ran diagnose = run("diagnose", "--json");
    const Json made = Json::parse(diagnose.out, nullptr, false);
    REQUIRE_MESSAGE(made.is_object(), diagnose.err);
    CHECK(made["root_line"] == 31);
    CHECK_FALSE(diagnose.out.contains("/proc/self"));
    CHECK(run("ask", "\"how far is it?\"").out.contains("step 30 of 9000"));
  }
  CHECK(in_shell(here, "cat x.log | $P diagnose - x.log --json").status == 0);
  CHECK(in_shell(here, "cat x.log | $P diagnose - - --json").status == 0);
  CHECK(in_shell(here, ": | $P diagnose -").status == 3);
  CHECK(in_shell(here, "$P diagnose - <&-").status == 3);
  here.write("job.json", R"({"state": "FAILED", "nodes": ["n12"]})");
  const Ran others = in_shell(here,
                              "$P diagnose x.log --job <(cat job.json) --good <(head -3 x.log) "
                              "--kernel-log n12=<(echo nothing) --json");
  CHECK_MESSAGE(Json::parse(others.out, nullptr, false).value("root_line", 0) == 31, others.err);
  const Ran follow = in_shell(here, "cat x.log | $P track - --follow");
  CHECK(follow.status == 2);
  CHECK(follow.err.contains("--follow takes a log file"));
  for (const char* verb : {"track f", "track f --follow", "diagnose f", "ask f \"how far is it?\"",
                           "diagnose x.log --job f"}) {
    const Ran fifo = in_shell(here, std::string("test -p f || mkfifo f; $P ") + verb);
    CHECK_MESSAGE(fifo.status == 3, verb);
    CHECK_MESSAGE(fifo.err.contains("f: is a pipe or a device"), verb);
  }
  const Ran held = in_shell(here, "cat x.log | $P track /dev/stdin --follow");
  CHECK(held.status == 3);
}

TEST_CASE("traces and accounting dumps are read from pipes, errors speak of the name given") {
  const Scratch here;
  here.write("dump.txt",
             "JobID|User|Submit|Start|End|State|AllocTRES|ReqTRES|NNodes|NodeList|Partition\n"
             "1|ann|2024-01-01T00:00:00|2024-01-01T00:00:10|2024-01-01T01:00:00|COMPLETED|"
             "gres/gpu=2|gres/gpu=2|1|n1|gpu\n");
  const Ran plain = here.run({"history", "import", "sacct:dump.txt"});
  REQUIRE_MESSAGE(plain.status == 0, plain.err);
  const Ran piped = in_shell(here, "cat dump.txt | $P history import sacct:-");
  CHECK_MESSAGE(piped.out == plain.out, piped.err);
  const Ran bad = in_shell(here, "echo nonsense | $P history import sacct:-");
  CHECK(bad.status == 3);
  CHECK_MESSAGE(bad.err.starts_with("schedmate: -:"), bad.err);
  const Ran simulated = in_shell(here, "cat dump.txt | $P simulate --trace sacct:- --out o --json");
  CHECK_FALSE(simulated.err.contains("cannot open"));
  const Ran what = in_shell(here, "echo nonsense | $P whatif --sacct - --out w");
  CHECK_FALSE(what.err.contains("/proc/self"));
  CHECK_FALSE(what.err.contains("cannot open"));
}

}  // namespace schedmate
