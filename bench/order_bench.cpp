// SPDX-License-Identifier: Apache-2.0

/// What an order is worth where the cluster starts jobs itself: a trace replayed by a host, and the
/// same with the live loop beside it that says who goes first (src/live/ordering.hpp), reading the
/// cluster once a minute. Beside them what the simulator gives for schedulers that start jobs
/// themselves, some of which know run times as nobody can.
///
///   order_bench FORMAT:PATH > rows.csv

#include <fmt/format.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <map>
#include <schedmate/scheduler.hpp>
#include <schedmate/sim.hpp>
#include <schedmate/trace.hpp>
#include <string>
#include <vector>

#include "tests/replay/hosted.hpp"

namespace schedmate {
namespace {

template <class Value>
Value taken(Result<Value> result) {
  if (result) return std::move(*result);
  fmt::print(stderr, "order_bench: {}\n", result.error().message);
  std::exit(1);
}

class Bench {
 public:
  explicit Bench(const std::string& spec) : trace_(taken(read_trace(spec, {}))) {
    input_.truth = Truth(trace_);
    std::map<std::uint32_t, SimTime> ends;  // of each user's job that ends first, run at once
    for (const Job& job : trace_.jobs) {
      auto& end = ends.try_emplace(job.user, never).first->second;
      is_first_.push_back(job.submit < end);
      end = std::min(end, job.submit + job.duration);
    }
    fmt::print("scheduler,order,mean_jct_s,mean_wait_s,mean_wait_unknown_users_s,calls\n");
  }

  void run() const {
    for (const char* host : {"fifo", "backfill_easy", "slurm_backfill", "sjf"}) {
      host_alone(host);
      for (const char* known : {"last_k", "oracle"}) ordered(host, known);
    }
    for (const char* name : {"sjf", "qssf", "schedmate"})
      for (const char* known : {"last_k", "oracle"}) simulated(name, known);
  }

 private:
  [[nodiscard]] Scheduler scheduler(const char* name) const {
    return taken(make_scheduler(name, {*trace_.cluster}, {}));
  }
  void host_alone(const char* name) const {
    const Scheduler host = scheduler(name);
    print(name, "-", testing::hosted(trace_, *trace_.cluster, {host, believed(host)}));
  }
  void ordered(const char* name, const char* known) const {
    const Scheduler host = scheduler(name);
    const live::Ordering::Setup ordering{
        .work = scheduler("schedmate").expected_work,
        .estimator = testing::ByTrace(taken(make_estimator(known, input_)), trace_)};
    print(name, known,
          testing::hosted(trace_, *trace_.cluster, {host, believed(host)},
                          {.ordering = ordering, .often = Seconds(60)}));
  }
  void simulated(const char* name, const char* known) const {
    SimOptions options;
    options.estimator = taken(make_estimator(known, input_));
    const auto result = taken(simulate(trace_, *trace_.cluster, scheduler(name), options));
    print(fmt::format("simulated {}", name), known, {result.outcomes, {}});
  }
  [[nodiscard]] Estimator believed(const Scheduler& host) const {
    return taken(make_estimator(host.estimator, input_));
  }
  void print(const std::string& name, const char* order, const testing::Hosted& of) const {
    const auto all = testing::averages(trace_, of.outcomes);
    const auto unknown =
        testing::averages(trace_, of.outcomes, [&](std::size_t row) { return is_first_[row]; });
    fmt::print("{},{},{:.0f},{:.0f},{:.0f},{}\n", name, order, all.jct_s, all.wait_s,
               unknown.wait_s, of.counts.calls);
    std::fflush(stdout);
  }

  Trace trace_;
  EstimatorInput input_;
  std::vector<bool> is_first_;  // by row: nothing can be known of its user
};

}  // namespace
}  // namespace schedmate

int main(int count, char** words) {
  if (count != 2) return 2;
  schedmate::Bench(words[1]).run();
}
