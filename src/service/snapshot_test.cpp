// SPDX-License-Identifier: Apache-2.0
#include "service/snapshot.hpp"

#include <doctest/doctest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <iterator>

#include "process/run_tool.hpp"
#include "tests/support/need.hpp"
#include "tests/support/scratch.hpp"

namespace schedmate::service {
namespace {

namespace fs = std::filesystem;
using testing::need;

settings::Environment with_programs() {
  settings::Environment made;
  made.variable = [](std::string_view name) {
    return std::string(name == "PATH" ? "/usr/local/bin:/usr/bin:/bin" : "");
  };
  return made;
}

std::string text_of(const std::string& path) {
  std::ifstream file(path);
  return {std::istreambuf_iterator<char>(file), {}};
}

/// A job's folder, and where its snapshots go.
struct House {
  testing::Scratch scratch;
  std::string job = fs::canonical(scratch.path()).string() + "/job", into = scratch.path("kept");

  House() { fs::create_directory(job); }
  void write(const std::string& name, const std::string& text) const {
    fs::create_directories(fs::path(job + "/" + name).parent_path());
    std::ofstream(job + "/" + name) << text;
  }
  void git_init() const {
    need(process::run_tool(with_programs(),
                           {.words = {"git", "-C", job, "init", "-q"}, .must_print = false}));
  }
  [[nodiscard]] Snapshot take(const std::string& dir = "", SnapshotLimits limits = {}) const {
    static int calls = 0;
    return need(take_snapshot(with_programs(), job + dir, {into, std::to_string(++calls)}, limits));
  }
};

TEST_CASE("a snapshot keeps what its owner changes afterwards") {
  House house;
  house.write("train.py", "lr = 1");
  house.write("conf/base.yaml", "a: 1");
  REQUIRE(::chmod((house.job + "/train.py").c_str(), 0750) == 0);
  REQUIRE(::chmod((house.job + "/conf").c_str(), 0550) == 0);
  const Snapshot made = house.take();
  REQUIRE(::chmod((house.job + "/conf").c_str(), 0750) == 0);
  house.write("train.py", "lr = 2");
  fs::remove_all(house.job + "/conf");
  CHECK(made.root == made.dir);
  CHECK(made.copied == 2);
  CHECK(made.linked == 0);
  CHECK(made.bytes == 10);
  CHECK(text_of(made.dir + "/train.py") == "lr = 1");
  CHECK(text_of(made.dir + "/conf/base.yaml") == "a: 1");
  CHECK(fs::status(made.dir + "/train.py").permissions() == fs::perms(0750));
  CHECK(fs::status(made.dir + "/conf").permissions() == fs::perms(0750));
  CHECK(fs::status(made.root).permissions() == fs::perms::owner_all);
  CHECK(house.take().dir != made.dir);
}

TEST_CASE("submissions with an equal key share a copy, which is that of the first") {
  House house;
  house.write("train.py", "lr = 1");
  const Snapshot first = need(take_snapshot(with_programs(), house.job, {house.into, "a/key"}));
  house.write("train.py", "lr = 2");
  const Snapshot again = need(take_snapshot(with_programs(), house.job, {house.into, "a/key"}));
  CHECK(again.dir == first.dir);
  CHECK(again.copied == 0);
  CHECK(text_of(again.dir + "/train.py") == "lr = 1");
  CHECK(std::distance(fs::directory_iterator(house.into), {}) == 1);
}

TEST_CASE("large files and what is no file are linked to where they are") {
  House house;
  house.write("data.bin", "12345678");
  house.write("train.py", "x");
  REQUIRE(::mkfifo((house.job + "/pipe").c_str(), 0600) == 0);
  const Snapshot made = house.take("", {.large = 7});
  CHECK(made.copied == 1);
  CHECK(made.linked == 2);
  CHECK(fs::read_symlink(made.dir + "/data.bin") == house.job + "/data.bin");
  CHECK(fs::read_symlink(made.dir + "/pipe") == house.job + "/pipe");
}

TEST_CASE("links lead to the copy where they stay in the folder, else to where they led") {
  House house;
  house.write("a/train.py", "x");
  fs::create_symlink("../a/train.py", house.job + "/a/main.py");
  fs::create_symlink("..", house.job + "/a/up");
  fs::create_symlink("../elsewhere", house.job + "/out");
  fs::create_symlink("/etc/passwd", house.job + "/users");
  fs::create_symlink("nothing", house.job + "/dangling");
  fs::create_symlink("..data", house.job + "/dots");
  const Snapshot made = house.take();
  house.write("a/train.py", "changed");
  CHECK(text_of(made.dir + "/a/main.py") == "x");
  CHECK(fs::canonical(made.dir + "/a/up") == fs::canonical(made.dir));
  CHECK(fs::read_symlink(made.dir + "/out") == fs::path(house.job).parent_path() / "elsewhere");
  CHECK(fs::read_symlink(made.dir + "/users") == "/etc/passwd");
  CHECK(fs::read_symlink(made.dir + "/dangling") == "nothing");
  CHECK(fs::read_symlink(made.dir + "/dots") == "..data");
}

TEST_CASE("of a git work tree all is copied but what git ignores") {
  House house;
  house.git_init();
  house.write(".gitignore", "outputs/\n*.pt\n");
  house.write("src/net.py", "net");
  house.write("examples/train.py", "train");
  house.write("examples/best.pt", "weights");
  house.write("outputs/1/log", "old");
  const Snapshot made = house.take("/examples");
  CHECK(made.dir == made.root + "/examples");
  CHECK(text_of(made.dir + "/../src/net.py") == "net");
  CHECK(made.copied == 3);
  CHECK(made.linked == 3);
  CHECK(fs::read_symlink(made.root + "/outputs") == house.job + "/outputs");
  CHECK(fs::read_symlink(made.root + "/.git") == house.job + "/.git");
  CHECK(fs::is_symlink(made.dir + "/best.pt"));
  std::ofstream(made.root + "/outputs/new") << "result";
  CHECK(text_of(house.job + "/outputs/new") == "result");
  drop_snapshot(made);
  CHECK_FALSE(fs::exists(made.root));
  CHECK(text_of(house.job + "/outputs/1/log") == "old");
  drop_snapshot({});
}

TEST_CASE("a folder that its work tree ignores is copied by itself") {
  House house;
  house.git_init();
  house.write(".gitignore", "*\n");
  house.write("mine/train.py", "lr = 1");
  const Snapshot made = house.take("/mine");
  house.write("mine/train.py", "lr = 2");
  CHECK(made.dir == made.root);
  CHECK(made.copied == 1);
  CHECK(made.linked == 0);
  CHECK(text_of(made.dir + "/train.py") == "lr = 1");
}

TEST_CASE("snapshots go only where nobody else may write") {
  House house;
  house.write("train.py", "x");
  fs::create_directory(house.into);
  REQUIRE(::chmod(house.into.c_str(), 0777) == 0);
  const auto made = take_snapshot(with_programs(), house.job, {house.into, "1"});
  REQUIRE_FALSE(made);
  CHECK(made.error().code == ErrorCode::refused);
}

TEST_CASE("snapshots that are kept in the folder itself are no part of the next one") {
  House house;
  house.into = house.job + "/.snapshots";
  house.write("train.py", "x");
  (void)house.take();
  const Snapshot second = house.take();
  CHECK(second.copied == 1);
  CHECK_FALSE(fs::exists(second.dir + "/.snapshots"));
}

TEST_CASE("what goes too far is an error, and leaves nothing") {
  House house;
  house.write("a", "123");
  house.write("b", "456");
  const auto message = [&](const std::string& dir, const SnapshotLimits& limits) {
    const auto made = take_snapshot(with_programs(), dir, {house.into, "1"}, limits);
    return made ? "" : made.error().message;
  };
  CHECK(message(house.job, {.files = 1}).contains("let .gitignore name its data"));
  CHECK(message(house.job, {.bytes = 5}).contains("more than"));
  CHECK(message(house.job + "/none", {}).contains("no such folder"));
  CHECK(message(house.job + "/a", {}).contains("no such folder"));
  CHECK(fs::is_empty(house.into));
  house.into = "/proc/none";
  CHECK(message(house.job, {}).contains("/proc/none"));
}

}  // namespace
}  // namespace schedmate::service
