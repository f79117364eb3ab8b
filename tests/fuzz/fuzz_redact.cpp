// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include "base/check.hpp"
#include "tests/fuzz/targets.hpp"
#include "tree/redact.hpp"

namespace schedmate::fuzz {

void fuzz_redact(std::string_view input) {
  const std::string once = redact(input);
  SCHEDMATE_CHECK(std::ranges::count(once, '\n') == std::ranges::count(input, '\n'),
                  "line numbers stay");
  SCHEDMATE_CHECK(redact(once) == once, "nothing is left to redact");
  SCHEDMATE_CHECK(once.find(redaction_mark) != std::string::npos || once == input,
                  "without a secret a text stays as it is");
  const std::string stripped = strip_paths(input);
  SCHEDMATE_CHECK(stripped.size() <= input.size(), "paths get shorter");
  SCHEDMATE_CHECK(std::ranges::count(stripped, '\n') == std::ranges::count(input, '\n'),
                  "no path goes over a line end");
}

}  // namespace schedmate::fuzz
