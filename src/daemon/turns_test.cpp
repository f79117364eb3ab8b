// SPDX-License-Identifier: Apache-2.0
#include "daemon/turns.hpp"

#include <doctest/doctest.h>

#include <string>

namespace schedmate::daemon {

TEST_CASE("askers take turns, each with his oldest question") {
  Turns<int> turns;
  for (int i = 0; i < 100; ++i) turns.put("flood", i);
  turns.put("ann", 1000);
  turns.put("bob", 2000);
  turns.put("ann", 1001);
  std::string order;
  for (int i = 0; i < 6; ++i) order += std::to_string(turns.next().value_or(-1)) + " ";
  CHECK(order == "0 1000 2000 1 1001 2 ");
  turns.put("bob", 2001);
  CHECK(turns.next() == 3);
  CHECK(turns.next() == 2001);
  for (int i = 4; i < 100; ++i) CHECK(turns.next() == i);
  CHECK(turns.empty());
  CHECK(!turns.next());
}

}  // namespace schedmate::daemon
