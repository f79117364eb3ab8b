// SPDX-License-Identifier: Apache-2.0
#include "llm/ask.hpp"

#include <algorithm>

#include "base/words.hpp"

namespace schedmate::llm {

void QuestionTally::note(std::string_view text) {
  std::string shown = printable(text);
  if (std::ranges::find(notes, shown) == notes.end()) notes.push_back(std::move(shown));
}

}  // namespace schedmate::llm
