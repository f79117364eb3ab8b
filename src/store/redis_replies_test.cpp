// SPDX-License-Identifier: Apache-2.0
#include "store/redis_replies.hpp"

#include <doctest/doctest.h>
#include <sys/resource.h>

#include <algorithm>
#include <chrono>

#include "store/redis_connection.hpp"
#include "tests/support/lying_redis.hpp"
#include "tests/support/patience.hpp"
#include "tests/support/store_places.hpp"

namespace schedmate::store {
namespace {

using std::chrono::milliseconds;
using testing::full_outcome;
using testing::full_record;
using testing::Lie;
using testing::LyingRedis;
using testing::RedisServer;

constexpr std::size_t never_lies = static_cast<std::size_t>(-1);

/// What came of using a store.
struct Use {
  std::vector<Error> errors;
  std::size_t commands = 0;
  template <class T>
  void note(const Result<T>& result) {
    if (!result) errors.push_back(result.error());
  }
};

/// Calls everything that a store can do.
void use_everything(Store& store, Use& use) {
  const std::vector<JobRecord> batch{full_record(1), full_record(2)};
  const std::vector<float> values{1.0F, 0.0F};
  use.note(store.put_many(batch));
  use.note(store.finish("job-1", full_outcome()));
  use.note(store.get("job-1"));
  use.note(store.list({}));
  use.note(store.texts(0, 10));
  use.note(store.last_text());
  use.note(store.put_vectors("e", std::vector<StoredVector>{{1, values}}));
  use.note(store.vectors("e", 0, 10));
  use.note(store.cache({"s", "k", "/cluster/ada/net", "v"}, 1000));
  use.note(store.cached("s", "k"));
  use.note(store.forget("job-2"));
  use.note(store.forgotten(0, 10));
  use.note(store.version());
  use.note(store.flush());
}

Use use_behind(const RedisServer& server, const Lie& lie) {
  const auto raw = RedisConnection::open("unix:" + server.socket(), {}).value();
  (void)raw->run({"FLUSHALL"});
  const LyingRedis between(server.socket(), lie);
  Use use;
  StoreOptions options;
  options.busy_timeout = lie.at == never_lies ? testing::patience : milliseconds(300);
  const auto store = open_store(between.spec(), options);
  use.note(store);
  if (store) use_everything(**store, use);
  use.commands = between.commands();
  return use;
}

/// Most memory that the process has held, in MiB.
std::int64_t peak_mib() {
  rusage use{};
  ::getrusage(RUSAGE_SELF, &use);
  return use.ru_maxrss / 1024;
}

RedisReply status(std::string text) {
  RedisReply reply;
  reply.kind = RedisReply::Kind::status;
  reply.text = std::move(text);
  return reply;
}
RedisReply text(std::string value) {
  RedisReply reply;
  reply.kind = RedisReply::Kind::text;
  reply.text = std::move(value);
  return reply;
}
RedisReply number(std::int64_t value) {
  RedisReply reply;
  reply.kind = RedisReply::Kind::number;
  reply.number = value;
  return reply;
}
RedisReply list(std::vector<RedisReply> elements) {
  RedisReply reply;
  reply.kind = RedisReply::Kind::list;
  reply.list = std::move(elements);
  return reply;
}

bool fits(const RedisCommand& command, const RedisReply& reply) {
  const auto checked = check_replies({{command}}, {{reply}});
  if (!checked) CHECK(checked.error().code == ErrorCode::bad_reply);
  return checked.has_value();
}

}  // namespace

TEST_CASE("redis: each command has answers that fit, and no others") {
  const RedisReply nothing;
  const std::vector<RedisReply> all{nothing,           status("OK"),
                                    text("t"),         number(1),
                                    number(-1),        list({}),
                                    list({number(1)}), list({nothing}),
                                    list({text("t")}), list({text("s"), text("us")})};
  struct Case {
    RedisCommand command;
    std::vector<std::size_t> fitting;  ///< of `all`
  };
  const std::vector<Case> cases{
      {{"PING"}, {1}},
      {{"WATCH", "k"}, {1}},
      {{"EVALSHA", "h", "0"}, {3}},
      {{"EVALSHA", "h", "1", "key"}, {5, 8, 9}},
      {{"SETNX", "k", "v"}, {3}},
      {{"GET", "k"}, {0, 2}},
      {{"HGET", "k", "f"}, {0, 2}},
      {{"INFO", "server"}, {2}},
      {{"TIME"}, {9}},
      {{"SCRIPT", "LOAD", "s"}, {}},
      {{"ZREVRANGE", "k", "0", "1"}, {5, 8, 9}},
      {{"HMGET", "k", "f"}, {7, 8}},
      {{"HMGET", "k", "f", "g"}, {9}},
      {{"NO-SUCH-COMMAND"}, {}},
  };
  for (const auto& [command, fitting] : cases) {
    for (std::size_t i = 0; i < all.size(); ++i) {
      CAPTURE(command.front());
      CAPTURE(i);
      CHECK(fits(command, all[i]) == (std::ranges::find(fitting, i) != fitting.end()));
    }
  }
}

TEST_CASE("redis: a transaction answers for each of its commands, or for none") {
  const std::vector<RedisCommand> commands{{"MULTI"}, {"EVALSHA", "h", "0"}, {"EXEC"}};
  const auto fine = [&](const RedisReply& queued, const RedisReply& done) {
    return check_replies(commands, std::vector{status("OK"), queued, done}).has_value();
  };
  CHECK(fine(status("QUEUED"), list({number(1)})));
  CHECK(fine(status("QUEUED"), {}));
  CHECK_FALSE(fine(status("QUEUED"), list({})));
  CHECK_FALSE(fine(status("QUEUED"), list({text("1")})));
  CHECK_FALSE(fine(status("QUEUED"), list({number(1), number(1)})));
  CHECK_FALSE(fine(number(1), list({number(1)})));
}

TEST_CASE("redis: every kind of answer to every command ends in a value or an error") {
  const RedisServer server;
  const std::size_t commands = use_behind(server, {.at = never_lies, .bytes = ""}).commands;
  CHECK(commands > 30);
  CHECK(use_behind(server, {.at = never_lies, .bytes = ""}).errors.empty());
  std::size_t refused = 0;
  for (const auto* const bytes :
       {"+OK\r\n", "+\r\n", "$-1\r\n", "*-1\r\n", ":0\r\n", ":-7\r\n", ":9223372036854775807\r\n",
        "*0\r\n", "$0\r\n\r\n", "*1\r\n*1\r\n*0\r\n", "*2\r\n$1\r\na\r\n:1\r\n", "*27\r\n+a\r\n",
        "-ERR no\r\n", "$3\r\n\xff\x00\x1b\r\n", "HTTP/1.1 400 Bad Request\r\n\r\n",
        "*1000000000\r\n", "$-5\r\n", "*3\r\n$2\r\n-1\r\n$2\r\n-1\r\n$2\r\n-1\r\n"}) {
    for (std::size_t at = 0; at < commands; ++at) {
      CAPTURE(bytes);
      CAPTURE(at);
      // What lacks its end would only be waited for; the next test waits.
      const Use use = use_behind(server, {.at = at, .bytes = bytes, .closes = true});
      for (const Error& error : use.errors) {
        CAPTURE(error.message);
        const bool says_what = exit_code(error.code) == 4 || error.code == ErrorCode::not_found ||
                               error.code == ErrorCode::conflict ||
                               error.code == ErrorCode::invalid;
        CHECK(says_what);
        CHECK(error.message.find('\n') == std::string::npos);
        ++refused;
      }
    }
  }
  CHECK(refused > 400);
}

TEST_CASE("redis: a server that drips, floods or says nothing is cut") {
  const RedisServer server;
  const std::size_t commands = use_behind(server, {.at = never_lies, .bytes = ""}).commands;
  std::size_t recovered = 0;
  const auto costs = [&](const Lie& lie) {
    const std::int64_t before = peak_mib();
    const Use use = use_behind(server, lie);
    // A batch of records is sent again on a new connection; everything else fails.
    const std::string said = use.errors.empty() ? "" : use.errors.front().message;
    if (!use.errors.empty())
      CHECK(exit_code(use.errors.front().code) == 4);
    else
      ++recovered;
    const std::int64_t grown = peak_mib() - before;
    MESSAGE("answer ", lie.at, " costs ", grown, " MiB: ", said);
    CHECK(grown < 700);
  };
  for (const std::size_t at : {std::size_t{0}, std::size_t{1}, commands / 2, commands - 1}) {
    CAPTURE(at);
    costs({.at = at, .bytes = std::string(1000, '+'), .per_byte = milliseconds(20)});
    costs({.at = at, .bytes = "$1000000000\r\nx", .endless = true});
    costs({.at = at, .bytes = ":1\r\n*100000\r\n:", .endless = true});
  }
  for (std::size_t at = 0; at < commands; at += 5)
    costs({.at = at, .bytes = "$1000000000\r\nx", .endless = true});
  CHECK(recovered <= 2);
}

}  // namespace schedmate::store
