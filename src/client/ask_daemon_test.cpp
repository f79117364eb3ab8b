// SPDX-License-Identifier: Apache-2.0
#include "client/ask_daemon.hpp"

#include <doctest/doctest.h>

#include <nlohmann/json.hpp>

#include "tests/support/http_house.hpp"

namespace schedmate::client {
namespace {

TEST_CASE("a daemon's refusal is an error with its code and a way out") {
  const testing::HttpHouse house;
  const DaemonClient by_socket{{house.socket(), "", ""}};
  const DaemonClient by_tcp{
      {"", "http://127.0.0.1:" + std::to_string(house.server->tcp_port()), ""}};
  const auto unknown = ask(by_socket, {.path = "/api/v1/jobs/7"}, "schedmate.job.v1");
  REQUIRE_FALSE(unknown);
  CHECK(unknown.error().code == ErrorCode::not_found);
  CHECK(unknown.error().message.starts_with("unix:"));
  const auto nobody = ask(by_tcp, {.path = "/api/v1/jobs"}, "schedmate.jobs.v1");
  REQUIRE_FALSE(nobody);
  CHECK(nobody.error().code == ErrorCode::refused);
  CHECK(nobody.error().message.contains("--token-file"));
  DaemonClient owner = by_tcp;
  owner.address.token = house.ann;
  const auto forbidden =
      ask(owner, {.path = "/api/v1/actions/1/approve", .changes = true}, "schedmate.action.v1");
  REQUIRE_FALSE(forbidden);
  CHECK(forbidden.error().code == ErrorCode::refused);
  CHECK(exit_code(forbidden.error().code) == 4);
}

TEST_CASE("what is no daemon's answer is a bad reply") {
  const DaemonAddress address{"", "http://h:1", ""};
  for (const char* const body : {"", "<html>", "{}", R"({"schema":"schedmate.error.v1"})",
                                 R"({"schema":"schedmate.error.v1","code":7})", "[1]"}) {
    CAPTURE(body);
    CHECK(error_of(address, {500, body}).code == ErrorCode::bad_reply);
  }
}

TEST_CASE("an error's text is one line and bounded") {
  Document document{{"schema", "schedmate.error.v1"},
                    {"code", "conflict"},
                    {"message", "a\x1b[2J\nb" + std::string(100'000, 'x')},
                    {"mend", "set it"}};
  const Error error = error_of({"/s", "", ""}, {409, document.dump()});
  CHECK(error.code == ErrorCode::conflict);
  CHECK(error.message.size() < 1000);
  CHECK(error.message.starts_with("unix:/s: a?[2J?b"));
  CHECK(error.message.ends_with("; set it"));
}

TEST_CASE("a call with a key is made again with the same key") {
  CHECK(new_idempotency_key().size() == 32);
  CHECK(new_idempotency_key() != new_idempotency_key());
  int naps = 0;
  Clock clock;
  clock.sleep = [&](std::chrono::nanoseconds) { ++naps; };
  const auto lost = ask_once({{"/nowhere/api.sock", "", ""}},
                             {.path = "/api/v1/jobs", .changes = true, .idempotency_key = "k1"},
                             "schedmate.job.v1", clock);
  REQUIRE_FALSE(lost);
  CHECK(naps == 2);
  CHECK(lost.error().message.contains("--key k1"));
}

}  // namespace
}  // namespace schedmate::client
