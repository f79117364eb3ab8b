// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "apps/book_rows.hpp"
#include "apps/document.hpp"

namespace schedmate {

/// Of each experiment the arm with the Advisor, or else the first with advice, at each point; and
/// every arm with advice that is not safe.
void add_summary(Document& book, const std::vector<Chapter>& chapters);

}  // namespace schedmate
