// SPDX-License-Identifier: Apache-2.0
/// What a server may do to a queue: go away, forget, lie.
#include <doctest/doctest.h>

#include "store/redis_connection.hpp"
#include "tests/support/lying_redis.hpp"
#include "tests/support/redis_server.hpp"
#include "workers/queue.hpp"

namespace schedmate::workers {
namespace {

using testing::Lie;
using testing::LyingRedis;
using testing::RedisServer;

constexpr std::size_t never_lies = 1'000'000;

QueueOptions options() {
  QueueOptions made;
  made.lease = std::chrono::milliseconds(1);
  made.most_deliveries = 1;
  made.server.busy_timeout = std::chrono::milliseconds(2000);
  return made;
}
Operation operation(const std::string& id) { return {id, Priority::urgent, "{}"}; }

std::unique_ptr<Queue> open_at(const std::string& spec) {
  auto queue = open_queue(spec, options());
  REQUIRE_MESSAGE(queue.has_value(), (queue ? "" : queue.error().message));
  return std::move(*queue);
}

TEST_CASE("a server that went away is an error, and is used again when it is back") {
  RedisServer server;
  const auto queue = open_at(server.spec());
  REQUIRE(queue->put(operation("a")));
  server.stop(SIGKILL);
  CHECK(queue->put(operation("b")).error().code == ErrorCode::unavailable);
  CHECK(queue->claim("w").error().code == ErrorCode::unavailable);
  server.start();
  CHECK(queue->claim("w").value()->operation.id == "a");
}

TEST_CASE("a server that forgot everything, scripts and groups too, is begun with anew") {
  const RedisServer server;
  const auto queue = open_at(server.spec());
  const auto raw = store::RedisConnection::open("unix:" + server.socket(), {}).value();
  REQUIRE(queue->put(operation("a")));
  const Claim claim = queue->claim("w").value().value();
  REQUIRE(raw->run({"FLUSHALL"}));
  CHECK_FALSE(raw->run({"SCRIPT", "FLUSH"}));  // an answer of a kind that nobody asks for
  CHECK_FALSE(queue->finish("w", claim, "x").value());
  CHECK(queue->keep("w", std::vector<Claim>{claim}).value() == std::vector<bool>{false});
  CHECK(queue->put(operation("a")).value() == Put::put);
  CHECK(queue->claim("w").value()->operation.id == "a");
}

TEST_CASE("a server without memory takes no new request, and those that it has are done") {
  const RedisServer server;
  QueueOptions patient = options();
  patient.lease = std::chrono::hours(1);
  const auto queue = open_queue(server.spec(), patient).value();
  const auto raw = store::RedisConnection::open("unix:" + server.socket(), {}).value();
  for (const char* const id : {"a", "b", "c"}) REQUIRE(queue->put(operation(id)));
  REQUIRE(raw->run({"CONFIG", "SET", "maxmemory", "1"}));
  CHECK(queue->put(operation("d")).error().code == ErrorCode::unavailable);
  CHECK(queue->look("d").value().state == State::unknown);
  const Claim first = queue->claim("w").value().value();
  CHECK(queue->keep("w", std::vector<Claim>{first}).value() == std::vector<bool>{true});
  CHECK(queue->figures().value()["workers"] == 1);
  CHECK(queue->finish("w", first, "x").value());
  CHECK(queue->look("a").value().result == "x");
  const Claim poison = queue->claim("w").value().value();
  CHECK(queue->give_up("w", poison, "no model"));
  std::this_thread::sleep_for(std::chrono::milliseconds(2));  // clock: longer than a lease of 1 ms
  // By who thinks that its lease is over, after he has buried it.
  const Claim last = open_at(server.spec())->claim("w").value().value();
  CHECK(last.operation.id == "c");
  CHECK(queue->look("b").value().result == "no model");
  CHECK(queue->finish("w", last, "y").value());
  CHECK_FALSE(queue->finish("v", last, "z").value());
  CHECK_FALSE(queue->claim("w").value().has_value());
  CHECK(queue->dead().value() == std::vector<std::string>{"b"});
  CHECK(queue->revive("b").error().code == ErrorCode::unavailable);
  CHECK(queue->leave("w"));
  Figures figures = queue->figures().value();
  CHECK(figures["running"] == 0);
  CHECK(figures["done"] == 2);
  CHECK(figures["late"] == 1);
  CHECK(figures["dead"] == 1);
  REQUIRE(raw->run({"CONFIG", "SET", "maxmemory", "0"}));
  CHECK(queue->revive("b"));
  CHECK(queue->claim("w").value()->operation.id == "b");
}

TEST_CASE("who only looks, or finds nothing to do, makes no stream on the server") {
  const RedisServer server;
  const auto queue = open_at(server.spec());
  const auto raw = store::RedisConnection::open("unix:" + server.socket(), {}).value();
  CHECK(queue->figures().value()["waiting_urgent"] == 0);
  CHECK_FALSE(queue->claim("w").value().has_value());
  CHECK(queue->look("a").value().state == State::unknown);
  CHECK(queue->dead()->empty());
  CHECK(queue->leave("w"));
  for (const char* const name : {"urgent", "usual", "dead", "counts"})
    CHECK(raw->run({"GET", std::string("schedmate:work:") + name}).value().is_nothing());
}

TEST_CASE("entries that somebody else has put there, or has cut off, hold nobody up") {
  const RedisServer server;
  const auto queue = open_at(server.spec());
  const auto raw = store::RedisConnection::open("unix:" + server.socket(), {}).value();
  REQUIRE(queue->put(operation("a")));
  // Of answers that are checked for none of these: they are done all the same.
  CHECK_FALSE(raw->run({"XADD", "schedmate:work:urgent", "*", "id", "nobody"}));
  CHECK_FALSE(raw->run({"XADD", "schedmate:work:urgent", "*", "what", "is this"}));
  CHECK_FALSE(raw->run({"DEL", "schedmate:work:op:a"}));
  REQUIRE(queue->put(operation("b")));
  CHECK(queue->claim("w").value()->operation.id == "b");
  CHECK(queue->figures().value()["waiting_urgent"] == 0);
}

TEST_CASE("passwords and names come from the environment; what an address may not have is said") {
  const RedisServer server("s3cret");
  QueueOptions known = options();
  known.server.environment = [](const std::string& name) {
    return name == "SCHEDMATE_REDIS_PASSWORD" ? std::optional<std::string>("s3cret")
           : name == "SCHEDMATE_REDIS_USER"   ? std::optional<std::string>("default")
                                              : std::nullopt;
  };
  CHECK(open_queue("unix:" + server.socket(), known));
  CHECK(open_queue(server.spec(), options()).error().code == ErrorCode::refused);
  CHECK(open_queue("redis://u:p@h", known).error().message.contains("SCHEDMATE_REDIS_PASSWORD"));
  for (const char* const told : {"redis:u:p4ss@h:1", "redis://u:p4ss@h:1", "redis://u:p4ss@h/3"}) {
    const auto error = open_queue(told, known).error();
    CHECK(error.code == ErrorCode::invalid);
    CHECK_FALSE(error.message.contains("p4ss"));
  }
  CHECK(open_queue("rediss://h", known).error().code == ErrorCode::unsupported);
  CHECK(open_queue("redis://h/3", known).error().code == ErrorCode::invalid);
  CHECK(open_queue("rabbit:h", known).error().code == ErrorCode::not_found);
  CHECK(open_queue("127.0.0.1:1", known).error().message.contains("write redis:HOST:PORT"));
}

struct Use {
  std::vector<Error> errors;
  std::size_t commands = 0;
};

/// All that a queue does, by way of a server that lies once.
Use use_behind(const RedisServer& server, const Lie& lie) {
  store::RedisConnection::open("unix:" + server.socket(), {}).value()->run({"FLUSHALL"}).value();
  const LyingRedis between(server.socket(), lie);
  Use use;
  const auto note = [&](const auto& result) {
    if (!result) use.errors.push_back(result.error());
  };
  const auto queue = open_queue(between.spec(), options());
  note(queue);
  if (!queue) return use;
  Queue& it = **queue;
  note(it.put(operation("a")));
  note(it.put(operation("b")));
  Claim claim{operation("a"), "0-1", 1};
  for (int i = 0; i < 2; ++i) {
    const auto claimed = it.claim("w");
    note(claimed);
    if (claimed && *claimed) claim = **claimed;
  }
  note(it.keep("w", std::vector<Claim>{claim}));
  note(it.give_up("w", claim, "why"));
  note(it.finish("w", claim, "x"));
  note(it.look("a"));
  std::this_thread::sleep_for(std::chrono::milliseconds(2));  // clock: longer than the lease
  note(it.claim("w"));                                        // buries the other one
  note(it.dead());
  static_cast<void>(it.revive("a"));
  note(it.figures());
  note(it.doubts());
  note(it.leave("w"));
  use.commands = between.commands();
  return use;
}

TEST_CASE("every kind of answer to every command ends in a value or an error") {
  const RedisServer server;
  const Use honest = use_behind(server, {.at = never_lies, .bytes = ""});
  for (const Error& error : honest.errors) CHECK(error.message.empty());
  CHECK(honest.commands > 20);
  std::size_t refused = 0;
  for (const auto* const bytes :
       {"+OK\r\n", "$-1\r\n", "*-1\r\n", ":1\r\n", "*0\r\n", "$0\r\n\r\n", "*1\r\n$3\r\nput\r\n",
        "*1\r\n*0\r\n", "*1\r\n$1\r\n\xff\r\n", "*2\r\n$1\r\na\r\n$1\r\nb\r\n", "-ERR no\r\n",
        "*5\r\n$1\r\na\r\n$1\r\n7\r\n$0\r\n\r\n$1\r\n9\r\n$0\r\n\r\n",
        "*5\r\n$1\r\na\r\n$1\r\n1\r\n$0\r\n\r\n$2\r\n-9\r\n$1\r\nx\r\n", "*1000000000\r\n",
        "*4\r\n$4\r\ndone\r\n$0\r\n\r\n$0\r\n\r\n$2\r\n1e\r\n", "-NOSCRIPT x\r\n",
        "HTTP/1.1 400\r\n"})
    for (std::size_t at = 0; at < honest.commands; ++at) {
      CAPTURE(bytes);
      CAPTURE(at);
      const Use use = use_behind(server, {.at = at, .bytes = bytes, .closes = true});
      for (const Error& error : use.errors) {
        CAPTURE(error.message);
        CHECK((exit_code(error.code) == 4 || error.code == ErrorCode::conflict));
        CHECK(error.message.find('\n') == std::string::npos);
        ++refused;
      }
    }
  CHECK(refused > 200);
}

}  // namespace
}  // namespace schedmate::workers
