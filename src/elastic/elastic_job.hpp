// SPDX-License-Identifier: Apache-2.0
#pragma once

/// A job that may be resized and moved: what it asked for, how far it is, what was learned of it.
/// Times are seconds since the trace's zero; the simulation advances them in rounds.

#include <limits>
#include <optional>
#include <string>
#include <vector>

#include "elastic/application.hpp"
#include "elastic/goodput.hpp"

namespace schedmate::elastic {

/// What a scheduler may change of a job.
enum class ElasticKind : std::uint8_t {
  adaptive,    ///< GPUs, type and batch
  scale_gpus,  ///< GPUs and type
  rigid        ///< type
};

struct ElasticJob {
  std::string name;
  double submit_s = 0;
  std::size_t application = 0;
  std::int32_t replicas = 1;  ///< asked for
  std::int32_t batch = 1;     ///< total, asked for
  ElasticKind kind = ElasticKind::adaptive;
  double length = 1;  ///< share of the training after which it ends early
};

/// GPUs of one type; no placement = none.
struct Assignment {
  std::uint16_t type = 0;
  GpusByNode placement;
  bool operator==(const Assignment&) const = default;
};

/// Whether two times are not those of the same step of the same program.
[[nodiscard]] bool differ(double one_s, double two_s);

/// What is known of a job on one GPU type.
struct TypeProfile {
  std::vector<ObservedStep> steps;  ///< each shape once; those of other jobs first
  std::size_t inherited = 0;        ///< how many of `steps` are of other jobs
  std::vector<std::uint32_t> from;  ///< whose each of these is, by place in the workload
  std::optional<ThroughputModel> model;
  FitSearch search = FitSearch::released;  ///< of the model
  [[nodiscard]] std::int32_t most_replicas() const;
  /// False when the shape was known.
  bool add(const ObservedStep& step);
  /// Whether the job's own step is far from what other jobs' would let expect.
  [[nodiscard]] bool contradicted_by(const ObservedStep& step) const;
  void forget_inherited();
  void refit();
};

/// A GPU type that a job is measured on before it trains (ours).
struct ProfileSlot {
  std::uint16_t type = 0;
  bool runs = false;
  double left_s = 0;
};

/// GPU seconds of a job by what they went to; `lost` is the training that a failure undid.
struct GpuSecondsSpent {
  double training = 0, restarting = 0, measuring = 0, hanging = 0, lost = 0;
  /// All that were held.
  [[nodiscard]] double held() const { return training + restarting + measuring + hanging + lost; }
};

/// What a failure costs beside the work since the latest checkpoint.
struct ElasticRecovery {
  double detection_s = 600;  ///< for which the GPUs are still held
  double restart_s = 3600;   ///< from there until the job asks for GPUs again
};

/// One job while it is simulated.
class ElasticRun {
 public:
  ElasticRun(const ElasticJob& job, const Application& application);

  /// Runs for so many seconds from `now_s` on. Errors: unsupported when its step time was not
  /// measured there.
  [[nodiscard]] Result<void> advance(double now_s, double seconds);
  /// Takes other GPUs, or none; a start or move costs the restart. Not while it is profiled.
  void assign(const Assignment& to);

  /// It keeps what it has, on other machines: a restart.
  void move();

  void fit_by(FitSearch search);
  /// Progress is saved after so much training, and whenever it moves. Never by default.
  void checkpoint_every(double seconds) { checkpoint_s_ = seconds; }
  /// Falls back to its latest checkpoint. Only while it trains.
  void crash(const ElasticRecovery& recovery);

  /// From now on it does not train until one GPU of each of these types has measured it for so
  /// long. Without types it is an ordinary job.
  void profile_first(std::span<const std::uint16_t> types, double seconds);
  /// Starts the measuring on one GPU of this type, one of profile_slots().
  void profile_on(std::uint16_t type);
  [[nodiscard]] std::span<const ProfileSlot> profile_slots() const { return slots_; }

  /// What it would run with there, were it to start now (the executor's limits).
  [[nodiscard]] BatchChoice batch_at(const Assignment& at) const;

  [[nodiscard]] const ElasticJob& job() const { return *job_; }
  [[nodiscard]] const Application& application() const { return *application_; }
  [[nodiscard]] const Assignment& held() const { return held_; }
  [[nodiscard]] bool runs() const { return !held_.placement.empty(); }
  /// Still restarting, or failed and nobody has noticed: it keeps its GPUs.
  [[nodiscard]] bool pinned() const { return runs() && (restart_left_s_ > 0 || failed_); }
  /// Failed, and not back yet: it asks for no GPUs.
  [[nodiscard]] bool away(double now_s) const { return now_s < back_s_; }
  [[nodiscard]] std::int32_t restarts() const { return restarts_; }
  [[nodiscard]] std::int32_t failures() const { return failures_; }
  [[nodiscard]] const GpuSecondsSpent& spent() const { return spent_; }
  [[nodiscard]] double attained_gpu_s() const { return spent_.held(); }
  [[nodiscard]] std::optional<double> start_s() const { return start_s_; }
  [[nodiscard]] std::optional<double> completion_s() const { return completion_s_; }
  [[nodiscard]] const std::vector<TypeProfile>& profiles() const { return profiles_; }
  [[nodiscard]] const std::optional<GradientNoise>& noise() const { return noise_; }
  /// Changes whenever profiles or noise do.
  [[nodiscard]] std::uint64_t version() const { return version_; }
  /// Steps of the smallest batch that are behind it.
  [[nodiscard]] double progress() const { return progress_; }
  [[nodiscard]] double whole_progress() const { return end_; }

  /// What similar jobs measured: the steps of each GPU type, with whose they are, and gradient
  /// statistics of a young training. All of it is forgotten once a step of its own contradicts it.
  /// Only before it has run.
  void inherit(std::size_t type, const TypeProfile& steps);
  void inherit(const GradientNoise& noise);
  /// Jobs that it inherited from, ascending; they stay when all is forgotten.
  [[nodiscard]] const std::vector<std::uint32_t>& matches() const { return matches_; }
  /// A step of its own has shown whether what it inherited was right.
  [[nodiscard]] bool has_been_checked() const { return checked_; }
  [[nodiscard]] bool has_forgotten() const { return forgot_; }

 private:
  void measure(double now_s, double seconds);
  void finish_profile(std::uint16_t type);
  [[nodiscard]] Result<MeasuredTime> true_step() const;
  void observe(const MeasuredTime& sample, const GradientNoise& noise);
  void forget_inherited();
  double go_on(double seconds, const MeasuredTime& sample, double gained);
  void train_for(double seconds, std::int32_t replicas);
  void hang(double now_s, double seconds);
  void save();
  [[nodiscard]] double next_end() const;

  const ElasticJob* job_;
  const Application* application_;
  Assignment held_;
  std::vector<TypeProfile> profiles_;
  std::vector<ProfileSlot> slots_;
  std::optional<GradientNoise> noise_;
  BatchChoice batch_;
  std::uint64_t version_ = 0;
  std::size_t epoch_ = 0;
  double progress_ = 0;
  double end_ = 0;  // progress at which it is done
  double now_s_ = 0;
  double restart_left_s_ = 0;
  GpuSecondsSpent spent_;
  struct Saved {
    double progress = 0;
    double since_s = 0, since_gpu_s = 0;  // trained since then
  } saved_;
  double checkpoint_s_ = std::numeric_limits<double>::infinity();
  std::optional<ElasticRecovery> failed_;  // what is left of it
  double back_s_ = 0;
  std::int32_t restarts_ = 0, failures_ = 0;
  bool trained_ = false;
  bool checked_ = false, forgot_ = false;
  std::vector<std::uint32_t> matches_;
  std::optional<double> start_s_, completion_s_;
};

}  // namespace schedmate::elastic
