// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <schedmate/estimator.hpp>
#include <schedmate/workload.hpp>
#include <span>
#include <unordered_map>
#include <vector>

#include "base/random.hpp"
#include "base/text.hpp"
#include "policy/gbdt_estimator.hpp"

namespace schedmate {
namespace {

// Without any finished job in the VC: an hour, in the middle of the two traces' typical durations
// on a log scale (medians 193 s and 1,002 s, means 11,769 s and 38,716 s; traces.md 2).
constexpr FractionalSeconds unknown_duration{3600};

struct EstimatorSpec {
  std::string_view argument;  // after the first ':', "" when absent
  const EstimatorInput& input;
};

Result<Estimator> make_oracle(const EstimatorSpec& spec) {
  const bool tells_use = spec.argument == "use";
  if (!spec.argument.empty() && !tells_use)
    return fail(
        ErrorCode::unsupported,
        fmt::format("\"{}\" behind an oracle's name: only use can stand there", spec.argument));
  return [&trace = spec.input.trace, tells_use](const Entering& at) {
    const FractionalSeconds duration = at.job.duration;
    Prediction truth{.run_time = duration, .low = duration};
    if (tells_use && at.job.profile != no_index) {
      const Profile& profile = trace.packing->profiles[at.job.profile];
      truth.use = GpuUse{profile.gpu_util_pct, profile.memory_util_pct, profile.memory_mib};
    }
    return truth;
  };
}

std::string columns_of(const Trace& trace) {
  std::string names;
  for (const auto& [name, values] : trace.columns) names += (names.empty() ? "" : ", ") + name;
  return names.empty() ? "it has none" : "it has " + names;
}

Result<Estimator> make_column(const EstimatorSpec& spec) {
  const auto column = spec.input.trace.columns.find(spec.argument);
  if (column == spec.input.trace.columns.end()) {
    return fail(ErrorCode::invalid,
                fmt::format("estimator column:{0}: the trace has no numeric column {0} ({1})",
                            spec.argument, columns_of(spec.input.trace)));
  }
  return [&values = column->second](const Entering& at) {
    return Prediction{FractionalSeconds(values[at.row])};
  };
}

Prediction of_all(const History& history) {
  const History::Mean mean = history.of_all();
  return {.run_time = mean.count > 0 ? mean.value() : unknown_duration, .blind = mean.count == 0};
}

Prediction of_user(const Entering& at) {
  const History::Mean own = at.history.of_user(at.job.user);
  return own.count > 0 ? Prediction{own.value()} : of_all(at.history);
}

/// Of an estimator that takes no argument.
Result<Estimator> plain(const EstimatorSpec& spec, std::string_view name, Estimator estimator) {
  if (spec.argument.empty()) return estimator;
  return fail(ErrorCode::unsupported,
              fmt::format("estimate={}:{}: {} takes no argument", name, spec.argument, name));
}

Result<Estimator> make_user_mean(const EstimatorSpec& spec) {
  return plain(spec, "user_mean", of_user);
}

Prediction typical_of(const Entering& at) {
  const std::int64_t count = at.history.of_all().count;
  if (count == 0) return {.run_time = unknown_duration, .blind = true};
  return {FractionalSeconds(std::exp(at.history.sum_of_logs() / static_cast<double>(count)))};
}

Result<Estimator> make_typical(const EstimatorSpec& spec) {
  return plain(spec, "typical", typical_of);
}

Result<Estimator> advisor_of(const EstimatorSpec& spec, bool paper) {
  if (spec.input.workload == nullptr) {
    return fail(ErrorCode::invalid,
                "the advisor needs to know what the jobs are: it works on a workload "
                "(--set workload=light or heavy), which a trace with tables of its own has "
                "not; there advice=last_k is to be had");
  }
  AdvisorChoice choice{paper};
  if (!spec.argument.empty()) {
    choice.top = parse_number<std::size_t>(spec.argument);
    if (choice.top.value_or(0) == 0) {
      return fail(ErrorCode::unsupported,
                  fmt::format("{}:{}: a count of similar jobs, 1 or more, is needed",
                              paper ? "advisor_paper" : "advisor", spec.argument));
    }
  }
  return advisor_on(spec.input, choice);
}

Result<Estimator> make_advisor(const EstimatorSpec& spec) { return advisor_of(spec, false); }
Result<Estimator> make_advisor_paper(const EstimatorSpec& spec) { return advisor_of(spec, true); }

/// What the Advisor would be worth if it were never wrong: what separates it from the oracle is
/// then the jobs on which it has no answer.
Result<Estimator> make_advisor_oracle(const EstimatorSpec& spec) {
  auto truth = make_oracle(spec);
  if (!truth) return truth;
  auto advisor = advisor_of({"", spec.input}, false);
  if (!advisor) return advisor;
  return [advisor = std::move(*advisor), truth = std::move(*truth)](const Entering& at) mutable {
    Prediction said = advisor(at);
    if (said.blind) return said;
    Prediction right = truth(at);
    right.source = said.source;
    if (!said.use) right.use.reset();
    return right;
  };
}

Result<std::size_t> count_of(const EstimatorSpec& spec, std::string_view name) {
  const auto k = spec.argument.empty() ? 3 : parse_number<std::size_t>(spec.argument).value_or(0);
  if (k > 0) return k;
  return fail(ErrorCode::unsupported,
              fmt::format("estimate={}:{}: a count of 1 or more is needed", name, spec.argument));
}

Result<Estimator> make_last_k(const EstimatorSpec& spec) {
  return count_of(spec, "last_k").map([](std::size_t k) -> Estimator {
    return [k](const Entering& at) {
      const auto past = at.history.of(at.job.user, at.job.gpus);
      if (past.empty()) return of_user(at);
      History::Mean mean;
      for (const Seconds duration : past.last(std::min(k, past.size()))) {
        mean.sum_s += duration.count();
        ++mean.count;
      }
      return Prediction{mean.value()};
    };
  });
}

/// What retrieval is worth that finds the jobs of the same made-up template, if there are any.
class OracleRetrieval {
 public:
  OracleRetrieval(const EstimatorInput& input, std::size_t count)
      : trace_(&input.trace), templates_(&input.workload->template_of_row), count_(count) {}

  Prediction operator()(const Entering& at) {
    for (const auto ended = at.history.finished(); known_ < ended.size(); ++known_)
      rows_[(*templates_)[ended[known_].row]].push_back(ended[known_].row);
    const auto found = rows_.find((*templates_)[at.row]);
    if (found == rows_.end()) {
      Prediction none = of_user(at);
      none.blind = true;
      return none;
    }
    return mean_of(std::span(found->second).last(std::min(count_, found->second.size())));
  }

 private:
  [[nodiscard]] Prediction mean_of(std::span<const std::uint32_t> rows) const {
    const auto share = 1 / static_cast<double>(rows.size());
    Prediction mean;
    GpuUse use;
    for (const std::uint32_t row : rows) {
      const Job& job = trace_->jobs[row];
      mean.run_time += share * FractionalSeconds(job.duration);
      if (job.profile == no_index) continue;
      const Profile& profile = trace_->packing->profiles[job.profile];
      use.gpu_util_pct += share * profile.gpu_util_pct;
      use.memory_util_pct += share * profile.memory_util_pct;
      use.memory_mib += share * profile.memory_mib;
    }
    if (use.memory_mib > 0) mean.use = use;
    return mean;
  }

  const Trace* trace_;
  const std::vector<std::uint32_t>* templates_;
  std::size_t count_;
  std::size_t known_ = 0;  // jobs of the history
  std::unordered_map<std::uint32_t, std::vector<std::uint32_t>>
      rows_;  // by template, as they ended
};

Result<Estimator> make_oracle_retrieval(const EstimatorSpec& spec) {
  if (spec.input.workload == nullptr)
    return fail(
        ErrorCode::invalid,
        "oracle_retrieval needs to know which jobs are alike: it works on a workload (--set "
        "workload=light or heavy)");
  return count_of(spec, "oracle_retrieval").map([&](std::size_t count) -> Estimator {
    return OracleRetrieval(spec.input, count);
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
                fmt::format("estimate=limit:{}: a mean over-estimate from 1 to 1000 is needed",
                            spec.argument));
  }
  return [factor, seed = spec.input.seed](const Entering& at) {
    Random random(mix(seed) ^ at.row);
    const double over = 1 - (factor - 1) * std::log(1 - random.uniform());
    const double wanted = std::max<double>(1, static_cast<double>(at.job.duration.count())) * over;
    return Prediction{FractionalSeconds(factor == 1 ? wanted : as_typed(wanted))};
  };
}

/// How far the estimates of a trained model are off, as Helios makes them up for traces without a
/// history (lucid.md 6.3).
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
  return plain(spec, "noisy_oracle", [seed = spec.input.seed](const Entering& at) {
    Random random(mix(seed) ^ at.row);
    const double estimate =
        static_cast<double>(at.job.duration.count()) * (1 + drawn_error(random));
    return Prediction{FractionalSeconds(std::max(1.0, estimate))};
  });
}

Result<Estimator> make_gbdt(const EstimatorSpec& spec) {
  const bool profiled = spec.argument == "profiled";
  if (!profiled && !spec.argument.empty()) {
    return fail(
        ErrorCode::unsupported,
        fmt::format("estimate=gbdt:{}: \"gbdt\" or \"gbdt:profiled\" is needed", spec.argument));
  }
  return make_last_k({"", spec.input}).map([&](const Estimator& last_k) {
    return gbdt_on(spec.input.trace, last_k, profiled);
  });
}

struct EstimatorEntry {
  EstimatorRow row;
  Result<Estimator> (*make)(const EstimatorSpec&);
};
constexpr std::array entries{
#define ESTIMATOR(name, summary) EstimatorEntry{{#name, summary}, make_##name},
#include "policy/estimators.def"
#undef ESTIMATOR
};

constexpr auto rows = [] {
  std::array<EstimatorRow, entries.size()> table;
  std::ranges::transform(entries, table.begin(), &EstimatorEntry::row);
  return table;
}();

}  // namespace

std::span<const EstimatorRow> estimator_rows() { return rows; }

Result<Estimator> make_estimator(std::string_view spec, const EstimatorInput& input) {
  const std::size_t colon = spec.find(':');
  const std::string_view name = spec.substr(0, colon);
  const std::string_view argument = colon == std::string_view::npos ? "" : spec.substr(colon + 1);
  for (const EstimatorEntry& entry : entries) {
    if (entry.row.name == name) return entry.make({argument, input});
  }
  std::vector<std::string_view> names;
  for (const EstimatorRow& row : rows) names.push_back(row.name);
  return fail(ErrorCode::not_found, unknown_name("estimator", name, names));
}

}  // namespace schedmate
