// SPDX-License-Identifier: Apache-2.0
#include "log/progress/line_meaning.hpp"

#include <doctest/doctest.h>
#include <fmt/format.h>

#include <cmath>

#include "tests/support/near.hpp"

namespace schedmate::progress {
namespace {

using testing::near;

using Lines = std::vector<ShapeLine>;

/// Places: 0 step, 1 total, 2 loss, 3 lr, 4 a count that is faster, 5 milliseconds.
std::string line_text(int i) {
  return fmt::format("zug {} / 900 [{:.4f}] {:.6f} {} dauer 250ms", 10 * i, 3 + 0.2 * std::sin(i),
                     1e-3 - 1e-6 * i, 4096 * i);
}

Lines lines_of(const std::function<std::string(int)>& text, double seconds_apart = 0) {
  Lines lines;
  for (int i = 1; i <= 12; ++i) {
    ShapeLine line;
    line.places = places_of(text(i));
    if (seconds_apart > 0) line.time = lines::Stamp{1e9 + seconds_apart * i, true, 0.001};
    lines.push_back(std::move(line));
  }
  return lines;
}

ShapeProgress check(const Lines& lines, const LineMeaning& claimed) {
  return check_meaning(lines, claimed, LogWords::built_in());
}

/// What is wrong with the only claim; "" when it holds.
std::string fault(const Lines& lines, const LineMeaning& claimed) {
  const auto made = check(lines, claimed);
  return made.checked.dropped.empty() ? "" : made.checked.dropped.back();
}

}  // namespace

TEST_CASE("what the lines confirm counts: step, total, loss and time by the clock") {
  const auto made =
      check(lines_of(line_text, 2.5),
            {.step = 0, .total = 1, .epoch = {}, .loss = 2, .time = 5, .time_unit_s = 1e-3});
  CHECK_MESSAGE(made.checked.dropped.empty(), made.checked.dropped.front());
  CHECK(made.step == 120);
  CHECK(made.total == 900);
  CHECK(near(made.loss, 3 + 0.2 * std::sin(12), 1e-3, 0));
  REQUIRE(made.step_time);
  CHECK(near(made.step_time->seconds, 0.25, 1e-12, 0));
  CHECK(made.checked.kept == LineMeaning{0, 1, {}, 2, 5, 1e-3, TimeCover::one_step});
}

TEST_CASE("a step that is no counter of steps is dropped, each kind with its reason") {
  const auto lines = lines_of(line_text);
  CHECK(fault(lines, {.step = 1}).contains("does not rise"));  // the total
  CHECK(fault(lines, {.step = 2}).contains("does not rise"));  // the loss
  CHECK(fault(lines, {.step = 5}).contains("does not rise"));  // a time
  CHECK(fault(lines, {.step = 99}).contains("no such place"));
  CHECK(fault(lines, {.step = 0}).empty());
  const auto bare = [](int i) { return fmt::format("{} {} x", 10 * i, 2560 * i); };
  CHECK(fault(lines_of(bare), {.step = 0}).empty());
  CHECK(fault(lines_of(bare), {.step = 1}).contains("place 0 counts too, and slower"));
  const auto named = [](int i) { return fmt::format("consumed samples: {} x", 2560 * i); };
  CHECK(fault(lines_of(named), {.step = 0}).contains("called 'consumed samples'"));
  const auto clock = [](int i) { return fmt::format("[{}] x 0.{}", 5 * i, i % 7); };
  CHECK(fault(lines_of(clock, 5), {.step = 0}).contains("as the clock"));
  CHECK(fault(lines_of(clock, 7), {.step = 0}).empty());
  const auto jumps = [](int i) { return fmt::format("{} x", 100 + (i % 2) * 10 + i); };
  CHECK(fault(lines_of(jumps), {.step = 0}).contains("does not rise"));
  const auto epochs = [](int i) { return fmt::format("{} x", i % 6 * 10); };
  CHECK(fault(lines_of(epochs), {.step = 0}).empty());  // restarts in each
}

TEST_CASE("a total is constant and not below the step") {
  const auto lines = lines_of(line_text);
  CHECK(fault(lines, {.step = 0, .total = 4}).contains("no constant count"));
  CHECK(fault(lines, {.total = 1}).contains("no step"));
  const auto small = [](int i) { return fmt::format("{} 60 x", 10 * i); };
  CHECK(fault(lines_of(small), {.step = 0, .total = 1}).contains("beyond it"));
  const auto batch = [](int i) { return fmt::format("{} batch_size=512 x", 10 * i); };
  CHECK(fault(lines_of(batch), {.step = 0, .total = 1}).contains("called 'size'"));
}

TEST_CASE("a loss is a finite number that scatters") {
  const auto lines = lines_of(line_text);
  CHECK(fault(lines, {.loss = 2}).empty());
  CHECK(fault(lines, {.loss = 3}).contains("evenly"));   // a learning rate
  CHECK(fault(lines, {.loss = 0}).contains("a count"));  // the step
  CHECK(fault(lines, {.loss = 5}).contains("called 'dauer'"));
  CHECK(fault(lines, {.step = 0, .loss = 0}).contains("something else already"));
  const auto other = [](int i) { return fmt::format("grad_norm {:.3f} x", 2 + std::sin(i)); };
  CHECK(fault(lines_of(other), {.loss = 0}).contains("called 'grad norm'"));
  const auto nan = [](int i) {
    return fmt::format("q: {}", i == 7 ? "nan" : fmt::format("{:.3f}", std::sin(i)));
  };
  CHECK(fault(lines_of(nan), {.loss = 0}).contains("not finite"));
  const auto still = [](int i) { return fmt::format("q: {:.3f} x", i > 6 ? 0.01 : 0.1); };
  CHECK(fault(lines_of(still), {.loss = 0}).contains("hardly ever"));
}

TEST_CASE("a time needs a unit or a clock, and does not contradict either") {
  const auto claimed = [](std::size_t place, double unit, TimeCover covers = TimeCover::one_step) {
    return LineMeaning{.step = 0,
                       .total = {},
                       .epoch = {},
                       .loss = {},
                       .time = place,
                       .time_unit_s = unit,
                       .covers = covers};
  };
  const auto ten = lines_of(line_text, 2.5);
  CHECK(fault(ten, claimed(5, 1)).contains("its unit is 'ms'"));
  CHECK(fault(ten, claimed(5, 1e-3)).empty());
  CHECK(fault(ten, claimed(2, 1)).contains("the time stamps say 0.25"));  // the loss
  CHECK(fault(ten, claimed(5, 1e-3, TimeCover::since_report)).contains("the time stamps say 0.25"));
  CHECK(fault(ten, claimed(5, 1e-3, TimeCover::since_start)).contains("as a sum does"));
  const auto unclocked = lines_of(line_text);
  CHECK(fault(unclocked, claimed(5, 1e-3)).contains("of one step or of many"));
  const auto each = [](int i) {
    return fmt::format("{} {:.2f} {:.2f}", i, 0.5 + 0.01 * (i % 3), 1.0 / i);
  };
  CHECK(fault(lines_of(each), claimed(1, 1)).contains("neither a unit nor a clock"));
  CHECK(fault(lines_of(each, 0.5), claimed(1, 1)).empty());
  const auto sum = [](int i) { return fmt::format("{} {:.2f}s", i, 0.5 * i); };
  CHECK(fault(lines_of(sum), claimed(1, 1)).contains("grows as a sum"));
  const auto made = check(lines_of(sum), claimed(1, 1, TimeCover::since_start));
  REQUIRE(made.step_time);
  CHECK(near(made.step_time->seconds, 0.5, 1e-12, 0));
  const auto two = [](int i) {
    return fmt::format("{} {:.2f}s {:.2f}s", i, 0.5 + 0.01 * (i % 3), 0.1);
  };
  CHECK(fault(lines_of(two), claimed(1, 1)).contains("several numbers are times"));
  const auto long_ones = [](int i) { return fmt::format("{} {}h", i, 30 + i % 3); };
  CHECK(fault(lines_of(long_ones), claimed(1, 3600)).contains("are no step"));
  const auto part = [](int i) { return fmt::format("{} data {:.2f}s", i, 0.5 + 0.01 * (i % 3)); };
  CHECK(fault(lines_of(part), claimed(1, 1)).contains("called 'data'"));
}

TEST_CASE("an epoch grows slowly, or is called one") {
  const auto epochs = [](int i) { return fmt::format("{} {} 8 x", i % 4 * 10, i / 4); };
  CHECK(fault(lines_of(epochs), {.epoch = 1}).empty());
  CHECK(fault(lines_of(epochs), {.epoch = 2}).contains("nothing shows"));
  CHECK(fault(lines_of(epochs), {.epoch = 0}).contains("does not grow"));
}

TEST_CASE("lines without numbers, or none at all, confirm nothing") {
  CHECK(check({}, {.step = 0}).checked.kept.empty());
  CHECK(fault(lines_of([](int) { return "no number"; }), {.loss = 0}).contains("no such place"));
}

TEST_CASE("of all that can be said about a line only what is true holds") {
  const auto lines = lines_of(line_text, 2.5);
  std::size_t held = 0;
  for (std::size_t step = 0; step < 7; ++step)
    for (std::size_t total = 0; total < 7; ++total)
      for (std::size_t loss = 0; loss < 7; ++loss)
        for (std::size_t time = 0; time < 7; ++time)
          for (const double unit : {1.0, 1e-3, 1e-6, 60.0, 3600.0})
            for (const auto covers :
                 {TimeCover::one_step, TimeCover::since_report, TimeCover::since_start}) {
              const LineMeaning claimed{step, total, {}, loss, time, unit, covers};
              const LineMeaning kept = check(lines, claimed).checked.kept;
              REQUIRE((!kept.step || *kept.step == 0));
              REQUIRE((!kept.total || *kept.total == 1));
              REQUIRE((!kept.loss || *kept.loss == 2));
              const bool right = unit == 1e-3 && covers == TimeCover::one_step;
              REQUIRE((!kept.time || (*kept.time == 5 && right)));
              held += kept.step && kept.total && kept.loss && kept.time ? 1 : 0;
            }
  CHECK(held == 1);
}

}  // namespace schedmate::progress
