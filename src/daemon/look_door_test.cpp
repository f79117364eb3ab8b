// SPDX-License-Identifier: Apache-2.0
#include "daemon/look_door.hpp"

#include <arpa/inet.h>
#include <doctest/doctest.h>
#include <netinet/in.h>
#include <sys/socket.h>

namespace schedmate::daemon {
namespace {

using std::chrono::milliseconds;
constexpr milliseconds second{1000};

/// How many readings there are within `length`, with a word from a hook every `every` (0: none).
int readings(milliseconds length, milliseconds poll, milliseconds every) {
  Pace pace;
  int count = 0;
  for (milliseconds now{5000}; now < milliseconds(5000) + length; now += milliseconds(10)) {
    if (every.count() > 0 && now.count() % every.count() == 0) pace.ask();
    if (pace.due(now, poll, true)) ++count;
  }
  return count;
}

void knock(std::uint16_t port, int times) {
  const Descriptor socket(::socket(AF_INET, SOCK_DGRAM, 0));
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_port = htons(port);
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  for (; times > 0; --times)
    (void)::sendto(socket.number(), "\n", 1, MSG_DONTWAIT,
                   reinterpret_cast<const sockaddr*>(&address), sizeof address);  // NOLINT
}

TEST_CASE("a look comes at once, twice, and is made up for") {
  Pace pace;
  CHECK(pace.due(milliseconds(5000), second, true));
  CHECK(!pace.due(milliseconds(5100), second, true));
  pace.ask();
  CHECK(!pace.due(milliseconds(5200), second, false));  // the last answer is still to come
  CHECK(pace.due(milliseconds(5300), second, true));
  CHECK(pace.due(milliseconds(5400), second, true));
  CHECK(!pace.due(milliseconds(5500), second, true));
  CHECK(!pace.due(milliseconds(7900), second, true));
  CHECK(pace.due(milliseconds(8000), second, true));
}

TEST_CASE("however many ask, there is one reading a second on average") {
  CHECK(readings(second * 100, second, milliseconds(0)) == 100);
  for (const int every : {10, 100, 700, 5000}) {
    CAPTURE(every);
    CHECK(readings(second * 100, second, milliseconds(every)) <= 103);
    CHECK(readings(second * 100, second * 10, milliseconds(every)) <= 103);
  }
  CHECK(readings(second * 100, second * 10, milliseconds(0)) == 10);
  // Where it is read more often by itself, as often.
  CHECK(readings(second * 10, milliseconds(100), milliseconds(0)) == 100);
  CHECK(readings(second * 10, milliseconds(100), milliseconds(10)) <= 103);
}

TEST_CASE("words at the door count once, whatever they say and however many there are") {
  LookDoor door;
  REQUIRE(door.open(0));
  CHECK(!door.knocked());
  std::uint16_t port = 0;
  for (std::uint16_t each = 28643; port == 0 && each < 28743; ++each)
    if (door.open(each)) port = each;
  REQUIRE(port != 0);
  CHECK(!door.knocked());
  knock(port, 1);
  CHECK(door.knocked());
  CHECK(!door.knocked());
  knock(port, 5000);
  CHECK(door.knocked());
  CHECK(!door.knocked());
  LookDoor second_one;
  const auto taken = second_one.open(port);
  REQUIRE(!taken);
  CHECK(taken.error().code == ErrorCode::conflict);
  CHECK(taken.error().message.contains("listen.look_port"));
}

}  // namespace
}  // namespace schedmate::daemon
