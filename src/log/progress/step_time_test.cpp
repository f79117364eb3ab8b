// SPDX-License-Identifier: Apache-2.0
/// Where the time of a step stands in lines that no format names: each case is a cause of wrong or
/// missing times that real logs showed.
#include <doctest/doctest.h>
#include <fmt/format.h>

#include "log/progress/tracker.hpp"
#include "tests/support/near.hpp"
#include "tests/support/progress_text.hpp"

namespace schedmate::progress {
namespace {

using testing::near;
using testing::progress_of_each;

void check_time(const Progress& progress, double want) {
  CHECK(near(progress.step_time_s, want, 0.03, 0));
}

/// Values that come and go by a few percent.
double about(double value, int i) { return value * (1 + 0.01 * (i * 7 % 5 - 2)); }

std::string clock(int seconds) {
  return fmt::format("{:02d}:{:02d}:{:02d}", 10 + seconds / 3600, seconds / 60 % 60, seconds % 60);
}

}  // namespace

TEST_CASE("a stamp behind what was said, or as a field, is the time of the line") {
  const auto check = [](const auto& make) { check_time(progress_of_each(12, make), 0.5); };
  check([](int i) {
    return fmt::format("step {} | loss 0.5 | 2024-03-01 {}", i * 10, clock(i * 5));
  });
  check([](int i) {
    return fmt::format(R"({{"step": {}, "loss": 0.5, "timestamp": {}.25}})", i * 10,
                       1700000000 + i * 5);
  });
  check([](int i) {
    return fmt::format(R"({{"ts": {}, "step": {}, "loss": 0.5}})", 1700000000123 + i * 5000L,
                       i * 10);
  });
  check([](int i) {
    return fmt::format("time=\"2024-03-01T{}Z\" level=info step={} loss=0.5", clock(i * 5), i * 10);
  });
  check([](int i) {
    return fmt::format("2024-03-01_10-{:02d}-{:02d} step {} loss 0.5", i * 5 / 60, i * 5 % 60,
                       i * 10);
  });
}

TEST_CASE("a time at which something ends, or in the name of a file, is no stamp") {
  for (const std::string_view what :
       {"eta: 2024-03-02 {}", "until 2024-03-02 {}", "runs/2024-03-01T{}/x"}) {
    CAPTURE(what);
    CHECK(!progress_of_each(12, [&](int i) {
             return fmt::format("step {} loss 0.5 ", i * 10) +
                    fmt::format(fmt::runtime(what), clock(i * 5));
           }).step_time_s);
  }
}

TEST_CASE("clocks of twelve hours go on after noon") {
  check_time(progress_of_each(12,
                              [](int i) {
                                const int minute = 55 + i;  // from 11:56 AM to 12:07 PM
                                return fmt::format("03/01 {}:{:02d}:00 {} step {} loss 0.5",
                                                   minute < 60 ? 11 : 12, minute % 60,
                                                   minute < 60 ? "AM" : "PM", i * 10);
                              }),
             6);
}

TEST_CASE("a column of dates is no millisecond of the next column") {
  check_time(progress_of_each(13,
                              [](int i) {
                                return i == 1 ? std::string("time,step,loss")
                                              : fmt::format("2024-03-01 {},{},0.5", clock(i * 5),
                                                            i * 10);
                              }),
             0.5);
}

TEST_CASE("a time that names how many steps it covers is shared among them") {
  for (const std::string_view words :
       {"100 steps took {:.2f} s", "time for last 100 steps: {:.2f}s", "{:.2f} s/100 iters"}) {
    CAPTURE(words);
    check_time(progress_of_each(12,
                                [&](int i) {
                                  return fmt::format("Step {}: loss 0.5, ", i * 100) +
                                         fmt::format(fmt::runtime(words), about(3, i));
                                }),
               0.03);
  }
}

TEST_CASE("rates and times per step in words") {
  for (const auto& [words, value] : {std::pair{"{:.3f} s per step", 0.5},
                                     {"{:.3f} steps per second", 2.0},
                                     {"iter/sec {:.3f}", 2.0},
                                     {"batches/s: {:.3f}", 2.0},
                                     {"elapsed time per iteration (s): {:.3f}", 0.5},
                                     {"step_time(ms): {:.1f}", 500.0},
                                     {"iter_dt {:.2f}ms", 500.0},
                                     {"t/step: {:.3f}s", 0.5},
                                     {"| time(ms) {:.1f}", 500.0}}) {
    CAPTURE(words);
    check_time(progress_of_each(12,
                                [&](int i) {
                                  return fmt::format("step {} | loss 3.1 ", i * 10) +
                                         fmt::format(fmt::runtime(words), about(value, i));
                                }),
               0.5);
  }
}

TEST_CASE("the word of a counter before a time is the time of a step") {
  check_time(progress_of_each(12,
                              [](int i) {
                                return fmt::format(
                                    " [==>...]  Step: {:.0f}ms | Tot: 1s20ms | {}/391",
                                    about(120, i), i);
                              }),
             0.12);
  check_time(
      progress_of_each(12,
                       [](int i) {
                         return fmt::format(
                             "Epoch: [1/9][{}/999] Data 0.001 (0.012) Batch {:.3f} (0.612) Loss 1",
                             i * 10, about(0.6, i));
                       }),
      0.6);
}

TEST_CASE("a bare time whose reports would be many minutes apart is of all steps between them") {
  check_time(progress_of_each(12,
                              [](int i) {
                                return fmt::format("Iteration {:06d} loss 0.5 Timer {:.3f}(28.4)",
                                                   i * 20, about(29, i));
                              }),
             1.45);
  check_time(
      progress_of_each(
          12,
          [](int i) { return fmt::format("batch {} loss 1 time {:.2f}", i * 50, about(0.4, i)); }),
      0.4);
}

TEST_CASE("a bar that counts epochs gives no step") {
  const Progress read = progress_of_each(12, [](int i) {
    return fmt::format("Epochs:  {}%|#  | {}/30 [{:02d}:00<27:54, 62.01s/it, loss=0.5]", i * 3, i,
                       i);
  });
  CHECK(!read.step_time_s);
  CHECK(!read.step);
  CHECK(read.epoch == 12);
  CHECK(read.total_epochs == 30);
}

TEST_CASE("bars of sampling are no training") {
  check_time(
      progress_of_each(12,
                       [](int i) {
                         return fmt::format(
                             "Epoch 3:  {}%|#  | {}/400 [01:00<10:00,  2.00it/s, loss=0.5]\n"
                             "Sampling loop time step: 100%|###| 50/50 [00:02<00:00, 25.00it/s]",
                             i * 2, i * 10);
                       }),
      0.5);
}

TEST_CASE("an epoch with a fraction is the same epoch") {
  check_time(
      progress_of_each(12,
                       [](int i) {
                         return fmt::format(
                             "{}/21150 (epoch {:.3f}), train_loss = 3.1, time/batch = {:.4f}s", i,
                             i / 423.0, about(0.512, i));
                       }),
      0.512);
}

TEST_CASE("two times without a word are two series") {
  const Progress read = progress_of_each(
      12, [](int i) { return fmt::format("step {} loss 0.5 [{}:00] [{}:30]", i * 10, i, 20 - i); });
  CHECK((!read.step_time_s || near(read.step_time_s, 6, 1e-12, 0)));
}

TEST_CASE("a sum in a unit that is not printed is not seconds") {
  CHECK(!progress_of_each(12, [](int i) {
           return fmt::format("Iteration {} return 850.5 wall_time {:.6f}", i * 50, i * 0.02);
         }).step_time_s);
}

TEST_CASE("the time of day as a field needs two reports only") {
  check_time(progress_of_each(2,
                              [](int i) {
                                return fmt::format("Epoch=1 Step={} Loss=0.5 Time=22:00:{:02d}",
                                                   i * 20, i * 4);
                              }),
             0.2);
}

TEST_CASE("the digits of a counter may stand at its word") {
  check_time(progress_of_each(12,
                              [](int i) {
                                return fmt::format(
                                    "[run][03-01 {}]INFO: Train|Epoch1/300|Iter{}({}/7392)|",
                                    clock(i * 20), i * 50, i * 50);
                              }),
             0.4);
  CHECK(!progress_of_each(3, [](int i) { return fmt::format("saved to epoch{}.pth", i); }).epoch);
}

TEST_CASE("stamped lines of numbers only count by the number that goes up evenly") {
  const auto make = [](int i) {
    return fmt::format("#> 9.1 8.9\n[Mar 01, {}] {} 5.{}\nTrue\n 0.35 3.1{}", clock(i * 5), i * 10,
                       900 - i, i);
  };
  const Progress read = progress_of_each(12, make);
  check_time(read, 0.5);
  CHECK(read.step == 120);
}

TEST_CASE("a stamped list of numbers counts by the one among them that goes up evenly") {
  check_time(
      progress_of_each(9,
                       [](int i) {
                         return fmt::format(
                             "2024-03-01 {},804 INFO Train Epoch: {} [83%]\n"
                             "2024-03-01 {},805 model\tINFO\t[2.74{}, 1.87, 22.3, {}, 0.00019{}]",
                             clock(i * 332), 40 + 3 * i, clock(i * 332), i, 2400 + i * 200, 99 - i);
                       }),
      1.66);
}

TEST_CASE("a sum of parts of the step is not what the clock says") {
  check_time(progress_of_each(9,
                              [](int i) {
                                return fmt::format(
                                    "2024-03-01 {} update: {} env-time: {:.3f}s pth-time: {:.3f}s",
                                    clock(i * 203), i * 10, i * 121.3, i * 40.1);
                              }),
             20.3);
}

TEST_CASE("the line of an epoch, with what was held out, counts no step") {
  CHECK(!progress_of_each(12, [](int i) {
           return fmt::format("[{}] time {:.2f} lr 0.0009 3d_train 31.7 3d_valid 46.1", i,
                              about(1.2, i));
         }).step_time_s);
}

TEST_CASE("a field of its own says that a line is held out") {
  const Progress read = progress_of_each(24, [](int i) {
    return i < 16 ? fmt::format("Epoch 1 | train | {}/500 | loss 0.5 | {:.3f}s/it", i * 10,
                                about(0.2, i))
                  : fmt::format("Epoch 1 | val | {}/100 | loss 0.6 | 0.050s/it", i);
  });
  check_time(read, 0.2);
  CHECK(read.step == 150);
}

TEST_CASE("an epoch and a step may be one pair, and a pair in front a step") {
  CHECK(progress_of_each(3, [](int i) {
          return fmt::format("epoch/iter: 1/{}  total_loss: 0.5  time: 0.31  data_time: 0.001",
                             i * 200);
        }).step == 600);
  check_time(progress_of_each(4,
                              [](int i) {
                                return fmt::format(
                                    "({}/500) | Total: 0:00:46 | loss: 0.5 | data: 0.01 | "
                                    "backward: 0.06 | batch: 0.09\n"
                                    "(67/67) | batch: 117.6ms | Total: 0:00:11",
                                    i * 100);
                              }),
             0.09);
}

TEST_CASE("a coarse clock shows the same time more than once") {
  check_time(progress_of_each(99,
                              [](int i) {
                                return fmt::format("Step {}/10000 | Loss 0.5 | Elapsed {:.1f}m",
                                                   i * 10, i * 5 / 60.0);
                              }),
             0.5);
}

TEST_CASE("checkpoints with stamps give the time of a step where lines count none") {
  const auto make = [](double evaluated_s) {
    return [evaluated_s](int i) {
      return fmt::format(
          "{{'loss': 0.5, 'epoch': 0.1}}\n{{'eval_loss': 0.5, 'eval_runtime': {}}}\n"
          "[INFO|2024-03-01 {}] trainer.py:3801 >> Saving model checkpoint to out/checkpoint-{}",
          evaluated_s, clock(i * 1000), i * 100);
    };
  };
  const Progress read = progress_of_each(5, make(20));
  check_time(read, 10);
  CHECK(read.by == "time stamps of checkpoints");
  CHECK(!progress_of_each(5, make(200)).step_time_s);
}

TEST_CASE("the summary of an experiment tracker is no progress") {
  const Progress read = progress_of_each(12, [](int i) {
    return fmt::format("step {}/12 loss 0.5\nwandb:  train/loss 9.5\nwandb: global_step 5{}", i, i);
  });
  CHECK(read.step == 12);
  CHECK(read.loss == 0.5);
}

TEST_CASE("a line of an epoch with the time of its steps is a report") {
  const Progress read = progress_of_each(6, [](int i) {
    return fmt::format("Epoch {}/6\n100/100 - 12s - loss: 0.5 - 120ms/step", i);
  });
  check_time(read, 0.12);
  CHECK(read.step == 100);
}

TEST_CASE("seconds under the name of a throughput are those of a step") {
  const Progress read = progress_of_each(12, [](int i) {
    const int left = (1000 - i * 20) * 3;
    return fmt::format("[Epoch: 1] [{}/1000] [tps: {:.2f}s] [eta: 0:{:02d}:{:02d}] loss = 4.8",
                       i * 20, about(3, i), left / 60, left % 60);
  });
  check_time(read, 3);
  CHECK(!read.throughput);
}

TEST_CASE("a short time without a word every hundred steps may be of one or of all") {
  const auto make = [](double seconds) {
    return [seconds](int i) {
      return fmt::format("step {} | loss 0.5 | lr 1e-05 | {:.2f}s", i * 100, about(seconds, i));
    };
  };
  CHECK(!progress_of_each(12, make(0.25)).step_time_s);
  check_time(progress_of_each(12, make(25)), 0.25);
  check_time(
      progress_of_each(
          12, [&](int i) { return fmt::format("2024-03-01 {} ", clock(i * 25)) + make(0.25)(i); }),
      0.25);
}

TEST_CASE("what goes back and forth counts no steps that a time could be of") {
  CHECK(!progress_of_each(12, [](int i) {
           return fmt::format("'updates': {}, 'loss': 0.5, 'time': {:.1f}", 17 + i * 2 % 3,
                              about(20, i));
         }).step_time_s);
}

TEST_CASE("lines that two handlers print are one report, also where the counter has no name") {
  const Progress read = progress_of_each(6, [](int i) {
    const auto report_line = fmt::format("[{}] | gnorm 0.84 lr 1e-05 | loss 5.5{}", i * 5000, i);
    const auto head = fmt::format("I1212 {}.250000 1285 train.py:298] ", clock(i * 50));
    return fmt::format("INFO:tensorflow:{}\n{}{}\nEval  batches[  100]  | loss  5.9", report_line,
                       head, report_line);
  });
  check_time(read, 0.01);
  CHECK(read.step == 30000);
  CHECK(read.loss == 5.56);
}

TEST_CASE("a loss at a step is what follows the step") {
  const Progress read = progress_of_each(6, [](int i) {
    return fmt::format(
        "Training average positive_sample_loss at step {}: 0.9\n"
        "Training average loss at step {}: 0.06{}",
        i * 100, i * 100, i);
  });
  CHECK(read.step == 600);
  CHECK(read.loss == 0.066);
  const Progress one = progress_of_each(6, [](int i) {
    return fmt::format("Training loss (for one batch) at step {}: 0.06{}", i * 100, i);
  });
  CHECK(one.step == 600);
  CHECK(one.loss == 0.066);
}

TEST_CASE("a count of examples is no step, however evenly it grows") {
  const Progress read = progress_of_each(12, [](int i) {
    return fmt::format("[ time:{}.0s total_exs:{} ] 'loss': 0.5{}", i * 20, i * 510, i);
  });
  CHECK(!read.step);
  CHECK(!read.step_time_s);
}

}  // namespace schedmate::progress
