// SPDX-License-Identifier: Apache-2.0
#include <doctest/doctest.h>

#include "store/redis_connection.hpp"
#include "tests/support/store_places.hpp"

namespace schedmate::store {
namespace {

using testing::full_record;
using testing::open_or_fail;
using testing::RedisServer;

std::optional<std::string> no_password(const std::string&) { return std::nullopt; }

TEST_CASE("redis: a server that went away is an error, and one that came back is used again") {
  RedisServer server;
  const auto store = open_or_fail(server.spec());
  REQUIRE(store->put(full_record(1)));
  server.stop(SIGKILL);
  CHECK(store->put(full_record(2)).error().code == ErrorCode::unavailable);
  CHECK(store->get("job-1").error().code == ErrorCode::unavailable);
  server.start();
  CHECK(store->get("job-1").value().has_value());
  CHECK(store->put(full_record(2)));
  CHECK(store->forget("job-1"));
}

TEST_CASE("redis: a server that takes a connection and refuses its scripts is asked again") {
  const RedisServer server;
  const auto raw = RedisConnection::open("unix:" + server.socket(), {}).value();
  const auto store = open_or_fail(server.spec());
  REQUIRE(store->put(full_record(1)));
  // Two whose answers are of a kind that nobody asks for otherwise: `raw` connects anew after them.
  CHECK_FALSE(raw->run({"CLIENT", "KILL", "TYPE", "normal", "SKIPME", "yes"}));
  REQUIRE(raw->run({"CONFIG", "SET", "requirepass", "s3cret"}));
  CHECK_FALSE(store->put(full_record(2)));
  REQUIRE(raw->run({"CONFIG", "SET", "requirepass", ""}));
  CHECK_FALSE(raw->run({"SCRIPT", "FLUSH"}));
  CHECK(store->put(full_record(2)));
  CHECK(store->forget("job-1"));
}

TEST_CASE("redis: the password comes from the environment by name") {
  const RedisServer server("s3cret");
  StoreOptions options;
  options.environment = no_password;
  CHECK(open_store(server.spec(), options).error().code == ErrorCode::refused);
  options.environment = [](const std::string& name) {
    return name == "SCHEDMATE_REDIS_PASSWORD" ? std::optional<std::string>("s3cret") : std::nullopt;
  };
  CHECK(open_store(server.spec(), options));
}

TEST_CASE("redis: a newer schema is refused and left as it is") {
  const RedisServer server;
  {
    open_or_fail(server.spec());
  }
  const auto raw = RedisConnection::open("unix:" + server.socket(), {}).value();
  REQUIRE(raw->run({"SET", "schedmate:schema", "2"}));
  CHECK(open_store(server.spec()).error().code == ErrorCode::invalid);
  CHECK(raw->run({"GET", "schedmate:schema"})->text == "2");
}

TEST_CASE("redis: a full server is an error, and a batch is kept whole or not at all") {
  const RedisServer server;
  const auto store = open_or_fail(server.spec());
  const auto raw = RedisConnection::open("unix:" + server.socket(), {}).value();
  REQUIRE(store->put(full_record(0)));
  REQUIRE(raw->run({"CONFIG", "SET", "maxmemory", "1"}));
  const std::vector<JobRecord> batch{full_record(1), full_record(2)};
  CHECK(store->put_many(batch).error().code == ErrorCode::unavailable);
  REQUIRE(raw->run({"CONFIG", "SET", "maxmemory", "0"}));
  CHECK(store->list({})->size() == 1);
}

TEST_CASE("redis: places that are none") {
  for (const auto* const where : {"redis:", "redis:localhost", "redis:localhost:0"}) {
    CHECK(open_store(where).error().code == ErrorCode::invalid);
  }
  CHECK(open_store("redis:unix:/nowhere").error().code == ErrorCode::unavailable);
  CHECK(open_store("redis:127.0.0.1:1").error().code == ErrorCode::unavailable);
}

}  // namespace
}  // namespace schedmate::store
