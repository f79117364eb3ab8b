// SPDX-License-Identifier: Apache-2.0
#include <doctest/doctest.h>
#include <fcntl.h>
#include <unistd.h>

#include <filesystem>
#include <schedmate/progress.hpp>

#include "base/output.hpp"
#include "tests/support/near.hpp"
#include "tests/support/scratch.hpp"

namespace schedmate::progress {
namespace {

using testing::near;

std::string steps(int from, int to, std::string_view rest) {
  std::string text;
  for (int i = from; i < to; ++i)
    text += "step " + std::to_string(i) + "/1000 " + std::string(rest) + "\n";
  return text;
}

}  // namespace

TEST_CASE("a sparse log of 10 GB costs what its tail costs") {
  const testing::Scratch folder;
  const std::string path = folder.path("log");
  REQUIRE(write_file(path, ""));
  constexpr std::uintmax_t size = 10'000'000'000;
  std::filesystem::resize_file(path, size);
  const int file = ::open(path.c_str(), O_WRONLY | O_APPEND | O_CLOEXEC);
  const std::string text = "\n" + steps(1, 200, "loss 0.5 time 0.25");
  REQUIRE(::write(file, text.data(), text.size()) == static_cast<ssize_t>(text.size()));
  ::close(file);
  const auto progress = track(path);
  REQUIRE(progress);
  CHECK(progress->step == 199);
  CHECK(progress->step_time_s == 0.25);
  CHECK(near(progress->remaining_s, 801 * 0.25, 1e-12, 0));
}

TEST_CASE("one line of any length holds the states of its bar") {
  const testing::Scratch folder;
  std::string line(3'000'000, 'x');
  for (int i = 1; i < 90; ++i)
    line += "\r 1%|# | " + std::to_string(i) + "/90 [00:10<01:30, 4.00it/s]";
  REQUIRE(write_file(folder.path("log"), line));
  const auto progress = track(folder.path("log"));
  REQUIRE(progress);
  CHECK(progress->step == 89);
  CHECK(progress->step_time_s == 0.25);
}

TEST_CASE("of several ranks that which says most is reported, with what only others say") {
  const testing::Scratch folder;
  const std::vector<std::string> paths = {folder.path("0"), folder.path("1"), folder.path("none")};
  REQUIRE(write_file(paths[0], steps(1, 20, "time 0.25")));
  REQUIRE(write_file(paths[1], "loss: 0.75\nloss: 0.5\n"));
  const auto progress = track(paths);
  REQUIRE(progress);
  CHECK(progress->step == 19);
  CHECK(progress->loss == 0.5);
  CHECK(!track(std::vector<std::string>{folder.path("none")}));
  CHECK(!track(std::vector<std::string>{}));
}

TEST_CASE("the reports of a log are those with time stamps, over midnight too") {
  const testing::Scratch folder;
  REQUIRE(write_file(folder.path("log"),
                     "23:59:50 step 1 loss 0.5\n23:59:55 step 2 loss 0.5\n00:00:00 step 3 loss "
                     "0.5\n00:00:05 step 4 loss 0.5\n"));
  const auto reports = reports_of(folder.path("log"));
  REQUIRE(reports);
  REQUIRE(reports->size() == 4);
  CHECK(reports->back().at_s - reports->front().at_s == 15);
}

TEST_CASE("an operator's formats count") {
  const testing::Scratch folder;
  REQUIRE(write_file(folder.path("log"), "lap 3 | 0.5 | 12\nlap 4 | 0.4 | 12\n"));
  REQUIRE(write_file(folder.path("log_formats.toml"),
                     "[[format]]\nname = \"laps\"\npattern = \"lap {step} | {loss} | {time}\"\n"));
  const auto progress = track(folder.path("log"), TrackOptions{folder.path()});
  REQUIRE(progress);
  CHECK(progress->step == 4);
  CHECK(progress->loss == 0.4);
  CHECK(progress->step_time_s == 12);
  CHECK(progress->by.starts_with("laps"));
  REQUIRE(write_file(folder.path("log_formats.toml"), "[[format]]\n"));
  CHECK(!track(folder.path("log"), TrackOptions{folder.path()}));
}

TEST_CASE("the document has every field, null where nothing is known") {
  Progress progress;
  progress.step = 3;
  progress.loss = 0.5;
  CHECK(progress_json(progress) ==
        R"({"schema":"schedmate.progress.v1","step":3,"total_steps":null,"epoch":null,)"
        R"("total_epochs":null,"step_time_s":null,"recent_step_time_s":null,)"
        R"("loss":0.5,"throughput":null,)"
        R"("remaining_s":null,"remaining_by":null,"confidence":{},)"
        R"("lines":0,"evidence":[],"by":"","by_model":[],)"
        R"("unread":[]})");
  progress.evidence = {"half of \xc3"};
  CHECK(progress_json(progress).contains("half of \\ufffd") == false);
  CHECK(progress_json(progress).contains("\xef\xbf\xbd"));
}

}  // namespace schedmate::progress
