// SPDX-License-Identifier: Apache-2.0
#pragma once

/// The evaluation book: made of the CSVs alone, each number with the line that it stands on.

#include <vector>

#include "apps/book_rows.hpp"
#include "apps/document.hpp"

namespace schedmate {

/// What is evidence and what is construction, all gains and verdicts in short, each experiment, and
/// what this does not show.
[[nodiscard]] Document evaluation_book(const std::vector<Chapter>& chapters);

}  // namespace schedmate
