// SPDX-License-Identifier: Apache-2.0
/// The fifteen traps of progress lines that logs out in the world set.
#include <doctest/doctest.h>
#include <fmt/format.h>

#include "log/progress/tracker.hpp"
#include "tests/support/near.hpp"
#include "tests/support/progress_text.hpp"

namespace schedmate::progress {
namespace {

using testing::near;
using testing::progress_of;
using testing::progress_of_each;

void check_named_time(const Progress& progress, double want) {
  REQUIRE(progress.step_time_s.has_value());
  CHECK(near(progress.step_time_s, want, 0.02, 0));
}

}  // namespace

TEST_CASE("trap 1: elapsed time under the name time") {
  check_named_time(
      progress_of_each(
          12, [](int i) { return fmt::format("step {} loss 0.5 time {:.1f}", i * 10, i * 4.0); }),
      0.4);
}

TEST_CASE("trap 2: the time of an epoch under the name time") {
  CHECK(!progress_of_each(12, [](int i) {
           return fmt::format("Epoch {}/20 loss 0.5 time 35.{}s", i, i);
         }).step_time_s);
}

TEST_CASE("trap 2: among reports of steps the time of an epoch is shared by them") {
  const auto log = [](int i) {
    return fmt::format(
        "Epoch[{}/80], Step[100/400], Avg Loss: 0.7\nEpoch[{}/80], Step[200/400], Avg Loss: 0.7\n"
        "--- Epoch[{}/80], Train Loss: 0.7, time: 80{}.0",
        i, i, i, i);
  };
  check_named_time(progress_of_each(3, log), 2);
  // Short ones are of the epoch, too.
  const auto short_ones = [](int i) {
    return fmt::format("Epoch {} | Batch 0/40 | Loss: 0.5\nEpoch {}, loss 0.5, time 20.0", i, i);
  };
  check_named_time(progress_of_each(5, short_ones), 0.5);
}

TEST_CASE("trap 1: elapsed time that is printed once in each epoch") {
  const auto log = [](int i) {
    return fmt::format(
        "Epoch: {}/99 | Batch 0/12 | Loss: 0.5\nEpoch: {}/99 | Batch 6/12 | Loss: "
        "0.5\nTime elapsed: {:.2f} min",
        i, i, i * 0.1);
  };
  check_named_time(progress_of_each(9, log), 0.5);
}

TEST_CASE("trap 3: the time of K iterations") {
  check_named_time(progress_of({"Iter: 1000 Time(100 iters): 5.0s Loss: 0.1",
                                "Iter: 1100 Time(100 iters): 5.0s Loss: 0.1"}),
                   0.05);
  check_named_time(progress_of_each(12,
                                    [](int i) {
                                      return fmt::format(
                                          "2024-01-01 10:00:{:02d} step {} loss 0.5 time 4.0",
                                          i * 4, i * 50);
                                    }),
                   0.08);
  CHECK(!progress_of_each(12, [](int i) {
           return fmt::format("step {} loss 0.5 (took 4.0s)", i * 50);
         }).step_time_s);
}

TEST_CASE("trap 4: bars of validation, preparation and loading are no training") {
  const Progress progress =
      progress_of({"Loading checkpoint shards: 50%|# | 2/4 [00:02<00:02, 1.0it/s]",
                   "Map:  10%|# | 100/1000 [00:01<00:09, 100.0it/s]",
                   "Epoch 1:  5%|# | 5/100 [00:10<03:10,  2.0s/it, loss=0.5]",
                   "Validation DataLoader 0: 50%|# | 5/10 [00:01<00:01, 50.0it/s]",
                   "Evaluating: 50%|# | 5/10 [00:01<00:01, 50.0it/s]"});
  check_named_time(progress, 2);
  CHECK(progress.step == 5);
  CHECK(progress.total_steps == 100);
}

TEST_CASE("trap 5: the same step from every rank, in one line or many") {
  check_named_time(progress_of_each(40,
                                    [](int i) {
                                      return fmt::format(
                                          "[rank{}]: 10:00:{:02d} step: {} loss: 2.5", i % 4,
                                          i / 4 * 5, i / 4 * 10);
                                    }),
                   0.5);
  check_named_time(
      progress_of({" 1%| | 5/500 [00:05<08:15,  1.00s/it] 1%| | 5/500 [00:05<08:15,  1.00s/it]"}),
      1);
}

TEST_CASE("trap 6: the first values of a run are warm-up") {
  check_named_time(progress_of_each(10,
                                    [](int i) {
                                      return fmt::format("iter {} loss 0.5 iter_time {}", i,
                                                         i == 1 ? 60.0 : 0.5);
                                    }),
                   0.5);
  check_named_time(progress_of_each(10,
                                    [](int i) {
                                      return fmt::format(
                                          "completed step: {}, seconds: {}, loss: 1.5", i,
                                          i < 3 ? 0.001 : 2.0);
                                    }),
                   2);
}

TEST_CASE("trap 7: a running mean that carries the warm-up gives way to differences") {
  check_named_time(progress_of_each(12,
                                    [](int i) {
                                      return fmt::format(
                                          "step:{}/900 train_time:{}ms step_avg:{:.1f}ms", i,
                                          60000 + 200 * i, (60000.0 + 200 * i) / i);
                                    }),
                   0.2);
}

TEST_CASE("trap 8: times of parts stand beside the whole") {
  check_named_time(
      progress_of_each(6,
                       [](int i) {
                         return fmt::format(
                             "iter {} loss 0.5 data_time 0.01 forward_time 0.2 time 0.5", i);
                       }),
      0.5);
}

TEST_CASE("trap 9: of two counters the step is the update") {
  const Progress progress = progress_of_each(6, [](int i) {
    return fmt::format("epoch=0/micro_step={}/global_step={}, loss=0.5, step_time=2.0", i * 8, i);
  });
  CHECK(progress.step == 6);
  check_named_time(progress, 2);
}

TEST_CASE("trap 10: thousands, suffixes, exponents and units") {
  CHECK(progress_of({"iter: 12,100 loss: 0.5"}).step == 12100);
  CHECK(progress_of({"global_step=3.2e+4 loss=0.5"}).step == 32000);
  CHECK(progress_of({"Progress on: 1.31kit/4.00kit rate:2.0it/s remaining:22:25"}).step == 1310);
  check_named_time(progress_of({"iter 5 loss 0.5 iter_time 250000us"}), 0.25);
  check_named_time(progress_of({"iter 5 loss 0.5 iter_time 250ms"}), 0.25);
}

TEST_CASE("trap 11: an error message behind an unfinished bar") {
  const Progress progress =
      progress_of({"  5%|# | 5/100 [00:10<03:10,  2.0s/it]Traceback (most recent call last):",
                   "RuntimeError: size 3 of 7 at step 9999"});
  CHECK(progress.step == 5);
  check_named_time(progress, 2);
}

TEST_CASE("trap 12: nan is no loss and no failure") {
  const Progress progress = progress_of({"step 7 loss nan accuracy=nan step_time 0.5"});
  CHECK(progress.step == 7);
  CHECK(!progress.loss);
  check_named_time(progress, 0.5);
}

TEST_CASE("trap 13: what is left is no speed") {
  CHECK(!progress_of_each(6, [](int i) {
           return fmt::format("step {} loss 0.5 eta 1:02:03 etc: 12:30:00", i);
         }).step_time_s);
  CHECK(!progress_of_each(6,
                          [](int i) {  // the time of day under the name time
                            return fmt::format("step {} loss 0.5 time 10:02:03", i * 10);
                          })
             .step_time_s);
}

TEST_CASE("trap 14: throughput without the size of a batch is no step time") {
  const Progress progress = progress_of_each(
      6, [](int i) { return fmt::format("step {} loss 0.5 ips: 1200.5 samples/s", i); });
  CHECK(!progress.step_time_s);
  REQUIRE(progress.throughput);
  CHECK(progress.throughput->value == 1200.5);
  CHECK(progress.throughput->unit == "samples/s");
}

TEST_CASE("trap 15: a clock of whole seconds is averaged") {
  const Progress progress = progress_of_each(50, [](int i) {
    return fmt::format("10:00:{:02d} step {} loss 0.5", static_cast<int>(i * 0.7), i);
  });
  CHECK(near(progress.step_time_s, 0.7, 1.0 / 34, 0));  // it may be a second off in 34
  CHECK(!progress_of({"10:00:00 step 1 loss 0.5", "10:00:01 step 2 loss 0.5"}).step_time_s);
}

TEST_CASE("the time of a sample is not that of a step") {
  CHECK(!progress_of_each(8, [](int i) {
           return fmt::format("Epoch: [3][{}/1733] Per Sample Total Time 0.0585 Train Loss 0.01",
                              i * 100);
         }).step_time_s);
}

TEST_CASE("a step of minutes is believed where many reports agree") {
  check_named_time(progress_of_each(8,
                                    [](int i) {
                                      return fmt::format("i = {} / 9000, loss = 2.5, time = 16{}.5",
                                                         i, 4 - i % 3);
                                    }),
                   163.5);
}

TEST_CASE("two ranks one step apart, one of them with a clock") {
  check_named_time(
      progress_of_each(8,
                       [](int i) {
                         return fmt::format(
                             "[2025-08-15 08:41:{:02d},000] [INFO] step={}, lr=[1e-05]\n"
                             "[Step {}/100] Loss: 5.0\n[Step {}/100] Loss: 5.1",
                             i * 5, i, i - 1, i - 1);
                       }),
      5);
}

TEST_CASE("a bar that goes past its end counts on, without a total") {
  const Progress progress = progress_of(
      {"Epoch 8:  93%|# | 13/14 [03:40<00:17, 16.0s/it, loss=9.1]",
       "Epoch 8: 100%|##| 14/14 [03:56<00:00, 16.0s/it, loss=9.0]",
       "Epoch 8: 15it [04:12, 16.0s/it, loss=8.9]", "Epoch 8: 16it [04:28, 16.0s/it, loss=8.8]"});
  CHECK(progress.step == 16);
  CHECK(!progress.total_steps);
  CHECK(progress.loss == 8.8);
  check_named_time(progress, 16);
}

TEST_CASE("a loss whose counter stood on the line before is of the last report") {
  CHECK(progress_of({"batch loss: 0.5", "current step: 10th step", "batch loss: 0.4",
                     "current step: 11th step", "batch loss: 0.3"})
            .loss == 0.3);
}

}  // namespace schedmate::progress
