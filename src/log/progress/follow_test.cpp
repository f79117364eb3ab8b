// SPDX-License-Identifier: Apache-2.0
#include <doctest/doctest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <schedmate/progress.hpp>

#include "tests/support/scratch.hpp"

namespace schedmate::progress {
namespace {

class Trial {
 public:
  void write(std::string_view text) const { std::ofstream(path(), std::ios::app) << text; }
  void steps(int from, int to) const {
    for (int i = from; i < to; ++i)
      write("step " + std::to_string(i) + "/100 loss 0.5 time 0.25\n");
  }
  [[nodiscard]] std::string path() const { return folder_.path("log"); }
  bool poll() { return follower_.poll(now_s_ += 1); }
  [[nodiscard]] Progress now() const { return follower_.now(); }
  [[nodiscard]] std::vector<Report> reports() const { return follower_.reports(); }

 private:
  testing::Scratch folder_;
  ProgressFollower follower_ = ProgressFollower::open(path()).value();
  double now_s_ = 0;
};

}  // namespace

TEST_CASE("a followed log may be absent, then gives what is added") {
  Trial trial;
  CHECK(!trial.poll());
  CHECK(!trial.now().step);
  trial.steps(0, 5);
  CHECK(trial.poll());
  CHECK(trial.now().step == 4);
  CHECK(!trial.poll());
  trial.steps(5, 8);
  CHECK(trial.poll());
  CHECK(trial.now().step == 7);
  CHECK(trial.now().step_time_s == 0.25);
}

TEST_CASE("a line counts when it is whole") {
  Trial trial;
  trial.steps(0, 3);
  trial.write("step 3");
  trial.poll();
  CHECK(trial.now().step == 2);
  trial.write("3/100 loss 0.5 time 0.25\n");
  trial.poll();
  CHECK(trial.now().step == 33);
}

TEST_CASE("the states of a bar count without any newline") {
  Trial trial;
  for (int i = 1; i < 50; ++i)
    trial.write("\r 1%|# | " + std::to_string(i) + "/200 [00:10<01:30,  2.00it/s]");
  trial.poll();
  CHECK(trial.now().step == 48);
  CHECK(trial.now().step_time_s == 0.5);
}

TEST_CASE("a truncated log is read again from its beginning") {
  Trial trial;
  trial.steps(0, 50);
  trial.poll();
  std::filesystem::resize_file(trial.path(), 0);
  trial.poll();
  trial.steps(0, 4);
  CHECK(trial.poll());
  CHECK(trial.now().step == 3);
}

TEST_CASE("when a log is rotated, the end of the old file and the new one are read") {
  Trial trial;
  trial.steps(0, 10);
  trial.poll();
  trial.steps(10, 12);
  std::filesystem::rename(trial.path(), trial.path() + ".1");
  trial.steps(12, 15);
  CHECK(trial.poll());
  CHECK(trial.now().step == 14);
  std::filesystem::remove(trial.path());
  CHECK(!trial.poll());
  trial.steps(15, 17);
  CHECK(trial.poll());
  CHECK(trial.now().step == 16);
}

TEST_CASE("of a long log only the end is read at first") {
  Trial trial;
  trial.write(std::string(1 << 20, 'x') + "\n");
  trial.steps(0, 9);
  trial.poll();
  CHECK(trial.now().step == 8);
}

TEST_CASE("reports carry the instant of their arrival") {
  Trial trial;
  for (int i = 0; i < 6; ++i) {
    trial.steps(i * 10, i * 10 + 1);
    trial.poll();
  }
  const auto reports = trial.reports();
  REQUIRE(reports.size() == 6);
  CHECK(reports[5].at_s == 6);
  CHECK(reports[5].step == 50);
  CHECK(hangs(reports, 8) == false);
  CHECK(hangs(reports, 17) == true);
}

TEST_CASE("a folder in the place of a log is silence") {
  const testing::Scratch folder;
  auto follower = ProgressFollower::open(folder.path());
  REQUIRE(follower);
  CHECK(!follower->poll(1));
}

}  // namespace schedmate::progress
