// SPDX-License-Identifier: Apache-2.0

/// What was asked for is lost nowhere without a word: not on a full disk, not on a closed stream.

#include <doctest/doctest.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>

#include "tests/edge/edge_world.hpp"

namespace schedmate {
namespace {

std::size_t lines_in(const std::string& text) {
  return static_cast<std::size_t>(std::ranges::count(text, '\n'));
}

std::string line_of(const std::string& command) {
  const auto found = working_lines().find(command);
  REQUIRE_MESSAGE(found != working_lines().end(),
                  "edge_world.cpp has no line for the command " << command);
  return "schedmate " + command + " --state-dir state " + found->second;
}

void check_unwritable(const Ran& ran, std::string_view reason) {
  CAPTURE(ran.err);
  CHECK(ran.status == 4);
  CHECK(lines_in(ran.err) == 1);
  CHECK(ran.err.starts_with("schedmate: "));
  CHECK(ran.err.contains(reason));
}

/// A file system of 64 KiB at `path`, which goes with the test.
class SmallDisk {
 public:
  explicit SmallDisk(std::string path) : path_(std::move(path)) {
    there_ = ::mkdir(path_.c_str(), 0700) == 0 &&
             ::mount("none", path_.c_str(), "tmpfs", 0, "size=64k") == 0;
  }
  SmallDisk(const SmallDisk&) = delete;
  SmallDisk& operator=(const SmallDisk&) = delete;
  ~SmallDisk() {
    if (there_) ::umount2(path_.c_str(), MNT_DETACH);
  }
  [[nodiscard]] bool there() const { return there_; }

 private:
  std::string path_;
  bool there_ = false;
};

}  // namespace

TEST_CASE("every command: a full or closed standard output is exit 4 and one line") {
  for (const std::string& command : command_names()) {
    CAPTURE(command);
    const EdgeWorld here;
    const std::string line = line_of(command);
    check_unwritable(here.shell(line + " >/dev/full"), "No space left on device");
    check_unwritable(here.shell(line + " >&-"), "Bad file descriptor");
    check_unwritable(here.shell("schedmate " + command + " --help >/dev/full"), "No space left");
    const Ran as_json = here.shell(line + " --json >/dev/full");
    CHECK(as_json.status == 4);
  }
}

TEST_CASE("every command: nothing depends on standard error") {
  for (const std::string& command : command_names()) {
    CAPTURE(command);
    const EdgeWorld here;
    const std::string line = line_of(command);
    (void)here.shell(line);  // what it remembers makes the next answers alike
    const Ran plain = here.shell(line);
    CHECK(plain.status < 2);
    for (const auto* const redirection : {" 2>&-", " 2>/dev/full", " <&-", " <&- 2>&-"}) {
      CAPTURE(redirection);
      const Ran ran = here.shell(line + redirection);
      CHECK(ran.status == plain.status);
      // Free memory and the time of the replay differ from run to run.
      if (command != "doctor" && command != "simulate") CHECK(ran.out == plain.out);
    }
    const Ran wrong = here.shell("schedmate " + command + " --no-such-flag 2>/dev/full");
    CHECK(wrong.status == 2);
  }
}

/// The line, once nobody reads its output any more; its exit code in rc.
std::string when_gone(const std::string& line) {
  return "rm -f gone; mkfifo gone; { read go <gone; " + line +
         "; echo $? >rc; } | { exec <&-; echo >gone; }";
}

TEST_CASE("every command: a reader that goes away ends it quietly") {
  for (const std::string& command : command_names()) {
    CAPTURE(command);
    const EdgeWorld here;
    const std::string line = line_of(command);
    const Ran gone = here.shell(when_gone(line));
    CHECK(gone.err.empty());
    CHECK(here.read("rc") == "141\n");
    const Ran ignored = here.shell("trap '' PIPE; " + when_gone(line));
    CHECK(ignored.err.empty());
    CHECK(here.read("rc") == "141\n");
  }
}

TEST_CASE("an answer on a full disk is no answer, however it is buffered") {
  const EdgeWorld here;
  check_unwritable(here.shell("ulimit -f 1; schedmate list --json >list.json"), "File too large");
  check_unwritable(here.shell("schedmate track a.log --follow --for 1 >/dev/full"), "No space");
}

TEST_CASE("a state folder that is full, read-only or no folder is exit 4 and one line") {
  const auto lines = {
      std::string("history add 1 --user ann --command 'python x.py'"),
      std::string("history import sacct:" SCHEDMATE_SOURCE_DIR
                  "/tests/fixtures/sacct/testbed.txt.gz"),
      std::string("history list"),
      std::string("advise job --command 'python train.py' --user ann --record --job-id 1"),
  };
  const EdgeWorld here;
  for (const std::string& line : lines) {
    CAPTURE(line);
    for (const auto* const place : {"/sys/schedmate", "/dev/null/state", "a.log", "empty/x"}) {
      CAPTURE(place);
      check_unwritable(here.shell("schedmate " + line + " --state-dir " + place), place);
    }
    const Ran ran = here.shell("ulimit -f 8; schedmate --state-dir limited " + line);
    CAPTURE(ran.err);
    CHECK(ran.status == 4);
    CHECK(lines_in(ran.err) == 1);
  }
}

TEST_CASE("a full file system") {
  const EdgeWorld here;
  const SmallDisk disk(here.path("disk"));
  if (!disk.there()) {
    MESSAGE("skipped: mounting a small file system needs root");
    return;
  }
  const std::string fill = "dd if=/dev/zero of=disk/filler bs=1k count=100 2>/dev/null; ";
  check_unwritable(here.shell(fill + "schedmate history add 1 --user ann --state-dir disk/state"),
                   "disk/state");
  check_unwritable(here.shell(fill + "schedmate list >disk/list"), "No space left");
  for (const auto* const command : {"simulate", "generate"}) {
    CAPTURE(command);
    std::string words = working_lines().at(command);
    words.replace(words.find("--out out"), std::string::npos, "--out disk/out --state-dir state");
    const std::string line = "schedmate " + std::string(command) + " " + words;
    const Ran ran = here.shell(fill + line);
    CAPTURE(ran.err);
    CHECK(ran.status == 4);
    CHECK(lines_in(ran.err) == 1);
    CHECK(here.files("disk/out").empty());
  }
}

}  // namespace schedmate
