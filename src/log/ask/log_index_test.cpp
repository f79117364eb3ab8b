// SPDX-License-Identifier: Apache-2.0
#include "log/ask/log_index.hpp"

#include <doctest/doctest.h>
#include <fmt/format.h>

#include <filesystem>
#include <fstream>

#include "base/input.hpp"
#include "tests/support/scratch.hpp"

namespace schedmate::ask {
namespace {

namespace fs = std::filesystem;
using testing::Scratch;

void write(const std::string& path, std::string_view text) {
  std::ofstream(path, std::ios::binary) << text;
}

TEST_CASE("lines of one template are one, with their first and last place") {
  const Scratch here;
  std::string text = "start\n";
  for (int i = 1; i <= 1000; ++i) text += fmt::format("step {} loss 0.{}\n", i, i);
  write(here.path() + "/a.log", text);
  const auto index = index_log(here.path() + "/a.log");
  REQUIRE(index);
  CHECK(index->lines == 1001);
  REQUIRE(index->distinct_lines.size() == 2);
  CHECK(index->distinct_lines[1].count == 1000);
  CHECK(index->distinct_lines[1].first.number == 2);
  CHECK(index->distinct_lines[1].last.number == 1001);
  CHECK(index->distinct_lines[1].last.text == "step 1000 loss 0.1000");
}

TEST_CASE("a flood of templates is bounded, and what is lost is counted") {
  const Scratch here;
  std::string text;
  for (std::size_t i = 0; i < LogIndex::most + 500; ++i) {
    std::string word;
    for (std::size_t rest = i + 1; rest > 0; rest /= 26)
      word += static_cast<char>('a' + static_cast<int>(rest % 26));
    text += word + "\n";
  }
  write(here.path() + "/a.log", text);
  const auto index = index_log(here.path() + "/a.log");
  REQUIRE(index);
  CHECK(index->distinct_lines.size() <= LogIndex::most);
  CHECK(index->distinct_lines.size() + index->lost >= LogIndex::most);
}

TEST_CASE("an index is kept while the file is as it was") {
  const Scratch here;
  const std::string log = here.path() + "/a.log";
  const std::string folder = here.path() + "/kept";
  write(log, "one \xff\xfe\nstep 1\n");
  const auto first = cached_index(log, folder);
  REQUIRE(first);
  REQUIRE(fs::directory_iterator(folder) != fs::directory_iterator());
  const auto file = fs::directory_iterator(folder)->path();
  const auto again = cached_index(log, folder);
  REQUIRE(again);
  CHECK(again->lines == 2);
  CHECK(again->distinct_lines.size() == first->distinct_lines.size());
  write(log, "one\ntwo\nthree\n");
  CHECK(cached_index(log, folder)->lines == 3);
  write(file.string(), "{\"version\": 1");  // a damaged one is made again
  CHECK(cached_index(log, folder)->lines == 3);
  CHECK(cached_index(log, "/dev/null/none")->lines == 3);
  CHECK_FALSE(cached_index(here.path() + "/none.log", folder));
}

TEST_CASE("only so many logs are remembered") {
  const Scratch here;
  const std::string folder = here.path() + "/kept";
  for (std::size_t i = 0; i < most_cached_indexes + 3; ++i) {
    const auto log = fmt::format("{}/{}.log", here.path(), i);
    write(log, "line\n");
    REQUIRE(cached_index(log, folder));
  }
  std::size_t files = 0;
  for (const auto& each : fs::directory_iterator(folder)) files += each.is_regular_file() ? 1 : 0;
  CHECK(files == most_cached_indexes);
}

}  // namespace
}  // namespace schedmate::ask
