// SPDX-License-Identifier: Apache-2.0
#include "log/witness/xid_table.hpp"

#include <doctest/doctest.h>

namespace schedmate::witness {

TEST_CASE("an Xid is read where the driver prints one, and the table knows its row") {
  CHECK(xid_in("NVRM: Xid (PCI:0000:dc:00): 45, x") == 45);
  CHECK_FALSE(xid_in("Xid 79"));
  CHECK_FALSE(xid_in("NVRM: Xid (PCI:0000:dc:00): many"));
  const auto table = XidTable::load("");
  REQUIRE_MESSAGE(table, table.error().message);
  const auto lost = table->at(79);
  REQUIRE(lost);
  CHECK(lost->rule == "xid 79");
  CHECK_FALSE(table->at(999));
}

}  // namespace schedmate::witness
