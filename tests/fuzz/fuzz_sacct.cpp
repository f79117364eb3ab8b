// SPDX-License-Identifier: Apache-2.0
#include "tests/fuzz/targets.hpp"
#include "trace/readers.hpp"

namespace schedmate::fuzz {

void fuzz_sacct(std::string_view input) {
  check_trace(trace::parse_sacct(input, "input", {}));
  check_trace(trace::parse_sacct(input, "input", {.strict = true, .columns = {}}));
}

}  // namespace schedmate::fuzz
