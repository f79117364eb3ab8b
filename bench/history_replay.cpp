// SPDX-License-Identifier: Apache-2.0

/// What advice is worth on real durations: the bundled Venus rows are submitted in order, each with
/// metadata that is made up (nobody published any; schedmate/workload.hpp), and finish after their
/// real duration. Since the way metadata is made decides what it can show, four ways stand beside
/// each other:
///   by duration  a job has the template of the user's previous job of that shape when their
///                durations are within a factor 2: it leaks, and shows only the upper bound
///   by gap       a new template after an hour without a submission of that shape: no leak
///   facts mixed  as by gap, the facts exchanged among jobs with as many GPUs
///   all mixed    directory and command exchanged with them: metadata says nothing
///
///   history_replay PATH_OF_VENUS_CSV RECIPE.toml FOLDER_OF_DATA [JOBS]

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <queue>
#include <schedmate/estimator.hpp>
#include <schedmate/trace.hpp>
#include <schedmate/workload.hpp>

#include "advisor/advisor.hpp"
#include "advisor/calibration.hpp"
#include "base/text.hpp"
#include "bench/empty_tree.hpp"

namespace schedmate {
namespace {

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
  Replay(const Trace& trace, const Workload& workload, const EstimateRow& estimate)
      : trace_(trace), workload_(workload), estimate_(estimate) {}

  void run(std::string_view variant) {
    const auto last_k = make_estimator("last_k", {});
    const auto user_mean = make_estimator("user_mean", {});
    if (!last_k || !user_mean) std::abort();
    std::vector<Estimator> by_last(trace_.vcs.size(), *last_k);
    std::vector<Estimator> by_user(trace_.vcs.size(), *user_mean);
    std::map<std::string, Tally> tallies;
    for (std::size_t i = 0; i < trace_.jobs.size(); ++i) {
      const Job& job = trace_.jobs[i];
      for (; !running_.empty() && running_.top().first <= job.submit; running_.pop()) {
        const std::size_t row = running_.top().second;
        finish(row);
        const FinishedJob ended = finished_job(trace_, row, running_.top().first);
        by_last[ended.job.vc].learn(ended);
        by_user[ended.job.vc].learn(ended);
      }
      const Estimate advice = advise_job(i);
      running_.emplace(job.submit + job.duration, i);
      if (advice.source == AdviceSource::none) continue;
      const auto actual = static_cast<double>(job.duration.count());
      for (const std::string& name :
           {std::string("advice"), "  " + std::string(name_of(advice.source))}) {
        Tally& tally = tallies[name];
        tally.add(advice.p50.count(), actual);
        tally.inside += advice.p10.count() <= std::max(1.0, actual) && actual <= advice.p90.count();
      }
      const KnownJob known = known_job(trace_, i);
      const EnteringJob entering{known, job.submit};
      tallies["last_k"].add(by_last[job.vc](entering).run_time.count(), actual);
      tallies["user_mean"].add(by_user[job.vc](entering).run_time.count(), actual);
    }
    for (const auto& [name, tally] : tallies)
      tally.print(variant, name, name != "last_k" && name != "user_mean");
  }

 private:
  Estimate advise_job(std::size_t row) {
    const Job& job = trace_.jobs[row];
    const JobPlace place = place_at(workload_, workload_.place_of_row[row]);
    Submission submission;
    submission.id = job.id;
    submission.user = trace_.users[job.user];
    submission.vc = trace_.vcs[job.vc];
    submission.submit = job.submit;
    submission.job = {place.root, ".", place.command, job.gpus, 1, ""};
    const advisor::AdvisorParts parts{*store_,
                                      *index_,
                                      advisor::FlagRules::built_in(),
                                      estimate_,
                                      {},
                                      [&](const JobSource&) -> Result<Facts> {
                                        return facts_at(workload_, workload_.facts_of_row[row]);
                                      },
                                      empty_tree(),
                                      Role::cluster_operator};
    const auto advised = advisor::advise(submission, parts);
    if (!advised || !advisor::remember(*advised, parts)) std::abort();
    return advised->advice.estimate;
  }

  void finish(std::size_t row) {
    Outcome outcome;
    outcome.state = trace_.jobs[row].state;
    outcome.duration = trace_.jobs[row].duration;
    if (!store_->finish(std::string(trace_.jobs[row].id), outcome)) std::abort();
  }

  const Trace& trace_;
  const Workload& workload_;
  const EstimateRow& estimate_;
  std::unique_ptr<Store> store_ = std::move(*open_store("memory"));
  Embedder embedder_ = *make_embedder("lexical");
  std::unique_ptr<TextIndex> index_ = std::move(*open_index(*store_, embedder_));
  using Ending = std::pair<SimTime, std::size_t>;
  std::priority_queue<Ending, std::vector<Ending>, std::greater<>> running_;
};

struct Way {
  const char* name;
  TemplateCut cut;
  MetadataShuffle shuffle;
};
constexpr std::array ways{
    Way{"by duration", TemplateCut::by_duration, MetadataShuffle::none},
    Way{"by gap", TemplateCut::by_gap, MetadataShuffle::none},
    Way{"facts mixed", TemplateCut::by_gap, MetadataShuffle::metadata},
    Way{"all mixed", TemplateCut::by_gap, MetadataShuffle::all},
};

Result<void> replay(const Trace& trace, const std::string& recipe_file, const std::string& data) {
  const auto recipe = read_recipe(recipe_file);
  const auto interference = read_interference(data + "/interference.toml");
  const auto errors = read_extraction_errors(data + "/extraction_errors.toml");
  if (!recipe) return tl::unexpected(recipe.error());
  if (!interference) return tl::unexpected(interference.error());
  if (!errors) return tl::unexpected(errors.error());
  fmt::print("real rows, synthetic metadata ({}); {} jobs\n", recipe->name, trace.jobs.size());
  fmt::print("{:12} {:22} {:>6} {:>9} {:>9} {:>9} {:>9}\n", "templates", "way", "jobs", "inside 80",
             "in 100 %", "factor 2", "bias");
  for (const EstimateRow& estimate : estimate_rows()) {
    fmt::print("estimate {}\n", estimate.name);
    for (const Way& way : ways) {
      WorkloadOptions options;
      options.cut = way.cut;
      options.shuffle = way.shuffle;
      const auto workload = make_workload(trace, {*recipe, *interference, *errors}, options);
      if (!workload) return tl::unexpected(workload.error());
      Replay(trace, *workload, estimate).run(way.name);
    }
  }
  return {};
}

}  // namespace
}  // namespace schedmate

int main(int argc, char** argv) {
  namespace sm = schedmate;
  if (argc < 4) {
    fmt::print(stderr, "history_replay PATH_OF_VENUS_CSV RECIPE.toml FOLDER_OF_DATA [JOBS]\n");
    return 2;
  }
  auto trace = sm::read_trace(std::string("helios:") + argv[1], {});
  if (!trace) {
    fmt::print(stderr, "{}\n", trace.error().message);
    return 3;
  }
  if (argc > 4)
    trace->jobs.resize(
        std::min(trace->jobs.size(), sm::parse_number<std::size_t>(argv[4]).value_or(0)));
  if (const auto done = sm::replay(*trace, argv[2], argv[3]); !done) {
    fmt::print(stderr, "{}\n", done.error().message);
    return 3;
  }
  return 0;
}
