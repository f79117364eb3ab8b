// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "service/job.hpp"

namespace schedmate {

struct ScreenStyle {
  std::size_t width = 80;
  bool colours = false;
};

/// One screen: at most 24 lines, each of at most `width` characters.
[[nodiscard]] std::string job_text(const service::JobView& view, const ScreenStyle& style);

}  // namespace schedmate
