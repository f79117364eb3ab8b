// SPDX-License-Identifier: Apache-2.0
#include "service/held_input.hpp"

#include <doctest/doctest.h>
#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <utility>

#include "base/input.hpp"
#include "tests/support/scratch.hpp"

namespace schedmate::service {
namespace {

/// A pipe of this process, and its name.
struct Pipe {
  std::array<int, 2> ends{};
  Pipe() { REQUIRE(::pipe2(ends.data(), O_CLOEXEC) == 0); }
  Pipe(const Pipe&) = delete;
  Pipe& operator=(const Pipe&) = delete;
  ~Pipe() {
    ::close(ends[0]);
    if (ends[1] >= 0) ::close(ends[1]);
  }
  void write(std::string_view text) const {
    REQUIRE(::write(ends[1], text.data(), text.size()) == static_cast<ssize_t>(text.size()));
  }
  void close_writer() { ::close(std::exchange(ends[1], -1)); }
  [[nodiscard]] std::string name() const { return fmt::format("/dev/fd/{}", ends[0]); }
};

constexpr HeldBudget quick{1 << 20U, std::chrono::milliseconds(50)};

}  // namespace

TEST_CASE("what comes through a pipe is held, and can be read again and again") {
  Pipe pipe;
  pipe.write("one\ntwo\n");
  pipe.close_writer();
  const auto held = HeldInput::open(pipe.name());
  REQUIRE(held.has_value());
  CHECK(held->is_held());
  CHECK(held->note().empty());
  for (int i = 0; i < 2; ++i) CHECK(read_file(held->path()) == "one\ntwo\n");
  CHECK(held->named(held->path() + ":1: bad") == pipe.name() + ":1: bad");
}

TEST_CASE("rows that are left out are named by the name of the pipe") {
  struct Read {
    std::vector<std::string> messages;
  };
  Pipe pipe;
  pipe.write("one\n");
  pipe.close_writer();
  const auto read = read_held("sacct:" + pipe.name(), [](const std::string& spec) -> Result<Read> {
    return Read{{spec.substr(6) + ":1: bad"}};
  });
  REQUIRE(read.has_value());
  CHECK(read->messages == std::vector<std::string>{pipe.name() + ":1: bad"});
}

TEST_CASE("a pipe that never ends costs its budget, and that is said") {
  const Pipe pipe;
  pipe.write("one\n");
  const auto held = HeldInput::open(pipe.name(), quick);
  REQUIRE(held.has_value());
  CHECK(read_file(held->path()) == "one\n");
  CHECK(held->note() ==
        pipe.name() + ": the pipe did not end in 0.05 s; what had come by then was read");
  const Pipe large;
  large.write("0123456789");
  const auto cut = HeldInput::open(large.name(), {4, std::chrono::milliseconds(50)});
  REQUIRE(cut.has_value());
  CHECK(read_file(cut->path()) == "0123");
  CHECK(cut->note().contains("only the first 4 bytes"));
}

TEST_CASE("a FIFO by its name is not waited for, and is refused as a file") {
  const testing::Scratch folder;
  const std::string fifo = folder.path("fifo");
  REQUIRE(::mkfifo(fifo.c_str(), 0600) == 0);
  const auto held = HeldInput::open(fifo, quick);
  REQUIRE(held.has_value());
  CHECK_FALSE(held->is_held());
  CHECK(read_file(held->path()).error().message.contains("is a pipe or a device"));
}

TEST_CASE("files, absent names and other words stay as they are; what is not open is an error") {
  for (const char* name :
       {"/etc/hostname", "absent.log", "", "/dev/fd/x", "/dev/fd/", "/dev/null"}) {
    const auto held = HeldInput::open(name);
    REQUIRE(held.has_value());
    CHECK_FALSE(held->is_held());
    CHECK(held->path() == name);
  }
  CHECK_FALSE(HeldInput::open("/dev/fd/9999").has_value());
}

}  // namespace schedmate::service
