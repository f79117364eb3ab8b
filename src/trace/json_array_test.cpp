// SPDX-License-Identifier: Apache-2.0
#include "trace/json_array.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <vector>

namespace schedmate::trace {
namespace {

/// Gives a text in pieces of `size`.
ReadBytes trickle(std::string_view text, std::size_t size) {
  return [read = bytes_of(text), size](std::span<char> out) {
    return read(out.first(std::min(out.size(), size)));
  };
}

struct Found {
  std::vector<std::string> objects;
  std::vector<std::uint64_t> lines;
  std::string error;
};

Found collect(std::string_view text, std::string_view key, std::size_t piece) {
  JsonArray array("", trickle(text, piece), "t", key);
  Found found;
  while (true) {
    const auto object = array.next();
    if (!object) {
      found.error = object.error().message;
      return found;
    }
    if (!*object) return found;
    found.objects.emplace_back(**object);
    found.lines.push_back(array.line());
  }
}

}  // namespace

TEST_CASE("objects come out whole however the text is cut into pieces") {
  const std::string text =
      " {\"meta\": {\"jobs\": [{}], \"s\": \"]}\\\"\"}, \"n\": -1.5,\n\"b\" :true, \"jobs\" : [\n"
      "{\"a\": \"} \\\\\\\" ]\"},\n {\"b\": [{}, {}]} ], \"rest\": broken";
  for (std::size_t piece = 1; piece < 40; ++piece) {
    const Found found = collect(text, "jobs", piece);
    CHECK(found.error.empty());
    CHECK(found.objects ==
          std::vector<std::string>{"{\"a\": \"} \\\\\\\" ]\"}", "{\"b\": [{}, {}]}"});
    CHECK(found.lines == std::vector<std::uint64_t>{3, 4});
  }
}

TEST_CASE("the outermost array may be the list itself") {
  const Found found = collect("\n[{\"a\": 1}, {}]", "", 3);
  CHECK(found.objects == std::vector<std::string>{"{\"a\": 1}", "{}"});
  CHECK(collect("[]", "", 3).objects.empty());
  CHECK(collect("[]", "", 3).error.empty());
}

TEST_CASE("a text that ends early is an error at every length") {
  const std::string text = "{\"x\": [1, 2], \"jobs\": [{\"a\": \"b\"}, {\"c\": 1}]";
  for (std::size_t length = 0; length < text.size(); ++length) {
    CHECK_MESSAGE(!collect(text.substr(0, length), "jobs", 5).error.empty(), length);
  }
  CHECK(collect(text, "jobs", 5).error.empty());
}

TEST_CASE("a second text behind the first is an error") {
  const std::string text = "{\"jobs\": [{}], \"e\": [\"}\\\"\", {\"a\": 1}]}\n \n";
  for (std::size_t piece = 1; piece < 20; ++piece) {
    CHECK(collect(text, "jobs", piece).error.empty());
    CHECK(collect(text + text, "jobs", piece).error.starts_with("t:3: text follows the end"));
    CHECK(collect("[{}]\n[]", "", piece).error.starts_with("t:2: text follows the end"));
  }
}

TEST_CASE("texts of another shape are errors with a line") {
  for (const char* text : {"", "7", "[{}]", "{\"jobs\": {}}", "{\"a\": 1}", "{jobs: []}"}) {
    CHECK_MESSAGE(!collect(text, "jobs", 64).error.empty(), text);
  }
  CHECK(collect("{\"a\": 1}", "", 64).error == "t:1: the file must be a JSON array of jobs");
  CHECK(collect("[{},\n 7]", "", 64).error == "t:2: expected a JSON object here");
}

TEST_CASE("an object that never ends is refused before memory is") {
  std::uint64_t given = 0;
  const auto endless = [&](std::span<char> out) -> Result<std::size_t> {
    std::ranges::fill(out, '[');
    given += out.size();
    return out.size();
  };
  JsonArray array("[{", endless, "t", "");
  CHECK(array.next().error().message.find("64 MiB") != std::string::npos);
  CHECK(given < 300'000'000);
}

}  // namespace schedmate::trace
