// SPDX-License-Identifier: Apache-2.0

/// What the three answers about a job's length are worth (docs/decisions/0022): whether 80 % of the
/// completed runs lie in the 80 % interval, how many of them the suggested --time would have
/// killed, and how long it is beside what came true, beside the user's last runs and beside what
/// users asked for. Jobs are answered in the order of their submission, and nothing is known of a
/// run before it ended.
///
///   duration_study made FORMAT:PATH RECIPE.toml FOLDER_OF_DATA FIRST LAST > rows.csv
///     real rows with made-up metadata, one draw for each seed from FIRST to LAST, as it is made
///     and with everything mixed ("mixed": folder and command say nothing; what is left is the
///     user)
///   duration_study sacct DUMP > rows.csv
///     a dump of Slurm with its commands and limits (bench/duration_bed.py makes one); users whose
///     names begin alike but for the last letter are one draw

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <deque>
#include <functional>
#include <map>
#include <queue>
#include <schedmate/accounting.hpp>
#include <schedmate/estimator.hpp>
#include <schedmate/trace.hpp>
#include <schedmate/workload.hpp>

#include "advisor/advisor.hpp"
#include "advisor/workload_advisor.hpp"
#include "base/text.hpp"
#include "bench/empty_tree.hpp"
#include "trace/values.hpp"

namespace schedmate {
namespace {

double median_of(std::vector<double> values) {
  if (values.empty()) return std::nan("");
  const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
  std::ranges::nth_element(values, middle);
  return *middle;
}

/// A run that is over, and what was said of it.
struct Answered {
  RunAnswer answer;
  EndState state = EndState::unknown;
  double actual_s = 0;
  double asked_s = 0;  ///< the user's limit; 0 = not known
  double last_s = 0;   ///< mean of the user's last three runs of as many GPUs; 0 = there is none
};

/// The last three runs of a user with as many GPUs, whatever became of them.
class LastRuns {
 public:
  [[nodiscard]] double mean_s(const std::string& who) const {
    const auto found = runs_.find(who);
    if (found == runs_.end()) return 0;
    double sum = 0;
    for (const double each : found->second) sum += each;
    return sum / static_cast<double>(found->second.size());
  }
  void add(const std::string& who, double duration_s) {
    auto& runs = runs_[who];
    runs.push_back(duration_s);
    if (runs.size() > 3) runs.pop_front();
  }

 private:
  std::map<std::string, std::deque<double>> runs_;
};

/// The mean of the last runs times this kills as large a share of the runs as the suggestions did:
/// what last_k could do at best, chosen in hindsight.
double factor_of_equal_risk(const std::vector<Answered>& runs, double risk) {
  std::vector<double> ratios;
  for (const Answered& each : runs)
    if (each.last_s > 0) ratios.push_back(each.actual_s / each.last_s);
  if (ratios.empty()) return std::nan("");
  std::ranges::sort(ratios);
  const auto at = static_cast<std::size_t>((1 - risk) * static_cast<double>(ratios.size()));
  return ratios[std::min(at, ratios.size() - 1)];
}

constexpr double risk = 0.05;

class Row {
 public:
  explicit Row(std::string name) : name_(std::move(name)) {}
  template <class Value>
  Row& add(std::string_view column, const Value& value) {
    columns_ += fmt::format(",{}", column);
    values_ += fmt::format(",{:.6g}", static_cast<double>(value));
    return *this;
  }
  void print(bool head) const {
    if (head) fmt::print("what{}\n", columns_);
    fmt::print("{}{}\n", name_, values_);
  }

 private:
  std::string name_, columns_, values_;
};

/// One row of figures over the runs that completed.
void report(const std::string& name, const std::vector<Answered>& all, bool head) {
  std::vector<Answered> runs;
  std::size_t asked = 0;
  for (const Answered& each : all) {
    if (each.state != EndState::completed) continue;
    ++asked;
    if (each.answer.known()) runs.push_back(each);
  }
  double inside = 0;
  double below = 0;
  double killed = 0;
  double with_limit = 0;
  std::vector<double> width, miss, limit, last, shorter, last_miss;
  for (const Answered& each : runs) {
    const RunAnswer& said = each.answer;
    const double actual = std::max(1.0, each.actual_s);
    below += actual < said.p10.count() ? 1 : 0;
    inside += actual >= said.p10.count() && actual <= said.p90.count() ? 1 : 0;
    width.push_back(said.p90 / said.p10);
    miss.push_back(std::exp(std::abs(std::log(said.p50.count() / actual))));
    const auto suggested = static_cast<double>(said.time_limit->suggested.count());
    killed += actual > suggested ? 1 : 0;
    limit.push_back(suggested / actual);
    if (each.last_s > 0) {
      last.push_back(each.last_s / actual);
      last_miss.push_back(std::exp(std::abs(std::log(each.last_s / actual))));
    }
    if (each.asked_s <= 0) continue;
    ++with_limit;
    shorter.push_back(suggested / each.asked_s);
  }
  const double factor =
      factor_of_equal_risk(runs, killed / std::max(1.0, static_cast<double>(runs.size())));
  for (double& each : last) each *= factor;
  const auto share = [&](double part, double of) {
    return of > 0 ? 100 * part / of : std::nan("");
  };
  const auto count = static_cast<double>(runs.size());
  Row(name)
      .add("completed", asked)
      .add("answered_pct", share(count, static_cast<double>(asked)))
      .add("inside_80_pct", share(inside, count))
      .add("below_pct", share(below, count))
      .add("p90_over_p10_median", median_of(width))
      .add("p50_off_by_median", median_of(miss))
      .add("last_k_off_by_median", median_of(last_miss))
      .add("killed_pct", share(killed, count))
      .add("limit_over_actual_median", median_of(limit))
      .add("last_k_limit_over_actual_median", median_of(last))
      .add("limit_over_asked_median", median_of(shorter))
      .add("with_asked_limit", with_limit)
      .print(head);
}

/// What ended before a submission is known at it.
class Running {
 public:
  void begin(SimTime end, std::size_t row) { running_.emplace(end, row); }
  void finish_until(SimTime now, const std::function<void(std::size_t, SimTime)>& finish) {
    for (; !running_.empty() && running_.top().first <= now; running_.pop())
      finish(running_.top().second, running_.top().first);
  }

 private:
  using Ending = std::pair<SimTime, std::size_t>;
  std::priority_queue<Ending, std::vector<Ending>, std::greater<>> running_;
};

const EstimateRow& calibrated() { return **find_estimate("calibrated"); }

std::vector<Answered> replay_made(const Trace& trace, const Workload& workload) {
  advisor::WorkloadAdvisor::Options options;
  options.estimate = &calibrated();
  options.answers = true;
  options.limits.risk = risk;
  advisor::WorkloadAdvisor advisor(trace, workload, options);
  LastRuns last;
  Running running;
  std::vector<Answered> answered;
  const auto shape = [&](std::size_t row) {
    return fmt::format("{} {}", trace.jobs[row].user, trace.jobs[row].gpus);
  };
  for (std::size_t i = 0; i < trace.jobs.size(); ++i) {
    const Job& job = trace.jobs[i];
    running.finish_until(job.submit, [&](std::size_t row, SimTime end) {
      advisor.learn(finished_job(trace, row, end));
      last.add(shape(row), static_cast<double>(trace.jobs[row].duration.count()));
    });
    answered.push_back({advisor.answer_row({known_job(trace, i), job.submit}), job.state,
                        static_cast<double>(job.duration.count()), 0, last.mean_s(shape(i))});
    running.begin(job.submit + job.duration, i);
  }
  return answered;
}

int made(const std::vector<std::string>& arguments) {
  const auto trace = read_trace(arguments[0], {});
  const std::string& data = arguments[2];
  const auto recipe = read_recipe(arguments[1]);
  const auto interference = read_interference(data + "/interference.toml");
  const auto errors = read_extraction_errors(data + "/extraction_errors.toml");
  if (!trace || !recipe || !interference || !errors) {
    fmt::print(stderr, "duration_study: cannot read the trace, the recipe or the data folder\n");
    return 3;
  }
  const auto first = parse_number<std::uint64_t>(arguments[3]).value_or(1);
  const auto last = parse_number<std::uint64_t>(arguments[4]).value_or(first);
  bool head = true;
  for (const auto& [name, shuffle] :
       {std::pair("as made", MetadataShuffle::none), std::pair("mixed", MetadataShuffle::all)}) {
    for (std::uint64_t seed = first; seed <= last; ++seed) {
      WorkloadOptions options;
      options.shuffle = shuffle;
      options.seed = seed;
      const auto workload = make_workload(*trace, {*recipe, *interference, *errors}, options);
      if (!workload) {
        fmt::print(stderr, "duration_study: {}\n", workload.error().message);
        return 3;
      }
      report(fmt::format("{} seed {}", name, seed), replay_made(*trace, *workload), head);
      head = false;
    }
  }
  return 0;
}

/// The real Advisor over a store, as the commands were submitted.
class DumpReplay {
 public:
  explicit DumpReplay(const AccountingDump& dump) : dump_(dump) {}

  std::map<std::string, std::vector<Answered>> run() {
    std::vector<std::size_t> order;
    for (std::size_t i = 0; i < dump_.jobs.size(); ++i)
      if (!dump_.jobs[i].running && !dump_.jobs[i].id.contains('#')) order.push_back(i);
    std::ranges::stable_sort(order, {}, [&](std::size_t i) { return dump_.jobs[i].submit; });
    Running running;
    std::map<std::string, std::vector<Answered>> draws;
    for (const std::size_t i : order) {
      const AccountedJob& job = dump_.jobs[i];
      running.finish_until(job.submit, [&](std::size_t row, SimTime) { finish(row); });
      const EndState state = trace::parse_state(job.state);
      const Answered each{
          advise_job(job), state, seconds(job),
          job.limit_kind == LimitKind::given ? static_cast<double>(job.limit.count()) : 0,
          last_.mean_s(shape(job))};
      draws[job.user.substr(0, job.user.size() - 1)].push_back(each);
      draws["all"].push_back(each);
      running.begin(job.end, i);
    }
    return draws;
  }

 private:
  static double seconds(const AccountedJob& job) {
    return static_cast<double>((job.end - job.start).count());
  }
  static std::string shape(const AccountedJob& job) {
    return fmt::format("{} {}", job.user, job.gpus);
  }

  RunAnswer advise_job(const AccountedJob& job) {
    Submission submission;
    submission.id = job.id;
    submission.user = job.user;
    submission.vc = job.partition;
    submission.submit = job.submit;
    submission.limits.risk = risk;
    submission.job = {job.work_dir, ".", job.submit_line, static_cast<int>(job.gpus), 1, ""};
    const advisor::AdvisorParts parts{*store_,
                                      *index_,
                                      advisor::FlagRules::built_in(),
                                      calibrated(),
                                      {},
                                      [](const JobSource&) -> Result<Facts> { return Facts(); },
                                      empty_tree(),
                                      Role::cluster_operator};
    const auto advised = advisor::advise(submission, parts);
    if (!advised || !advisor::remember(*advised, parts)) std::abort();
    return advised->advice.answer;
  }

  void finish(std::size_t row) {
    const AccountedJob& job = dump_.jobs[row];
    Outcome outcome;
    outcome.state = trace::parse_state(job.state);
    outcome.duration = job.end - job.start;
    outcome.start = job.start;
    outcome.end = job.end;
    if (!store_->finish(job.id, outcome)) std::abort();
    last_.add(shape(job), seconds(job));
  }

  const AccountingDump& dump_;
  LastRuns last_;
  std::unique_ptr<Store> store_ = std::move(*open_store("memory"));
  Embedder embedder_ = *make_embedder("lexical");
  std::unique_ptr<TextIndex> index_ = std::move(*open_index(*store_, embedder_));
};

int of_dump(const std::string& path) {
  const auto dump = read_accounting(path, {});
  if (!dump) {
    fmt::print(stderr, "duration_study: {}\n", dump.error().message);
    return 3;
  }
  bool head = true;
  for (const auto& [draw, runs] : DumpReplay(*dump).run()) {
    report(draw, runs, head);
    head = false;
    std::map<std::string_view, std::size_t> ends;
    for (const Answered& each : runs) ++ends[to_string(each.state)];
    std::string text;
    for (const auto& [end, count] : ends) text += fmt::format(" {} {}", count, end);
    fmt::print(stderr, "{}:{}\n", draw, text);
  }
  return 0;
}

}  // namespace
}  // namespace schedmate

int main(int argc, char** argv) {
  const std::vector<std::string> arguments(argv + std::min(argc, 2), argv + argc);
  const std::string_view what = argc > 1 ? argv[1] : "";
  if (what == "made" && arguments.size() == 5) return schedmate::made(arguments);
  if (what == "sacct" && arguments.size() == 1) return schedmate::of_dump(arguments[0]);
  fmt::print(stderr,
             "usage: duration_study made FORMAT:PATH RECIPE.toml FOLDER_OF_DATA FIRST LAST\n"
             "       duration_study sacct DUMP\n");
  return 2;
}
