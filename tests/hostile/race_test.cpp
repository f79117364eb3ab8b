// SPDX-License-Identifier: Apache-2.0
/// Trees that change while they are read: a thread swaps things as fast as it can.
#include <doctest/doctest.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <atomic>
#include <cstdio>
#include <fstream>
#include <thread>

#include "tests/hostile/cases.hpp"
#include "tree/read_bytes.hpp"
#include "tree/rooted_folder.hpp"

namespace schedmate::hostile {
namespace {

constexpr int rounds = 2000;
constexpr int most_rounds = 50 * rounds;  ///< on a busy machine, until both states were seen

/// Does something again and again until the end of its scope.
class Meanwhile {
 public:
  explicit Meanwhile(std::function<void()> what)
      : thread_([what = std::move(what)](const std::stop_token& stop) {
          while (!stop.stop_requested()) what();
        }) {}

 private:
  std::jthread thread_;
};

void exchange(const std::string& a, const std::string& b) {
  constexpr unsigned exchanged = 2;  // RENAME_EXCHANGE
  ::syscall(SYS_renameat2, AT_FDCWD, a.c_str(), AT_FDCWD, b.c_str(), exchanged);
}

struct Seen {
  int good = 0;
  int other = 0;
};

/// Reads `path` in a fresh tree each time; anything but `good` or an error is a failure.
Seen read_often(const World& world, const std::string& path, std::string_view good) {
  Seen seen;
  for (int round = 0; round < most_rounds; ++round) {
    if (round >= rounds && seen.good > 0 && seen.other > 0) break;
    auto tree = tree::Tree::open(world.root);
    REQUIRE(tree);
    const auto file = tree->read(path);
    if (file) REQUIRE((*file)->text == good);
    ++(file ? seen.good : seen.other);
  }
  return seen;
}

}  // namespace

TEST_CASE("a link that flips between inside and outside never shows the outside") {
  const World world;
  world.write("a.py", "a = 1\n");
  world.link("a.py", "x.py");
  world.link("../outside/other.py", "y.py");
  const Meanwhile flips([&] { exchange(world.path("x.py"), world.path("y.py")); });
  const Seen seen = read_often(world, "x.py", "a = 1\n");
  CHECK(seen.good > 0);
  CHECK(seen.other > 0);
}

TEST_CASE("a file that becomes a link never shows the outside") {
  const World world;
  world.write("x.py", "x = 1\n");
  world.link("../outside/other.py", "y.py");
  const Meanwhile flips([&] { exchange(world.path("x.py"), world.path("y.py")); });
  const Seen seen = read_often(world, "x.py", "x = 1\n");
  CHECK(seen.good > 0);
  CHECK(seen.other > 0);
}

TEST_CASE("a folder that becomes a link never shows the outside") {
  const World world;
  world.write("d/other.py", "x = 1\n");
  world.link("../outside", "e");
  const Meanwhile flips([&] { exchange(world.path("d"), world.path("e")); });
  const Seen seen = read_often(world, "d/other.py", "x = 1\n");
  CHECK(seen.good > 0);
  CHECK(seen.other > 0);
}

TEST_CASE("a folder that is moved out of the tree does not take the reader along") {
  const World world;
  world.all.write("other.py", forbidden_text);
  world.write("other.py", "x = 1\n");
  world.link("../other.py", "d/x.py");
  const std::string away = world.all.path("away");
  const Meanwhile moves([&] {
    std::rename(world.path("d").c_str(), away.c_str());
    std::rename(away.c_str(), world.path("d").c_str());
  });
  const Seen seen = read_often(world, "d/x.py", "x = 1\n");
  CHECK(seen.good > 0);
  CHECK(seen.other > 0);
}

TEST_CASE("a file that becomes a pipe does not hang the reader") {
  const World world;
  world.write("x.py", "x = 1\n");
  ::mkfifo(world.path("pipe").c_str(), 0644);
  const Meanwhile flips([&] { exchange(world.path("x.py"), world.path("pipe")); });
  const Seen seen = read_often(world, "x.py", "x = 1\n");
  CHECK(seen.good > 0);
  CHECK(seen.other > 0);
}

TEST_CASE("a file that grows without end is read to some end") {
  const World world;
  world.write("log.txt", "start\n");
  std::ofstream log(world.path("log.txt"), std::ios::app);
  const Meanwhile grows([&] { log << "one more line of a log\n" << std::flush; });
  bool too_large = false;
  for (int round = 0; round < most_rounds && !too_large; ++round) {
    auto tree = tree::Tree::open(world.root, {.file_bytes = 1 << 16});
    REQUIRE(tree);
    const auto file = tree->read("log.txt");
    too_large = !file;
    if (file) CHECK((*file)->text.starts_with("start\n"));
    if (file) CHECK((*file)->text.size() <= 1 << 16);
    if (!file) CHECK(file.error().code == ErrorCode::invalid);
  }
  CHECK(too_large);
}

TEST_CASE("a file that shrinks and grows is read as it is at one moment, or the tree says so") {
  const World world;
  const std::string path = world.write("x.py", "");
  const Descriptor file(::open(path.c_str(), O_WRONLY));
  const std::string text(100'000, 'x');
  const Meanwhile changes([&] {
    ::ftruncate(file.number(), 0);
    ::pwrite(file.number(), text.data(), text.size(), 0);
  });
  for (int round = 0; round < 300; ++round) {
    auto tree = tree::Tree::open(world.root);
    REQUIRE(tree);
    const auto read = tree->read("x.py");
    REQUIRE(read);
    CHECK((*read)->text.size() <= text.size());
    const tree::FileVersion version = tree->versions().front();
    CHECK((version.size == (*read)->text.size() || !tree->degraded().empty()));
  }
}

TEST_CASE("a file that is replaced after it was read keeps its text in this tree") {
  const World world;
  world.write("x.py", "x = 1\n");
  auto tree = tree::Tree::open(world.root);
  REQUIRE(tree);
  const auto first = tree->read("x.py");
  world.write("x.py", "x = 22\n");
  const auto second = tree->read("x.py");
  REQUIRE((first && second));
  CHECK(*first == *second);
  CHECK((*second)->text == "x = 1\n");
  CHECK_FALSE(tree::unchanged(*tree, tree->versions()));
}

}  // namespace schedmate::hostile
