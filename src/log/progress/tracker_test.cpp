// SPDX-License-Identifier: Apache-2.0
#include "log/progress/tracker.hpp"

#include <doctest/doctest.h>
#include <fmt/format.h>

#include <cmath>
#include <memory>
#include <random>

#include "tests/support/near.hpp"
#include "tests/support/progress_text.hpp"

namespace schedmate::progress {
namespace {

using testing::near;
using testing::progress_of;

}  // namespace

TEST_CASE("a report printed as a table is one report") {
  const Progress progress =
      progress_of({"| rollout/           |        |", "|    ep_len_mean     | 20     |",
                   "| time/              |        |", "|    fps             | 100    |",
                   "|    iterations      | 3      |", "|    time_elapsed    | 60     |",
                   "|    total_timesteps | 6144   |", "| train/ | |",
                   "|    loss            | 0.5    |", "-----------"});
  CHECK(progress.step == 6144);
  CHECK(progress.loss == 0.5);
}

TEST_CASE("what is left counts epochs where the counter restarts in each") {
  CHECK(
      near(progress_of({"Epoch 2/10", "227/227 [====] - 86s 500ms/step - loss: 2.05"}).remaining_s,
           8 * 227 * 0.5, 1e-12, 0));
  CHECK(progress_of({"Epoch [3][100/200] time: 0.5 loss: 2"}).remaining_s == std::nullopt);
  CHECK(progress_of({"step 100/200 iter_time: 0.5 loss: 2"}).remaining_s == 50);
}

TEST_CASE("a bar of steps counts over the run, whatever the epochs are") {
  CHECK(
      progress_of({"epoch 1/10", "steps:  5%|# | 100/1600 [00:50<12:30,  2.00it/s]"}).remaining_s ==
      750);
}

TEST_CASE("of several times without a whole none is guessed") {
  CHECK(!progress_of({"iter 3 | loss 0.5 | solve 0.3s | apply 0.1s",
                      "iter 4 | loss 0.5 | solve 0.3s | apply 0.1s"})
             .step_time_s);
}

TEST_CASE("what is left follows from epochs where no steps are printed") {
  std::vector<std::string> lines;
  for (int i = 1; i <= 6; ++i)
    lines.push_back(fmt::format("10:0{}:00 Epoch {}/10 train_loss 0.5", i, i));
  CHECK(near(progress_of(lines).remaining_s, 240, 1e-12, 0));
  CHECK(!progress_of(lines).step_time_s);
}

TEST_CASE("recent steps show at once that a job became slower; the median of all does so late") {
  std::vector<std::string> lines;
  const auto go_on = [&](int reports, double seconds) {
    for (int i = 0; i < reports; ++i)
      lines.push_back(
          fmt::format("step {}/9000 loss: 2.1 iter_time: {}", 10 * lines.size(), seconds));
    return progress_of(lines);
  };
  CHECK(go_on(3, 0.5).recent_step_time_s == std::nullopt);
  CHECK(go_on(50, 0.5).recent_step_time_s == 0.5);
  const Progress slowed = go_on(6, 1.25);
  CHECK(slowed.step_time_s == 0.5);
  CHECK(slowed.recent_step_time_s == 1.25);
  CHECK(go_on(6, 0.5).recent_step_time_s == 0.5);
}

TEST_CASE("recent steps by a clock of whole seconds need more reports") {
  std::vector<std::string> lines;
  double clock = 0;
  const auto go_on = [&](int reports, double seconds) {
    for (int i = 0; i < reports; ++i, clock += seconds)
      lines.push_back(fmt::format("2026-11-27 10:{:02}:{:02} step {} loss: 2.1",
                                  static_cast<int>(clock) / 60, static_cast<int>(clock) % 60,
                                  lines.size()));
    return progress_of(lines);
  };
  const Progress even = go_on(200, 0.3);
  REQUIRE(even.recent_step_time_s);
  CHECK(near(even.recent_step_time_s, 0.3, 0.2, 0));
  CHECK(near(go_on(24, 0.9).recent_step_time_s, 0.9, 0.2, 0));
}

TEST_CASE("a second run in the same file restarts") {
  std::vector<std::string> lines;
  for (int run = 0; run < 2; ++run)
    for (int i = 1; i < 20; ++i)
      lines.push_back(fmt::format("step {} loss 0.5 iter_time {}", i * 10, run == 0 ? 9 : 2));
  CHECK(progress_of(lines).step == 190);
  CHECK(progress_of(lines).step_time_s == 2);
}

TEST_CASE("the step of a checkpoint counts where progress lines have none") {
  CHECK(progress_of({"{'loss': 0.5, 'epoch': 0.1}", "Saving model to out/checkpoint-1500"}).step ==
        1500);
}

TEST_CASE("hostile lines cost bounded time and memory, and are no progress") {
  std::string numbers;
  for (int i = 0; i < 8000; ++i) numbers += "step 1 time 2 loss 3 ";
  std::string words(60000, 'a');
  std::string escapes;
  for (int i = 0; i < 8000; ++i) escapes += "\x1b[31m\x1b]0;x";
  ProgressTracker tracker;
  for (int i = 0; i < 50; ++i) {
    tracker.add(numbers);
    tracker.add(words);
    tracker.add(escapes);
    tracker.add(std::string(60000, '['));
    tracker.add(std::string(60000, '\r'));
    tracker.add(std::string(60000, '1'));
    tracker.add(std::string(60000, '\0'));
    tracker.add("step 1e308 loss 1e308 time 1e308");
    tracker.add("step -5 loss -inf time -3 eta -1:00");
    tracker.add("loss: half of a letter \xc3");
    tracker.add("step 99999999999999999999/99999999999999999999 time 1e-320");
  }
  const Progress progress = tracker.now();
  CHECK(progress_json(progress).size() < 10'000);
  if (progress.step_time_s) CHECK(std::isfinite(*progress.step_time_s));
  if (progress.remaining_s) CHECK(*progress.remaining_s >= 0);
}

TEST_CASE("floods of shapes, counters and columns are forgotten") {
  std::mt19937 random(7);
  ProgressTracker tracker;
  for (int i = 0; i < 30000; ++i) {
    std::string key;
    for (int k = 0; k < 6; ++k) key += static_cast<char>('a' + random() % 26);
    tracker.add(fmt::format("{} step {} of {} loss {}", key, i, key, i % 7));
    tracker.add(fmt::format("{}_step: {} {}_time: 0.5", key, i, key));
  }
  CHECK(progress_json(tracker.now()).size() < 10'000);
}

TEST_CASE("a step of more than a day is none") {
  CHECK(progress_of(
            {"step 1 loss 2 step_time: 1634000000000", "step 2 loss 2 step_time: 1634000000000"})
            .step_time_s == std::nullopt);
  CHECK(
      progress_of({"step 1 loss 2 step_time: 3600", "step 2 loss 2 step_time: 3600"}).step_time_s ==
      3600.0);
}

TEST_CASE("minutes that neither stamps nor what is left confirm are no step") {
  CHECK(
      progress_of({"step 1 loss 2 time: 500", "step 2 loss 2 time: 480", "step 3 loss 2 time: 510"})
          .step_time_s == std::nullopt);
  CHECK(near(progress_of({"10:00:00 step 1 loss 2 time: 500", "10:08:20 step 2 loss 2 time: 500",
                          "10:16:40 step 3 loss 2 time: 500"})
                 .step_time_s,
             500, 1e-12, 0));
}

TEST_CASE("noise is no training") {
  const Progress progress =
      progress_of({"Downloading data: 100%|# | 10/10 [00:01<00:00, 9.0it/s]", "port 29500 is free",
                   "[W socket.cpp:436] warning: 3 retries", "num_parameters: 124,439,808",
                   "Namespace(batch_size=8, epochs=3, lr=0.1)", "worker 3 of 8 started in 2.5 s"});
  CHECK(!progress.step_time_s);
  CHECK(!progress.loss);
}

TEST_CASE("the time of an epoch is shared by its steps, where the log shows how many it had") {
  ProgressTracker tracker;
  for (int step = 1; step <= 120; ++step) {
    tracker.add(fmt::format("Iteration: {:07}, Generator Loss : 0.8, Critic Loss : 1.4", step));
    if (step == 50 || step == 100) tracker.add("Time Elapsed for This Epoch: 00:01:40");
  }
  REQUIRE(tracker.now().step_time_s);
  CHECK(near(tracker.now().step_time_s, 2.0, 1e-12, 0));
}

TEST_CASE("of two reports the first is warm-up when it is much slower, also where times follow") {
  ProgressTracker tracker;
  for (const char* line :
       {"Iteration time: 1.01s", "Learning iteration 1/10", "Iteration time: 0.16s"})
    tracker.add(line);
  CHECK(near(tracker.now().step_time_s, 0.16, 1e-12, 0));
}

TEST_CASE("the first report of each epoch waits for the loader and says nothing of a step") {
  ProgressTracker tracker;
  for (int epoch = 14; epoch < 18; ++epoch) {
    tracker.add(fmt::format("Epoch: [{}][0] Time 2.544 (2.544) Data 1.890 Loss 3.9", epoch));
    tracker.add(fmt::format("Epoch: [{}][50] Time 0.628 (0.670) Data 0.000 Loss 3.9", epoch));
  }
  CHECK(tracker.now().step == 50);
  CHECK(tracker.now().epoch == 17);
  CHECK(near(tracker.now().step_time_s, 0.628, 1e-12, 0));
}

TEST_CASE("an elapsed time that comes and goes is of one step, one that grows is of all") {
  ProgressTracker each;
  ProgressTracker sum;
  for (int step = 1; step <= 5; ++step) {
    each.add(fmt::format("iteration {} loss 0.5 elapsed time {:.1f} seconds", step,
                         step % 2 == 0 ? 99.0 : 101.0));
    sum.add(fmt::format("iteration {} loss 0.5 elapsed time {:.1f} seconds", step, 7.0 * step));
  }
  CHECK(near(each.now().step_time_s, 100, 0.02, 0));
  CHECK(near(sum.now().step_time_s, 7, 1e-12, 0));
}

TEST_CASE("words of a batch by words of a second are the seconds of a step") {
  ProgressTracker tracker;
  for (int step = 1000; step < 4000; step += 1000)
    tracker.add(fmt::format("| epoch 010  {} / 8223 loss=1.27 (1.50), wps=960, wpb=480", step));
  CHECK(near(tracker.now().step_time_s, 0.5, 1e-12, 0));
}

TEST_CASE("a bar within another, unfinished one is not the training's") {
  ProgressTracker tracker;
  for (int step = 1; step <= 6; ++step) {
    tracker.add(fmt::format("  1%|  | {}/160 [00:22<59:45, 25.0s/it]", step));
    if (step % 3 == 0) tracker.add("{'loss': 0.69, 'grad_norm': 0.29}");
  }
  for (int step = 1; step <= 39; ++step)
    tracker.add(fmt::format(" 46%|##  | {}/68 [00:56<01:08,  1.84s/it]", step));
  CHECK(tracker.now().step == 6);
  CHECK(tracker.now().total_steps == 160);
  CHECK(near(tracker.now().step_time_s, 25, 1e-12, 0));
}

TEST_CASE("the time of one line for each epoch is shared by the steps of the epoch") {
  ProgressTracker tracker;
  const auto line = [&](int epoch, double took) {
    tracker.add(fmt::format("epoch: {}, step: {}, time: {}, train: 23.5, valid: 17.4", epoch,
                            epoch * 74, took));
  };
  line(1, 45.7), line(2, 36.1), line(3, 37.0), line(4, 38.5);
  CHECK(near(tracker.now().step_time_s, 37.0 / 74, 0.05, 0));
}

TEST_CASE("a report at the end of each epoch gives the time of all its steps") {
  ProgressTracker tracker;
  for (int epoch = 46; epoch < 50; ++epoch)
    tracker.add(fmt::format("Epoch: [{}/300], batch: [625/625], loss: 4.9, time: 750.0s", epoch));
  CHECK(near(tracker.now().step_time_s, 1.2, 1e-12, 0));
}

TEST_CASE(
    "where single times scatter, as of a loader that cannot keep up, the printed mean counts") {
  ProgressTracker tracker;
  for (int i = 0; i < 12; ++i)
    tracker.add(fmt::format("Epoch: [7][ {}/5005] Time {} ( 1.081) Data 0.0 Loss 2.3",
                            200 * i + 200, i % 3 != 0 ? 0.2 : 3.5));
  CHECK(near(tracker.now().step_time_s, 1.081, 1e-12, 0));
}

TEST_CASE("a counter of samples is none of steps; the time of a batch is one") {
  ProgressTracker tracker;
  for (int i = 0; i < 4; ++i)
    tracker.add(
        fmt::format("2023-06-29,15:47:{} | INFO | Train Epoch: 0 [ {}/109468 (9%)] Loss: 0.7 "
                    "(0.9) Data (t): 0.052 Batch (t): 0.5, 78.3/s LR: 0.001",
                    10 + i, 6400 * i + 64));
  CHECK_FALSE(tracker.now().step);
  CHECK(near(tracker.now().step_time_s, 0.5, 1e-12, 0));
}

TEST_CASE("a clock since the start is none of an epoch; a time of day is none of a step") {
  ProgressTracker since;
  ProgressTracker of_day;
  for (int step = 0; step < 6; ++step) {
    since.add(fmt::format("{}/10105 in 0 epoch finished at time 3:16:{:02} from start, Loss is 1.8",
                          5026 + step, 10 + 2 * step));
    of_day.add(fmt::format("at 22:28:{:02} {} 5.72", 10 + 2 * step, 500 + step));
  }
  CHECK(near(since.now().step_time_s, 2, 1e-12, 0));
  CHECK_FALSE(of_day.now().step_time_s.value_or(1) > 120);
}

TEST_CASE("bars behind a heading of evaluation are not the training's") {
  ProgressTracker tracker;
  for (int step = 16; step <= 64; step += 16)
    tracker.add(fmt::format("Epoch 26[{}/5011]: loss:0.018, batch time:0.3106", step));
  tracker.add("Evaluation");
  for (int step = 1; step <= 20; ++step)
    tracker.add(fmt::format(" 50%|#####     | {}/20 [00:00<00:00, 176.09it/s]", step));
  CHECK(tracker.now().step == 64);
  CHECK(near(tracker.now().step_time_s, 0.3106, 1e-12, 0));
}

TEST_CASE("bare milliseconds are of one step") {
  ProgressTracker tracker;
  for (int step = 0; step <= 100; step += 25)
    tracker.add(fmt::format("[38, {:5}/ 2562] - train_losses [mem: 65] (1228.2 ms)", step));
  CHECK(near(tracker.now().step_time_s, 1.2282, 1e-12, 0));
}
// Under the address sanitizer: the lines of a block are gone when it is read as one.
TEST_CASE("a block of lines of one rank does not look back at them") {
  ProgressTracker tracker;
  for (const char* part : {"loss", "accuracy", "rate", "norm"}) {
    const auto line =
        std::make_unique<std::string>(fmt::format("0: {}: 0.5 and words that need memory", part));
    tracker.add(*line);
  }
  tracker.add(std::string("a line of words ends the block"));
  CHECK(tracker.now().step == std::nullopt);
}

}  // namespace schedmate::progress
