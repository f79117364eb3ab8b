// SPDX-License-Identifier: Apache-2.0
#include "log/lines/lines.hpp"

#include <doctest/doctest.h>
#include <zstd.h>

#include <fstream>

#include "base/output.hpp"
#include "tests/support/gzip.hpp"
#include "tests/support/log_text.hpp"
#include "tests/support/scratch.hpp"

namespace schedmate::lines {
namespace {

using testing::utf16;

using testing::gzipped;

std::string zstd(std::string_view text) {
  std::string out(::ZSTD_compressBound(text.size()), '\0');
  out.resize(::ZSTD_compress(out.data(), out.size(), text.data(), text.size(), 3));
  return out;
}

std::vector<std::string> lines_of(const std::string& path) {
  std::vector<std::string> lines;
  const auto done = each_line(path, [&](const Line& line) {
    CHECK(line.number == lines.size() + 1);
    lines.emplace_back(line.text);
    return true;
  });
  CHECK(done.has_value());
  return lines;
}

}  // namespace

TEST_CASE("lines end at newlines only and count from 1, in every kind of file") {
  const testing::Scratch folder;
  const std::string path = folder.path("log");
  const std::string text = "one\n\ntwo\rstill two\nthree without end";
  for (const std::string& stored :
       {text, gzipped(text), zstd(text), utf16(text), gzipped(utf16(text))}) {
    REQUIRE(write_file(path, stored));
    CHECK(lines_of(path) ==
          std::vector<std::string>{"one", "", "two\rstill two", "three without end"});
  }
}

TEST_CASE("a byte order mark is no part of the first line") {
  const testing::Scratch folder;
  REQUIRE(write_file(folder.path("log"), "\xef\xbb\xbfone\n"));
  CHECK(lines_of(folder.path("log")) == std::vector<std::string>{"one"});
  CHECK(tail_of(folder.path("log"), 100)->text == "one\n");
}

TEST_CASE("an empty file has no lines, an absent one is an error") {
  const testing::Scratch folder;
  REQUIRE(write_file(folder.path("log"), ""));
  CHECK(lines_of(folder.path("log")).empty());
  CHECK(tail_of(folder.path("log"), 100)->complete);
  CHECK(!each_line(folder.path("none"), [](const Line&) { return true; }));
  CHECK(!tail_of(folder.path("none"), 100));
  CHECK(!tail_of(folder.path(), 100));
}

TEST_CASE("the taker ends the reading") {
  std::size_t taken = 0;
  each_line_of("a\nb\nc\nd", [&](const Line&) { return ++taken < 2; });
  CHECK(taken == 2);
}

TEST_CASE("of a long line its beginning is given, and the next line is whole") {
  std::vector<std::size_t> sizes;
  each_line_of(std::string(3 * most_line_bytes, 'x') + "\nshort\n", [&](const Line& line) {
    sizes.push_back(line.text.size());
    return true;
  });
  CHECK(sizes == std::vector<std::size_t>{most_line_bytes, 5});
}

TEST_CASE("a tail begins at the beginning of a line") {
  const testing::Scratch folder;
  std::string text;
  for (int i = 0; i < 1000; ++i) text += "line " + std::to_string(i) + "\n";
  REQUIRE(write_file(folder.path("log"), text));
  const auto tail = tail_of(folder.path("log"), 100);
  REQUIRE(tail);
  CHECK(!tail->complete);
  CHECK(tail->text.size() <= 100);
  CHECK(tail->text.starts_with("line "));
  CHECK(tail->text.ends_with("line 999\n"));
  CHECK(tail_of(folder.path("log"), text.size())->text == text);
}

TEST_CASE("the tail of a compressed file is that of its text") {
  const testing::Scratch folder;
  std::string text;
  for (int i = 0; i < 200'000; ++i) text += "line " + std::to_string(i) + "\n";
  REQUIRE(write_file(folder.path("log"), gzipped(text)));
  const auto tail = tail_of(folder.path("log"), 4096);
  REQUIRE(tail);
  CHECK(!tail->complete);
  CHECK(tail->text.ends_with("line 199999\n"));
  CHECK(tail->text.starts_with("line "));
  CHECK(tail->text.size() < 1'000'000);
}

TEST_CASE("a compressed log that is still written counts as far as it goes") {
  const testing::Scratch folder;
  std::string text;
  for (int i = 0; i < 100'000; ++i) text += "line " + std::to_string(i * 7919) + "\n";
  const std::string whole = gzipped(text);
  REQUIRE(write_file(folder.path("log"), std::string_view(whole).substr(0, whole.size() / 2)));
  const auto tail = tail_of(folder.path("log"), 1 << 20);
  REQUIRE(tail);
  CHECK(tail->text.contains("line 7919\n"));
}

}  // namespace schedmate::lines
