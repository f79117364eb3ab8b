// SPDX-License-Identifier: Apache-2.0
/// Answers, deadlines and the end, in the orders in which threads may bring them.
#include "http/traffic.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <memory>
#include <utility>

#include "http/events.hpp"
#include "http/routes.hpp"

namespace schedmate::http {
namespace {

using std::chrono::seconds;

ServerOptions still_options() {
  ServerOptions options;
  options.clock.now = [] { return std::chrono::nanoseconds(seconds(100)); };
  return options;
}

ExchangePointer exchange_of(RouteName name) {
  const auto row = std::ranges::find(routes(), name, &Route::name);
  Admitted admitted;
  admitted.request.route = &*row;
  auto exchange = std::make_shared<Exchange>(std::move(admitted), PeerSlot(), seconds(120));
  exchange->attach(nullptr, {[](void*) {}, [](void*) {}});
  return exchange;
}

}  // namespace

TEST_CASE("a request that the end has answered first is sent that answer") {
  auto options = still_options();
  options.handler = [](const Request&, Answer) { FAIL("nobody asks a handler any more"); };
  Traffic traffic(options);
  for (const RouteName name : {RouteName::healthz, RouteName::jobs}) {
    const auto exchange = exchange_of(name);
    exchange->answer(error_reply(Error{ErrorCode::unavailable, "ending"}));
    exchange->end();
    CHECK(traffic.dispatch(exchange));
    CHECK(exchange->take_reply()->status == 503);
  }
}

TEST_CASE("a stream that was answered just before its deadline is a stream") {
  Traffic traffic(still_options());
  const auto exchange = exchange_of(RouteName::events);
  traffic.open(-1, exchange);
  REQUIRE(exchange->await(seconds(99)));
  CHECK(exchange->answer({.events = std::make_shared<EventLog>()}));
  traffic.sweep();
  CHECK(exchange->overdue(seconds(100)) == Stage::answer);
  exchange->enter(Stage::stream, seconds(99));
  traffic.sweep();
  CHECK(exchange->overdue(seconds(100)) == std::nullopt);
  CHECK(exchange->overdue(seconds(200)) == Stage::stream);
  CHECK(exchange->take_heartbeat());
  CHECK(exchange->take_reply()->events != nullptr);
}

TEST_CASE("what nobody answers in time gets 504, once") {
  Traffic traffic(still_options());
  const auto exchange = exchange_of(RouteName::jobs);
  traffic.open(-1, exchange);
  REQUIRE(exchange->await(seconds(99)));
  traffic.sweep();
  traffic.sweep();
  CHECK(traffic.counters().late == 1);
  CHECK(exchange->take_reply()->status == 504);
  CHECK(!exchange->answer({}));
}

}  // namespace schedmate::http
