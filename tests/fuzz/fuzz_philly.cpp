// SPDX-License-Identifier: Apache-2.0
#include "tests/fuzz/targets.hpp"
#include "trace/readers.hpp"

namespace schedmate::fuzz {

void fuzz_philly(std::string_view input) {
  check_trace(trace::parse_philly(input, "input", {}));
  check_trace(trace::parse_philly(input, "input", {.strict = true, .columns = {}}));
}

}  // namespace schedmate::fuzz
