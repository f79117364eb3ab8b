// SPDX-License-Identifier: Apache-2.0
#include "base/fence.hpp"

#include <fmt/format.h>

#include "base/random.hpp"

namespace schedmate {

std::string fenced(std::string_view title, std::string_view text, std::uint64_t seed) {
  std::string mark;
  do {
    seed = mix(seed);
    mark = fmt::format("{:016x}", seed);
  } while (text.find(mark) != std::string_view::npos);
  return fmt::format("<data {} {}>\n{}{}</data {}>", mark, title, text,
                     text.ends_with('\n') ? "" : "\n", mark);
}

}  // namespace schedmate
