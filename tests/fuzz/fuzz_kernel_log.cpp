// SPDX-License-Identifier: Apache-2.0
#include <cmath>

#include "base/check.hpp"
#include "log/lines/lines.hpp"
#include "log/witness/kernel_lines.hpp"
#include "log/witness/kernel_rules.hpp"
#include "tests/fuzz/targets.hpp"

namespace schedmate::fuzz {

/// A message is a part of its line, times are numbers, and a fault of a machine has a component.
void fuzz_kernel_log(std::string_view input) {
  static const auto xids = witness::XidTable::load("");
  static const auto rules = witness::KernelRules::load("");
  SCHEDMATE_CHECK(xids && rules, "the built-in tables are good");
  lines::each_line_of(input, [&](const lines::Line& line) {
    const auto read = witness::read_kernel_line(line.text);
    if (!read) return true;
    SCHEDMATE_CHECK(line.text.contains(read->message), "a message is of its line");
    if (read->time) SCHEDMATE_CHECK(std::isfinite(read->time->seconds), "a time is a number");
    if (const auto boot = witness::boot_time(*read))
      SCHEDMATE_CHECK(std::isfinite(boot->seconds), "a time is a number");
    const auto finding = rules->judge(read->message, *xids);
    if (finding)
      SCHEDMATE_CHECK((finding->means.verdict == FailureClass::infrastructure) ==
                          (finding->means.component != Component::none),
                      "infrastructure, and no other class, must have a component");
    return true;
  });
}

}  // namespace schedmate::fuzz
