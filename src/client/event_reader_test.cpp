// SPDX-License-Identifier: Apache-2.0
#include "client/event_reader.hpp"

#include <doctest/doctest.h>

#include <atomic>
#include <thread>
#include <vector>

#include "tests/support/http_house.hpp"

namespace schedmate::client {
namespace {

using std::chrono::seconds;

struct Heard {
  std::atomic<std::size_t> events = 0;  ///< of follow_events(), for another thread
  EventReader reader;
  std::vector<std::string> all{};
  bool take(std::string_view part) {
    return reader.take(part, [this](const HeardEvent& event) {
      all.push_back(event.id + " " + event.kind + " " + event.data);
      return all.size() < 5;
    });
  }
};

TEST_CASE("a stream is read in parts of any size") {
  const std::string text =
      ":\n\nid: 7\nevent: job\ndata: {\"a\":\ndata: 1}\n\nid:8\r\ndata:x\r\n\r\nretry: 5\n\n";
  Heard whole;
  CHECK(whole.take(text));
  Heard bytes;
  for (const char c : text) CHECK(bytes.take(std::string_view(&c, 1)));
  CHECK(whole.all == std::vector<std::string>{"7 job {\"a\":\n1}", "8  x"});
  CHECK(bytes.all == whole.all);
  CHECK(bytes.reader.last_id() == "8");
}

TEST_CASE("what broke off is forgotten, the last id is not") {
  Heard heard;
  CHECK(heard.take("id: 7\nevent: job\ndata: 1\n\nid: 7\nevent: job\nda"));
  heard.reader.begin_anew();
  CHECK(heard.take("data: 2\n\n"));
  CHECK(heard.all.back() == "7  2");
}

TEST_CASE("a line without an end, or an event without one, is refused") {
  Heard line;
  CHECK(line.take(std::string(1U << 20U, 'x')));
  CHECK_FALSE(line.take("x"));
  CHECK(line.reader.is_broken());
  Heard event;
  const std::string data = "data: " + std::string(1'000'000, 'x') + "\n";
  int taken = 0;
  while (taken < 10 && event.take(data)) ++taken;
  CHECK(taken == 4);
}

Following until(Heard& heard, std::size_t events) {
  Following following{
      .heard = {}, .on_break = [](const std::string&) {}, .clock = settings::machine_clock()};
  following.lasts = seconds(20);
  following.heard = [&heard, events](const HeardEvent& event) {
    heard.all.push_back(event.kind);
    heard.events = heard.all.size();
    return heard.all.size() < events;
  };
  return following;
}

TEST_CASE("a stream that breaks goes on with the next event") {
  auto house = std::make_unique<testing::HttpHouse>();
  const DaemonAddress address{house->socket(), "", ""};
  Heard heard;
  std::jthread listener([&] { CHECK(follow_events(address, until(heard, 2))); });
  CHECK(testing::soon([&] { return heard.events == 1; }));  // full
  house->log->publish({"job", "{}", http::Audience::owner, "me"});
  listener.join();
  CHECK(heard.all == std::vector<std::string>{"full", "job"});
}

TEST_CASE("whom nobody answers is told at once") {
  Heard heard;
  const auto ended = follow_events({"/nowhere/api.sock", "", ""}, until(heard, 1));
  REQUIRE_FALSE(ended);
  CHECK(ended.error().code == ErrorCode::unavailable);
  CHECK(ended.error().message.contains("no daemon answers there"));
}

}  // namespace
}  // namespace schedmate::client
