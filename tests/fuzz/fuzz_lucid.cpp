// SPDX-License-Identifier: Apache-2.0
#include "tests/fuzz/targets.hpp"
#include "trace/readers.hpp"

namespace schedmate::fuzz {

void fuzz_lucid(std::string_view input) {
  check_trace(trace::parse_lucid(input, "input", {}));
  check_trace(trace::parse_lucid(input, "input", {.strict = true, .columns = {}}));
}

}  // namespace schedmate::fuzz
