// SPDX-License-Identifier: Apache-2.0
/// What a hostile client can send: tests/fixtures/http/abuses.txt as bytes, and what takes time or
/// many connections. After each, others are served at once and memory stays bounded.
#include <doctest/doctest.h>

#include <atomic>
#include <chrono>
#include <memory>

#include "base/input.hpp"
#include "base/text.hpp"
#include "tests/support/http_house.hpp"
#include "tests/support/memory.hpp"
#include "tests/support/open_files.hpp"
#include "tests/support/patience.hpp"

namespace schedmate::http {
namespace {

using testing::anonymous_kib;
using testing::body_of;
using testing::growth_kib;
using testing::HttpHouse;
using testing::may_open;
using testing::RawClient;
using testing::soon;
using testing::status_of;
using Clients = std::vector<std::unique_ptr<RawClient>>;
using std::chrono::milliseconds;

/// "{3*ab}" as "ababab", one in another, and the escapes of bytes.
std::string as_bytes(std::string_view text) {
  std::string bytes;
  while (!text.empty()) {
    const std::size_t star = text.front() == '{' ? text.find_first_not_of("0123456789", 1) : 0;
    if (star > 1 && text.substr(star, 1) == "*") {
      int depth = 1;
      std::size_t end = star + 1;
      for (; depth > 0; ++end) depth += text[end] == '{' ? 1 : text[end] == '}' ? -1 : 0;
      const std::string part = as_bytes(text.substr(star + 1, end - star - 2));
      for (int left = std::stoi(std::string(text.substr(1, star - 1))); left > 0; --left)
        bytes += part;
      text.remove_prefix(end);
    } else if (text.front() == '\\' && text.size() > 1) {
      const char kind = text[1];
      const bool hex = kind == 'x';
      bytes += hex ? static_cast<char>(std::stoi(std::string(text.substr(2, 2)), nullptr, 16))
               : kind == 'r' ? '\r'
               : kind == 'n' ? '\n'
               : kind == 't' ? '\t'
                             : '\0';
      text.remove_prefix(hex ? 4 : 2);
    } else {
      bytes += text.front();
      text.remove_prefix(1);
    }
  }
  return bytes;
}

void check_served(const HttpHouse& house) {
  CHECK(status_of(house.ask("GET /api/v1/jobs", house.ann)) == 200);
}

/// On the unix socket.
void check_local(const HttpHouse& house, const std::string& more = "") {
  RawClient local(house.socket());
  local.send("GET /api/v1/jobs HTTP/1.0\r\n" + more + "\r\n");
  CHECK(status_of(local.read()) == 200);
}

std::atomic<std::chrono::nanoseconds> time_of_door{};

Clients crowd(const HttpHouse& house, int count, const std::string& first_words) {
  Clients clients;
  for (int i = 0; i < count; ++i) {
    clients.push_back(std::make_unique<RawClient>(house.server->tcp_port()));
    clients.back()->send(first_words);
  }
  return clients;
}

}  // namespace

TEST_CASE("hostile bytes get the status of the table, and others are served") {
  const HttpHouse house([](ServerOptions& options) { options.times.body = milliseconds(1000); });
  const auto table = read_file(SCHEDMATE_SOURCE_DIR "/tests/fixtures/http/abuses.txt").value();
  check_served(house);
  const long before = anonymous_kib();
  int cases = 0;
  for (const std::string_view line : split(table, '\n')) {
    if (line.empty() || line.starts_with('#')) continue;
    const std::size_t first = line.find(" | ");
    const std::size_t second = line.find(" | ", first + 3);
    const std::string wanted(line.substr(0, first));
    const std::string name(line.substr(first + 3, second - first - 3));
    std::string_view rest = line.substr(second + 3);
    const bool is_half = rest.starts_with("half");
    if (is_half) rest.remove_prefix(4);
    std::string bytes = as_bytes(rest);
    if (const std::size_t at = bytes.find("@T"); at != std::string::npos)
      bytes.replace(at, 2, house.ann);
    RawClient client = house.knock();
    client.send(bytes);
    if (is_half) client.finish_sending();
    const std::string reply = client.read();
    CHECK_MESSAGE(client.is_closed(), name);
    const std::string got = reply.empty() ? "close" : std::to_string(status_of(reply));
    CHECK_MESSAGE(got == wanted, name << ": " << reply.substr(0, 400));
    const bool is_error = !reply.empty() && status_of(reply) != 200;
    CHECK_MESSAGE(reply.contains("schedmate.error.v1") == is_error, name << ": " << reply);
    CHECK_MESSAGE(reply.find("\nHTTP/1.1 ") == std::string::npos, name << ": two replies");
    check_served(house);
    ++cases;
  }
  CHECK(cases >= 90);
  CHECK(anonymous_kib() - before < growth_kib(8));
}

TEST_CASE("a head or body that comes slowly is cut off at its deadline") {
  const HttpHouse house([](ServerOptions& options) {
    options.times.head = milliseconds(400);
    options.times.body = milliseconds(400);
  });
  const auto drip = [&](const std::string& start, const std::string& drop) {
    RawClient client = house.knock();
    client.send(start);
    CHECK(testing::soon([&] {
      client.send(drop);
      client.read("", milliseconds(20));
      return client.is_closed();
    }));
    return client.read();
  };
  CHECK(status_of(drip("", "G")) == 408);
  CHECK(status_of(drip("GET /healthz HTTP/1.1\r\nHost: localhost\r\n", "X: 1\r\n")) >= 408);
  CHECK(drip("POST /api/v1/jobs HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer " + house.ann +
                 "\r\nContent-Type: application/json\r\nContent-Length: 60000\r\n\r\n",
             " ")
            .empty());
  RawClient silent = house.knock();
  CHECK(status_of(silent.read()) == 408);
  check_served(house);
}

TEST_CASE("one peer may hold only so many connections, and all of them so many") {
  const HttpHouse house([](ServerOptions& options) {
    options.bounds.connections = 48;
    options.bounds.connections_per_peer = 30;
  });
  Clients crowded = crowd(house, 30, "GET");
  RawClient over = house.knock();
  const auto reply = over.read();
  CHECK(status_of(reply) == 429);
  CHECK(reply.contains("Retry-After"));
  check_local(house);  // another peer
  REQUIRE(soon([&] { return house.server->connections() == 30; }));
  Clients locals;
  for (int i = 0; i < 15; ++i) locals.push_back(std::make_unique<RawClient>(house.socket()));
  RawClient beyond(house.socket());
  CHECK(status_of(beyond.read()) == 503);
  CHECK(house.server->counters().refused.at(static_cast<std::size_t>(Cause::limit)) == 2);
  CHECK(house.server->counters().by_class.at(4) == 1);
  CHECK(house.server->counters().by_class.at(5) == 1);
  locals.clear();
  crowded.clear();
  CHECK(soon([&] { return status_of(house.ask("GET /healthz")) == 200; }));
  check_served(house);
}

TEST_CASE("all addresses of the machine are one peer") {
  const HttpHouse house([](ServerOptions& options) { options.bounds.connections_per_peer = 20; });
  Clients crowded;
  for (in_addr_t i = 1; i <= 20; ++i)
    crowded.push_back(
        std::make_unique<RawClient>(house.server->tcp_port(), INADDR_LOOPBACK + (i << 8U)));
  REQUIRE(soon([&] { return house.server->connections() == 20; }));
  CHECK(status_of(house.ask("GET /healthz")) == 429);
}

TEST_CASE("strangers that hold all they may leave places for who is known") {
  const HttpHouse house([](ServerOptions& options) {
    options.bounds.connections = 40;
    options.bounds.connections_per_peer = 31;
    options.times.head = std::chrono::minutes(10);
  });
  const Clients crowded = crowd(house, 30, "GET");
  REQUIRE(soon([&] { return house.server->connections() == 30; }));
  check_served(house);  // by a token, from the same address
  check_local(house);
  CHECK(status_of(house.ask("GET /healthz")) == 503);
  // So it is while others come on and on: whoever is late goes first, with a reply.
  const Clients more = crowd(house, 100, "GET");
  CHECK(status_of(more.front()->read()) == 503);
  CHECK(more.front()->is_closed());
  check_served(house);
  CHECK(soon([&] { return house.server->connections() == 30; }));
}

TEST_CASE("who is known leaves places for operators") {
  const HttpHouse house([](ServerOptions& options) { options.bounds.connections = 32; });
  const std::string line =
      "GET /api/v1/jobs/7/log?tail=never HTTP/1.1\r\nHost: localhost\r\n"
      "Authorization: Bearer " +
      house.ann + "\r\n\r\n";
  const Clients waiting = crowd(house, 30, line);
  REQUIRE(soon([&] { return house.held() == 30; }));
  CHECK(status_of(house.ask("GET /api/v1/jobs", house.bob)) == 503);
  CHECK(status_of(house.ask("GET /api/v1/jobs", house.op)) == 200);
}

TEST_CASE("whoever asks where there is no place gets a reply, and no reset") {
  const HttpHouse house([](ServerOptions& options) { options.bounds.connections_per_peer = 1; });
  const Clients waiting = crowd(house, 1, "GET");
  REQUIRE(soon([&] { return house.server->connections() == 1; }));
  const std::string long_head =
      "GET /healthz HTTP/1.1\r\nHost: localhost\r\nX: " + std::string(6000, 'x') + "\r\n\r\n";
  for (int i = 0; i < 20; ++i) {
    RawClient client = house.knock();
    client.send(long_head);
    CHECK(status_of(client.read()) == 429);
  }
}

TEST_CASE("thousands of connections that say nothing leave room and little memory") {
  REQUIRE(may_open(6000));
  const HttpHouse house([](ServerOptions& options) {
    options.bounds.connections = 1500;
    options.bounds.connections_per_peer = 1400;
  });
  check_served(house);
  const long before = anonymous_kib();
  const Clients silent = crowd(house, 2500, "GET /healthz HTTP/1.1\r\nHost: local");
  CHECK(anonymous_kib() - before < growth_kib(8));
  check_local(house);
}

TEST_CASE("bodies that are announced and not sent do not take the room of others") {
  const HttpHouse house(
      [](ServerOptions& options) { options.bounds.body_bytes_per_peer = 1U << 20U; });
  const std::string head =
      "POST /api/v1/diagnose HTTP/1.1\r\nHost: localhost\r\nAuthorization: "
      "Bearer " +
      house.ann +
      "\r\nContent-Type: application/json\r\n"
      "Content-Length: 500000\r\n\r\n{";
  const Clients stalled = crowd(house, 2, head);
  // Whoever finds room stalls, too, so that one comes for whom there is none.
  Clients more;
  CHECK(testing::soon([&] {
    more.push_back(std::make_unique<RawClient>(house.server->tcp_port()));
    more.back()->send(head);
    return status_of(more.back()->read("", milliseconds(100))) == 429;
  }));
  check_served(house);
}

TEST_CASE("a handler that never answers gets 504, one that drops the request 500") {
  const HttpHouse house([](ServerOptions& options) { options.times.answer = milliseconds(300); });
  CHECK(status_of(house.ask("GET /api/v1/jobs/7/log?tail=never", house.ann)) == 504);
  CHECK(soon([&] { return house.server->counters().late == 1; }));
  const HttpHouse patient;
  CHECK(status_of(patient.ask("GET /api/v1/jobs/7/log?tail=dropped", patient.ann)) == 500);
  check_served(patient);
}

TEST_CASE("handlers hold so many requests and no more") {
  const HttpHouse house([](ServerOptions& options) { options.most_asked = 3; });
  const std::string line =
      "GET /api/v1/jobs/7/log?tail=never HTTP/1.1\r\nHost: localhost\r\n"
      "Authorization: Bearer " +
      house.ann + "\r\n\r\n";
  const Clients waiting = crowd(house, 3, line);
  REQUIRE(soon([&] { return house.held() == 3; }));
  CHECK(status_of(house.ask("GET /api/v1/jobs", house.ann)) == 503);
  CHECK(status_of(house.ask("GET /healthz")) == 200);
}

TEST_CASE("wrong tokens are answered ever more slowly, right ones and the socket never") {
  const HttpHouse house(
      [](ServerOptions& options) { options.clock.now = [] { return time_of_door.load(); }; });
  const std::string line =
      "GET /api/v1/jobs HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer smt_wrong\r\n\r\n";
  for (int i = 0; i < 5; ++i) CHECK(status_of(house.ask("GET /api/v1/jobs", "smt_wrong")) == 401);
  const Clients late = crowd(house, 4, line);
  CHECK(late.back()->read("", milliseconds(200)).empty());
  check_served(house);
  check_local(house, "Authorization: Bearer smt_wrong\r\n");
  CHECK(late.back()->read("", milliseconds(200)).empty());
  time_of_door = std::chrono::seconds(2);
  CHECK(status_of(late.back()->read()) == 401);
}

TEST_CASE("stopping ends every connection") {
  HttpHouse house;
  const std::string auth =
      " HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer " + house.ann + "\r\n";
  const Clients silent = crowd(house, 20, "GET");
  Clients waiting = crowd(house, 20, "GET /api/v1/jobs/7/log?tail=never" + auth + "\r\n");
  const Clients streams = crowd(house, 20, "GET /api/v1/events" + auth + "\r\n");
  const Clients bodies = crowd(house, 20,
                               "POST /api/v1/jobs" + auth +
                                   "Content-Type: application/json\r\n"
                                   "Content-Length: 60000\r\n\r\n{");
  REQUIRE(soon([&] { return house.held() == 20; }));
  CHECK(testing::ends([&] { house.server->stop(); }));
  for (const auto& client : waiting) CHECK(status_of(client->read()) == 503);
  for (const auto* clients : {&silent, &streams, &bodies})
    for (const auto& client : *clients) {
      client->read();
      CHECK(client->is_closed());
    }
  CHECK_THROWS(RawClient(house.socket()));
}

}  // namespace schedmate::http
