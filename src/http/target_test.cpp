// SPDX-License-Identifier: Apache-2.0
#include "http/target.hpp"

#include <doctest/doctest.h>

namespace schedmate::http {

TEST_CASE("a target is taken apart once") {
  const auto target = read_target("/api/v1/jobs/12_3%5B4%5D?state=run%20ning&user=%C3%A4+b&empty=");
  REQUIRE(target);
  CHECK(target->parts == std::vector<std::string>{"api", "v1", "jobs", "12_3[4]"});
  CHECK(target->query.at("state") == "run ning");
  CHECK(target->query.at("user") == "\xC3\xA4 b");
  CHECK(target->query.at("empty").empty());
  CHECK(read_target("/")->parts == std::vector<std::string>{""});
  CHECK(read_target("/a?")->query.empty());
  CHECK(read_target("/a?b")->query.at("b").empty());
  CHECK(read_target("/a+b")->parts[0] == "a+b");
}

TEST_CASE("what has two readings is refused") {
  for (const char* text : {"",
                           "*",
                           "a",
                           "http://localhost/",
                           "/%",
                           "/%4",
                           "/%4g",
                           "/%g4",
                           "/a%",
                           "/%00",
                           "/%0a",
                           "/%7f",
                           "/%c0%ae",
                           "/%e0%80%af",
                           "/%ff",
                           "/%ed%a0%80",
                           "/.",
                           "/..",
                           "/a/../b",
                           "/%2e%2e/b",
                           "/%2E",
                           "/a%2fb",
                           "/a%5cb",
                           "/a\\b",
                           "/a b",
                           "/a#b",
                           "/a\"b",
                           "/a<b",
                           "/a^b",
                           "/\xC3\xA4",
                           "/a?=1",
                           "/a?b=1&b=2",
                           "/a?b=1&%62=2",
                           "/a?b=%",
                           "/a?b=%00",
                           "/a?b=%e2%80%ae",
                           "/a?&",
                           "/a?1&2&3&4&5&6&7&8&9&10&11&12&13&14&15&16&17"})
    CHECK_MESSAGE(!read_target(text), text);
  // At the end of the text the two digits of an escape are there.
  CHECK(read_target("/a%41")->parts[0] == "aA");
}

TEST_CASE("an unknown parameter is told the nearest name") {
  const auto target = read_target("/a?stat=1").value();
  CHECK(check_query(target, "stat other"));
  CHECK(check_query(target, "state user").error().message ==
        "unknown query parameter 'stat' (nearest: state; all: state, user)");
  CHECK(check_query(target, "").error().message ==
        "this route takes no query parameters, not even 'stat'");
}

}  // namespace schedmate::http
