// SPDX-License-Identifier: Apache-2.0
#pragma once

/// What is predicted of a job when it enters the queue. An `Estimator` is asked about a job that
/// enters and learns of each job that has ended in its virtual cluster, so it cannot look ahead.
/// The rows that do (`oracle`, `noisy_oracle`, `limit` and the like) get a `Truth`, which only a
/// replay has. Rows: src/policy/estimators.def; docs/policies.md says what each is based on. The
/// paper's Advisor is one of them (paper 3.1).

#include <functional>
#include <memory>
#include <optional>
#include <schedmate/known_job.hpp>
#include <schedmate/result.hpp>
#include <schedmate/run_time.hpp>
#include <span>
#include <string>
#include <type_traits>

namespace schedmate {

/// What a job does to each of its GPUs, as measured while it runs (paper 4.1).
struct GpuUse {
  double gpu_util_pct = 0;
  /// Of the memory's bandwidth.
  double memory_util_pct = 0;
  double memory_mib = 0;
  bool operator==(const GpuUse&) const = default;
};

/// What is predicted of one job.
struct Prediction {
  /// Alone on its GPUs.
  FractionalSeconds run_time{0};
  /// Empty: nobody knows how far off run_time may be.
  std::optional<RunTimeDistribution> distribution{};
  /// Nothing is known of this job: run_time is only a stand-in.
  bool blind = false;
  /// With advice that leaves run_time to the host: the run time that is expected; 0 = run_time.
  FractionalSeconds expected{0};
  /// How much of it is advice beside the host's own estimate, 0 to 1.
  double advised = 0;
  /// What it is based on (AdviceSource of the advisor, else 0): skill is measured for each alone.
  std::uint8_t source = 0;
  /// Of similar jobs; empty: none of them was measured.
  std::optional<GpuUse> use{};
};

/// A job that enters. Valid during the call.
struct EnteringJob {
  const KnownJob& job;
  SimTime now;
  /// Costs::advice has passed since its submission.
  bool advice_is_due = true;
};

/// A value that holds anything that answers `Prediction(const Entering&)`. If it also has
/// `learn(const FinishedJob&)`, it learns of every end in its virtual cluster once, in order, and
/// before it is asked about later entries; it keeps what it needs. Copying copies what was learned,
/// and each virtual cluster has a copy of its own. One thread at a time may use it.
class Estimator {
 public:
  Estimator() = default;
  template <class Made>
    requires(!std::is_same_v<std::remove_cvref_t<Made>, Estimator> &&
             std::is_invocable_r_v<Prediction, std::decay_t<Made>&, const EnteringJob&>)
  Estimator(Made&& made)  // NOLINT(google-explicit-constructor): as std::function
      : held_(std::make_unique<Held<std::decay_t<Made>>>(std::forward<Made>(made))) {}
  Estimator(const Estimator& other) : held_(other ? other.held_->copy() : nullptr) {}
  Estimator(Estimator&&) noexcept = default;
  Estimator& operator=(Estimator other) noexcept {
    held_ = std::move(other.held_);
    return *this;
  }
  ~Estimator() = default;

  explicit operator bool() const { return held_ != nullptr; }
  /// Not of an empty one.
  Prediction operator()(const EnteringJob& entering) const { return held_->ask(entering); }
  void learn(const FinishedJob& job) const { held_->learn(job); }

 private:
  struct Any {
    virtual ~Any() = default;
    [[nodiscard]] virtual std::unique_ptr<Any> copy() const = 0;
    virtual Prediction ask(const EnteringJob& entering) = 0;
    virtual void learn(const FinishedJob& job) = 0;
  };
  template <class Made>
  struct Held final : Any {
    explicit Held(Made from) : made(std::move(from)) {}
    [[nodiscard]] std::unique_ptr<Any> copy() const override {
      return std::make_unique<Held>(made);
    }
    Prediction ask(const EnteringJob& entering) override { return made(entering); }
    void learn([[maybe_unused]] const FinishedJob& job) override {
      if constexpr (requires { made.learn(job); }) made.learn(job);
    }
    Made made;
  };
  std::unique_ptr<Any> held_;
};

/// The same estimator; `look` sees every question and its answer.
using EstimatorWatch = std::function<void(const EnteringJob&, const Prediction&)>;
[[nodiscard]] Estimator watched(Estimator estimator, EstimatorWatch look);

/// One row of estimators.def.
struct EstimatorRow {
  std::string_view name;
  std::string_view summary;
  /// It needs EstimatorInput::truth, which replays alone have.
  bool reads_truth = false;
  /// It knows run times (or who resubmits what) as nobody can before a job ends: what it gains is a
  /// bound, not something to be had. What a user stated at submission is no oracle.
  bool oracle = false;
};
[[nodiscard]] std::span<const EstimatorRow> estimator_rows();
/// Whether "NAME" or "NAME:ARGUMENT" is an oracle's; false for an unknown name.
[[nodiscard]] bool is_oracle(std::string_view spec);
/// EstimatorRow::reads_truth of the same.
[[nodiscard]] bool reads_truth(std::string_view spec);

/// How the Advisor is to work as an estimator.
struct AdvisorChoice {
  /// As published, without what is ours.
  bool paper = false;
  /// It is based on so many matches, the best ones; empty = as many as the advisor takes.
  std::optional<std::size_t> top = std::nullopt;
};

/// An estimator that is no row: somebody else's, by a name of its own.
struct NamedEstimator {
  std::string name;
  Estimator estimator;
};

/// What an estimator may be made of: what a driver has. What it refers to outlives the estimator.
struct EstimatorInput {
  /// Of what is drawn.
  std::uint64_t seed = 1;
  /// How GPU use that was predicted is scored.
  SharingRule sharing{};
  /// In replays alone.
  std::optional<Truth> truth{};
  /// Makes the Advisor an estimator (advisor_on() in a replay); empty = there is none.
  std::function<Estimator(const AdvisorChoice&)> advisor{};
  /// Beside the rows.
  std::span<const NamedEstimator> own{};
};

/// Makes an estimator from "NAME" or "NAME:ARGUMENT". Errors: not_found with the nearest name;
/// invalid when the input lacks what it needs; unsupported for an argument of another form, and for
/// one that needs a Truth where there is none.
[[nodiscard]] Result<Estimator> make_estimator(std::string_view spec, const EstimatorInput& input);

}  // namespace schedmate
