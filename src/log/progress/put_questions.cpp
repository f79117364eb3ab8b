// SPDX-License-Identifier: Apache-2.0
#include "log/progress/put_questions.hpp"

namespace schedmate::progress {

void put_questions(ProgressTracker& tracker, ShapeReader& reader) {
  while (const auto question = tracker.open_question()) {
    const auto checked = tracker.answer(question->hash, reader.read(*question));
    if (checked) reader.settle(*question, *checked);
  }
}

}  // namespace schedmate::progress
