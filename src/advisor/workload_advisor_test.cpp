// SPDX-License-Identifier: Apache-2.0
/// The Advisor in the loop of a replay says what advise() says, to the last bit.
#include "advisor/workload_advisor.hpp"

#include <doctest/doctest.h>
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <map>
#include <queue>

#include "advisor/advisor.hpp"
#include "advisor/estimates.hpp"
#include "base/random.hpp"

namespace schedmate::advisor {
namespace {

const std::string data = SCHEDMATE_SOURCE_DIR "/data/";

/// Users submit in bursts, at different times; many jobs run at once.
Trace made_trace(std::size_t rows) {
  Random random(11);
  Trace trace;
  for (int user = 0; user < 8; ++user) trace.users.push_back(fmt::format("u{}", user));
  trace.vcs = {"a"};
  std::int64_t now_s = 0;
  for (std::size_t i = 0; i < rows; ++i) {
    now_s += 1 + random.below(random.below(10) == 0 ? 6000 : 60);
    Job job;
    const std::string id = fmt::format("job{}", i);
    trace.text.push_back(std::make_unique<char[]>(id.size()));
    std::ranges::copy(id, trace.text.back().get());
    job.id = std::string_view(trace.text.back().get(), id.size());
    job.user = static_cast<std::uint32_t>(random.below(8));
    job.gpus = 1 << random.below(5);
    job.submit = at(now_s);
    job.duration = Seconds(random.below(4000));
    constexpr std::array states{EndState::completed, EndState::completed, EndState::completed,
                                EndState::failed,    EndState::cancelled, EndState::timeout,
                                EndState::node_fail, EndState::preempted, EndState::unknown};
    job.state = states[static_cast<std::size_t>(random.below(std::ssize(states)))];
    trace.jobs.push_back(job);
  }
  return trace;
}

Workload workload_of(const Trace& trace) {
  const auto recipe = read_recipe(data + "recipes/light.toml").value();
  const auto interference = read_interference(data + "interference.toml").value();
  const auto errors = read_extraction_errors(data + "extraction_errors.toml").value();
  return make_workload(trace, {recipe, interference, errors}, {}).value();
}

const EstimateRow& estimate_of(std::string_view name) {
  return *std::ranges::find(estimate_rows(), name, &EstimateRow::name);
}

/// advise() with a store in memory, as `schedmate advise --record` calls it.
class WholeAdvisor {
 public:
  WholeAdvisor(const Trace& trace, const Workload& workload, WorkloadAdvisor::Options options)
      : trace_(trace), workload_(workload), options_(std::move(options)) {}

  Advice advise_row(std::size_t row) {
    const Job& job = trace_.jobs[row];
    const JobPlace place = place_at(workload_, workload_.place_of_row[row]);
    Submission submission;
    submission.id = job.id;
    submission.user = trace_.users[job.user];
    submission.vc = trace_.vcs[job.vc];
    submission.submit = job.submit;
    submission.job = {place.root, ".", place.command, job.gpus, (job.gpus + 7) / 8, ""};
    TreeAccess tree;
    tree.read = [](const std::string&, std::span<const std::string>) -> Result<Closure> {
      return Closure();
    };
    tree.unchanged = [](const std::string&, std::span<const FileStamp>) { return false; };
    tree.text = [](const std::string&, std::string_view) { return std::optional<std::string>(); };
    const auto read_facts = [&](const JobSource&) -> Result<Facts> {
      return facts_at(workload_, workload_.facts_of_row[row]);
    };
    const AdvisorParts parts{
        *store_,    *index_,         FlagRules::built_in(), *options_.estimate, options_.similarity,
        read_facts, std::move(tree), Role::cluster_operator};
    const Advised advised = advise(submission, parts).value();
    REQUIRE(remember(advised, parts).has_value());
    return advised.advice;
  }

  void finish(std::size_t row) {
    const Job& job = trace_.jobs[row];
    Outcome outcome;
    outcome.state = job.state;
    outcome.duration = job.duration;
    REQUIRE(store_->finish(std::string(job.id), outcome).has_value());
  }

 private:
  const Trace& trace_;
  const Workload& workload_;
  WorkloadAdvisor::Options options_;
  std::unique_ptr<Store> store_ = std::move(*open_store("memory"));
  Embedder embedder_ = *make_embedder("lexical");
  std::unique_ptr<TextIndex> index_ = std::move(*open_index(*store_, embedder_));
};

void compare(const RunAnswer& answer, const RunAnswer& expected) {
  REQUIRE(name_of(answer.source) == name_of(expected.source));
  REQUIRE(answer.not_known == expected.not_known);
  REQUIRE(answer.runs_by_state == expected.runs_by_state);
  REQUIRE(answer.early_end == expected.early_end);
  REQUIRE(answer.p10.count() == expected.p10.count());
  REQUIRE(answer.centre.count() == expected.centre.count());
  REQUIRE(answer.p90.count() == expected.p90.count());
  REQUIRE(answer.time_limit.has_value() == expected.time_limit.has_value());
  if (answer.time_limit)
    REQUIRE(answer.time_limit->suggested.count() == expected.time_limit->suggested.count());
}

/// How often each source was the one, when both agreed on every job.
std::map<AdviceSource, int> compare(const Trace& trace, const Workload& workload,
                                    const WorkloadAdvisor::Options& options) {
  WorkloadAdvisor in_loop(trace, workload, options);
  WholeAdvisor whole(trace, workload, options);
  std::map<AdviceSource, int> sources;
  using Ending = std::pair<SimTime, std::uint32_t>;
  std::priority_queue<Ending, std::vector<Ending>, std::greater<>> running;
  for (std::uint32_t row = 0; row < trace.jobs.size(); ++row) {
    const Job& job = trace.jobs[row];
    for (; !running.empty() && running.top().first <= job.submit; running.pop()) {
      const auto [end, ended] = running.top();
      whole.finish(ended);
      in_loop.learn(finished_job(trace, ended, end));
    }
    const Advice told = whole.advise_row(row);
    const Estimate& expected = told.estimate;
    const EnteringJob entering{known_job(trace, row), job.submit};
    const Estimate advice = in_loop.advise_row(entering);
    CAPTURE(row);
    compare(in_loop.answer_row(entering), told.answer);
    CAPTURE(name_of(expected.source));
    REQUIRE(name_of(advice.source) == name_of(expected.source));
    REQUIRE(advice.p50.count() == expected.p50.count());
    REQUIRE(advice.p10.count() == expected.p10.count());
    REQUIRE(advice.p90.count() == expected.p90.count());
    REQUIRE(advice.runs == expected.runs);
    ++sources[advice.source];
    running.emplace(job.submit + job.duration, row);
  }
  return sources;
}

TEST_CASE("in the loop the Advisor gives the estimate of advise(), job by job") {
  const Trace trace = made_trace(400);
  const Workload workload = workload_of(trace);
  WorkloadAdvisor::Options options;
  options.estimate = &estimate_of("calibrated");
  options.answers = true;
  auto sources = compare(trace, workload, options);
  CHECK(sources[AdviceSource::resubmission] > 20);
  CHECK(sources[AdviceSource::similar] > 10);
  CHECK(sources[AdviceSource::none] > 0);
}

TEST_CASE("the same with the paper's similarity and estimate") {
  const Trace trace = made_trace(400);
  const Workload workload = workload_of(trace);
  WorkloadAdvisor::Options options;
  options.estimate = &estimate_of("paper");
  options.similarity.paper = true;
  options.answers = true;
  auto sources = compare(trace, workload, options);
  CHECK(sources[AdviceSource::resubmission] + sources[AdviceSource::similar] > 30);
}

TEST_CASE("with `top` the advice stands on so many matches") {
  const Trace trace = made_trace(400);
  const Workload workload = workload_of(trace);
  for (const bool paper : {false, true}) {
    WorkloadAdvisor::Options options;
    options.estimate = &estimate_of(paper ? "paper" : "calibrated");
    options.similarity.paper = paper;
    options.top = 2;
    WorkloadAdvisor advisor(trace, workload, options);
    std::size_t most = 0;
    for (std::uint32_t row = 0; row < trace.jobs.size(); ++row) {
      const Job& job = trace.jobs[row];
      const Estimate made = advisor.advise_row({known_job(trace, row), job.submit});
      if (made.source != AdviceSource::user_history) most = std::max(most, made.runs);
      advisor.learn(finished_job(trace, row, job.submit + job.duration));
    }
    CAPTURE(paper);
    CHECK(most == 2);
  }
}

TEST_CASE("a copy begins with an empty history and says the same from there on") {
  const Trace trace = made_trace(60);
  const Workload workload = workload_of(trace);
  const Estimator first = advisor_on(trace, workload)({});
  const auto teach = [&](const Estimator& estimator) {
    for (std::uint32_t row = 0; row < 50; ++row)
      estimator.learn(finished_job(trace, row, trace.jobs[row].submit + trace.jobs[row].duration));
  };
  const auto ask = [&](const Estimator& estimator) {
    return estimator({known_job(trace, 55), trace.jobs[55].submit});
  };
  teach(first);
  CHECK(ask(first).run_time.count() > 0);
  const Estimator copy = first;  // NOLINT(performance-unnecessary-copy-initialization): the point
  CHECK(ask(copy).blind);
  teach(copy);
  CHECK(ask(copy).run_time.count() == ask(first).run_time.count());
}

}  // namespace
}  // namespace schedmate::advisor
