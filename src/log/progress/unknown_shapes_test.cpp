// SPDX-License-Identifier: Apache-2.0
/// track() with somebody who reads lines that no rule knows.
#include "log/progress/unknown_shapes.hpp"

#include <doctest/doctest.h>
#include <fmt/format.h>

#include <cmath>
#include <fstream>

#include "tests/support/near.hpp"
#include "tests/support/scratch.hpp"

namespace schedmate::progress {
namespace {

using testing::near;

class Reader final : public ShapeReader {
 public:
  std::optional<LineMeaning> answer;
  std::vector<LineShape> asked;
  std::vector<CheckedMeaning> settled;

  std::optional<LineMeaning> read(const LineShape& shape) override {
    asked.push_back(shape);
    return answer;
  }
  void settle(const LineShape&, const CheckedMeaning& checked) override {
    settled.push_back(checked);
  }
};

std::string lines(int from, int to) {
  std::string text;
  for (int i = from; i < to; ++i)
    text += fmt::format("2024-03-01 10:{:02}:{:02} zug {} hm {:.4f}\n", i / 60, i % 60, 10 * i,
                        3 + 0.2 * std::sin(i));
  return text;
}

struct ShapesCase {
  testing::Scratch here;
  std::shared_ptr<Reader> reader = std::make_shared<Reader>();

  ShapesCase() {
    reader->answer = LineMeaning{.step = 0, .total = {}, .epoch = {}, .loss = 1, .time = {}};
  }
  void write(const std::string& text) const {
    std::ofstream(here.path("log"), std::ios::app) << text;
  }
  [[nodiscard]] Progress read() const {
    const auto made = track(here.path("log"), {.rules = {}, .reader = reader});
    REQUIRE(made);
    return *made;
  }
};

}  // namespace

TEST_CASE("one question about lines that no rule knows; its answer is held against the others") {
  const ShapesCase log;
  log.write(lines(1, 31));
  const Progress made = log.read();
  CHECK(made.step == 300);
  CHECK(near(made.loss, 3 + 0.2 * std::sin(30), 1e-3, 0));
  CHECK(near(made.step_time_s, 0.1, 1e-12, 0));
  CHECK(made.by == "model, time stamps");
  CHECK(made.by_model == std::vector<std::string>{"step", "loss", "step_time_s"});
  REQUIRE(log.reader->asked.size() == 1);
  CHECK(log.reader->asked[0].lines.size() == 12);
  CHECK(log.reader->asked[0].numbers[0] == std::vector<double>{10, 3.1683});
  REQUIRE(log.reader->settled.size() == 1);
  CHECK(log.reader->settled[0].kept.step == 0);
}

TEST_CASE("some lines always follow those that are shown, and few lines are no shape") {
  const ShapesCase log;
  log.write(lines(1, 6));
  CHECK(log.read().step == std::nullopt);
  CHECK(log.reader->asked.empty());
  log.write(lines(6, 8));
  CHECK(log.read().step == 70);
  CHECK(log.reader->asked[0].lines.size() == 4);
}

TEST_CASE("who does not know, and who lies, changes nothing") {
  const ShapesCase log;
  log.write(lines(1, 31));
  for (const auto& answer :
       {std::optional<LineMeaning>(), std::optional(LineMeaning{.step = 1, .loss = 0})}) {
    log.reader->answer = answer;
    const Progress made = log.read();
    CHECK(progress_json(made) == progress_json(*track(log.here.path("log"))));
  }
  CHECK(log.reader->settled.back().dropped.size() == 2);
}

TEST_CASE("a reader never replaces what the rules found, and is not asked for what they know") {
  const ShapesCase log;
  log.reader->answer = LineMeaning{.step = 1, .loss = 2};
  std::string known;
  for (int i = 1; i < 20; ++i)
    known += fmt::format("step {} loss: {:.3f} dt: 250ms\n", i, 2 + std::sin(i));
  log.write(known);
  CHECK(log.read().step == 19);
  CHECK(log.reader->asked.empty());
  log.write(lines(1, 31));
  CHECK(log.read().step == 19);
  CHECK(log.reader->asked.empty());
}

TEST_CASE("a followed log is asked about once, however often it grows") {
  const ShapesCase log;
  log.write(lines(1, 10));
  auto follower = ProgressFollower::open(log.here.path("log"), {.rules = {}, .reader = log.reader});
  REQUIRE(follower);
  CHECK(follower->poll(1));
  follower->ask();
  CHECK(follower->now().step == std::nullopt);
  CHECK(log.reader->asked.empty());
  for (int i = 10; i < 40; i += 10) {
    log.write(lines(i, i + 10));
    CHECK(follower->poll(i));
    follower->ask();
    CHECK(follower->now().step == 10 * (i + 9));
  }
  CHECK(log.reader->asked.size() == 1);
}

TEST_CASE("a flood of shapes asks few questions and keeps few lines") {
  const ShapesCase log;
  log.reader->answer.reset();
  std::string flood;
  for (int i = 0; i < 5000; ++i)
    flood +=
        fmt::format("{}{} said 0.{}\n", std::string(1 + static_cast<std::size_t>(i % 100), 'x'),
                    static_cast<char>('a' + i / 200), i);
  log.write(flood + lines(1, 31));
  CHECK(log.read().step == std::nullopt);
  CHECK(log.reader->asked.size() <= 4);
}

}  // namespace schedmate::progress
