// SPDX-License-Identifier: Apache-2.0
#include "study/elastic_experiment.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "base/input.hpp"
#include "base/sha256.hpp"
#include "study/elastic_study.hpp"
#include "study/evaluate_trace.hpp"
#include "study/in_parallel.hpp"

namespace schedmate::study {
namespace {

/// One run, as the report measures it.
struct ElasticFigures {
  Replayed replayed;
  double restarts = 0, matched = 0;  ///< a job; share of the jobs
};

ElasticFigures figures_of_run(const elastic::ElasticResult& result) {
  ElasticFigures figures;
  double first_s = std::numeric_limits<double>::infinity();
  double last_s = 0;
  for (const elastic::ElasticOutcome& job : result.jobs) {
    figures.replayed.jct_s.push_back(std::max(1.0, job.completion_s - job.submit_s));
    figures.replayed.held_gpu_s += job.spent.held();
    figures.restarts += job.restarts;
    figures.matched += job.matches.empty() ? 0 : 1;
    first_s = std::min(first_s, job.submit_s);
    last_s = std::max(last_s, job.completion_s);
  }
  const auto jobs = static_cast<double>(result.jobs.size());
  figures.replayed.makespan_s = last_s - first_s;
  figures.restarts /= jobs;
  figures.matched /= jobs;
  return figures;
}

void append_numbers(RunNumbers& numbers, const std::vector<ElasticFigures>& traces) {
  numbers.push_back(static_cast<double>(traces.size()));
  for (const ElasticFigures& each : traces) {
    const Replayed& run = each.replayed;
    study::append_numbers(numbers, run.jct_s);
    for (const double number :
         {run.makespan_s, run.held_gpu_s, run.packed_gpu_s, each.restarts, each.matched})
      numbers.push_back(number);
  }
}

void take_numbers(NumberReader& numbers, std::vector<ElasticFigures>& traces) {
  traces.resize(numbers.next_count());
  for (ElasticFigures& each : traces) {
    Replayed& run = each.replayed;
    study::take_numbers(numbers, run.jct_s);
    for (double* number :
         {&run.makespan_s, &run.held_gpu_s, &run.packed_gpu_s, &each.restarts, &each.matched})
      *number = numbers.next();
  }
}

/// The jobs of several traces as one; the makespan is the mean one.
ElasticFigures together(const std::vector<ElasticFigures>& traces) {
  ElasticFigures all;
  const auto count = static_cast<double>(traces.size());
  for (const ElasticFigures& each : traces) {
    all.replayed.jct_s.insert(all.replayed.jct_s.end(), each.replayed.jct_s.begin(),
                              each.replayed.jct_s.end());
    all.replayed.held_gpu_s += each.replayed.held_gpu_s;
    all.replayed.makespan_s += each.replayed.makespan_s / count;
    const double share = static_cast<double>(each.replayed.jct_s.size());
    all.restarts += each.restarts * share;
    all.matched += each.matched * share;
  }
  all.restarts /= static_cast<double>(all.replayed.jct_s.size());
  all.matched /= static_cast<double>(all.replayed.jct_s.size());
  return all;
}

struct ElasticArm {
  settings::Settings settings;
  PolicySpec policy;
  std::size_t host = 0;
};

/// By arm, perturbation and trace.
using AllFigures = std::vector<std::vector<std::vector<ElasticFigures>>>;

class ElasticExperiment {
 public:
  ElasticExperiment(const EvaluationInput& input, std::span<const std::size_t> counts)
      : input_(input), counts_(counts), rows_(counts.size()) {}

  Result<std::vector<FigureRows>> run() {
    if (auto read = read_traces(); !read) return tl::unexpected(read.error());
    for (RunName run; run.point < input_.experiment.points.size(); ++run.point) {
      const std::string& point = input_.experiment.points[run.point];
      if (auto made = make_arms(point); !made) return tl::unexpected(made.error());
      const auto figures = run_point(point, run);
      if (!figures) return tl::unexpected(figures.error());
      if (input_.runs.is_part()) continue;
      for (std::size_t trace = 0; trace < traces_.size(); ++trace)
        add_rows(point, input_.experiment.traces[trace].name,
                 [&](std::size_t arm, std::size_t k) { return (*figures)[arm][k][trace]; });
      if (traces_.size() > 1)
        add_rows(point, "all",
                 [&](std::size_t arm, std::size_t k) { return together((*figures)[arm][k]); });
    }
    return std::move(rows_);
  }

 private:
  Result<void> read_traces() {
    for (const ExperimentTrace& trace : input_.experiment.traces) {
      const auto settings = settings_of(input_.session.settings, input_.experiment,
                                        input_.experiment.arms[0], input_.experiment.points[0]);
      if (!settings) return tl::unexpected(settings.error());
      auto inputs = read_elastic(places_of(*settings, trace.spec, trace.cluster));
      if (!inputs) return tl::unexpected(inputs.error());
      traces_.push_back(std::move(*inputs));
    }
    return {};
  }

  Result<void> make_arms(const std::string& point) {
    arms_.clear();
    const auto& specs = input_.experiment.arms;
    for (const ExperimentArm& spec : specs) {
      auto settings = settings_of(input_.session.settings, input_.experiment, spec, point);
      if (!settings) return tl::unexpected(settings.error());
      const auto names = elastic_policy_names();
      auto policy = parse_policy(fmt::format("{}@{}", policy_at(spec, point), spec.label), names);
      if (!policy) return tl::unexpected(policy.error());
      const auto host = std::ranges::find(specs, spec.host, &ExperimentArm::label);
      arms_.push_back({std::move(*settings), std::move(*policy),
                       static_cast<std::size_t>(host - specs.begin()) % specs.size()});
    }
    return {};
  }

  /// All arms and traces under one perturbation: by arm, then by trace.
  using ByArm = std::vector<std::vector<ElasticFigures>>;

  Result<ByArm> run_perturbation(std::size_t k) const {
    ByArm figures(arms_.size());
    for (std::size_t arm = 0; arm < arms_.size(); ++arm) {
      for (const ElasticInputs& trace : traces_) {
        const auto result = run_elastic(trace, arms_[arm].settings, arms_[arm].policy, k + 1);
        if (!result) return tl::unexpected(result.error());
        figures[arm].push_back(figures_of_run(*result));
      }
    }
    return figures;
  }

  Result<AllFigures> run_point(const std::string& point, const RunName& run) const {
    const std::size_t count = std::ranges::max(counts_);
    AllFigures all(arms_.size(), AllFigures::value_type(count));
    const settings::ShowProgress bar =
        input_.session.progress(fmt::format("{} {}", input_.experiment.name, point));
    const auto run_all = [&](std::size_t k) -> Result<void> {
      RunName name = run;
      name.perturbation = k;
      auto figures = kept_or_made<ByArm>(input_.runs, name, [&] { return run_perturbation(k); });
      if (!figures) return tl::unexpected(figures.error());
      if (!*figures) return {};
      for (std::size_t arm = 0; arm < arms_.size(); ++arm)
        all[arm][k] = std::move((**figures)[arm]);
      return {};
    };
    const auto ran = in_parallel(count, input_.threads, bar, run_all);
    if (!ran) return tl::unexpected(ran.error());
    return all;
  }

  /// By arm and perturbation.
  using Measured = std::vector<std::vector<ElasticFigures>>;

  template <class FiguresOf>
  void add_rows(const std::string& point, const std::string& trace, const FiguresOf& figures_of) {
    FigureRow base;
    base.experiment = input_.experiment.name;
    base.trace = trace;
    base.at = point;
    base.command = input_.command;
    for (std::size_t i = 0; i < counts_.size(); ++i) {
      Measured measured(arms_.size());
      for (std::size_t arm = 0; arm < arms_.size(); ++arm)
        for (std::size_t k = 0; k < counts_[i]; ++k) measured[arm].push_back(figures_of(arm, k));
      add_rows(base, measured, rows_[i]);
    }
  }

  void add_rows(FigureRow base, const Measured& measured, FigureRows& rows) const {
    const auto& specs = input_.experiment.arms;
    for (std::size_t arm = 0; arm < arms_.size(); ++arm) {
      const std::size_t host = arms_[arm].host;
      base.arm = specs[arm].label;
      base.host = specs[host].label;
      base.policy = policy_at(specs[arm], base.at);
      for (const auto& [key, value] : specs[arm].settings)
        base.policy += fmt::format(" {}={}", key, value);
      std::vector<Figures> compared;
      for (std::size_t k = 0; k < measured[arm].size(); ++k)
        compared.push_back(compare(measured[host][k].replayed, measured[arm][k].replayed));
      std::ranges::copy(arm == 0 ? host_rows(base, compared) : arm_rows(base, compared),
                        std::back_inserter(rows));
      add_means(base, measured[arm], rows);
    }
  }

  static void add_means(const FigureRow& base, const std::vector<ElasticFigures>& measured,
                        FigureRows& rows) {
    const auto add = [&](std::string_view name, double ElasticFigures::* figure) {
      std::vector<double> values;
      for (const ElasticFigures& each : measured) values.push_back(each.*figure);
      FigureRow& row = rows.emplace_back(base);
      row.figure = name;
      row.interval = mean_interval(values);
    };
    add("restarts", &ElasticFigures::restarts);
    add("matched", &ElasticFigures::matched);
  }

  const EvaluationInput& input_;
  std::span<const std::size_t> counts_;
  std::vector<ElasticInputs> traces_;
  std::vector<ElasticArm> arms_;
  std::vector<FigureRows> rows_;  // by count
};

}  // namespace

bool decides_elastic_rows(std::string_view key) {
  return key.starts_with("elastic.") || key.starts_with("cost.") || key == "seed" ||
         key == "workload_errors_pct";
}

Result<bool> is_elastic_experiment(const ExperimentFile& experiment) {
  const auto count = std::ranges::count_if(
      experiment.traces, [](const ExperimentTrace& trace) { return is_elastic_trace(trace.spec); });
  if (count == 0) return false;
  if (static_cast<std::size_t>(count) == experiment.traces.size() && !experiment.estimates)
    return true;
  return fail(ErrorCode::invalid,
              fmt::format("{}: either all traces of an experiment are elastic (sia:FILE) or none "
                          "is, and elastic ones have no estimates",
                          experiment.path));
}

Result<std::string> elastic_fingerprint(const settings::Settings& settings,
                                        const ExperimentFile& experiment,
                                        const std::string& command) {
  std::string all = fmt::format("{}\n{}\n", command, experiment.text);
  const auto set = settings_of(settings, experiment, experiment.arms[0], experiment.points[0]);
  if (!set) return tl::unexpected(set.error());
  all += unusual(*set, decides_elastic_rows);
  for (const ExperimentTrace& trace : experiment.traces) {
    const auto files = elastic_files(places_of(*set, trace.spec, trace.cluster));
    if (!files) return tl::unexpected(files.error());
    for (const std::string& path : *files) {
      const auto text = read_file(path);
      if (!text) return tl::unexpected(text.error());
      all += sha256(*text) + "\n";
    }
  }
  return sha256(all);
}

Result<std::vector<FigureRows>> run_elastic_experiment(const EvaluationInput& input,
                                                       std::span<const std::size_t> counts) {
  return ElasticExperiment(input, counts).run();
}

}  // namespace schedmate::study
