// SPDX-License-Identifier: Apache-2.0

/// How much of a log is read, and what is said of the rest.

#include <doctest/doctest.h>
#include <fmt/format.h>
#include <unistd.h>
#include <zstd.h>

#include <atomic>
#include <chrono>
#include <fstream>
#include <thread>

#include "base/output.hpp"
#include "log/lines/grown_file.hpp"
#include "log/lines/line_blocks.hpp"
#include "log/lines/lines.hpp"
#include "tests/support/patience.hpp"
#include "tests/support/scratch.hpp"

namespace schedmate::lines {
namespace {

constexpr std::uint64_t chunk = std::uint64_t{1} << 18U;  // budgets are looked at once a chunk

/// A path whose notes are kept.
struct Noted {
  ForeignPath path;
  std::vector<std::string> notes;
  explicit Noted(std::string name) : path(std::move(name)) {
    path.access.note = [this](const std::string& note) { notes.push_back(note); };
  }
  Noted(const Noted&) = delete;
  Noted& operator=(const Noted&) = delete;
};

struct Seen {
  std::uint64_t lines = 0, last_number = 0;
  std::string first, last;
};

Seen seen_in(const ForeignPath& path) {
  Seen seen;
  CHECK(each_line(path, [&](const Line& line) {
    if (seen.lines++ == 0) seen.first = line.text;
    seen.last = line.text;
    CHECK(line.number == seen.last_number + 1);
    seen.last_number = line.number;
    return true;
  }));
  return seen;
}

/// Lines of ten bytes, newline included.
std::string numbered(std::uint64_t lines) {
  std::string text;
  for (std::uint64_t i = 0; i < lines; ++i) text += fmt::format("{:9}\n", i);
  return text;
}

std::string packed(std::string_view text) {
  std::string out(::ZSTD_compressBound(text.size()), '\0');
  out.resize(::ZSTD_compress(out.data(), out.size(), text.data(), text.size(), 1));
  return out;
}

}  // namespace

TEST_CASE(
    "of a file beyond the budget of bytes the beginning and the end are read, and it is said") {
  const testing::Scratch here;
  Noted log(here.path("log"));
  const std::uint64_t all = 400'000;  // 4 MB
  REQUIRE(write_file(log.path.name, numbered(all)));
  log.path.access.budget.first_bytes = chunk;
  log.path.access.budget.last_bytes = 1'000'000;
  const Seen seen = seen_in(log.path);
  CHECK(seen.first == "        0");
  CHECK(seen.last == fmt::format("{:9}", all - 1));
  // 26,214 whole lines and the beginning of one; the million bytes begin with a whole line, of
  // which nobody can know that.
  CHECK(seen.lines == 26'215 + 100'000 - 1);
  CHECK(log.notes == std::vector<std::string>{fmt::format(
                         "{}: read the first 256 KiB and the last 976.6 KiB of 3.815 MiB; lines "
                         "behind the gap are numbered on from there",
                         log.path.name)});
  log.notes.clear();
  log.path.access.budget.last_bytes = 4'000'000;
  CHECK(seen_in(log.path).lines == all);
  CHECK(log.notes.empty());
}

TEST_CASE("of a file beyond the budget of lines, too") {
  const testing::Scratch here;
  Noted log(here.path("log"));
  REQUIRE(write_file(log.path.name, std::string(20 * chunk, '\n') + "the end\n"));
  log.path.access.budget.lines = 2 * chunk;
  const Seen seen = seen_in(log.path);
  CHECK(seen.lines >= 4 * chunk);
  CHECK(seen.lines <= 6 * chunk);
  CHECK(seen.last == "the end");
  REQUIRE(log.notes.size() == 1);
  CHECK(log.notes[0].contains("read the first 512 KiB and the last 768 KiB of 5 MiB"));
}

TEST_CASE("a sparse log of a tebibyte costs no more than the budget") {
  const testing::Scratch here;
  Noted log(here.path("log"));
  REQUIRE(write_file(log.path.name, "the beginning\n"));
  const std::uint64_t end = std::uint64_t{1} << 40U;
  REQUIRE(::truncate(log.path.name.c_str(), static_cast<off_t>(end)) == 0);
  std::ofstream(log.path.name, std::ios::app) << "\nthe end\n";
  log.path.access.budget.first_bytes = log.path.access.budget.last_bytes = 16 * chunk;
  Seen seen;
  CHECK(testing::cpu_seconds([&] { seen = seen_in(log.path); }) < 5);
  CHECK(seen.first == "the beginning");
  CHECK(seen.last == "the end");
  REQUIRE(log.notes.size() == 1);
  CHECK(log.notes[0].contains("of 1 TiB"));
  CHECK(testing::cpu_seconds([&] {
          const auto blocks = LineBlocks::open(log.path, 20);
          CHECK(blocks);
          CHECK(log.notes.back().ends_with("read the first 8 MiB; the rest was not read"));
        }) < 5);
  CHECK(tail_of(log.path, 1000)->text == "the end\n");
}

TEST_CASE("text that cannot be skipped is read to the budget's end") {
  const testing::Scratch here;
  Noted log(here.path("log"));
  REQUIRE(write_file(log.path.name, packed(numbered(400'000))));
  log.path.access.budget.first_bytes = log.path.access.budget.last_bytes = 2 * chunk;
  CHECK(seen_in(log.path).lines == 4 * chunk / 10 + 1);
  REQUIRE(log.notes.size() == 1);
  CHECK(log.notes[0].ends_with("read the first 1 MiB of its text; the rest was not read"));
  const auto tail = tail_of(log.path, 100);
  REQUIRE(tail);
  CHECK(log.notes.size() == 2);

  log.notes.clear();
  REQUIRE(write_file(log.path.name, packed(std::string(100 * chunk, '\n'))));
  log.path.access.budget = {};
  log.path.access.budget.lines = 3 * chunk;
  CHECK(seen_in(log.path).lines <= 7 * chunk);
  REQUIRE(log.notes.size() == 1);
  CHECK(log.notes[0].contains(" lines; the rest was not read"));
}

TEST_CASE("time is a budget, too") {
  const testing::Scratch here;
  Noted log(here.path("log"));
  REQUIRE(write_file(log.path.name, numbered(200'000)));
  log.path.access.budget.reading = std::chrono::milliseconds(30);
  std::uint64_t lines = 0;
  const auto slow = [&](const Line&) {
    if (++lines % 10'000 == 0)
      std::this_thread::sleep_for(std::chrono::milliseconds(20));  // clock: a slow reader
    return true;
  };
  CHECK(each_line(log.path, slow));
  CHECK(lines < 200'000);
  CHECK(log.notes.size() >= 1);
  REQUIRE(write_file(log.path.name, packed(numbered(2'000'000))));
  lines = 0;
  log.notes.clear();
  CHECK(each_line(log.path, slow));
  CHECK(lines < 2'000'000);
  CHECK(log.notes.size() == 1);
}

TEST_CASE("one look at a file that grows comes to an end") {
  const testing::Scratch here;
  Noted log(here.path("log"));
  REQUIRE(write_file(log.path.name, "begin\n"));
  GrownFile grown(log.path, 1000);
  std::uint64_t bytes = 0;
  const auto take = [&](std::string_view piece) { bytes += piece.size(); };
  int restarts = 0;
  CHECK(grown.read(take, [&] { ++restarts; }));
  CHECK(bytes == 6);
  // Each piece that is taken makes the file grow by twice as much.
  const auto feed = [&](std::string_view piece) {
    take(piece);
    std::ofstream(log.path.name, std::ios::app) << std::string(2 * piece.size(), '\n');
  };
  std::ofstream(log.path.name, std::ios::app) << std::string(1 << 16, '\n');
  CHECK(grown.read(feed, [&] { ++restarts; }));
  CHECK(bytes <= GrownFile::most_at_once + (1 << 16) + 6);
  CHECK(log.notes.empty());
  // It is too far behind now.
  bytes = 0;
  CHECK(grown.read(take, [&] { ++restarts; }));
  CHECK(bytes == 1000);
  CHECK(restarts == 2);
  REQUIRE(log.notes.size() == 1);
  CHECK(log.notes[0].contains("since the last look; read the last 1000 bytes"));
}

TEST_CASE("amounts are in words") {
  CHECK(in_bytes(0) == "0 bytes");
  CHECK(in_bytes(1023) == "1023 bytes");
  CHECK(in_bytes(1536) == "1.5 KiB");
  CHECK(in_bytes(std::uint64_t{5} << 40U) == "5 TiB");
}

}  // namespace schedmate::lines
