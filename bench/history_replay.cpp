// SPDX-License-Identifier: Apache-2.0

/// What advice is worth on real durations: the bundled Venus rows are submitted in order, each with
/// metadata that is made up (nobody published any), and finish after their real duration. Since the
/// way metadata is made decides what it can tell, three ways stand beside each other:
///   by duration  a job has the template of the user's previous job of that shape when their
///                durations are within a factor 2: it leaks, and shows only the upper bound
///   by gap       a new template after an hour without a submission of that shape: no leak
///   shuffled     as by gap, then shuffled among jobs with as many GPUs: metadata says nothing
///
///   history_replay PATH_OF_VENUS_CSV [JOBS]

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <map>
#include <queue>
#include <schedmate/estimator.hpp>
#include <schedmate/trace.hpp>
#include <tuple>

#include "advisor/advisor.hpp"
#include "advisor/calibration.hpp"
#include "base/random.hpp"
#include "base/text.hpp"

namespace schedmate {
namespace {

constexpr std::uint64_t seed = 1;

/// syn_: everything in here is invented.
struct Metadata {
  std::string root, command;
  Facts facts;
};

Metadata make_metadata(std::uint32_t user, std::uint64_t number, std::int32_t gpus) {
  constexpr auto models = std::to_array<std::string_view>(
      {"ResNet-50", "ResNet-18", "ViT-B/16", "ViT-L/16", "BERT-base", "BERT-large", "GPT-2 124M",
       "LLaMA-7B", "YOLOv5", "UNet", "Swin-T", "EfficientNet-B4", "PPO", "T5-base"});
  constexpr auto datasets = std::to_array<std::string_view>(
      {"ImageNet-1k", "CIFAR-10", "COCO", "WikiText", "SQuAD", "Cityscapes", "LibriSpeech"});
  Random random(mix(number) ^ seed);
  const auto draw = [&](const auto& names) {
    return std::string(
        names[static_cast<std::size_t>(random.below(static_cast<std::int64_t>(names.size())))]);
  };
  Metadata made;
  made.root = fmt::format("/syn/{}", user);
  made.command = fmt::format("python train.py --config syn_{}.yaml", number);
  made.facts.facts["model_name"].value = draw(models);
  made.facts.facts["dataset"].value = draw(datasets);
  made.facts.facts["batch_size"].value = std::int64_t{1} << random.between(3, 8);
  made.facts.facts["length"].value =
      Length{10.0 * static_cast<double>(random.between(1, 20)), "epochs"};
  made.facts.facts["gpus"].value = std::int64_t{gpus};
  made.facts.facts["distributed"].value = std::string(gpus > 1 ? "ddp" : "none");
  return made;
}

enum class Cut { by_duration, by_gap, shuffled };

std::vector<std::uint64_t> cut_templates(const Trace& trace, Cut cut) {
  struct Last {
    SimTime submit;
    double duration_s = 0;
    std::uint64_t number = 0;
  };
  std::map<std::tuple<std::uint32_t, std::uint32_t, std::int32_t>, Last> last;
  std::vector<std::uint64_t> numbers;
  std::uint64_t next = 0;
  for (const Job& job : trace.jobs) {
    const auto [at, fresh] = last.try_emplace({job.user, job.vc, job.gpus});
    Last& before = at->second;
    const double duration = std::max<double>(1, static_cast<double>(job.duration.count()));
    const bool same = cut == Cut::by_duration
                          ? std::abs(std::log2(duration / std::max(1.0, before.duration_s))) <= 1
                          : job.submit - before.submit <= std::chrono::hours(1);
    if (fresh || !same) before.number = ++next;
    before.submit = job.submit;
    before.duration_s = duration;
    numbers.push_back(before.number);
  }
  return numbers;
}

/// Exchanges the templates of jobs with as many GPUs.
void shuffle(const Trace& trace, std::vector<std::uint64_t>& numbers) {
  std::map<std::int32_t, std::vector<std::size_t>> classes;
  for (std::size_t i = 0; i < trace.jobs.size(); ++i) classes[trace.jobs[i].gpus].push_back(i);
  Random random(seed);
  for (auto& [gpus, rows] : classes) {
    for (std::size_t i = rows.size(); i > 1; --i) {
      const auto j = static_cast<std::size_t>(random.below(static_cast<std::int64_t>(i)));
      std::swap(numbers[rows[i - 1]], numbers[rows[j]]);
    }
  }
}

/// Of one way to predict.
struct Tally {
  std::size_t jobs = 0, inside = 0, within_100 = 0, within_2 = 0;
  double log_ratio = 0;
  void add(double predicted_s, double actual_s) {
    const double ratio = std::max(1.0, predicted_s) / std::max(1.0, actual_s);
    ++jobs;
    within_100 += ratio <= 2 ? 1 : 0;
    within_2 += ratio <= 2 && ratio >= 0.5 ? 1 : 0;
    log_ratio += std::log(ratio);
  }
  void print(std::string_view variant, std::string_view way, bool interval) const {
    const auto share = [&](std::size_t part) {
      return 100 * static_cast<double>(part) / static_cast<double>(std::max<std::size_t>(1, jobs));
    };
    fmt::print("{:12} {:22} {:6} {:>9} {:9.1f} {:9.1f} {:9.2f}\n", variant, way, jobs,
               interval ? fmt::format("{:.1f}", share(inside)) : "-", share(within_100),
               share(within_2),
               std::exp(log_ratio / static_cast<double>(std::max<std::size_t>(1, jobs))));
  }
};

class Replay {
 public:
  Replay(const Trace& trace, std::vector<std::uint64_t> numbers, const EstimateRow& estimate)
      : trace_(trace), numbers_(std::move(numbers)), estimate_(estimate) {}

  void run(std::string_view variant) {
    const auto last_k = make_estimator("last_k", trace_, seed);
    const auto user_mean = make_estimator("user_mean", trace_, seed);
    if (!last_k || !user_mean) std::abort();
    std::vector<History> histories(trace_.vcs.size());
    std::map<std::string, Tally> tallies;
    for (std::size_t i = 0; i < trace_.jobs.size(); ++i) {
      const Job& job = trace_.jobs[i];
      for (; !running_.empty() && running_.top().first <= job.submit; running_.pop()) {
        finish(running_.top().second);
        histories[trace_.jobs[running_.top().second].vc].add(trace_.jobs[running_.top().second]);
      }
      const Estimate advice = advise_job(i);
      running_.emplace(job.submit + job.duration, i);
      if (advice.source == AdviceSource::none) continue;
      const auto actual = static_cast<double>(job.duration.count());
      const History& history = histories[job.vc];
      for (const std::string& name :
           {std::string("advice"), "  " + std::string(name_of(advice.source))}) {
        Tally& tally = tallies[name];
        tally.add(advice.p50.count(), actual);
        tally.inside += advice.p10.count() <= std::max(1.0, actual) && actual <= advice.p90.count();
      }
      tallies["last_k"].add((*last_k)(job, i, history).count(), actual);
      tallies["user_mean"].add((*user_mean)(job, i, history).count(), actual);
    }
    for (const auto& [name, tally] : tallies)
      tally.print(variant, name, name != "last_k" && name != "user_mean");
  }

 private:
  Estimate advise_job(std::size_t row) {
    const Job& job = trace_.jobs[row];
    Metadata made = make_metadata(job.user, numbers_[row], job.gpus);
    Submission submission;
    submission.id = job.id;
    submission.user = trace_.users[job.user];
    submission.vc = trace_.vcs[job.vc];
    submission.submit = job.submit;
    submission.job = {made.root, ".", made.command, job.gpus, 1, ""};
    TreeAccess tree;
    tree.read = [](const std::string&, std::span<const std::string>) -> Result<Closure> {
      return Closure();
    };
    tree.unchanged = [](const std::string&, std::span<const FileStamp>) { return false; };
    tree.text = [](const std::string&, std::string_view) { return std::optional<std::string>(); };
    const AdvisorParts parts{
        *store_,         *index_, FlagRules::built_in(),
        estimate_,       {},      [&](const JobSource&) -> Result<Facts> { return made.facts; },
        std::move(tree), true};
    const auto advised = advise(submission, parts);
    if (!advised || !remember(*advised, parts)) std::abort();
    return advised->advice.estimate;
  }

  void finish(std::size_t row) {
    Outcome outcome;
    outcome.state = trace_.jobs[row].state;
    outcome.duration = trace_.jobs[row].duration;
    if (!store_->finish(std::string(trace_.jobs[row].id), outcome)) std::abort();
  }

  const Trace& trace_;
  std::vector<std::uint64_t> numbers_;
  const EstimateRow& estimate_;
  std::unique_ptr<Store> store_ = std::move(*open_store("memory"));
  Embedder embedder_ = *make_embedder("lexical");
  std::unique_ptr<TextIndex> index_ = std::move(*open_index(*store_, embedder_));
  using Ending = std::pair<SimTime, std::size_t>;
  std::priority_queue<Ending, std::vector<Ending>, std::greater<>> running_;
};

void replay(const Trace& trace) {
  fmt::print("real rows, synthetic metadata; {} jobs\n", trace.jobs.size());
  fmt::print("{:12} {:22} {:>6} {:>9} {:>9} {:>9} {:>9}\n", "templates", "way", "jobs", "inside 80",
             "in 100 %", "factor 2", "bias");
  for (const EstimateRow& estimate : estimate_rows()) {
    fmt::print("estimate {}\n", estimate.name);
    for (const auto& [name, cut] : {std::pair{"by duration", Cut::by_duration},
                                    {"by gap", Cut::by_gap},
                                    {"shuffled", Cut::shuffled}}) {
      auto numbers = cut_templates(trace, cut);
      if (cut == Cut::shuffled) shuffle(trace, numbers);
      Replay(trace, std::move(numbers), estimate).run(name);
    }
  }
}

}  // namespace
}  // namespace schedmate

int main(int argc, char** argv) {
  namespace sm = schedmate;
  if (argc < 2) {
    fmt::print(stderr, "history_replay PATH_OF_VENUS_CSV [JOBS]\n");
    return 2;
  }
  auto trace = sm::read_trace(std::string("helios:") + argv[1], {});
  if (!trace) {
    fmt::print(stderr, "{}\n", trace.error().message);
    return 3;
  }
  if (argc > 2)
    trace->jobs.resize(
        std::min(trace->jobs.size(), sm::parse_number<std::size_t>(argv[2]).value_or(0)));
  sm::replay(*trace);
  return 0;
}
