// SPDX-License-Identifier: Apache-2.0

/// A state folder on a share whose server goes silent, at each kind of request and in the middle of
/// a command: the program says so in time and leaves nothing behind that anybody waits for.

#include <doctest/doctest.h>
#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <deque>
#include <filesystem>
#include <fstream>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "base/child_process.hpp"
#include "base/deadline.hpp"
#include "base/folder_watch.hpp"
#include "tests/dead_share/memory_mount.hpp"
#include "tests/support/needs.hpp"

namespace schedmate {
namespace {

using testing::MemoryMount;
using Words = std::vector<std::string>;

constexpr uid_t ann = 20001;
constexpr double answer_s = 10;
constexpr double room_s = 20;  ///< for a slow machine, and the time between two questions

struct Ran {
  std::optional<int> status;  ///< none: it did not end
  std::string printed;        ///< on both streams
  bool let_go = false;        ///< of the pipe to its reader
  double seconds = 0;
};

[[noreturn]] void become_program(const Words& words, const std::string& home, uid_t user,
                                 int output) {
  std::vector<const char*> pointers{SCHEDMATE_PROGRAM};
  for (const std::string& word : words) pointers.push_back(word.c_str());
  pointers.push_back(nullptr);
  const std::string in_home = "HOME=" + home;
  const std::array<const char*, 3> variables{in_home.c_str(), "PATH=/usr/bin:/bin", nullptr};
  ::dup2(output, STDOUT_FILENO);
  ::dup2(output, STDERR_FILENO);
  const bool is_user = user == 0 || (::setgid(user) == 0 && ::setuid(user) == 0);
  if (is_user && ::chdir("/") == 0)
    ::execve(SCHEDMATE_PROGRAM, const_cast<char**>(pointers.data()),
             const_cast<char**>(variables.data()));
  ::_exit(127);
}

/// Waits for its exit, and for the end of what it prints, as a shell with a pipe does.
Ran run(const Words& words, const std::string& home, uid_t user = 0) {
  const auto start = std::chrono::steady_clock::now();
  const Deadline patience(std::chrono::seconds(60));
  std::array<int, 2> ends{};
  REQUIRE(::pipe2(ends.data(), O_CLOEXEC) == 0);
  const Descriptor ours(ends[0]);
  Descriptor theirs(ends[1]);
  const pid_t number = ::fork();
  REQUIRE(number >= 0);
  if (number == 0) become_program(words, home, user, theirs.number());
  theirs.close();
  Ran ran;
  ChildProcess child(number);
  while (!ran.let_go && patience.wait_readable(ours.number())) {
    std::array<char, 4096> part{};
    const ssize_t got = ::read(ours.number(), part.data(), part.size());
    if (got > 0) ran.printed.append(part.data(), static_cast<std::size_t>(got));
    ran.let_go = got <= 0;
  }
  if (child.ended_by(patience)) {
    const int end = child.status();
    ran.status = WIFEXITED(end) ? WEXITSTATUS(end) : -WTERMSIG(end);
  }
  ran.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  return ran;
}

/// Things of the test that lie on a disk.
struct World {
  World() {
    std::filesystem::create_directories(home.path("tree"));
    std::ofstream(home.path("tree/train.py")) << "import torch\nfor epoch in range(20):\n  pass\n";
    ::chmod(home.path().c_str(), 0755);
  }
  testing::Scratch home;

  [[nodiscard]] Ran run_on(const MemoryMount& share, Words words, uid_t user = 0) const {
    words.insert(words.end(), {"--state-dir", share.path("state")});
    return run(words, home.path(), user);
  }
  [[nodiscard]] static Words import() {
    return {"history", "import",
            "sacct:" SCHEDMATE_SOURCE_DIR "/tests/fixtures/sacct/testbed.txt.gz"};
  }
  [[nodiscard]] Words advise() const {
    return {"advise", home.path("tree"), "--command", "python train.py", "--user",
            "ann",    "--job-id",        "9017",      "--record"};
  }
  [[nodiscard]] std::vector<Words> commands() const {
    return {{"history", "list"}, {"doctor"}, {"job", "135"}, advise(), import()};
  }
};

std::string fault_of(const MemoryMount& share) {
  return fmt::format("state folder {}: the file system does not answer within 10 s",
                     share.path("state"));
}

/// The exit code of a share that is dead.
void check_dead(const Words& words, const MemoryMount& share, const Ran& ran,
                const std::string& when) {
  const std::string all =
      fmt::format("{} {}: {:.2f} s, printed: {}", words.front(), when, ran.seconds, ran.printed);
  const bool is_doctor = words.front() == "doctor";
  CHECK_MESSAGE(ran.let_go, all);
  CHECK_MESSAGE(ran.seconds < answer_s + room_s, all);
  CHECK_MESSAGE(ran.status.value_or(-1) == (is_doctor ? 1 : 4), all);
  CHECK_MESSAGE(ran.printed.contains(fault_of(share)), all);
  if (is_doctor) CHECK_MESSAGE(ran.printed.contains("see to its server"), all);
  if (!is_doctor) CHECK_MESSAGE(std::ranges::count(ran.printed, '\n') == 1, all);
  MESSAGE(fmt::format("{:<8} {:<28} exit {} after {:.2f} s", words.front(), when,
                      ran.status.value_or(-1), ran.seconds));
}

struct Silence {
  std::uint32_t opcode;
  const char* name;
};
constexpr std::array silences{Silence{MemoryMount::everything, "everything"},
                              Silence{FUSE_LOOKUP, "lookup"},
                              Silence{FUSE_GETATTR, "status"},
                              Silence{FUSE_STATFS, "status of the file system"},
                              Silence{FUSE_OPENDIR, "open of a folder"},
                              Silence{FUSE_READDIR, "read of a folder"},
                              Silence{FUSE_OPEN, "open"},
                              Silence{FUSE_CREATE, "create"},
                              Silence{FUSE_READ, "read"},
                              Silence{FUSE_WRITE, "write"},
                              Silence{FUSE_SETATTR, "change of size"},
                              Silence{FUSE_FSYNC, "sync"},
                              Silence{FUSE_SETLK, "lock"},
                              Silence{FUSE_FLUSH, "close"},
                              Silence{FUSE_UNLINK, "remove"}};

void play_silences(uid_t user) {
  const World world;
  std::deque<MemoryMount> shares;
  std::deque<Ran> runs;
  const auto commands = world.commands();
  for (const Silence& silence : silences) {
    const MemoryMount& share = shares.emplace_back(user, silence.opcode == FUSE_SETLK);
    REQUIRE(share.mounted());
    const Ran made = world.run_on(share, World::import(), user);
    REQUIRE_MESSAGE(made.status == 0, made.printed);
    shares.back().fall_silent(silence.opcode);
  }
  std::vector<std::thread> threads;
  for (MemoryMount& share : shares)
    for (const Words& words : commands)
      threads.emplace_back([&world, &share, &words, user, &ran = runs.emplace_back()] {
        ran = world.run_on(share, words, user);
      });
  for (std::thread& thread : threads) thread.join();
  for (std::size_t i = 0; i < runs.size(); ++i)
    check_dead(commands[i % commands.size()], shares[i / commands.size()], runs[i],
               silences.at(i / commands.size()).name);
}

}  // namespace

TEST_CASE("the disks and memory of this machine are not watched") {
  const FolderWatch watch({"/proc/self", "/sys"});
  CHECK_FALSE(watch.needed());
  CHECK(watch.ask().has_value());
  const World world;
  const Ran ran = run({"history", "list"}, world.home.path());
  CHECK_MESSAGE(ran.status == 0, ran.printed);
}

TEST_CASE("a share that answers holds the state" * testing::needs_fuse()) {
  const World world;
  const MemoryMount share;
  REQUIRE(share.mounted());
  for (const Words& words :
       {World::import(), Words{"history", "list"}, Words{"job", "135"}, world.advise()}) {
    const Ran ran = world.run_on(share, words);
    CHECK_MESSAGE(ran.status == 0, ran.printed);
    Words local = words;
    local.insert(local.end(), {"--state-dir", world.home.path("state")});
    CHECK(run(local, world.home.path()).printed == ran.printed);
  }
  CHECK(world.run_on(share, {"history", "show", "nobody"}).status == 2);
  CHECK_FALSE(std::filesystem::exists(share.path("state/.answers")));
}

TEST_CASE("a process that hangs elsewhere keeps nobody waiting" * testing::needs_fuse()) {
  const World world;
  const MemoryMount share;
  MemoryMount driver;
  REQUIRE(share.mounted());
  REQUIRE(driver.mounted());
  const std::string library = "nvml.library=" + driver.path("lib.so");
  driver.fall_silent(MemoryMount::everything);
  const Ran ran = world.run_on(share, {"doctor", "--set", library, "--set", "nvml.deadline_s=1"});
  const std::string all = fmt::format("{:.2f} s, printed: {}", ran.seconds, ran.printed);
  CHECK_MESSAGE(ran.let_go, all);
  CHECK_MESSAGE(ran.status.value_or(-1) == 0, all);
  CHECK_MESSAGE(ran.seconds < answer_s, all);
}

TEST_CASE("a share that is silent from the first request of a kind" * testing::needs_fuse()) {
  play_silences(0);
}

TEST_CASE("for an ordinary user, too" * testing::needs_fuse()) { play_silences(ann); }

TEST_CASE("a share that goes silent in the middle" * testing::needs_fuse()) {
  const World world;
  constexpr int points = 24;
  for (const Words& words : {World::import(), world.advise()}) {
    int requests = 0;
    Ran whole;
    {
      const MemoryMount share;
      whole = world.run_on(share, words);
      REQUIRE(whole.status == 0);
      requests = share.asked();
    }
    std::deque<MemoryMount> shares;
    std::deque<Ran> runs;
    std::vector<std::thread> threads;
    for (int point = 0; point < points; ++point) {
      MemoryMount& share = shares.emplace_back();
      REQUIRE(share.mounted());
      share.fall_silent_after(1 + requests * point / points);
      threads.emplace_back([&, &ran = runs.emplace_back()] { ran = world.run_on(share, words); });
    }
    for (std::thread& thread : threads) thread.join();
    int dead = 0;
    for (std::size_t i = 0; i < runs.size(); ++i) {
      // What nobody waits for, such as the end of a file's use, may come last.
      if (runs[i].status == 0) CHECK(runs[i].printed == whole.printed);
      if (runs[i].status == 0) continue;
      check_dead(words, shares[i], runs[i],
                 fmt::format("after {} of {} requests", 1 + requests * static_cast<int>(i) / points,
                             requests));
      ++dead;
    }
    CHECK(dead > points / 2);
  }
}

}  // namespace schedmate
