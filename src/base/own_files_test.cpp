// SPDX-License-Identifier: Apache-2.0
#include "base/own_files.hpp"

#include <doctest/doctest.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tests/support/job_folder.hpp"
#include "tests/support/needs.hpp"

namespace schedmate {
namespace {

constexpr uid_t somebody = 12345;

std::string refusal(const std::string& folder) {
  const auto made = make_own_folder(folder);
  if (made) return "taken";
  CHECK(made.error().code == ErrorCode::refused);
  return made.error().message;
}

std::string file_refusal(const std::string& file) {
  const auto opened = open_own_file(file, O_RDWR);
  if (opened) return "taken";
  CHECK(opened.error().code == ErrorCode::refused);
  return opened.error().message;
}

}  // namespace

TEST_CASE("an own folder is made with its parents, for its user alone") {
  const testing::JobFolder here;
  const auto made = make_own_folder(here.path("a/b/state"));
  REQUIRE(made);
  CHECK(*made);
  struct stat status{};
  REQUIRE(::stat(here.path("a/b/state").c_str(), &status) == 0);
  CHECK((status.st_mode & 0777) == 0700);
  CHECK(make_own_folder(here.path("a/b/state/")));
  here.write("file", "");
  CHECK(make_own_folder(here.path("file/state")).error().code != ErrorCode::refused);
}

TEST_CASE("a folder that others may write, or that is a link, is none of one's own") {
  const testing::JobFolder here;
  const std::string state = here.folder("state");
  for (const mode_t mode : {0777U, 0770U, 0702U, 01777U, 0720U}) {
    REQUIRE(::chmod(state.c_str(), mode) == 0);
    CHECK(refusal(state).contains("others may write it (chmod go-w mends that)"));
    CHECK(file_refusal(state + "/x").contains("others may write it"));
    CHECK(::access((state + "/x").c_str(), F_OK) != 0);
  }
  REQUIRE(::chmod(state.c_str(), 0755) == 0);
  CHECK(refusal(state) == "taken");
  here.link("state", "link");
  CHECK(refusal(here.path("link")).contains("is a link"));
  CHECK(has_own_folder(here.path("link")).error().message.contains("is a link"));
  CHECK(has_own_folder(state).value());
  CHECK_FALSE(has_own_folder(here.path("none/state")).value());
  CHECK(::access(here.path("none").c_str(), F_OK) != 0);
  CHECK(refusal(here.path("link/below")) == "taken");  // the link is this user's own
}

TEST_CASE("a file that is a link, has two names or is no file is none of one's own") {
  const testing::JobFolder here;
  ::chmod(here.path().c_str(), 0700);
  const std::string victim = here.write("elsewhere/victim", "precious");
  here.link(victim, "link");
  here.link("nowhere", "dangling");
  REQUIRE(::link(victim.c_str(), here.path("second").c_str()) == 0);
  REQUIRE(::mkfifo(here.path("pipe").c_str(), 0600) == 0);
  CHECK(file_refusal(here.path("link")).contains("is a link"));
  CHECK(file_refusal(here.path("dangling")).contains("is a link"));
  CHECK(::access(here.path("nowhere").c_str(), F_OK) != 0);
  CHECK(file_refusal(here.path("second")).contains("second name"));
  CHECK(file_refusal(here.path("pipe")).contains("not a regular file"));
  CHECK(here.read("elsewhere/victim") == "precious");
  here.write("open", "");
  ::chmod(here.path("open").c_str(), 0666);
  CHECK(file_refusal(here.path("open")).contains("others may write it"));
  const auto fresh = open_own_file(here.path("fresh"), O_RDWR);
  REQUIRE(fresh);
  struct stat status{};
  REQUIRE(::fstat(fresh->number(), &status) == 0);
  CHECK((status.st_mode & 0777) == 0600);
}

/// As any other process sees it.
bool is_locked(const std::string& path) {
  const pid_t child = ::fork();
  if (child == 0) {
    const int file = ::open(path.c_str(), O_RDWR | O_CLOEXEC);
    struct flock lock{
        .l_type = F_WRLCK, .l_whence = SEEK_SET, .l_start = 0, .l_len = 0, .l_pid = 0};
    ::_exit(::fcntl(file, F_SETLK, &lock) == 0 ? 0 : 1);
  }
  int status = 0;
  REQUIRE(::waitpid(child, &status, 0) == child);
  return WIFEXITED(status) && WEXITSTATUS(status) == 1;
}

TEST_CASE("a file of one's own is made once, and its locks stay when it is looked at") {
  const testing::JobFolder here;
  const std::string path = here.path("db");
  REQUIRE(make_own_file(path));
  const Descriptor file(::open(path.c_str(), O_RDWR | O_CLOEXEC));
  struct stat status{};
  REQUIRE(::fstat(file.number(), &status) == 0);
  CHECK((status.st_mode & 0777) == 0600);
  struct flock lock{.l_type = F_WRLCK, .l_whence = SEEK_SET, .l_start = 0, .l_len = 0, .l_pid = 0};
  REQUIRE(::fcntl(file.number(), F_SETLK, &lock) == 0);
  REQUIRE(make_own_file(path));
  CHECK(is_locked(path));
  const std::string link = here.path("link");
  REQUIRE(::symlink(path.c_str(), link.c_str()) == 0);
  CHECK(make_own_file(link).error().code == ErrorCode::refused);
  CHECK(make_own_file(here.path("no/folder")).error().code == ErrorCode::unavailable);
}

TEST_CASE("a key is read where others may not, and a file that is read is not made") {
  const testing::JobFolder here;
  const std::string key = here.write("key", "  secret\n");
  ::chmod(key.c_str(), 0640);
  CHECK(read_private_file(key) == "secret");
  for (const mode_t open : {0644U, 0660U, 0604U}) {
    ::chmod(key.c_str(), open);
    const auto refused = read_private_file(key);
    REQUIRE(!refused);
    CHECK(refused.error().code == ErrorCode::refused);
  }
  const auto absent = read_private_file(here.path("absent"));
  REQUIRE(!absent);
  CHECK(absent.error().code == ErrorCode::unavailable);
  CHECK(absent.error().message.contains("No such file"));
  CHECK(::access(here.path("absent").c_str(), F_OK) != 0);
}

TEST_CASE("what belongs to another user is none of one's own" * testing::needs_root()) {
  const testing::JobFolder here;
  const std::string state = here.folder("state");
  const std::string file = here.write("state/x", "");
  REQUIRE(::chown(file.c_str(), somebody, somebody) == 0);
  CHECK(file_refusal(file).contains("belongs to user 12345"));
  REQUIRE(::chown(state.c_str(), somebody, somebody) == 0);
  CHECK(refusal(state).contains("belongs to user 12345"));
  here.folder("deep/state");
  here.link("deep", "theirs");
  REQUIRE(::lchown(here.path("theirs").c_str(), somebody, somebody) == 0);
  CHECK(refusal(here.path("theirs/state")).contains("link of user 12345"));
  CHECK(refusal(here.path("theirs/new")).contains("link of user 12345"));
  CHECK(::access(here.path("deep/new").c_str(), F_OK) != 0);
}

}  // namespace schedmate
