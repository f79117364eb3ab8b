// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>
#include <string>

#include "service/job.hpp"

namespace schedmate {

struct ScreenStyle {
  std::size_t width = 80;
  std::function<std::string(std::int64_t unix_s)> date;  ///< for people
};

/// One screen: at most 24 lines, each of at most `width` characters.
[[nodiscard]] std::string job_text(const service::JobView& view, const ScreenStyle& style);

}  // namespace schedmate
