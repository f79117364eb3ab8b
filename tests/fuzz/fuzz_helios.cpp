// SPDX-License-Identifier: Apache-2.0
#include "tests/fuzz/targets.hpp"
#include "trace/readers.hpp"

namespace schedmate::fuzz {

void fuzz_helios(std::string_view input) {
  check_trace(trace::parse_helios(input, "input", {}));
  check_trace(trace::parse_helios(input, "input", {.strict = true, .columns = {}}));
}

}  // namespace schedmate::fuzz
