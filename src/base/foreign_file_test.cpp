// SPDX-License-Identifier: Apache-2.0
#include "base/foreign_file.hpp"

#include <doctest/doctest.h>
#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <thread>
#include <vector>

#include "tests/support/job_folder.hpp"
#include "tests/support/needs.hpp"

namespace schedmate {
namespace {

std::string text_of(Result<ForeignFile> file) {
  if (!file) return "error: " + file.error().message;
  std::string text(100'000, '\0');
  const auto got = file->read_at(text, 0);
  return got ? text.substr(0, *got) : "error: " + got.error().message;
}

ErrorCode code_of(const ForeignPath& path, ForeignFile::Want want = ForeignFile::Want::file) {
  const auto file = ForeignFile::open(path, want);
  REQUIRE_FALSE(file);
  return file.error().code;
}

}  // namespace

TEST_CASE("a file is read through its descriptor, whatever becomes of its name") {
  const testing::JobFolder here;
  const std::string path = here.write("log", "first");
  auto file = ForeignFile::open(path);
  REQUIRE(file);
  CHECK(file->status()->st_size == 5);
  here.write("other", "second");
  REQUIRE(::rename(here.path("other").c_str(), path.c_str()) == 0);
  std::string text(3, '\0');
  CHECK(file->read_at(text, 2) == 3);
  CHECK(text == "rst");
  CHECK(file->read_at(text, 5) == 0);
  CHECK(::fcntl(file->descriptor().number(), F_GETFD) == FD_CLOEXEC);
}

TEST_CASE("what is no regular file is refused, and nothing waits for it") {
  const testing::JobFolder here;
  REQUIRE(::mkfifo(here.path("pipe").c_str(), 0600) == 0);
  CHECK(code_of(here.path("pipe")) == ErrorCode::invalid);
  CHECK(code_of(here.path()) == ErrorCode::invalid);
  CHECK(code_of("/dev/null") == ErrorCode::invalid);
  CHECK(code_of(here.path("absent")) == ErrorCode::not_found);
  CHECK(code_of("") == ErrorCode::not_found);
  const auto folder = ForeignFile::Want::folder;
  CHECK(code_of(here.write("file", ""), folder) == ErrorCode::not_found);
  CHECK(code_of(here.path("absent"), folder) == ErrorCode::not_found);
  here.link(here.path(), "self");
  CHECK(code_of(here.path("self"), folder) == ErrorCode::refused);
  here.link("circle", "circle");
  CHECK_FALSE(ForeignFile::open(here.path("circle")));
  CHECK(ForeignFile::open(here.path(), folder));
}

TEST_CASE("a child that reads gives the same as the descriptor") {
  const testing::JobFolder here;
  std::string text;
  for (int i = 0; i < 40'000; ++i) text += fmt::format("line {}\n", i);
  const std::string path = here.write("log", text);
  auto served = ForeignFile::open_served(path);
  REQUIRE(served);
  CHECK_FALSE(served->descriptor());
  CHECK(served->status()->st_size == static_cast<off_t>(text.size()));
  std::string whole(text.size() + 10, '\0');
  CHECK(served->read_at(whole, 0) == text.size());
  CHECK(whole.substr(0, text.size()) == text);
  std::string part(200'000, '\0');
  CHECK(served->read_at(part, 100'001) == 200'000);
  CHECK(part == text.substr(100'001, 200'000));
  CHECK(served->read_at(part, text.size()) == 0);
  here.write("log", text + "more");
  CHECK(served->status()->st_size == static_cast<off_t>(text.size() + 4));
}

TEST_CASE("a pipe that this process holds is read by its number") {
  std::array<int, 2> ends{};
  REQUIRE(::pipe(ends.data()) == 0);
  const Descriptor out(ends[0]);
  Descriptor in(ends[1]);
  REQUIRE(::write(in.number(), "through", 7) == 7);
  in.close();
  for (const char* folder : {"/dev/fd/{}", "/proc/self/fd/{}"}) {
    auto file = ForeignFile::open(fmt::format(fmt::runtime(folder), out.number()));
    REQUIRE(file);
    CHECK(file->is_pipe());
    CHECK(text_of(std::move(file)) ==
          (std::string_view(folder).starts_with("/dev") ? "through" : ""));
  }
  CHECK(code_of("/dev/fd/999") == ErrorCode::not_found);
  CHECK_FALSE(ForeignFile::open("/dev/fd/x"));
  // Not for a user that this process reads for.
  ForeignPath theirs(fmt::format("/dev/fd/{}", out.number()));
  theirs.access.identity.user = ::geteuid() + 1;
  CHECK_FALSE(ForeignFile::open(theirs));
}

TEST_CASE("a pipe through which nothing comes is given up") {
  std::array<int, 2> ends{};
  REQUIRE(::pipe(ends.data()) == 0);
  const Descriptor out(ends[0]);
  const Descriptor in(ends[1]);
  ForeignPath path(fmt::format("/dev/fd/{}", out.number()));
  path.access.budget.reading = std::chrono::milliseconds(50);
  auto file = ForeignFile::open(path);
  REQUIRE(file);
  std::string text(10, '\0');
  CHECK(file->read_at(text, 0).error().code == ErrorCode::timeout);
}

TEST_CASE("an ordinary user reads as himself only" * testing::needs_ordinary_user()) {
  const testing::JobFolder here;
  ForeignPath path = here.write("log", "text");
  path.access.identity.user = ::geteuid() + 1;
  CHECK(code_of(path) == ErrorCode::refused);
  path.access.identity.user = ::geteuid();
  CHECK(text_of(ForeignFile::open(path)) == "text");
  ::chmod(path.name.c_str(), 0);
  CHECK(code_of(path) == ErrorCode::refused);
}

TEST_CASE("root has given up its rights before it opens another user's file" *
          testing::needs_root()) {
  const testing::JobFolder here;
  ::chmod(here.path().c_str(), 0755);
  const std::string path = here.write("log", "text");
  REQUIRE(::chown(path.c_str(), 12345, 0) == 0);
  auto file = ForeignFile::open(path);
  REQUIRE(file);
  CHECK(file->reader().user == 12345U);
  CHECK(file->reader().group == Identity::no_group);  // not the file's: anyone can have that set
  CHECK(file->reader().groups.empty());
  CHECK(text_of(std::move(file)) == "text");
  CHECK(ForeignFile::open(here.write("own", "x"))->reader().user == 0U);
}

TEST_CASE("the groups of an identity count, and only those" * testing::needs_root()) {
  const testing::JobFolder here;
  ::chmod(here.path().c_str(), 0755);
  ForeignPath path = here.write("log", "text");
  REQUIRE(::chown(path.name.c_str(), 0, 777) == 0);
  REQUIRE(::chmod(path.name.c_str(), 0640) == 0);
  path.access.identity = {.user = 12345, .group = 12345, .groups = {777}};
  CHECK(text_of(ForeignFile::open(path)) == "text");
  path.access.identity.groups = {778};
  CHECK(code_of(path) == ErrorCode::refused);
  path.access.identity = {.user = 12345, .group = 777, .groups = {}};
  CHECK(text_of(ForeignFile::open(path)) == "text");
}

TEST_CASE("the group of a link or a file gives its owner nothing" * testing::needs_root()) {
  const testing::JobFolder here;
  ::chmod(here.path().c_str(), 0755);
  for (const gid_t group : {0U, 777U}) {
    const std::string secret = here.write("secret", "secret");
    REQUIRE(::chown(secret.c_str(), 0, group) == 0);
    REQUIRE(::chmod(secret.c_str(), 0640) == 0);
    const std::string log = here.path(fmt::format("log{}", group));
    REQUIRE(::symlink(secret.c_str(), log.c_str()) == 0);
    REQUIRE(::lchown(log.c_str(), 12345, group) == 0);
    CHECK(code_of(log) == ErrorCode::refused);
  }
  ForeignPath path = here.write("theirs", "text");
  REQUIRE(::chown(path.name.c_str(), 12345, 0) == 0);
  path.access.identity = {.user = 0, .group = 0, .groups = {0}};  // as of a reader "root"
  const auto file = ForeignFile::open(path);
  REQUIRE(file);
  CHECK(file->reader() == Identity{.user = 12345});
}

TEST_CASE("a file of root with a second name in a folder of others is refused" *
          testing::needs_root()) {
  const testing::JobFolder here;
  const std::string secret = here.write("root/secret", "secret");
  here.folder("theirs");
  REQUIRE(::chown(here.path("theirs").c_str(), 12345, 12345) == 0);
  REQUIRE(::link(secret.c_str(), here.path("theirs/log").c_str()) == 0);
  CHECK(code_of(here.path("theirs/log")) == ErrorCode::refused);
  CHECK(text_of(ForeignFile::open(secret)) == "secret");
}

TEST_CASE("no swap of links gives root's secret to a reader" * testing::needs_root()) {
  const testing::JobFolder here;
  ::chmod(here.path().c_str(), 0755);
  const std::string secret = here.write("root/secret", "secret");
  ::chmod(secret.c_str(), 0600);
  const std::string theirs = here.folder("theirs");
  const std::string harmless = here.write("theirs/harmless", "harmless");
  REQUIRE(::chown(harmless.c_str(), 12345, 12345) == 0);
  REQUIRE(::chown(theirs.c_str(), 12345, 12345) == 0);
  const std::string log = here.path("theirs/log");
  std::atomic<bool> stop = false;
  std::jthread swapper([&] {
    for (int round = 0; !stop; ++round) {
      const std::string next = here.path("theirs/next");
      if (round % 2 == 0) {
        static_cast<void>(::symlink(secret.c_str(), next.c_str()));
      } else {
        static_cast<void>(::link(harmless.c_str(), next.c_str()));
      }
      static_cast<void>(::lchown(next.c_str(), 12345, 12345));
      static_cast<void>(::rename(next.c_str(), log.c_str()));
    }
  });
  int read = 0;
  int kept_out = 0;
  for (int round = 0; round < 400; ++round) {
    const std::string text = text_of(ForeignFile::open(log));
    CHECK(text != "secret");
    read += text == "harmless" ? 1 : 0;
    kept_out += text.starts_with("error") ? 1 : 0;
  }
  stop = true;
  CHECK(read > 0);
  CHECK(kept_out > 0);
}

TEST_CASE("many threads open files at the same time, and no child is left") {
  const testing::JobFolder here;
  const std::string path = here.write("log", "text");
  std::atomic<int> right = 0;
  std::vector<std::jthread> threads;
  for (int thread = 0; thread < 4; ++thread)
    threads.emplace_back([&] {
      for (int round = 0; round < 25; ++round)
        right += text_of(round % 2 == 0 ? ForeignFile::open(path)
                                        : ForeignFile::open_served(path)) == "text"
                     ? 1
                     : 0;
    });
  threads.clear();
  CHECK(right == 100);
  CHECK(::waitpid(-1, nullptr, WNOHANG) == -1);
}

}  // namespace schedmate
