// SPDX-License-Identifier: Apache-2.0
#include "log/witness/kernel_lines.hpp"

#include <doctest/doctest.h>

namespace schedmate::witness {

TEST_CASE("the lines of dmesg and of a journal are taken apart") {
  struct Case {
    const char *line, *host;
    bool dated, up;
  };
  for (const Case& each : {
           Case{"[ 1234.567890] NVRM: x", "", false, true},
           Case{"<4>[ 1234.567890] NVRM: x", "", false, true},
           Case{"[ 1234.567890][ T1234] NVRM: x", "", false, true},
           Case{"[Thu Mar  4 12:00:01 2021] NVRM: x", "", true, false},
           Case{"2021-03-04T12:00:01,123456+01:00 NVRM: x", "", true, false},
           Case{"Mar 04 12:00:01 n1 kernel: NVRM: x", "n1", true, false},
           Case{"Mar 04 12:00:01 n1 kernel: [ 1234.567890] NVRM: x", "n1", true, true},
           Case{"2021-03-04T12:00:01+0100 n1.a.b kernel: NVRM: x", "n1.a.b", true, false},
           Case{"NVRM: x", "", false, false},
       }) {
    CAPTURE(each.line);
    const auto line = read_kernel_line(each.line);
    REQUIRE(line);
    CHECK(line->message == "NVRM: x");
    CHECK(line->host == each.host);
    CHECK(line->time.has_value() == each.dated);
    CHECK(line->uptime_s.has_value() == each.up);
  }
}

TEST_CASE("a line of a journal that is not the kernel's is none") {
  for (const char* text :
       {"Mar 04 12:00:01 n1 python[12]: NVRM: Xid (PCI:0000:9b:00): 79, x",
        "2021-03-04T12:00:01+0100 n1 user: NVRM: x", "", "   ", "2021-03-04T12:00:01+0100 n1"})
    CHECK_MESSAGE(!read_kernel_line(text), text);
}

TEST_CASE("the kernel's own words date the seconds since the machine came up") {
  const auto boot = [](const char* text) { return boot_time(*read_kernel_line(text)); };
  // 1614859201 - 1 s
  CHECK(boot("[    1.000000] rtc_cmos 00:01: setting system clock to 2021-03-04T12:00:01 UTC "
             "(1614859201)")
            ->seconds == 1614859200);
  CHECK(boot("[   10.000000] audit: type=1400 audit(1614859210.500:2): apparmor")->seconds ==
        1614859200.5);
  CHECK_FALSE(boot("[   10.000000] NVRM: audit(1614859210.500:2): x"));
  CHECK_FALSE(boot("[   10.000000] audit: type=140[12]: segfault at audit(1614859210.5:2)"));
  CHECK_FALSE(boot("Mar 04 12:00:01 n1 kernel: audit: type=1 audit(1614859210.5:2): x"));
}

}  // namespace schedmate::witness
