// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <schedmate/estimator.hpp>
#include <span>
#include <unordered_map>
#include <vector>

#include "base/random.hpp"
#include "base/text.hpp"
#include "policy/gbdt_estimator.hpp"
#include "policy/past_runs.hpp"

namespace schedmate {
namespace {

struct EstimatorSpec {
  std::string_view argument;  // after the first ':', "" when absent
  const EstimatorInput& input;
};

Result<Estimator> make_oracle(const EstimatorSpec& spec) {
  const bool with_gpu_use = spec.argument == "use";
  if (!spec.argument.empty() && !with_gpu_use)
    return fail(
        ErrorCode::unsupported,
        fmt::format("\"{}\" after an oracle's name: only use is allowed there", spec.argument));
  return [truth = *spec.input.truth, with_gpu_use](const EnteringJob& at) {
    const FractionalSeconds duration = truth.run_time(at.job);
    Prediction prediction{.run_time = duration,
                          .distribution = RunTimeDistribution::point(duration)};
    if (const Profile* profile = at.job.profile; with_gpu_use && profile != nullptr)
      prediction.use = GpuUse{profile->gpu_util_pct, profile->memory_util_pct, profile->memory_mib};
    return prediction;
  };
}

Result<Estimator> make_column(const EstimatorSpec& spec) {
  const std::vector<double>* column = spec.input.truth->column(spec.argument);
  if (column == nullptr) {
    const std::string others = spec.input.truth->columns();
    return fail(ErrorCode::invalid,
                fmt::format("estimator column:{0}: the trace has no numeric column {0} ({1})",
                            spec.argument, others.empty() ? "it has none" : "it has " + others));
  }
  return [column](const EnteringJob& at) {
    return Prediction{FractionalSeconds((*column)[at.job.number])};
  };
}

/// Of an estimator that takes no argument.
Result<Estimator> plain(const EstimatorSpec& spec, std::string_view name, Estimator estimator) {
  if (spec.argument.empty()) return estimator;
  return fail(ErrorCode::unsupported,
              fmt::format("estimate={}:{}: {} takes no argument", name, spec.argument, name));
}

struct UserMean {
  policy::PastRuns past;

  void learn(const FinishedJob& ended) { past.add(ended); }
  Prediction operator()(const EnteringJob& at) const { return past.of_user(at.job.user); }
};

Result<Estimator> make_user_mean(const EstimatorSpec& spec) {
  return plain(spec, "user_mean", UserMean());
}

struct Typical {
  policy::PastRuns past;

  void learn(const FinishedJob& ended) { past.add(ended); }
  Prediction operator()(const EnteringJob&) const { return past.typical(); }
};

Result<Estimator> make_typical(const EstimatorSpec& spec) {
  return plain(spec, "typical", Typical());
}

Result<Estimator> advisor_of(const EstimatorSpec& spec, bool paper) {
  if (!spec.input.advisor) {
    return fail(
        ErrorCode::invalid,
        "the advisor needs to know what the jobs are: give it a workload (--set workload=light or "
        "heavy), or use advice=last_k");
  }
  AdvisorChoice choice{paper};
  if (!spec.argument.empty()) {
    choice.top = parse_number<std::size_t>(spec.argument);
    if (choice.top.value_or(0) == 0) {
      return fail(ErrorCode::unsupported,
                  fmt::format("{}:{}: must be a count of similar jobs, 1 or more",
                              paper ? "advisor_paper" : "advisor", spec.argument));
    }
  }
  return spec.input.advisor(choice);
}

Result<Estimator> make_advisor(const EstimatorSpec& spec) { return advisor_of(spec, false); }
Result<Estimator> make_advisor_paper(const EstimatorSpec& spec) { return advisor_of(spec, true); }

struct AdvisorOracle {
  Estimator advisor, truth;

  void learn(const FinishedJob& ended) const { advisor.learn(ended); }
  Prediction operator()(const EnteringJob& at) const {
    Prediction prediction = advisor(at);
    if (prediction.blind) return prediction;
    Prediction right = truth(at);
    right.source = prediction.source;
    if (!prediction.use) right.use.reset();
    return right;
  }
};

/// What the Advisor would be worth if it were never wrong: what separates it from the oracle is
/// then the jobs on which it has no answer.
Result<Estimator> make_advisor_oracle(const EstimatorSpec& spec) {
  auto truth = make_oracle(spec);
  if (!truth) return truth;
  auto advisor = advisor_of({"", spec.input}, false);
  if (!advisor) return advisor;
  return AdvisorOracle{std::move(*advisor), std::move(*truth)};
}

Result<std::size_t> count_of(const EstimatorSpec& spec, std::string_view name) {
  const auto k = spec.argument.empty() ? 3 : parse_number<std::size_t>(spec.argument).value_or(0);
  if (k > 0) return k;
  return fail(ErrorCode::unsupported,
              fmt::format("estimate={}:{}: must be a count of 1 or more", name, spec.argument));
}

/// The latest `count` values.
template <class Value>
class RecentValues {
 public:
  void add(const Value& value, std::size_t count) {
    if (values_.size() == count) values_.erase(values_.begin());
    values_.push_back(value);
  }
  [[nodiscard]] std::span<const Value> values() const { return values_; }  // oldest first

 private:
  std::vector<Value> values_;
};

std::optional<GpuUse> use_of(const KnownJob& job) {
  if (job.profile == nullptr) return std::nullopt;
  return GpuUse{job.profile->gpu_util_pct, job.profile->memory_util_pct, job.profile->memory_mib};
}

/// Of what was measured, if anything was.
std::optional<GpuUse> mean_of(std::span<const GpuUse> uses) {
  if (uses.empty()) return std::nullopt;
  const auto share = 1 / static_cast<double>(uses.size());
  GpuUse mean;
  for (const GpuUse& use : uses) {
    mean.gpu_util_pct += share * use.gpu_util_pct;
    mean.memory_util_pct += share * use.memory_util_pct;
    mean.memory_mib += share * use.memory_mib;
  }
  return mean;
}

class LastK {
 public:
  LastK(std::size_t count, bool with_use) : count_(count), with_use_(with_use) {}

  void learn(const FinishedJob& ended) {
    past_.add(ended);
    Alike& alike = by_shape_[shape_of(ended.job)];
    alike.run_times.add(ended.run_time, count_);
    if (const auto use = with_use_ ? use_of(ended.job) : std::nullopt) alike.uses.add(*use, count_);
  }
  Prediction operator()(const EnteringJob& at) const {
    const auto found = by_shape_.find(shape_of(at.job));
    if (found == by_shape_.end()) return past_.of_user(at.job.user);
    policy::PastRuns::Mean mean;
    for (const Seconds run_time : found->second.run_times.values()) mean.add(run_time);
    Prediction prediction{mean.value()};
    prediction.use = mean_of(found->second.uses.values());
    return prediction;
  }

 private:
  static std::uint64_t shape_of(const KnownJob& job) {
    return (std::uint64_t{job.user} << 32U) | static_cast<std::uint32_t>(job.gpus);
  }

  struct Alike {
    RecentValues<Seconds> run_times;
    RecentValues<GpuUse> uses;
  };

  std::size_t count_;
  bool with_use_;
  policy::PastRuns past_;
  std::unordered_map<std::uint64_t, Alike> by_shape_;  // user and GPUs
};

/// last_k, last_k:K, last_k:use or last_k:K:use.
Result<Estimator> make_last_k(const EstimatorSpec& spec) {
  const bool with_use = spec.argument == "use" || spec.argument.ends_with(":use");
  EstimatorSpec counted = spec;
  if (with_use) {
    const std::size_t colon = spec.argument.rfind(':');
    counted.argument = colon == std::string_view::npos ? "" : spec.argument.substr(0, colon);
  }
  return count_of(counted, "last_k").map([&](std::size_t k) {
    return Estimator(LastK(k, with_use));
  });
}

/// What retrieval is worth that finds the jobs of the same made-up template, if there are any.
class OracleRetrieval {
 public:
  OracleRetrieval(std::span<const std::uint32_t> templates, std::size_t count)
      : templates_(templates), count_(count) {}

  void learn(const FinishedJob& ended) {
    past_.add(ended);
    const Alike alike{ended.run_time, use_of(ended.job)};
    by_template_[templates_[ended.job.number]].add(alike, count_);
  }
  Prediction operator()(const EnteringJob& at) const {
    const auto found = by_template_.find(templates_[at.job.number]);
    if (found != by_template_.end()) return mean_of(found->second.values());
    Prediction none = past_.of_user(at.job.user);
    none.blind = true;
    return none;
  }

 private:
  struct Alike {
    Seconds run_time;
    std::optional<GpuUse> use;
  };
  static Prediction mean_of(std::span<const Alike> jobs) {
    const auto share = 1 / static_cast<double>(jobs.size());
    Prediction mean;
    GpuUse use;
    for (const Alike& job : jobs) {
      mean.run_time += share * FractionalSeconds(job.run_time);
      if (!job.use) continue;
      use.gpu_util_pct += share * job.use->gpu_util_pct;
      use.memory_util_pct += share * job.use->memory_util_pct;
      use.memory_mib += share * job.use->memory_mib;
    }
    if (use.memory_mib > 0) mean.use = use;
    return mean;
  }

  std::span<const std::uint32_t> templates_;  // by row
  std::size_t count_;
  policy::PastRuns past_;
  std::unordered_map<std::uint32_t, RecentValues<Alike>> by_template_;
};

Result<Estimator> make_oracle_retrieval(const EstimatorSpec& spec) {
  const auto templates = spec.input.truth->templates();
  if (templates.empty())
    return fail(ErrorCode::invalid,
                "oracle_retrieval needs to know which jobs are similar: give it a workload (--set "
                "workload=light or heavy)");
  return count_of(spec, "oracle_retrieval").map([&](std::size_t count) {
    return Estimator(OracleRetrieval(templates, count));
  });
}

/// The next limit up that a person would type: quarter hours to two hours, hours to a day, then
/// days.
double as_typed(double seconds) {
  constexpr double quarter = 900;
  constexpr double hour = 3600;
  constexpr double day = 86400;
  const double step = seconds <= 2 * hour ? quarter : seconds <= day ? hour : day;
  return std::ceil(seconds / step) * step;
}

/// syn_limit: duration x (1 + exponential with mean FACTOR - 1), rounded up as typed. Never below
/// the duration, so no plan that trusts it is ever too short. docs/decisions/0006.
Result<Estimator> make_limit(const EstimatorSpec& spec) {
  const double factor =
      spec.argument.empty() ? 3.0 : parse_number<double>(spec.argument).value_or(0);
  if (!(factor >= 1) || factor > 1000) {
    return fail(ErrorCode::unsupported,
                fmt::format("estimate=limit:{}: must be a mean over-estimate from 1 to 1000",
                            spec.argument));
  }
  return [factor, seed = spec.input.seed, truth = *spec.input.truth](const EnteringJob& at) {
    Random random(mix(seed) ^ at.job.number);
    const double over = 1 - (factor - 1) * std::log(1 - random.uniform());
    const double wanted = std::max<double>(1, truth.run_time(at.job).count()) * over;
    return Prediction{FractionalSeconds(factor == 1 ? wanted : as_typed(wanted))};
  };
}

/// How far the estimates of a trained model are off, as Helios makes them up for traces without a
/// history (SC'21, released simulator).
double drawn_error(Random& random) {
  struct Band {
    double until;  // cumulated share of the jobs
    double least, most;
  };
  constexpr std::array bands{Band{0.1, 0, 0.1}, Band{0.5, 0.1, 0.5}, Band{0.7, 0.5, 1},
                             Band{0.9, 1, 10}, Band{1, 10, 100}};
  const double which = random.uniform();
  const auto* band = std::ranges::find_if(bands, [&](const Band& b) { return which < b.until; });
  const double size = std::lerp(band->least, band->most, random.uniform());
  return random.uniform() < 0.5 ? -size : size;
}

Result<Estimator> make_noisy_oracle(const EstimatorSpec& spec) {
  const auto noisy = [seed = spec.input.seed, truth = *spec.input.truth](const EnteringJob& at) {
    Random random(mix(seed) ^ at.job.number);
    const double estimate = truth.run_time(at.job).count() * (1 + drawn_error(random));
    return Prediction{FractionalSeconds(std::max(1.0, estimate))};
  };
  return plain(spec, "noisy_oracle", noisy);
}

Result<Estimator> make_gbdt(const EstimatorSpec& spec) {
  const bool profiled = spec.argument == "profiled";
  if (!profiled && !spec.argument.empty()) {
    return fail(
        ErrorCode::unsupported,
        fmt::format("estimate=gbdt:{}: must be \"gbdt\" or \"gbdt:profiled\"", spec.argument));
  }
  return make_last_k({"", spec.input}).map([&](const Estimator& last_k) {
    return policy::gbdt_on(last_k, profiled);
  });
}

struct Watched {
  Estimator estimator;
  EstimatorWatch look;

  void learn(const FinishedJob& ended) const { estimator.learn(ended); }
  Prediction operator()(const EnteringJob& at) const {
    Prediction prediction = estimator(at);
    look(at, prediction);
    return prediction;
  }
};

struct EstimatorEntry {
  EstimatorRow row;
  Result<Estimator> (*make)(const EstimatorSpec&);
};
/// What a row reads, as in estimators.def.
struct Reads {
  bool truth, oracle;
};
constexpr Reads past{false, false};
constexpr Reads stated{true, false};
constexpr Reads truth{true, true};
constexpr std::array entries{
#define ESTIMATOR(name, reads, summary) \
  EstimatorEntry{{#name, summary, (reads).truth, (reads).oracle}, make_##name},
#include "policy/estimators.def"
#undef ESTIMATOR
};

constexpr auto rows = [] {
  std::array<EstimatorRow, entries.size()> table;
  std::ranges::transform(entries, table.begin(), &EstimatorEntry::row);
  return table;
}();

tl::unexpected<Error> no_truth(std::string_view name) {
  std::vector<std::string_view> others;
  for (const EstimatorRow& row : rows)
    if (!row.reads_truth) others.push_back(row.name);
  return fail(ErrorCode::unsupported,
              fmt::format("estimate={}: reads what only a replay knows about its jobs; on a live "
                          "cluster use one of: {}",
                          name, fmt::join(others, ", ")));
}

}  // namespace

std::span<const EstimatorRow> estimator_rows() { return rows; }

namespace {

/// Of "NAME" or "NAME:ARGUMENT"; rows.end() for an unknown name.
auto row_of(std::string_view spec) {
  return std::ranges::find(rows, spec.substr(0, spec.find(':')), &EstimatorRow::name);
}

}  // namespace

bool is_oracle(std::string_view spec) {
  const auto* const row = row_of(spec);
  return row != rows.end() && row->oracle;
}

bool reads_truth(std::string_view spec) {
  const auto* const row = row_of(spec);
  return row != rows.end() && row->reads_truth;
}

Estimator watched(Estimator estimator, EstimatorWatch look) {
  return Watched{std::move(estimator), std::move(look)};
}

Result<Estimator> make_estimator(std::string_view spec, const EstimatorInput& input) {
  const auto own = std::ranges::find(input.own, spec, &NamedEstimator::name);
  if (own != input.own.end()) return own->estimator;
  const std::size_t colon = spec.find(':');
  const std::string_view name = spec.substr(0, colon);
  const std::string_view argument = colon == std::string_view::npos ? "" : spec.substr(colon + 1);
  for (const EstimatorEntry& entry : entries) {
    if (entry.row.name != name) continue;
    if (entry.row.reads_truth && !input.truth) return no_truth(name);
    return entry.make({argument, input});
  }
  std::vector<std::string_view> names;
  for (const EstimatorRow& row : rows) names.push_back(row.name);
  for (const NamedEstimator& each : input.own) names.push_back(each.name);
  return fail(ErrorCode::not_found, unknown_name("estimator", name, names));
}

}  // namespace schedmate
