// SPDX-License-Identifier: Apache-2.0
#include "base/output.hpp"

#include <doctest/doctest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <vector>

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

TEST_CASE("a full disk shows when the file is committed") {
  REQUIRE(fs::exists("/dev/full"));
  const OutputFolder folder;
  // The part file of this process and name is a link to the device that is always full.
  fs::create_symlink("/dev/full", folder.file(".a." + std::to_string(::getpid()) + ".part"));
  auto file = OutputFile::create(folder.file("a"));
  REQUIRE(file);
  file->append("text");
  const auto committed = file->commit();
  REQUIRE_FALSE(committed.has_value());
  CHECK(committed.error().message.find("space") != std::string::npos);
  CHECK(folder.names().empty());
}

}  // namespace
}  // namespace schedmate
