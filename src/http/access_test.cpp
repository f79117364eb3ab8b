// SPDX-License-Identifier: Apache-2.0
/// Who may do what, as tests/fixtures/http/access.txt says.
#include <doctest/doctest.h>
#include <fmt/format.h>

#include <map>
#include <nlohmann/json.hpp>
#include <set>
#include <sstream>

#include "base/input.hpp"
#include "base/text.hpp"
#include "tests/support/http_house.hpp"

namespace schedmate::http {
namespace {

using testing::body_of;
using testing::HttpHouse;
using testing::RawClient;
using testing::status_of;

/// The status that a visitor gets for a line such as "GET /healthz".
int status_for(const HttpHouse& house, const std::string& visitor, const std::string& line) {
  const std::map<std::string, std::string> tokens{{"nobody", ""},         {"owner", house.ann},
                                                  {"other", house.bob},   {"viewer", house.viewer},
                                                  {"operator", house.op}, {"stale", house.stale},
                                                  {"host", house.op},     {"site", house.op}};
  const std::string token = visitor == "uid" ? "" : tokens.at(visitor);
  RawClient client = visitor == "uid" ? RawClient(house.socket()) : house.knock();
  client.send(line + " HTTP/1.1\r\nHost: " + (visitor == "host" ? "evil.example" : "localhost:1") +
              "\r\n" + (token.empty() ? "" : "Authorization: Bearer " + token + "\r\n") +
              (visitor == "site" ? "Origin: http://evil.example\r\n" : "") + "\r\n");
  return status_of(client.read("\r\n\r\n"));
}

}  // namespace

TEST_CASE("every route admits whom the table of visitors says") {
  using Options = ServerOptions;
  const HttpHouse house([](Options& o) { o.times.login_delay = std::chrono::milliseconds(10); });
  const auto text = read_file(SCHEDMATE_SOURCE_DIR "/tests/fixtures/http/access.txt").value();
  std::vector<std::string> visitors;
  std::set<std::string> seen;
  int cases = 0;
  for (const std::string_view line : split(text, '\n')) {
    if (line.empty() || line.starts_with('#')) continue;
    std::istringstream words{std::string(line)};
    std::string route, method, path, word;
    words >> route >> method;
    if (route == "route") {
      while (words >> word) visitors.push_back(word);
      continue;
    }
    words >> path;
    seen.insert(route);
    for (const std::string& visitor : visitors) {
      words >> word;
      const int got = status_for(house, visitor, fmt::format("{} {}", method, path));
      CHECK_MESSAGE(std::to_string(got) == word, route << " for " << visitor);
      ++cases;
    }
  }
  CHECK(cases >= 200);
  for (const Route& row : routes()) CHECK_MESSAGE(seen.contains(std::string(row.word)), row.word);
}

TEST_CASE("no row allows what no row names") {
  const HttpHouse house;
  for (const char* method : {"PUT", "DELETE", "PATCH", "OPTIONS", "TRACE", "CONNECT"})
    for (const char* path : {"/", "/api/v1/jobs", "/api/v1/jobs/7", "/api/v1/breaker/close"}) {
      const auto reply = house.ask(std::string(method) + " " + path, house.op);
      CHECK_MESSAGE(status_of(reply) == 405, method << " " << path);
      CHECK(reply.contains("\r\nAllow: "));
    }
  CHECK(status_of(house.ask("POST /healthz", house.op)) == 405);
  CHECK(status_of(house.ask("GET /api/v1/breaker/close", house.op)) == 405);
  CHECK(status_of(house.ask("BREW /api/v1/jobs", house.op)) == 501);
  CHECK(status_of(house.ask("get /healthz", house.op)) == 501);
  CHECK(status_of(house.ask("GET /nothing", house.op)) == 404);
  CHECK(status_of(house.ask("DELETE /nothing", house.op)) == 404);
  CHECK(status_of(house.ask("GET /api/v1/jobs/", house.op)) == 404);
  CHECK(status_of(house.ask("GET //healthz", house.op)) == 404);
}

TEST_CASE("an error says what and how to mend it") {
  const HttpHouse house;
  const auto reply = house.ask("GET /api/v1/jobs?stat=running", house.ann);
  CHECK(status_of(reply) == 400);
  const auto error = Document::parse(body_of(reply));
  CHECK(error["schema"] == "schedmate.error.v1");
  CHECK(error["code"] == "invalid");
  CHECK(error["message"] ==
        "unknown query parameter 'stat' (nearest: state; all: state, user, since, limit, cursor)");
  CHECK(error["mend"] == "correct the path or the query");
  const auto unknown = house.ask("GET /api/v1/jobs", "smt_0");
  CHECK(status_of(unknown) == 401);
  CHECK(unknown.contains("\r\nWWW-Authenticate: Bearer\r\n"));
  CHECK(unknown.contains("schedmate token add"));
}

TEST_CASE("HEAD is GET without the body") {
  const HttpHouse house;
  for (const char* path : {"/healthz", "/api/v1/jobs", "/nothing"}) {
    const auto got = house.ask(std::string("GET ") + path, house.ann);
    const auto head = house.ask(std::string("HEAD ") + path, house.ann);
    CHECK(status_of(head) == status_of(got));
    CHECK(body_of(head).empty());
    const std::string length = fmt::format("Content-Length: {}\r\n", body_of(got).size());
    CHECK(head.contains(length));
  }
  CHECK(body_of(house.ask("HEAD /api/v1/events", house.ann)).empty());
  for (int i = 0; i < 6; ++i) {  // the last of them is held back
    const auto wrong = house.ask("HEAD /api/v1/jobs", "smt_wrong");
    CHECK(status_of(wrong) == 401);
    CHECK(body_of(wrong).empty());
  }
}

TEST_CASE("a caller is known by uid on one door and by token on the other") {
  const HttpHouse house;
  RawClient client(house.socket());
  client.send("GET /api/v1/jobs?state=running&user=a%20b+c HTTP/1.0\r\n\r\n");
  const auto by_uid = testing::answered(client.read());
  CHECK(by_uid["user"] == "me");
  CHECK(by_uid["by"] == fmt::format("me (uid {})", ::geteuid()));
  CHECK(by_uid["query"]["user"] == "a b c");
  const auto by_token = testing::answered(house.ask("GET /api/v1/jobs", house.bob));
  CHECK(by_token["user"] == "bob");
  CHECK(by_token["by"] == "token of bob");
  // A token on the unix socket is not looked at, a cookie nowhere.
  const auto cookie = house.ask("GET /api/v1/jobs", "", "Cookie: token=" + house.op + "\r\n");
  CHECK(status_of(cookie) == 401);
}

TEST_CASE("a page of another site is refused, a link to the page is followed") {
  const HttpHouse house;
  const auto status = [&](const char* path, const char* more) {
    return status_of(house.ask(std::string("GET ") + path, "", more));
  };
  CHECK(status("/",
               "Sec-Fetch-Site: cross-site\r\nSec-Fetch-Mode: navigate\r\n"
               "Sec-Fetch-Dest: document\r\n") == 200);
  CHECK(status("/",
               "Sec-Fetch-Site: cross-site\r\nSec-Fetch-Mode: navigate\r\n"
               "Sec-Fetch-Dest: iframe\r\n") == 403);
  CHECK(status("/", "Sec-Fetch-Site: same-site\r\n") == 403);
  CHECK(status("/", "Sec-Fetch-Site: same-origin\r\n") == 200);
  CHECK(status("/", "Sec-Fetch-Site: none\r\n") == 200);
  CHECK(status("/", "Origin: null\r\n") == 403);
  CHECK(status("/", "Origin: http://localhost\r\n") == 200);
  CHECK(status("/", "Origin: http://localhost:1\r\n") == 403);
  CHECK(status("/", "Origin: file://localhost\r\n") == 403);
  CHECK(status("/", "Origin: http://localhost.evil.example\r\n") == 403);
}

TEST_CASE("the name by which the daemon is called must be one of its own") {
  const HttpHouse house;
  const auto status = [&](const std::string& host) {
    RawClient client = house.knock();
    client.send("GET /healthz HTTP/1.1\r\n" + host + "\r\n");
    return status_of(client.read());
  };
  CHECK(status("Host: LocalHost:8642\r\n") == 200);
  CHECK(status("Host: 127.0.0.1\r\n") == 200);
  CHECK(status("Host: [::1]:8642\r\n") == 200);
  for (const char* host : {"Host: evil.example\r\n", "Host: localhost.evil.example\r\n",
                           "Host: localhost.\r\n", "Host: 127.0.0.2\r\n"})
    CHECK_MESSAGE(status(host) == 421, host);
  for (const char* host : {"", "Host:\r\n", "Host: localhost:x\r\n", "Host: localhost:1:1\r\n",
                           "Host: [::1\r\n", "Host: localhost@evil.example:80@\r\n"})
    CHECK_MESSAGE((status(host) == 400 || status(host) == 421), host);
}

TEST_CASE("on the unix socket any name will do, but HTTP/1.1 has to give one") {
  const HttpHouse house;
  const auto ask = [&](const std::string& rest) {
    RawClient client(house.socket());
    client.send("GET /healthz HTTP/1." + rest + "\r\n");
    return client.read();
  };
  CHECK(status_of(ask("0\r\n")) == 200);
  CHECK(status_of(ask("1\r\nHost: evil.example\r\n")) == 200);
  CHECK(status_of(ask("1\r\nHost:\r\n")) == 200);
  const auto nameless = ask("1\r\n");
  CHECK(status_of(nameless) == 400);
  CHECK(Document::parse(body_of(nameless))["code"] == "invalid");
}

}  // namespace schedmate::http
