// SPDX-License-Identifier: Apache-2.0
#include "log/progress/time_left.hpp"

#include <doctest/doctest.h>

#include <cmath>
#include <nlohmann/json.hpp>

#include "base/input.hpp"
#include "base/text.hpp"
#include "tests/support/near.hpp"
#include "tests/support/progress_text.hpp"

namespace schedmate::progress {
namespace {

using Json = nlohmann::json;

/// Null in the label: it must not be known.
void check_figure(const Json& label, const char* key, const std::optional<double>& found) {
  if (!label.contains(key)) return;
  CAPTURE(key);
  REQUIRE(found.has_value() == !label[key].is_null());
  if (found) CHECK(testing::near(found, label[key].get<double>(), 0.03, 0.0));
}

}  // namespace

TEST_CASE("times left and epochs of labelled lines of frameworks") {
  const auto text = read_file(SCHEDMATE_SOURCE_DIR "/tests/fixtures/eta/cases.jsonl");
  REQUIRE(text.has_value());
  std::size_t count = 0;
  for (const auto line : split(*text, '\n')) {
    if (line.empty()) continue;
    ++count;
    const Json label = Json::parse(line);
    const auto lines = label["lines"].get<std::vector<std::string>>();
    CAPTURE(lines.back());
    const Progress progress = testing::progress_of(lines);
    check_figure(label, "remaining_s", progress.remaining_s);
    check_figure(label, "epoch", progress.epoch);
    check_figure(label, "epochs", progress.total_epochs);
    check_figure(label, "step", progress.step);
    check_figure(label, "total", progress.total_steps);
    if (label.value("printed", false)) CHECK(progress.remaining_by == "as printed");
  }
  CHECK(count >= 50);
}

TEST_CASE("a time that is left has many forms, a date and a rate have none") {
  CHECK(printed_time_left("eta: 2 days, 0:00:10") == 172810);
  CHECK(printed_time_left("(about 1 hour and 5 minutes to go)") == 3900);
  CHECK(printed_time_left(R"("eta_seconds": 12.5)") == 12.5);
  CHECK(printed_time_left("ETA (min): 3") == 180);
  CHECK(printed_time_left("50%|#| 5/10 [1:02:03<59:10, 1.2s/it]") == 3550);
  for (const char* other :
       {"ETA 2023-04-25 04:01:23", "ETA: 04:01 PM", "eta 3it/s", "eta=0.3", "metadata: 1:20",
        "if a < 1:20", "3 steps left", "remaining 20 epochs", "theta: 12 s", "eta", "left", ""})
    CHECK_MESSAGE(!printed_time_left(other), other);
}

TEST_CASE("a printed time that is old no longer counts") {
  std::vector<std::string> lines{"step 1 loss 0.5 note", "time left: 1:00:00"};
  CHECK(testing::progress_of(lines).remaining_s == 3600);
  for (int step = 2; step < 100; ++step)
    lines.push_back("step " + std::to_string(step) + " loss 0.5 note");
  CHECK_FALSE(testing::progress_of(lines).remaining_s);
}

}  // namespace schedmate::progress
