// SPDX-License-Identifier: Apache-2.0
#include "log/lines/template.hpp"

#include <doctest/doctest.h>
#include <fmt/format.h>

namespace schedmate::lines {

TEST_CASE("a template leaves out numbers, addresses, paths, quoted names and bars") {
  CHECK(template_of("step 12/300 loss 0.52  at 0x7ffe") == "step # loss # at #");
  CHECK(template_of("saved to /data/run-7/model.pt in 3.1s") == "saved to / in #");
  CHECK(template_of("KeyError: 'name'") == "KeyError: '");
  CHECK(template_of("node17: ready") == "#: ready");
  CHECK(template_of(" 12%|█████     | 3/30") == "#| #");
  CHECK(template_of("=========") == "=");
}

TEST_CASE("words with a slash that are no path stay words") {
  CHECK(template_of("Input/output error") == "Input/output error");
  CHECK(template_of("1.5 it/s") == "# it/s");
}

TEST_CASE("the number that says what happened stays") {
  CHECK(template_of("OSError: [Errno 28] full") == "OSError: [Errno 28] full");
  CHECK(template_of("exitcode  : -9 (pid: 14750)") == "exitcode : -9 (pid: #)");
  CHECK(template_hash("exitcode: -9") != template_hash("exitcode: -11"));
}

TEST_CASE("equal events have equal hashes, others have not") {
  CHECK(template_hash("step 1 loss 2.5") == template_hash("step 200 loss 0.1"));
  CHECK(template_hash("open '/a/b'") == template_hash("open '/c/d/e'"));
  CHECK(template_hash("step 1 loss 2.5") != template_hash("step 1 lost 2.5"));
  CHECK(template_hash("E0813 12:00:01 x") != template_hash("I0813 12:00:01 x"));
}

TEST_CASE("the hash says the same as the text") {
  for (const char* line : {"a  b", "a b", "a\tb", "'x'", "\"y\"", "#", "-- a", "---- a"}) {
    for (const char* other : {"a b", "'z'", "- a", "7"}) {
      const bool same_text = template_of(line) == template_of(other);
      CHECK((template_hash(line) == template_hash(other)) == same_text);
    }
  }
}

TEST_CASE("the cache keeps what was found and does not grow with new templates") {
  TemplateCache<int> cache;
  cache.keep(7, 70);
  REQUIRE(cache.find(7) != nullptr);
  CHECK(*cache.find(7) == 70);
  for (std::uint64_t i = 0; i < 1'000'000; ++i) cache.keep(i * 0x9E3779B97F4A7C15U, 1);
  CHECK(cache.misses() == 1'000'001);
  CHECK(cache.find(12345) == nullptr);
}

}  // namespace schedmate::lines
