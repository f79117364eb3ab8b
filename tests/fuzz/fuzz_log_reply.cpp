// SPDX-License-Identifier: Apache-2.0
#include <cmath>

#include "base/check.hpp"
#include "log/failure/cause_question.hpp"
#include "log/progress/line_meaning.hpp"
#include "log/progress/shape_question.hpp"
#include "tests/fuzz/targets.hpp"

namespace schedmate::fuzz {
namespace {

/// "zug 10 / 900 0.5 2.5s"
std::vector<progress::ShapeLine> some_lines() {
  std::vector<progress::ShapeLine> lines;
  for (int i = 1; i <= 12; ++i)
    lines.push_back({progress::places_of("zug " + std::to_string(10 * i) + " / 900 " +
                                         std::to_string(2 + std::sin(i)) + " 2.5s"),
                     lines::Stamp{25.0 * i, true, 1}, std::nullopt});
  return lines;
}

std::string as_it_is(std::string_view text) { return std::string(text); }

}  // namespace

/// A reply about lines or causes is an error with a sentence, or something that the lines confirm.
void fuzz_log_reply(std::string_view input) {
  static const auto lines = some_lines();
  const auto cause = failure::cause_question({}, as_it_is, 1000).read(input);
  if (!cause) SCHEDMATE_CHECK(!cause.error().message.empty(), "an error says what is wrong");
  const auto claimed = progress::shape_question({}, as_it_is).read(input);
  if (!claimed) {
    SCHEDMATE_CHECK(!claimed.error().message.empty(), "an error says what is wrong");
    return;
  }
  const auto made = progress::check_meaning(lines, *claimed, progress::LogWords::built_in());
  const LineMeaning& kept = made.checked.kept;
  SCHEDMATE_CHECK(!kept.step || *kept.step == 0, "the first place is the step");
  SCHEDMATE_CHECK(!kept.total || *kept.total == 1, "the second its total");
  SCHEDMATE_CHECK(!kept.loss || *kept.loss == 2, "the third the loss");
  SCHEDMATE_CHECK(!kept.time || *kept.time == 3, "the fourth the time");
  if (made.step_time)
    SCHEDMATE_CHECK(std::abs(made.step_time->seconds - 2.5) < 0.1, "2.5 s by the stamps");
}

}  // namespace schedmate::fuzz
