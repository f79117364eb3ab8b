// SPDX-License-Identifier: Apache-2.0
#include "tree/confine.hpp"

#include <doctest/doctest.h>
#include <fcntl.h>
#include <fmt/format.h>
#include <linux/openat2.h>
#include <sys/ptrace.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <csignal>
#include <cstdlib>
#include <fstream>
#include <functional>
#include <new>
#include <stdexcept>
#include <thread>
#include <vector>

#include "tests/support/job_folder.hpp"
#include "tests/support/needs.hpp"
#include "tests/support/patience.hpp"
#include "tree/reader.hpp"

namespace schedmate::tree {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

/// "EPERM" and the like of a call that must not work in the child.
std::string outcome(long result) {
  return result < 0 ? std::string(::strerrorname_np(errno)) : "ok";
}

Result<std::string> confined(const std::function<std::string()>& work) {
  return run_confined({}, work);
}

}  // namespace

TEST_CASE("confined work gives its bytes back, whatever they are") {
  std::string bytes("a\0b\n", 4);
  CHECK(confined([&] { return bytes; }) == bytes);
  CHECK(confined([] { return std::string(); }) == std::string());
  std::string large;
  large.assign(20'000'000, 'x');
  CHECK(confined([&] { return large; }) == large);
}

TEST_CASE("confined work may ask its parent, as often as it wants and whatever the bytes") {
  int asked = 0;
  const auto answer = [&](const std::string& question) {
    ++asked;
    return question + question;
  };
  const auto twice = run_confined_asking(
      {}, [](const Ask& ask) { return ask(ask(std::string("a\0", 2))) + ask(""); }, answer);
  CHECK(twice == std::string("a\0a\0a\0a\0", 8));
  CHECK(asked == 3);
  const std::string large(3'000'000, 'x');
  CHECK(run_confined_asking(
            {}, [&](const Ask& ask) { return ask(large); }, answer)
            ->size() == 2 * large.size());
}

TEST_CASE("asking has no way around the limits") {
  Confinement limits;
  limits.wall = milliseconds(300);
  limits.reply_bytes = 1000;
  const auto answer = [](const std::string&) { return std::string("more"); };
  const auto endless = [](const Ask& ask) {
    while (!ask("x").empty()) {
    }
    return std::string();
  };
  CHECK(testing::ends([&] {
    CHECK(run_confined_asking(limits, endless, answer).error().code == ErrorCode::timeout);
  }));
  limits.wall = testing::patience;
  const auto chatty = [](const Ask& ask) { return ask(std::string(2000, 'x')); };
  CHECK(run_confined_asking(limits, chatty, answer).error().code == ErrorCode::invalid);
  const auto dies = [](const Ask& ask) {
    ask("x");
    std::abort();
    return std::string();
  };
  CHECK(run_confined_asking({}, dies, answer).error().message.contains("signal"));
}

TEST_CASE("confined work cannot reach beyond its process") {
  const testing::JobFolder scratch;
  const std::string old = scratch.write("old.txt", "text");
  const std::string fresh = scratch.path("new.txt");
  struct Attempt {
    const char* name;
    std::function<long()> call;
  };
  const std::vector<Attempt> attempts = {
      {"socket", [] { return long{::socket(AF_INET, SOCK_STREAM, 0)}; }},
      {"unix socket", [] { return long{::socket(AF_UNIX, SOCK_STREAM, 0)}; }},
      {"program", [] { return long{::execl("/bin/true", "true", nullptr)}; }},
      {"fork", [] { return long{::fork()}; }},
      {"thread by clone3", [] { return ::syscall(SYS_clone3, nullptr, 0); }},
      {"ptrace", [] { return ::ptrace(PTRACE_TRACEME, 0, nullptr, nullptr); }},
      {"signal to the parent", [] { return long{::kill(::getppid(), 0)}; }},
      {"signal by tgkill", [] { return ::syscall(SYS_tgkill, ::getppid(), ::getppid(), 0); }},
      {"open for writing", [&] { return long{::open(old.c_str(), O_WRONLY)}; }},
      {"open for both", [&] { return long{::open(old.c_str(), O_RDWR)}; }},
      {"truncate by opening", [&] { return long{::open(old.c_str(), O_RDONLY | O_TRUNC)}; }},
      {"create", [&] { return long{::open(fresh.c_str(), O_RDONLY | O_CREAT, 0600)}; }},
      {"creat", [&] { return long{::creat(fresh.c_str(), 0600)}; }},
      {"remove", [&] { return long{::unlink(old.c_str())}; }},
      {"rename", [&] { return long{::rename(old.c_str(), fresh.c_str())}; }},
      {"link", [&] { return long{::symlink(old.c_str(), fresh.c_str())}; }},
      {"folder", [&] { return long{::mkdir(fresh.c_str(), 0700)}; }},
      {"mode", [&] { return long{::chmod(old.c_str(), 0777)}; }},
      {"length", [&] { return long{::truncate(old.c_str(), 0)}; }},
      {"time", [&] { return long{::utimensat(AT_FDCWD, old.c_str(), nullptr, 0)}; }},
      {"open by openat2",
       [&] {
         open_how how{};
         how.flags = O_RDWR | O_TRUNC;
         return ::syscall(SYS_openat2, AT_FDCWD, old.c_str(), &how, sizeof how);
       }},
      {"limits of the parent",
       [] { return ::syscall(SYS_prlimit64, ::getppid(), RLIMIT_CORE, nullptr, nullptr); }},
      {"namespace", [] { return long{::unshare(CLONE_NEWUSER)}; }},
      {"core of the kernel", [] { return ::syscall(SYS_bpf, 0, nullptr, 0); }},
  };
  for (const Attempt& attempt : attempts) {
    const auto out = confined([&] { return outcome(attempt.call()); });
    REQUIRE_MESSAGE(out, attempt.name << ": " << (out ? "" : out.error().message));
    CHECK_MESSAGE((*out == "EPERM" || *out == "ENOSYS" || *out == "EACCES"),
                  attempt.name << ": " << *out);
  }
  CHECK(scratch.read("old.txt") == "text");
  CHECK(::access(fresh.c_str(), F_OK) != 0);
}

TEST_CASE("confined work can read") {
  const testing::JobFolder scratch;
  const std::string path = scratch.write("a.txt", "text");
  CHECK(confined([&] {
          std::string word;
          std::ifstream(path) >> word;
          return word;
        }) == std::string("text"));
}

TEST_CASE("files that the parent has open are closed in the child") {
  const testing::JobFolder scratch;
  const std::string path = scratch.write("a.txt", "text");
  const int file = ::open(path.c_str(), O_RDONLY);
  REQUIRE(file > 2);
  CHECK(confined([&] { return outcome(::lseek(file, 0, SEEK_CUR)); }) == std::string("EBADF"));
  ::close(file);
}

TEST_CASE("work without an end is stopped at its deadline") {
  Confinement brief;
  brief.wall = milliseconds(100);
  const auto stopped = [&](const std::function<std::string()>& work) {
    Result<std::string> made;
    CHECK(testing::ends([&] { made = run_confined(brief, work); }));
    return !made && made.error().code == ErrorCode::timeout;
  };
  CHECK(stopped([] {
    for (;;) ::pause();
    return std::string();
  }));
  CHECK(stopped([] {
    // Closes the reply and goes on.
    for (int number = 3; number < 512; ++number) ::close(number);
    for (;;) ::pause();
    return std::string();
  }));
}

TEST_CASE("CPU time is bounded") {
  Confinement brief;
  brief.cpu = seconds(1);
  const auto out = run_confined(brief, [] {
    volatile unsigned counter = 0;
    for (;;) counter = counter + 1;
    return std::string();
  });
  REQUIRE_FALSE(out);
  CHECK(out.error().code == ErrorCode::timeout);
  CHECK(out.error().message == "reading takes more than 1 s of CPU time");
}

TEST_CASE("memory is bounded" * testing::needs_no_sanitizer()) {
  Confinement small;
  small.memory_bytes = 64 << 20;
  const auto out = run_confined(small, [] {
    std::vector<std::string> all;
    for (;;) all.emplace_back(1 << 20, 'x');
    return std::string();
  });
  REQUIRE_FALSE(out);
  CHECK(out.error().message == "reading needs more than 64 MiB of memory");
}

TEST_CASE("what goes wrong in the child is reported") {
  const auto thrown = confined([]() -> std::string { throw std::runtime_error("bad yaml"); });
  REQUIRE_FALSE(thrown);
  CHECK(thrown.error().message == "reading failed: bad yaml");
  const auto killed = confined([] {
    ::signal(SIGABRT, SIG_DFL);
    std::abort();
    return std::string();
  });
  REQUIRE_FALSE(killed);
  CHECK(killed.error().message.find("signal 6") != std::string::npos);
  const auto left = confined([]() -> std::string { ::_exit(7); });
  REQUIRE_FALSE(left);
  CHECK(left.error().message.find("status 7") != std::string::npos);
  Confinement narrow;
  narrow.reply_bytes = 1000;
  const auto large = run_confined(narrow, [] { return std::string(100'000, 'x'); });
  REQUIRE_FALSE(large);
  CHECK(large.error().code == ErrorCode::invalid);
}

TEST_CASE("started as root, work runs as the reader of the folder" * testing::needs_root()) {
  const testing::JobFolder scratch;
  ::chmod(scratch.path().c_str(), 0755);
  const std::string secret = scratch.write("root.txt", "only for root");
  REQUIRE(::chmod(secret.c_str(), 0600) == 0);
  REQUIRE(::mkdir(scratch.path("theirs").c_str(), 0755) == 0);
  REQUIRE(::chown(scratch.path("theirs").c_str(), 12345, 23456) == 0);
  const auto rights = [&] {
    return fmt::format("{} {} {} {} {}", ::geteuid(), ::getegid(), ::getgroups(0, nullptr),
                       ::setuid(0), outcome(::open(secret.c_str(), O_RDONLY)));
  };
  const auto owner = TreeReader::open(scratch.path("theirs"), {});
  REQUIRE(owner);
  CHECK(run_confined(owner->confinement(), rights) == std::string("12345 65534 0 -1 EACCES"));
  const auto named = TreeReader::open(scratch.path("theirs"),
                                      {.user = 12346, .group = 23456, .groups = {23457, 23458}});
  REQUIRE(named);
  CHECK(run_confined(named->confinement(), rights) == std::string("12346 23456 2 -1 EACCES"));
}

TEST_CASE("a tree that is moved meanwhile is read where it was opened") {
  const testing::JobFolder scratch;
  scratch.write("tree/a.py", "first");
  const auto reader = TreeReader::open(scratch.path("tree"), {});
  REQUIRE(reader);
  REQUIRE(::rename(scratch.path("tree").c_str(), scratch.path("moved").c_str()) == 0);
  scratch.write("tree/a.py", "second");
  CHECK(run_confined(reader->confinement(), [&] {
          auto tree = reader->tree();
          return tree ? (*tree->read("a.py"))->text : tree.error().message;
        }) == std::string("first"));
}

TEST_CASE("several threads confine work at the same time and leave no process behind") {
  std::atomic<int> right = 0;
  std::vector<std::jthread> threads;
  for (int thread = 0; thread < 4; ++thread) {
    threads.emplace_back([thread, &right] {
      for (int round = 0; round < 10; ++round) {
        std::string text = fmt::format("{} {}", thread, round);
        right += confined([&] { return text; }) == text ? 1 : 0;
      }
    });
  }
  threads.clear();
  CHECK(right == 40);
  CHECK(::waitpid(-1, nullptr, WNOHANG) == -1);
  CHECK(errno == ECHILD);
}

}  // namespace schedmate::tree
