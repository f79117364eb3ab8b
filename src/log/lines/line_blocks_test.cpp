// SPDX-License-Identifier: Apache-2.0
#include "log/lines/line_blocks.hpp"

#include <doctest/doctest.h>
#include <fmt/format.h>

#include <filesystem>

#include "base/output.hpp"
#include "tests/support/log_text.hpp"
#include "tests/support/scratch.hpp"

namespace schedmate::lines {
namespace {

using testing::utf16;

struct Taken {
  std::uint64_t number;
  std::string text;
  bool operator==(const Taken&) const = default;
};

std::vector<Taken> whole(const std::string& path) {
  std::vector<Taken> lines;
  CHECK(each_line(path, [&](const Line& line) {
    lines.push_back({line.number, std::string(line.text)});
    return true;
  }));
  return lines;
}

std::vector<Taken> by_blocks(const LineBlocks& blocks) {
  std::vector<Taken> lines;
  for (std::size_t i = 0; i < blocks.count(); ++i)
    blocks.each_line_of(i, [&](const Line& line) {
      lines.push_back({line.number, std::string(line.text)});
      return true;
    });
  return lines;
}

}  // namespace

TEST_CASE("the lines of all blocks are those of the file, with their numbers") {
  const testing::Scratch folder;
  const std::string path = folder.path("log");
  std::string many;
  for (std::size_t i = 0; i < 9001; ++i)
    many += fmt::format("line {} {}\n", i, std::string(i % 97, 'x'));
  const std::string wide =
      std::string(std::size_t{3} << 18U, 'y');  // longer than what is read at once
  for (const std::string& text :
       {std::string(), std::string("\n"), std::string("one"), std::string("one\n\ntwo"),
        std::string("\xef\xbb\xbf"
                    "marked\nnext\n"),
        many, many + "no end", fmt::format("a\n{0}\nb\n{0}", wide),
        utf16("one\ntwo\nthree\nfour\n")}) {
    CAPTURE(text.size());
    REQUIRE(write_file(path, text));
    const auto blocks = LineBlocks::open(path, 3);
    REQUIRE(blocks);
    const auto lines = whole(path);
    CHECK(blocks->lines() == lines.size());
    CHECK(blocks->count() == (lines.size() + 2) / 3);
    CHECK(by_blocks(*blocks) == lines);
  }
}

TEST_CASE("a block gives lines as long as they are wanted, and what is left of a file cut since") {
  const testing::Scratch folder;
  REQUIRE(write_file(folder.path("log"), "1\n2\n3\n4\n5\n"));
  const auto blocks = LineBlocks::open(folder.path("log"), 2);
  REQUIRE(blocks);
  std::size_t taken = 0;
  blocks->each_line_of(1, [&](const Line& line) {
    CHECK(line.number == 3);
    ++taken;
    return false;
  });
  CHECK(taken == 1);
  std::filesystem::resize_file(folder.path("log"), 5);
  CHECK(by_blocks(*blocks) == std::vector<Taken>{{1, "1"}, {2, "2"}, {3, "3"}});
}

TEST_CASE("a file that is not there is an error") {
  const testing::Scratch folder;
  CHECK(!LineBlocks::open(folder.path("none"), 2));
  CHECK(!LineBlocks::open(folder.path(), 2));
}

TEST_CASE("lines before the first that is wanted are only counted") {
  const testing::Scratch folder;
  std::string text = "\n";
  for (int i = 2; i <= 60000; ++i) text += fmt::format("line {}\n", i);
  REQUIRE(write_file(folder.path("log"), text + "last"));
  for (const std::uint64_t first : {1U, 2U, 59999U, 60001U}) {
    std::vector<Taken> lines;
    const auto take = [&](const Line& line) {
      lines.push_back({line.number, std::string(line.text)});
      return lines.size() < 2;
    };
    CHECK(each_line(folder.path("log"), take, first));
    REQUIRE(!lines.empty());
    CHECK(lines[0] == Taken{first, first == 1       ? std::string()
                                   : first == 60001 ? std::string("last")
                                                    : fmt::format("line {}", first)});
  }
  bool any = false;
  CHECK(each_line(folder.path("log"), [&](const Line&) { return any = true; }, 60002));
  CHECK(!any);
}

}  // namespace schedmate::lines
