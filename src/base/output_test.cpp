// SPDX-License-Identifier: Apache-2.0
#include "base/output.hpp"

#include <doctest/doctest.h>
#include <fmt/format.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <csignal>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <thread>
#include <vector>

#include "tests/support/needs.hpp"

namespace schedmate {
namespace {

namespace fs = std::filesystem;

/// An empty folder that goes with the test.
struct OutputFolder {
  fs::path path;
  OutputFolder() {
    std::string name = (fs::temp_directory_path() / "schedmate-output-XXXXXX").string();
    path = ::mkdtemp(name.data());
  }
  ~OutputFolder() { fs::remove_all(path); }
  OutputFolder(const OutputFolder&) = delete;
  OutputFolder& operator=(const OutputFolder&) = delete;
  [[nodiscard]] std::string file(const std::string& name) const { return (path / name).string(); }
  [[nodiscard]] std::vector<std::string> names() const {
    std::vector<std::string> names;
    for (const auto& entry : fs::directory_iterator(path))
      names.push_back(entry.path().filename().string());
    std::ranges::sort(names);
    return names;
  }
};

std::string text_of(const std::string& path) {
  std::ifstream in(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}

/// Runs `action` in a child process and gives its wait status.
template <class Action>
int in_child(Action action) {
  const pid_t child = ::fork();
  if (child == 0) {
    action();
    ::_exit(0);
  }
  int status = 0;
  ::waitpid(child, &status, 0);
  return status;
}

TEST_CASE("a committed file holds all that was appended, however long, and no part file is left") {
  const OutputFolder folder;
  auto file = OutputFile::create(folder.file("a.csv"));
  REQUIRE(file);
  std::string expected;
  for (int i = 0; i < 20'000; ++i) {
    file->append(std::to_string(i));
    expected += std::to_string(i);
  }
  const std::string long_text(200'000, 'x');
  file->append(long_text);
  REQUIRE(file->commit());
  CHECK(text_of(folder.file("a.csv")) == expected + long_text);
  CHECK(folder.names() == std::vector<std::string>{"a.csv"});
}

TEST_CASE("a file that is not committed leaves the old one as it was") {
  const OutputFolder folder;
  REQUIRE(write_file(folder.file("a"), "old"));
  {
    auto file = OutputFile::create(folder.file("a"));
    REQUIRE(file);
    file->append("new");
    CHECK(folder.names().size() == 2);
  }
  CHECK(text_of(folder.file("a")) == "old");
  CHECK(folder.names() == std::vector<std::string>{"a"});
}

TEST_CASE("a hard kill leaves the old file, and the next run removes the part file") {
  const OutputFolder folder;
  REQUIRE(write_file(folder.file("a"), "old"));
  const int status = in_child([&] {
    auto file = OutputFile::create(folder.file("a"));
    file->append(std::string(100'000, 'n'));
    std::raise(SIGKILL);
  });
  CHECK(WIFSIGNALED(status));
  CHECK(text_of(folder.file("a")) == "old");
  REQUIRE(folder.names().size() == 2);
  REQUIRE(write_file(folder.file("a"), "new"));
  CHECK(text_of(folder.file("a")) == "new");
  CHECK(folder.names() == std::vector<std::string>{"a"});
}

TEST_CASE("part files of running processes and of other files are left alone") {
  const OutputFolder folder;
  const std::string of_running = "." + std::string("a.") + std::to_string(::getppid()) + ".part";
  for (const std::string& name : {of_running, std::string(".a.x1.part"), std::string(".b.1.part")})
    std::ofstream(folder.file(name)) << "theirs";
  REQUIRE(write_file(folder.file("a"), "ours"));
  CHECK(folder.names().size() == 4);
}

TEST_CASE("a signal handler removes open part files and touches no committed one") {
  const OutputFolder folder;
  REQUIRE(write_file(folder.file("done"), "whole"));
  in_child([&] {
    auto file = OutputFile::create(folder.file("open"));
    remove_part_files();
  });
  CHECK(folder.names() == std::vector<std::string>{"done"});
}

TEST_CASE("a folder that is not there is an error that names the file") {
  const OutputFolder folder;
  const auto written = write_file(folder.file("absent/a"), "text");
  REQUIRE_FALSE(written.has_value());
  CHECK(written.error().code == ErrorCode::unavailable);
  CHECK(written.error().message.find("absent/a") != std::string::npos);
}

TEST_CASE("a file cannot take the place of a folder, and the part file goes") {
  const OutputFolder folder;
  fs::create_directories(folder.path / "taken" / "inside");
  const auto written = write_file(folder.file("taken"), "text");
  REQUIRE_FALSE(written.has_value());
  CHECK(written.error().code == ErrorCode::unavailable);
  CHECK(folder.names() == std::vector<std::string>{"taken"});
}

TEST_CASE("a disk without room shows when the file is committed") {
  const OutputFolder folder;
  const int status = in_child([&] {
    ::signal(SIGXFSZ, SIG_IGN);
    const struct rlimit little{100, 100};
    ::setrlimit(RLIMIT_FSIZE, &little);
    auto file = OutputFile::create(folder.file("a"));
    if (!file) ::_exit(1);
    file->append(std::string(1000, 'x'));
    const auto committed = file->commit();
    ::_exit(!committed && committed.error().message.contains("too large") ? 0 : 2);
  });
  CHECK(status == 0);
  CHECK(folder.names().empty());
}

TEST_CASE("what is planted under the old, guessable name of a part file is not written") {
  const OutputFolder folder;
  REQUIRE(write_file(folder.file("victim"), "precious"));
  fs::create_symlink(folder.file("victim"), folder.file(fmt::format(".a.{}.part", ::getpid())));
  REQUIRE(write_file(folder.file("a"), "new"));
  CHECK(text_of(folder.file("victim")) == "precious");
  CHECK(text_of(folder.file("a")) == "new");
}

TEST_CASE("two writers of one file in one process do not share a part file") {
  const OutputFolder folder;
  auto first = OutputFile::create(folder.file("a"));
  auto second = OutputFile::create(folder.file("a"));
  REQUIRE(first);
  REQUIRE(second);
  const auto names = folder.names();
  REQUIRE(names.size() == 2);
  CHECK(names[0].size() > std::string(".a.12345.part").size());
  first->append(std::string(100'000, '1'));
  second->append(std::string(70'000, '2'));
  REQUIRE(second->commit());
  CHECK(text_of(folder.file("a")) == std::string(70'000, '2'));
  REQUIRE(first->commit());
  CHECK(text_of(folder.file("a")) == std::string(100'000, '1'));
}

TEST_CASE("many threads write one file, and it is always one of theirs") {
  const OutputFolder folder;
  std::atomic<int> failed = 0;
  std::vector<std::jthread> threads;
  for (char name = 'a'; name < 'e'; ++name)
    threads.emplace_back([&folder, &failed, name] {
      for (int round = 0; round < 30; ++round)
        if (!write_file(folder.file("x"), std::string(10'000, name))) ++failed;
    });
  threads.clear();
  CHECK(failed == 0);
  const std::string text = text_of(folder.file("x"));
  CHECK(text == std::string(10'000, text.at(0)));
  CHECK(folder.names() == std::vector<std::string>{"x"});
}

TEST_CASE("part files of killed runs go, old and new names, but no others") {
  const OutputFolder folder;
  const pid_t gone = [] {
    const pid_t child = ::fork();
    if (child == 0) ::_exit(0);
    ::waitpid(child, nullptr, 0);
    return child;
  }();
  for (const std::string& name :
       {fmt::format(".a.{}.part", gone), fmt::format(".a.{}.00ff00ff00ff00ff.part", gone),
        fmt::format(".b.{}.00ff00ff00ff00ff.part", gone)})
    std::ofstream(folder.file(name)) << "half";
  REQUIRE(write_file(folder.file("a"), "whole"));
  CHECK(folder.names() ==
        std::vector<std::string>{fmt::format(".b.{}.00ff00ff00ff00ff.part", gone), "a"});
}

TEST_CASE("a link in the place of a file is replaced, and a long name is no obstacle") {
  const OutputFolder folder;
  REQUIRE(write_file(folder.file("victim"), "precious"));
  fs::create_symlink(folder.file("victim"), folder.file("a"));
  REQUIRE(write_file(folder.file("a"), "new"));
  CHECK(text_of(folder.file("victim")) == "precious");
  CHECK_FALSE(fs::is_symlink(folder.path / "a"));
  CHECK(write_file(folder.file(std::string(250, 'n')), "text"));
}

TEST_CASE("root does not write through a link of another user" * testing::needs_root()) {
  const OutputFolder folder;
  fs::create_directories(folder.path / "etc");
  fs::create_directory_symlink(folder.file("etc"), folder.path / "theirs");
  fs::create_directory_symlink(folder.file("etc"), folder.path / "own");
  REQUIRE(::lchown(folder.file("theirs").c_str(), 12345, 12345) == 0);
  const auto through = write_file(folder.file("theirs/passwd"), "x");
  REQUIRE_FALSE(through);
  CHECK(through.error().code == ErrorCode::refused);
  CHECK(through.error().message.contains("link of user 12345"));
  CHECK(fs::is_empty(folder.path / "etc"));
  CHECK(write_file(folder.file("own/passwd"), "x"));
}

}  // namespace
}  // namespace schedmate
