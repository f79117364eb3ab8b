// SPDX-License-Identifier: Apache-2.0
#pragma once

/// Made-up jobs in families, as real histories have them: most differ from another one in a few
/// facts. The same seed gives the same jobs.

#include <fmt/format.h>

#include <schedmate/job_record.hpp>
#include <string>

#include "base/random.hpp"

namespace schedmate::bench {

class MadeJobs {
 public:
  explicit MadeJobs(std::uint64_t seed) : random_(seed) {}

  /// The text of a job, in the words of the advisor.
  std::string text() {
    const auto family = random_.below(5000);
    Random own(static_cast<std::uint64_t>(family));
    const auto pick = [&](std::int64_t values, std::int64_t changed) {
      const auto usual = own.below(values);
      return random_.below(100) < changed ? random_.below(values) : usual;
    };
    const auto model = pick(800, 3);
    const auto dataset = pick(300, 3);
    const auto batch = std::int64_t{1} << pick(10, 15);
    const auto gpus = std::int64_t{1} << pick(6, 15);
    const auto epochs = 10 * pick(1000, 60);
    const auto optimizer = pick(8, 5);
    std::string text = fmt::format(
        "batch_size={} dataset=corpus-{} dataset=corpus dataset={} distributed={} expect=runs "
        "framework={} gpus={} length={}-epochs model_family=family{} model_name=net-{}-v{} "
        "model_name=net model_name={} model_type={} optimizer=opt{}",
        batch, dataset, dataset, pick(6, 5), pick(5, 2), gpus, epochs, model % 60, model, model % 7,
        model, pick(8, 0), optimizer);
    text += fmt::format(
        " params_scale={} precision={} pretrained={} resolution={} runs=1 sequence_length={} "
        "task=task-{} task_type={} batch_size_class={} gpus_class={} length_class={}-epochs",
        pick(3, 2), pick(6, 10), pick(2, 5), 32 * pick(20, 5), 128 * pick(32, 10), pick(60, 0),
        pick(5, 0), batch, gpus, std::int64_t{1} << (epochs % 11));
    // What few jobs share, so that nearly every text is another one.
    return text + fmt::format(" dataset_size={}", random_.below(4000));
  }

  JobRecord job(std::int64_t number) {
    const auto user = random_.below(2000);
    const auto root = fmt::format("/cluster/user{}/project{}", user, random_.below(10));
    JobRecord job;
    job.id = fmt::format("{}", 1'000'000 + number);
    job.user = fmt::format("user{}", user);
    job.vc = "gpu";
    job.submit = at(1'600'000'000 + 30 * number);
    job.root = root;
    job.workdir = ".";
    job.command = fmt::format("python train.py --config configs/{}.yaml --seed {}",
                              random_.below(50), random_.below(1000));
    job.branch = "main";
    job.gpus = std::int64_t{1} << random_.below(6);
    job.nodes = 1;
    job.gpu_type = "a100";
    job.text = text();
    job.fields = {{"model_name", "net"},
                  {"dataset", "corpus"},
                  {"batch_size", "64"},
                  {"length", "90 epochs"},
                  {"optimizer", "adamw"}};
    job.entry = "python train.py";
    job.outcome = Outcome{.state = EndState::completed,
                          .start = job.submit,
                          .end = job.submit + Seconds(3600),
                          .duration = Seconds(3600),
                          .gpu_util_pct = 80,
                          .gpu_memory_mib = 30'000,
                          .log_summary = "",
                          .fingerprint = "",
                          .progress = {},
                          .cpu_time = FractionalSeconds(3000),
                          .memory_mib = 60'000,
                          .attempts = {{.start = job.submit,
                                        .end = job.submit + Seconds(3600),
                                        .state = EndState::completed,
                                        .word = "COMPLETED",
                                        .exit_code = "0:0",
                                        .nodes = "n[1-2]"}}};
    return job;
  }

 private:
  Random random_;
};

}  // namespace schedmate::bench
