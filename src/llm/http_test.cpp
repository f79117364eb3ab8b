// SPDX-License-Identifier: Apache-2.0
#include "llm/http.hpp"

#include <doctest/doctest.h>
#include <sys/resource.h>

#include <thread>

#include "tests/support/raw_server.hpp"

namespace schedmate::llm {
namespace {

using std::chrono::milliseconds;
using testing::RawAnswer;
using testing::RawServer;

constexpr const char* head = "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\n";

Result<HttpReply> post(const RawServer& server, milliseconds deadline = milliseconds(20'000)) {
  const HttpTarget target{
      .url = parse_url(server.url()).value(), .token = "t", .proxy = std::nullopt, .ca_file = ""};
  return post_json(target, "/chat", "{}", {.deadline = deadline});
}

ErrorCode code_of(const RawAnswer& answer, milliseconds deadline = milliseconds(20'000)) {
  const RawServer server(answer);
  const auto reply = post(server, deadline);
  REQUIRE_FALSE(reply);
  CHECK(reply.error().message.contains("127.0.0.1"));
  return reply.error().code;
}

std::int64_t peak_mib() {
  rusage use{};
  ::getrusage(RUSAGE_SELF, &use);
  return use.ru_maxrss / 1024;
}

}  // namespace

TEST_CASE("http: an answer comes with its status and what its headers say") {
  const RawServer server({.first =
                              "HTTP/1.1 429 Slow\r\nretry-AFTER:  7 \r\nContent-Type: text/x\r\n"
                              "Content-Length: 2\r\n\r\n{}",
                          .again = ""});
  const auto reply = post(server);
  REQUIRE(reply);
  CHECK(reply->status == 429);
  CHECK(reply->retry_after == "7");
  CHECK(reply->content_type == "text/x");
  CHECK(reply->body == "{}");
}

TEST_CASE("http: headers without bound cost neither memory nor time") {
  const std::int64_t before = peak_mib();
  const std::string megabyte(1U << 20U, 'a');
  CHECK(code_of({.first = head, .again = "X-More: " + megabyte + "\r\n"}) == ErrorCode::bad_reply);
  CHECK(code_of({.first = std::string(head) + "X-One: ", .again = megabyte}) ==
        ErrorCode::bad_reply);
  CHECK(code_of({.first = head, .again = "X-Small: 1\r\n"}) == ErrorCode::bad_reply);
  CHECK(code_of({.first = "HTTP/1.1 100 Continue\r\n\r\n",
                 .again = "HTTP/1.1 100 Continue\r\n\r\n"}) == ErrorCode::bad_reply);
  const std::int64_t grown = peak_mib() - before;
  MESSAGE("headers without bound cost ", grown, " MiB");
  CHECK(grown < 50);
}

TEST_CASE("http: headers that drip end at the deadline") {
  CHECK(code_of({.first = head, .again = "X", .between = milliseconds(10)}, milliseconds(300)) ==
        ErrorCode::timeout);
  CHECK(code_of({.first = head, .again = "X: 1\r\n", .between = milliseconds(50)},
                milliseconds(300)) == ErrorCode::timeout);
}

TEST_CASE("http: a body without bound, and what is no HTTP") {
  const std::string megabyte(1U << 20U, 'a');
  CHECK(code_of({.first = std::string(head) + "\r\n", .again = megabyte}) == ErrorCode::bad_reply);
  CHECK(code_of({.first = std::string(head) + "Content-Length: 99999999999\r\n\r\n",
                 .again = megabyte}) == ErrorCode::bad_reply);
  CHECK(code_of({.first = "+OK\r\n", .again = ""}) == ErrorCode::bad_reply);
  CHECK(code_of({.first = "", .again = ""}) == ErrorCode::unavailable);
  CHECK(code_of({.first = std::string(head) + "Content-Length: 10\r\n\r\n{", .again = ""}) ==
        ErrorCode::unavailable);
}

TEST_CASE("http: a transfer ends when the program is to") {
  std::stop_source stop;
  const RawServer server({.first = head, .again = "X", .between = milliseconds(10)});
  const std::jthread soon([&] {
    std::this_thread::sleep_for(milliseconds(100));  // clock: during the transfer, or before
    stop.request_stop();
  });
  const HttpTarget target{
      .url = parse_url(server.url()).value(), .token = "", .proxy = std::nullopt, .ca_file = ""};
  const auto reply = post_json(target, "/chat", "{}", {.stop = stop.get_token()});
  REQUIRE_FALSE(reply);
  CHECK(reply.error().message.contains("ending"));
}

}  // namespace schedmate::llm
