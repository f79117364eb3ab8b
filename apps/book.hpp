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

/// The same in parts: the book with links into `folder` in place of the experiments, and the page
/// NAME.md that stands there for each of them.
[[nodiscard]] Document evaluation_front(const std::vector<Chapter>& chapters,
                                        const std::string& folder);
[[nodiscard]] Document experiment_page(const Chapter& chapter);

}  // namespace schedmate
