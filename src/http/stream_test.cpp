// SPDX-License-Identifier: Apache-2.0
/// Streams of events through the real front door.
#include <doctest/doctest.h>
#include <fmt/format.h>

#include <atomic>
#include <chrono>
#include <future>
#include <memory>

#include "tests/support/http_house.hpp"
#include "tests/support/memory.hpp"
#include "tests/support/open_files.hpp"
#include "tests/support/patience.hpp"

namespace schedmate::http {
namespace {

using std::chrono::milliseconds;
using testing::anonymous_kib;
using testing::growth_kib;
using testing::HttpHouse;
using testing::may_open;
using testing::RawClient;
using testing::Scratch;
using testing::soon;
using testing::status_of;

std::string listen_line(const std::string& token, const std::string& more = "") {
  return "GET /api/v1/events HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer " + token +
         "\r\n" + more + "\r\n";
}

}  // namespace

TEST_CASE("a stream begins with full, then follows what its caller may see") {
  const HttpHouse house;
  house.log->publish({"job", "0"});
  RawClient client = house.knock();
  client.send(listen_line(house.ann));
  CHECK(client.read("data: {}").contains("id: 1\nevent: full\n"));
  house.log->publish({"job", "{\"id\": \"8\"}", Audience::owner, "bob"});
  house.log->publish({"job", "{\"id\": \"7\"}", Audience::owner, "ann"});
  const auto text = client.read("id: 3\n");
  CHECK(text.contains("Content-Type: text/event-stream"));
  CHECK(text.contains("id: 3\nevent: job\ndata: {\"id\": \"7\"}\n\n"));
  CHECK(!text.contains("\"8\""));
}

TEST_CASE("who comes back goes on where it was, or is told that it cannot") {
  const HttpHouse house;  // its log keeps 64 events
  for (int i = 1; i <= 100; ++i) house.log->publish({"job", std::to_string(i)});
  RawClient near_end = house.knock();
  near_end.send(listen_line(house.ann, "Last-Event-ID: 98\r\n"));
  const auto text = near_end.read("data: 100");
  CHECK(text.contains("id: 99\nevent: job\ndata: 99\n\nid: 100\n"));
  CHECK(!text.contains("full"));
  for (const char* id : {"1", "101", "18446744073709551615"}) {
    RawClient lost = house.knock();
    lost.send(listen_line(house.ann, fmt::format("Last-Event-ID: {}\r\n", id)));
    CHECK(lost.read("data: {}").contains("id: 100\nevent: full\n"));
  }
}

TEST_CASE("a stream without events has a heartbeat") {
  const HttpHouse house(
      [](ServerOptions& options) { options.times.heartbeat = milliseconds(300); });
  RawClient client = house.knock();
  client.send(listen_line(house.ann));
  CHECK(client.read("\n:\n\n").contains(":\n\n"));
}

TEST_CASE("a revoked token ends its streams and no others") {
  const HttpHouse house;
  RawClient mine = house.knock();
  RawClient other = house.knock();
  mine.send(listen_line(house.ann));
  other.send(listen_line(house.bob));
  mine.read("data: {}");
  other.read("data: {}");
  REQUIRE(revoke_token(house.tokens_file(), "of ann"));
  mine.read();
  CHECK(mine.is_closed());
  CHECK(status_of(house.ask("GET /api/v1/jobs", house.ann)) == 401);
  house.log->publish({"job", "still"});
  CHECK(other.read("still").contains("still"));
}

TEST_CASE("a token that was revoked while its request waits opens no stream") {
  const Scratch folder;
  const auto path = folder.path("tokens");
  const auto token = add_token(path, {"ann", Role::owner, "laptop", 0}).value();
  std::promise<Answer> held;
  ServerOptions options;
  options.tcp = "127.0.0.1:0";
  options.tokens_file = path;
  options.clock = settings::machine_clock();
  options.events = std::make_shared<EventLog>();
  std::atomic<bool> holds = false;
  options.handler = [&](const Request&, Answer answer) {
    if (!holds.exchange(true))
      held.set_value(std::move(answer));
    else
      answer(error_reply(Error{ErrorCode::not_found, "not held"}));
  };
  const auto server = Server::start(options).value();
  RawClient client(server->tcp_port());
  client.send(listen_line(token));
  Answer answer = held.get_future().get();
  REQUIRE(revoke_token(path, "laptop"));
  REQUIRE(testing::soon([&] {  // the server has seen it
    RawClient other(server->tcp_port());
    other.send(listen_line(token));
    return status_of(other.read()) == 401;
  }));
  CHECK(answer({.events = options.events}));
  client.read();
  CHECK(client.is_closed());
}

TEST_CASE("a body that is held back is cut when its token is revoked") {
  const HttpHouse house;
  RawClient client = house.knock();
  client.send("POST /api/v1/jobs HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer " +
              house.ann + "\r\nContent-Type: application/json\r\nContent-Length: 2\r\n\r\n{");
  // Whoever came later is answered: it has been let in.
  for (int i = 0; i < 3; ++i) REQUIRE(status_of(house.ask("GET /api/v1/jobs", house.bob)) == 200);
  REQUIRE(revoke_token(house.tokens_file(), "of ann"));
  CHECK(client.read().empty());
  CHECK(client.is_closed());
}

TEST_CASE("listeners that do not read cost little, and the latest reaches those who do") {
  REQUIRE(may_open(6000));
  const HttpHouse house([](ServerOptions& options) {
    options.bounds.connections_per_peer = 1500;
    options.times.idle = std::chrono::seconds(1);
    options.most_asked = 2000;
  });
  CHECK(status_of(house.ask("GET /healthz")) == 200);
  const long before = anonymous_kib();
  std::vector<std::unique_ptr<RawClient>> deaf;
  for (int i = 0; i < 1000; ++i) {
    deaf.push_back(std::make_unique<RawClient>(house.server->tcp_port()));
    const int small = 1;  // the smallest buffer that the system gives
    ::setsockopt(deaf.back()->number(), SOL_SOCKET, SO_RCVBUF, &small, sizeof small);
    deaf.back()->send(listen_line(house.ann));
  }
  REQUIRE(soon([&] { return house.server->counters().listeners == 1000; }));
  RawClient reader = house.knock();
  reader.send(listen_line(house.ann));
  reader.read("data: {}");
  // 12 MB for each listener, of which the log keeps 64 events. The reader lags, too.
  for (int i = 1; i < 3000; ++i) {
    house.log->publish({"job", std::string(4000, 'x')});
    if (i % 100 == 0) CHECK(status_of(house.ask("GET /api/v1/jobs", house.ann)) == 200);
  }
  house.log->publish({"job", "the latest"});
  CHECK(reader.read("id: 3000\n").contains("id: 3000\n"));
  CHECK(anonymous_kib() - before < growth_kib(64));
  MESSAGE("1000 deaf listeners: " << (anonymous_kib() - before) / 1024 << " MiB");
  // Slowly enough that nobody lags: more than the buffers of the system take. Who takes nothing for
  // that long is dropped.
  for (int i = 0; i < 200 && house.server->counters().listeners > 10; ++i) {
    for (int j = 0; j < 8; ++j) house.log->publish({"job", std::string(4000, 'x')});
    std::this_thread::sleep_for(milliseconds(100));  // clock: that nobody lags
  }
  CHECK(house.server->counters().listeners <= 10);
}

}  // namespace schedmate::http
