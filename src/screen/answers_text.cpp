// SPDX-License-Identifier: Apache-2.0
#include "screen/answers_text.hpp"

#include <fmt/format.h>

#include "base/table.hpp"
#include "base/words.hpp"

namespace schedmate::screen {

std::string answers_text(const service::AskAnswer& all) {
  std::string text;
  for (const ask::LogAnswer& answer : all.answers) {
    text += fmt::format("{}?\n  {}\n", printable(answer.question),
                        answer.text.empty() ? "best matching lines:" : printable(answer.text));
    std::vector<std::vector<std::string>> rows;
    for (const ask::IndexedLine& line : answer.lines)
      rows.push_back({fmt::format("  {}", line.number), line.text});
    text += aligned(rows);
  }
  for (const auto* notes : {&all.notes, &all.model.notes})
    for (const auto& note : *notes) text += fmt::format("note: {}\n", printable(note));
  return text;
}

}  // namespace schedmate::screen
