// SPDX-License-Identifier: Apache-2.0
/// What every row of queues.def has to do: memory, and redis on a real server.
#include <doctest/doctest.h>

#include <algorithm>
#include <atomic>
#include <set>
#include <thread>

#include "tests/support/redis_server.hpp"
#include "workers/queue.hpp"

namespace schedmate::workers {
namespace {

using std::chrono_literals::operator""ms;
using std::chrono_literals::operator""s;

/// A queue and a way to let its time pass.
struct Place {
  std::unique_ptr<Queue> queue;
  std::function<void(std::chrono::milliseconds)> pass;
};

QueueOptions bounded_options(std::chrono::milliseconds lease) {
  QueueOptions options;
  options.lease = lease;
  options.most_deliveries = 3;
  options.most_waiting = 5;
  options.keep = std::chrono::seconds(2);
  return options;
}

constexpr std::chrono::milliseconds short_lease{300};  ///< of cases that let it pass

void on_every_queue(std::chrono::milliseconds lease,
                    const std::function<void(const Place& place)>& body) {
  for (const QueueRow& row : queue_rows()) {
    const std::string name(row.name);
    CAPTURE(name);
    QueueOptions options = bounded_options(lease);
    if (name == "memory") {
      auto now = std::make_shared<std::atomic<std::int64_t>>(0);
      options.clock.now = [now] { return std::chrono::nanoseconds(now->load()); };
      body({open_queue(name, options).value(),
            [now](std::chrono::nanoseconds time) { *now += time.count(); }});
    }
    if (name != "redis") continue;
    const testing::RedisServer server;
    body({open_queue(server.spec(), options).value(), [](std::chrono::milliseconds time) {
            std::this_thread::sleep_for(time);  // clock: at least as long as the lease
          }});
  }
}

void on_every_queue(const std::function<void(const Place& place)>& body) {
  on_every_queue(std::chrono::minutes(1), body);
}

Operation usual(const std::string& id) { return {id, Priority::usual, "{\"of\":\"" + id + "\"}"}; }
Operation urgent(const std::string& id) {
  return {id, Priority::urgent, "{\"of\":\"" + id + "\"}"};
}

Claim claim_of(const Place& place, const std::string& worker = "w1") {
  auto claim = place.queue->claim(worker);
  REQUIRE(claim.has_value());
  REQUIRE(claim->has_value());
  return **claim;
}
bool is_empty(const Place& place) { return !place.queue->claim("w9").value().has_value(); }

TEST_CASE("an operation is put once, claimed once and has one result") {
  on_every_queue([](const Place& place) {
    CHECK(place.queue->look("a").value().state == State::unknown);
    CHECK(place.queue->put(usual("a")).value() == Put::put);
    CHECK(place.queue->put(usual("a")).value() == Put::there);
    CHECK(place.queue->look("a").value().state == State::waiting);
    const Claim claim = claim_of(place);
    CHECK(claim.operation == usual("a"));
    CHECK(claim.delivery == 1);
    CHECK(is_empty(place));
    CHECK(place.queue->look("a").value().state == State::running);
    CHECK(place.queue->finish("w1", claim, "one").value());
    CHECK(place.queue->finish("w1", claim, "one").value());  // the same, sent twice
    CHECK_FALSE(place.queue->finish("w1", claim, "two").value());
    const Status status = place.queue->look("a").value();
    CHECK(status.state == State::done);
    CHECK(status.result == "one");
    CHECK(status.worker == "w1");
    CHECK(status.deliveries == 1);
    CHECK(place.queue->put(usual("a")).value() == Put::there);
    CHECK(is_empty(place));
  });
}

TEST_CASE("urgent ones come before usual ones, the oldest first") {
  on_every_queue([](const Place& place) {
    for (const char* id : {"u1", "u2"}) REQUIRE(place.queue->put(usual(id)));
    for (const char* id : {"f1", "f2"}) REQUIRE(place.queue->put(urgent(id)));
    std::vector<std::string> order;
    for (int i = 0; i < 4; ++i) order.push_back(claim_of(place).operation.id);
    CHECK(order == std::vector<std::string>{"f1", "f2", "u1", "u2"});
  });
}

TEST_CASE("what a dead worker held goes to another one, what a living one holds does not") {
  on_every_queue(short_lease, [](const Place& place) {
    REQUIRE(place.queue->put(usual("a")));
    REQUIRE(place.queue->put(usual("b")));
    const std::vector<Claim> dead{claim_of(place, "dead")}, living{claim_of(place, "living")};
    for (int i = 0; i < 4; ++i) {
      place.pass(100ms);
      CHECK(place.queue->keep("living", living).value() == std::vector<bool>{true});
    }
    const Claim again = claim_of(place, "heir");
    CHECK(again.operation.id == "a");
    CHECK(again.delivery == 2);
    CHECK(is_empty(place));
    CHECK(place.queue->keep("dead", dead).value() == std::vector<bool>{false});
    CHECK(place.queue->keep("heir", std::vector<Claim>{again}).value() == std::vector<bool>{true});
    CHECK(place.queue->figures().value()["redelivered"] == 1);
  });
}

TEST_CASE("of two results the first is kept, and the second one is counted") {
  on_every_queue(short_lease, [](const Place& place) {
    REQUIRE(place.queue->put(usual("a")));
    const Claim slow = claim_of(place, "slow");
    place.pass(400ms);
    const Claim heir = claim_of(place, "heir");
    CHECK(place.queue->finish("slow", slow, "of slow").value());
    CHECK_FALSE(place.queue->finish("heir", heir, "of heir").value());
    CHECK(place.queue->look("a").value().result == "of slow");
    place.pass(400ms);
    CHECK(is_empty(place));
    Figures figures = place.queue->figures().value();
    CHECK(figures["done"] == 1);
    CHECK(figures["late"] == 1);
    CHECK(figures["running"] == 0);
  });
}

TEST_CASE("an operation that kills its workers is dead after some of them, and may be revived") {
  on_every_queue(short_lease, [](const Place& place) {
    REQUIRE(place.queue->put(urgent("poison")));
    for (int i = 1; i <= 3; ++i) {
      CHECK(claim_of(place, "w" + std::to_string(i)).delivery == i);
      place.pass(400ms);
    }
    CHECK(is_empty(place));
    const Status status = place.queue->look("poison").value();
    CHECK(status.state == State::dead);
    CHECK(status.result.contains("none of them lived to answer"));
    CHECK(place.queue->dead().value() == std::vector<std::string>{"poison"});
    CHECK(place.queue->revive("a").error().code == ErrorCode::not_found);
    REQUIRE(place.queue->revive("poison"));
    CHECK(place.queue->dead()->empty());
    const Claim claim = claim_of(place);
    CHECK(claim.delivery == 1);
    CHECK(claim.operation == urgent("poison"));
    CHECK(place.queue->finish("w1", claim, "well").value());
    place.pass(1s);
    CHECK(is_empty(place));
  });
}

TEST_CASE("a dead one is counted and listed while it is kept, and once however often it dies") {
  on_every_queue(short_lease, [](const Place& place) {
    for (int life = 1; life <= 2; ++life) {
      CAPTURE(life);
      REQUIRE(place.queue->put(usual("poison")).value() == Put::put);
      for (int i = 1; i <= 3; ++i) {
        claim_of(place);
        place.pass(400ms);
      }
      CHECK(is_empty(place));
      CHECK(place.queue->figures().value()["dead"] == 1);
      CHECK(place.queue->dead().value() == std::vector<std::string>{"poison"});
      place.pass(2500ms);
      CHECK(place.queue->figures().value()["dead"] == 0);
      CHECK(place.queue->dead()->empty());
      CHECK(place.queue->revive("poison").error().code == ErrorCode::not_found);
    }
    CHECK(place.queue->figures().value()["buried"] == 2);
  });
}

TEST_CASE("the latest dead one is first") {
  on_every_queue(short_lease, [](const Place& place) {
    for (const char* id : {"a", "b"}) {
      REQUIRE(place.queue->put(usual(id)));
      for (int i = 1; i <= 3; ++i) {
        claim_of(place);
        place.pass(400ms);
      }
      CHECK(is_empty(place));
    }
    CHECK(place.queue->dead().value() == std::vector<std::string>{"b", "a"});
  });
}

TEST_CASE("a result that came late leaves nothing behind, also one of a life before") {
  on_every_queue(short_lease, [](const Place& place) {
    REQUIRE(place.queue->put(usual("a")));
    const Claim slow = claim_of(place, "slow");
    for (int i = 1; i <= 2; ++i) {
      place.pass(400ms);
      claim_of(place, "w");
    }
    place.pass(400ms);
    CHECK(is_empty(place));
    REQUIRE(place.queue->revive("a"));
    const Claim heir = claim_of(place, "heir");
    CHECK(place.queue->finish("slow", slow, "of slow").value());
    CHECK_FALSE(place.queue->finish("heir", heir, "of heir").value());
    Figures figures = place.queue->figures().value();
    CHECK(figures["running"] == 0);
    CHECK(figures["waiting_usual"] == 0);
  });
}

TEST_CASE("what is given up comes again after the lease, and dies with the reason") {
  on_every_queue(short_lease, [](const Place& place) {
    REQUIRE(place.queue->put(usual("a")));
    for (int i = 1; i <= 3; ++i) {
      const Claim claim = claim_of(place);
      REQUIRE(place.queue->give_up("w1", claim, "no model " + std::to_string(i)));
      CHECK(is_empty(place));
      place.pass(400ms);
    }
    CHECK(is_empty(place));
    CHECK(place.queue->look("a").value().result == "no model 3");
  });
}

TEST_CASE("a full queue refuses clearly, one priority without the other, and takes again later") {
  on_every_queue([](const Place& place) {
    for (int i = 0; i < 5; ++i) REQUIRE(place.queue->put(usual("u" + std::to_string(i))));
    const auto refused = place.queue->put(usual("more"));
    CHECK(refused.error().code == ErrorCode::unavailable);
    CHECK(refused.error().message.contains("workers.most_waiting"));
    CHECK(place.queue->look("more").value().state == State::unknown);
    CHECK(place.queue->put(usual("u0")).value() == Put::there);
    CHECK(place.queue->put(urgent("f")).value() == Put::put);
    const Claim failure = claim_of(place), first = claim_of(place);
    CHECK(failure.operation.id == "f");
    CHECK(place.queue->put(usual("more")).error().code == ErrorCode::unavailable);  // still runs
    REQUIRE(place.queue->finish("w1", first, "x"));
    CHECK(place.queue->put(usual("more")).value() == Put::put);
    CHECK(place.queue->figures().value()["refused"] == 2);
  });
}

TEST_CASE("another request under the same id is a conflict, also after it was done") {
  on_every_queue([](const Place& place) {
    REQUIRE(place.queue->put(usual("a")));
    Operation other = usual("a");
    other.request = "{}";
    CHECK(place.queue->put(other).error().code == ErrorCode::conflict);
    REQUIRE(place.queue->finish("w1", claim_of(place), "x"));
    CHECK(place.queue->put(other).error().code == ErrorCode::conflict);
  });
}

TEST_CASE("a result is kept for its time, then its id is free") {
  on_every_queue(short_lease, [](const Place& place) {
    REQUIRE(place.queue->put(usual("a")));
    REQUIRE(place.queue->finish("w1", claim_of(place), "x"));
    place.pass(1s);
    CHECK(place.queue->look("a").value().state == State::done);
    place.pass(1500ms);
    CHECK(place.queue->look("a").value().state == State::unknown);
    CHECK(place.queue->put(usual("a")).value() == Put::put);
    CHECK(claim_of(place).delivery == 1);
  });
}

TEST_CASE("figures say what waits, runs and was done; a worker that left is not among them") {
  on_every_queue([](const Place& place) {
    CHECK(place.queue->figures().value()["workers"] == 0);
    REQUIRE(place.queue->put(usual("u")));
    REQUIRE(place.queue->put(urgent("f")));
    REQUIRE(place.queue->put(urgent("g")));
    const Claim claim = claim_of(place);
    Figures figures = place.queue->figures().value();
    CHECK(figures["waiting_urgent"] == 1);
    CHECK(figures["waiting_usual"] == 1);
    CHECK(figures["running"] == 1);
    CHECK(figures["workers"] == 1);
    CHECK(figures["put"] == 3);
    CHECK(figures["claimed"] == 1);
    REQUIRE(place.queue->leave("w1"));  // it still holds one: nothing is lost with its name
    CHECK(place.queue->figures().value()["running"] == 1);
    REQUIRE(place.queue->finish("w1", claim, "x"));
    REQUIRE(place.queue->leave("w1"));
    figures = place.queue->figures().value();
    CHECK(figures["workers"] == 0);
    CHECK(figures["done"] == 1);
  });
}

TEST_CASE("what is forgotten is not claimed, has no result and takes no room") {
  on_every_queue([](const Place& place) {
    for (int i = 0; i < 20; ++i) {  // more than there is room for
      REQUIRE(place.queue->put(usual("a")).value() == Put::put);
      REQUIRE(place.queue->forget("a"));
      CHECK(place.queue->look("a").value().state == State::unknown);
    }
    CHECK(is_empty(place));
    CHECK(place.queue->figures().value()["waiting_usual"] == 0);
    REQUIRE(place.queue->put(usual("a")));
    const Claim claim = claim_of(place);
    REQUIRE(place.queue->forget("a"));
    CHECK_FALSE(place.queue->finish("w1", claim, "late").value());
    CHECK(place.queue->look("a").value().state == State::unknown);
    CHECK(place.queue->figures().value()["running"] == 0);
    REQUIRE(place.queue->put(usual("a")).value() == Put::put);
    REQUIRE(place.queue->finish("w1", claim_of(place), "done").value());
    REQUIRE(place.queue->forget("a"));
    CHECK(place.queue->put(usual("a")).value() == Put::put);
    CHECK(place.queue->forget("no id").error().code == ErrorCode::invalid);
    CHECK(place.queue->forget("unknown"));
  });
}

TEST_CASE("a worker that waits before anything was put is counted while it asks") {
  on_every_queue(short_lease, [](const Place& place) {
    CHECK(place.queue->figures().value()["workers"] == 0);
    for (int asked = 0; asked < 4; ++asked) {
      CHECK_FALSE(place.queue->claim("w1").value());
      CHECK_FALSE(place.queue->claim("w2").value());
      CHECK(place.queue->figures().value()["workers"] == 2);
      place.pass(200ms);
    }
    place.pass(400ms);
    CHECK(place.queue->figures().value()["workers"] == 0);
  });
}

TEST_CASE("ids, requests and results have bounds, and hold any bytes within them") {
  on_every_queue([](const Place& place) {
    for (const std::string& id : {std::string(), std::string("a b"), std::string("a\n"),
                                  std::string(QueueLimits::id_bytes + 1, 'x')}) {
      CHECK(place.queue->put(usual(id)).error().code == ErrorCode::invalid);
      CHECK(place.queue->look(id).error().code == ErrorCode::invalid);
      CHECK(place.queue->revive(id).error().code == ErrorCode::invalid);
    }
    CHECK(place.queue->put({"a", Priority::usual, ""}).error().code == ErrorCode::invalid);
    CHECK(place.queue->put({"a", Priority::usual, std::string(QueueLimits::request_bytes + 1, 'x')})
              .error()
              .code == ErrorCode::invalid);
    std::string bytes(QueueLimits::request_bytes, '\xFF');
    bytes[1] = '\0';
    REQUIRE(place.queue->put({"a", Priority::usual, bytes}));
    const Claim claim = claim_of(place);
    CHECK(claim.operation.request == bytes);
    std::string result(QueueLimits::result_bytes + 1, '\r');
    CHECK(place.queue->finish("w1", claim, result).error().code == ErrorCode::invalid);
    result.pop_back();
    CHECK(place.queue->finish("w1", claim, result).value());
    CHECK(place.queue->look("a").value().result == result);
  });
}

TEST_CASE("many at once: each operation is claimed once") {
  on_every_queue([](const Place& place) {
    for (int i = 0; i < 5; ++i) {
      REQUIRE(place.queue->put(usual("u" + std::to_string(i))));
      REQUIRE(place.queue->put(urgent("f" + std::to_string(i))));
    }
    std::mutex mutex;
    std::multiset<std::string> claimed;
    {
      std::vector<std::jthread> threads;
      for (int i = 0; i < 4; ++i)
        threads.emplace_back([&, worker = "w" + std::to_string(i)] {
          while (const auto claim = place.queue->claim(worker).value()) {
            const std::lock_guard lock(mutex);
            claimed.insert(claim->operation.id);
          }
        });
    }
    CHECK(claimed.size() == 10);
    CHECK(std::set(claimed.begin(), claimed.end()).size() == 10);
  });
}

}  // namespace
}  // namespace schedmate::workers
