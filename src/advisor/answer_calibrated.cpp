// SPDX-License-Identifier: Apache-2.0

/// The answers beside estimate_calibrated (docs/decisions/0022): runs weighted by similarity, age
/// and trust make a curve of completed lengths (completion_curve.hpp); the misses of past answers
/// make the interval and the limit, a burst of like jobs counting less than as many answers.

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "advisor/completion_curve.hpp"
#include "advisor/conformal.hpp"
#include "advisor/estimates.hpp"
#include "advisor/run_answer.hpp"
#include "base/words.hpp"

namespace schedmate::advisor {
namespace {

constexpr double interval_tail = 0.1;  ///< on each side
constexpr double interval_believable = 3;
constexpr double widest_interval = 1000;  ///< as a factor; a wider one is no answer

/// Past runs that say something, newest first.
struct AnswerBasis {
  std::vector<PastRun> runs;
  std::vector<EndedRun> sample;  ///< log lengths, one for each run
  AnswerBasis(std::span<const PastRun> given, SimTime now) : runs(given.begin(), given.end()) {
    std::ranges::stable_sort(runs, std::ranges::greater(), &PastRun::submit);
    for (std::size_t i = 0; i < runs.size(); ++i) {
      const RunEnd end = run_end(runs[i].state);
      // An own end came at its own moment: it does not scale with the work that was planned.
      const double scale = end == RunEnd::own_end ? 0 : std::log(runs[i].scale);
      sample.push_back(
          {std::max(0.0, log_of(runs[i].duration) + scale), weight_of_run(runs[i], i, now), end});
    }
  }
};

/// The user's latest, until enough of them say a length.
std::span<const PastRun> latest_of_user(std::span<const PastRun> own) {
  std::size_t taken = 0;
  for (std::size_t lengths = 0; taken < own.size() && lengths < user_runs; ++taken)
    if (run_end(own[taken].state) != RunEnd::own_end) ++lengths;
  return own.first(taken);
}

/// What past answers missed by, as a distribution of log(length / p50).
class Misses {
 public:
  Misses(const EstimateInput& input, AdviceSource source, double spread) : spread_(spread) {
    misses_.reserve(normal_sample.size() + input.misses.size() + 1);
    for (const double z : normal_sample)
      misses_.push_back(
          {z * spread, prior_weight / static_cast<double>(normal_sample.size()), whole_run});
    for (const LengthMiss& miss : input.misses)
      misses_.push_back({miss.log_ratio, weight_of_miss(miss, source),
                         miss.at_least ? RunEnd::stopped : whole_run});
  }

  /// The run at hand is one more miss, and may lie beyond all others, as far as a spread makes
  /// believable: the finite-sample correction of conformal prediction.
  [[nodiscard]] double quantile(double share, double believable) const {
    return with(believable * spread_).quantile(share);
  }
  [[nodiscard]] double above(double log_ratio) const {
    return 1 - with(limit_believable * spread_).at_most(log_ratio);
  }
  static constexpr double limit_believable = 4;

 private:
  /// The same user's like cases show most. Jobs of one burst share what they miss by: a hundred of
  /// them are more than one case, and much less than a hundred.
  static double weight_of_miss(const LengthMiss& miss, AdviceSource source) {
    constexpr double burst_exponent = 0.4;
    return weight_of_case(miss.same_user, miss.source == source) *
           std::pow(miss.alike, -burst_exponent);
  }
  [[nodiscard]] CompletionCurve with(double at_hand) const {
    constexpr double own_weight = 0.3;
    std::vector<EndedRun> all = misses_;
    all.push_back({at_hand, own_weight, whole_run});
    return CompletionCurve(std::move(all));
  }

  static constexpr RunEnd whole_run = RunEnd::completed;
  double spread_;
  std::vector<EndedRun> misses_;
};

std::string none_completed(const AnswerBasis& basis) {
  return fmt::format("none of the past runs completed: {}",
                     runs_in_words(count_by_state(basis.runs)));
}

/// Why an interval is too wide to be told.
std::string too_wide(const AnswerBasis& basis) {
  constexpr double unlike = 10;  // times as long
  std::vector<Seconds> lengths;
  for (const PastRun& run : basis.runs)
    if (run_end(run.state) != RunEnd::own_end) lengths.push_back(run.duration);
  const auto [shortest, longest] = std::ranges::minmax(lengths);
  if (longest < shortest * unlike) return "past answers for such jobs were far off";
  return fmt::format("{} unlike runs, {} to {}", lengths.size(), in_words(shortest),
                     in_words(longest));
}

TimeLimit limit_of(const EstimateInput& input, const Misses& misses, double centre) {
  const LimitPolicy& policy = input.limits;
  // Past misses are of a cluster that has changed since: bound to all of the risk, 5.4 % of the
  // runs of Venus were killed instead of 5.
  constexpr double share_of_risk = 0.8;
  const double needed =
      centre + misses.quantile(1 - share_of_risk * policy.risk, Misses::limit_believable);
  TimeLimit limit{.suggested = written_limit(FractionalSeconds(std::exp(needed))),
                  .risk = policy.risk};
  if (policy.longest && limit.suggested > *policy.longest) {
    limit.suggested = *policy.longest;
    limit.longest = true;
    limit.risk = std::max(policy.risk, misses.above(log_of(limit.suggested) - centre));
  }
  if (input.limit) limit.asked_risk = misses.above(log_of(*input.limit) - centre);
  return limit;
}

/// Why the length is not known, "" = it is.
std::string doubt(const AnswerBasis& basis, const CompletionCurve& curve, double log_width) {
  if (curve.completed() == 0) return none_completed(basis);
  if (curve.is_open_at(0.5))
    return fmt::format("most past runs were stopped before they could complete: {}",
                       runs_in_words(count_by_state(basis.runs)));
  return log_width > std::log(widest_interval) ? too_wide(basis) : "";
}

void fill_length(const EstimateInput& input, const AnswerBasis& basis, const CompletionCurve& curve,
                 RunAnswer& answer) {
  const auto seconds = [](double log_s) { return FractionalSeconds(std::exp(log_s)); };
  const double centre = curve.quantile(0.5);
  Sample lengths;
  for (const EndedRun& run : basis.sample)
    if (run.end != RunEnd::own_end) lengths.push_back({run.value, run.weight});
  const double spread = spread_of(lengths, centre, answer.source);
  const Misses misses(input, answer.source, spread);
  const double low = misses.quantile(interval_tail, -interval_believable);
  const double high = misses.quantile(1 - interval_tail, interval_believable);
  answer.not_known = doubt(basis, curve, high - low);
  if (answer.not_known.empty()) answer.time_limit = limit_of(input, misses, centre);
  answer.centre = answer.p50 = seconds(centre);
  answer.p10 = std::min(answer.p50, seconds(centre + low));
  answer.p90 = std::max(answer.p50, seconds(centre + high));
  answer.mean = FractionalSeconds(curve.mean([](double value) { return std::exp(value); }));
  if (!input.limit) return;
  for (FractionalSeconds* figure : {&answer.mean, &answer.p10, &answer.p50, &answer.p90})
    *figure = std::min<FractionalSeconds>(*figure, *input.limit);
}

}  // namespace

RunAnswer answer_calibrated(const EstimateInput& input) {
  RunAnswer answer;
  AnswerBasis basis(input.matches, input.now);
  CompletionCurve curve(basis.sample);
  answer.source = input.source;
  // Other jobs do not show how long one runs that has only failed so far.
  const bool is_same_job = input.source == AdviceSource::resubmission && !basis.runs.empty();
  if (!curve.has_lengths() && !is_same_job) {
    AnswerBasis latest(latest_of_user(input.own), input.now);
    if (CompletionCurve other(latest.sample); other.has_lengths() || basis.runs.empty()) {
      basis = std::move(latest);
      curve = std::move(other);
      answer.source = AdviceSource::user_history;
    }
  }
  if (!basis.runs.empty()) answer.early_end = curve.ended_early();
  answer.runs_by_state = count_by_state(basis.runs);
  if (!curve.has_lengths()) {
    answer.source = AdviceSource::none;
    if (!basis.runs.empty()) answer.not_known = none_completed(basis);
    return answer;
  }
  fill_length(input, basis, curve, answer);
  return answer;
}

}  // namespace schedmate::advisor
