// SPDX-License-Identifier: Apache-2.0
#include "log/progress/log_words.hpp"

#include <doctest/doctest.h>
#include <fmt/format.h>

#include <algorithm>

#include "base/output.hpp"
#include "log/progress/columns.hpp"
#include "log/progress/tracker.hpp"
#include "tests/support/near.hpp"
#include "tests/support/scratch.hpp"

namespace schedmate::progress {
namespace {

using testing::near;

void check_same(const LogFormat& format, std::string_view what, std::optional<double> got,
                std::optional<double> want) {
  const auto shown = [](std::optional<double> value) {
    return value ? fmt::format("{}", *value) : "nothing";
  };
  const bool same = got.has_value() == want.has_value() && (!got || near(got, *want, 1e-4, 0));
  CHECK_MESSAGE(same, format.name << ": " << what << " is " << shown(got) << ", the row says "
                                  << shown(want));
}

Result<LogWords> load_text(std::string_view text) {
  const testing::Scratch folder;
  REQUIRE(write_file(folder.path("log_formats.toml"), text));
  return LogWords::load(folder.path());
}

}  // namespace

TEST_CASE("every row of the format table reads its own lines as it says, and nothing else") {
  for (const LogFormat& format : LogWords::built_in().formats) {
    REQUIRE_MESSAGE(!format.lines.empty(), format.name);
    ProgressTracker tracker;
    for (const auto& line : format.lines) tracker.add(line);
    const Progress read = tracker.now();
    check_same(format, "step", read.step, format.reads_step);
    check_same(format, "total", read.total_steps, format.reads_total);
    check_same(format, "time_s", read.step_time_s, format.reads_time_s);
    check_same(format, "loss", read.loss, format.reads_loss);
    check_same(format, "epoch", read.epoch, format.reads_epoch);
    check_same(format, "epochs", read.total_epochs, format.reads_epochs);
  }
}

TEST_CASE("a row with keys or a pattern is found in its own lines") {
  for (const LogFormat& format : LogWords::built_in().formats) {
    if (!format.matches()) continue;
    Columns table;
    const bool found = std::ranges::any_of(format.lines, [&](const auto& line) {
      if (line.find_first_of("0123456789") == std::string::npos) table.see_text(line);
      const auto row = table.row(line);
      const Reading read = read_line(lines::read_prefixes(row ? *row : line), LogWords::built_in());
      return read.format != nullptr && read.format->name == format.name;
    });
    CHECK_MESSAGE(found, format.name);
  }
}
TEST_CASE("an operator's rows are tried before the built-in ones, and words add up") {
  const auto words = load_text(
      "[words]\nstep = [\"laps\"]\n[[format]]\nname = \"ours\"\nkeys = [\"Lap\", \"lap_secs\"]\n"
      "step = \"Lap\"\ntime = \"lap_secs\"\n");
  REQUIRE(words);
  CHECK(words->step.contains("laps"));
  CHECK(words->step.contains("iter"));
  const Reading read = read_line(lines::read_prefixes("Lap: 3 lap_secs: 1.5"), *words);
  REQUIRE(read.format != nullptr);
  CHECK(read.format->name == "ours");
  CHECK(read.step == 3);
  REQUIRE(read.times.size() == 1);
  CHECK(read.times[0].seconds == 1.5);
}

TEST_CASE("a row may say that lines are no training") {
  const auto words = load_text(
      "[[format]]\nname = \"noise\"\nkeys = [\"heartbeat\", \"step\"]\ntraining = false\n");
  REQUIRE(words);
  CHECK(read_line(lines::read_prefixes("heartbeat: 1 step: 5"), *words).kind ==
        Reading::Kind::nothing);
}

TEST_CASE("a row that cannot be right is an error with its line") {
  for (const std::string_view row :
       {"[[format]]\nkeys = [\"a\"]", "[[format]]\nname = \"x\"",
        "[[format]]\nname = \"x\"\npattern = \"{nothing}\"",
        "[[format]]\nname = \"x\"\nkeys = [\"a\"]\npattern = \"{step} x\"", "[[format]"}) {
    const auto words = load_text(row);
    REQUIRE_MESSAGE(!words, row);
    CHECK_MESSAGE(words.error().message.contains("log_formats.toml:"), words.error().message);
  }
}

TEST_CASE("keys are compared without regard to case and joints") {
  CHECK(plain_key("Train_Loss/avg") == "train loss avg");
  CHECK(plain_key("__iter__") == "iter");
  CHECK(plain_key("") == "");
}

}  // namespace schedmate::progress
