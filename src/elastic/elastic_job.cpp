// SPDX-License-Identifier: Apache-2.0
#include "elastic/elastic_job.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace schedmate::elastic {
namespace {

StepShape shape_of(const GpusByNode& placement, std::int32_t atomic_batch) {
  return {static_cast<std::int32_t>(placement.size()), replicas_of(placement), atomic_batch};
}

}  // namespace

/// The same step of the same program: steps are measured nearly without noise.
bool differ(double one_s, double two_s) {
  constexpr double far = 1.25;
  return std::max(one_s / two_s, two_s / one_s) > far;
}

std::int32_t TypeProfile::most_replicas() const {
  std::int32_t most = 0;
  for (const ObservedStep& step : steps) most = std::max(most, step.shape.replicas);
  return most;
}

bool TypeProfile::add(const ObservedStep& step) {
  if (std::ranges::find(steps, step.shape, &ObservedStep::shape) != steps.end()) return false;
  steps.push_back(step);
  return true;
}

/// A step that nobody has measured is predicted by the model, which may be far off where it was
/// fitted on few; other programs mostly are farther.
bool TypeProfile::contradicted_by(const ObservedStep& step) const {
  if (inherited == 0 || !model) return false;
  const auto theirs = std::span(steps).first(inherited);
  const auto same = std::ranges::find(theirs, step.shape, &ObservedStep::shape);
  if (same != theirs.end()) return differ(same->step_s, step.step_s);
  constexpr double far = 2;
  const double predicted_s = step_time(*model, step.shape).optimisation_s;
  return std::max(predicted_s / step.step_s, step.step_s / predicted_s) > far;
}

void TypeProfile::forget_inherited() {
  steps.erase(steps.begin(), steps.begin() + static_cast<std::ptrdiff_t>(inherited));
  inherited = 0;
  from.clear();
  model.reset();
  if (!steps.empty()) refit();
}

void TypeProfile::refit() { model = fit(steps, model ? &*model : nullptr, search); }

ElasticRun::ElasticRun(const ElasticJob& job, const Application& application)
    : job_(&job),
      application_(&application),
      profiles_(application.tables.size()),
      end_(application.training.end_of(application.training.epochs() - 1) * job.length) {}

void ElasticRun::assign(const Assignment& to) {
  if (to == held_) return;
  held_ = to;
  save();
  if (!runs()) return;
  restart_left_s_ = application_->traits.restart_s;
  if (trained_) ++restarts_;
  trained_ = true;
  batch_ = batch_at(held_);
}

void ElasticRun::move() {
  save();
  restart_left_s_ = application_->traits.restart_s;
  ++restarts_;
}

double ElasticRun::next_end() const {
  return std::min(end_, application_->training.end_of(epoch_));
}

Result<MeasuredTime> ElasticRun::true_step() const {
  const auto& table = application_->tables[held_.type];
  const auto sample = table ? table->at(held_.placement, batch_.atomic_batch) : std::nullopt;
  if (sample) return *sample;
  return fail(ErrorCode::unsupported,
              fmt::format("{}: application {} was not measured on GPU type {} as {} with {} "
                          "samples per GPU: add such a row to its tables",
                          job_->name, application_->traits.name, held_.type,
                          text_of(held_.placement), batch_.atomic_batch));
}

void ElasticRun::observe(const MeasuredTime& sample, const GradientNoise& noise) {
  TypeProfile& profile = profiles_[held_.type];
  const ObservedStep step{shape_of(held_.placement, batch_.atomic_batch), sample.step_s,
                          sample.step_s - sample.sync_s};
  if (profile.contradicted_by(step)) forget_inherited();
  checked_ = checked_ || profile.inherited > 0 || forgot_;
  if (profile.add(step)) {
    profile.refit();
    ++version_;
  }
  if (noise_ && noise_->squared == noise.squared && noise_->variance == noise.variance) return;
  noise_ = noise;
  ++version_;
}

/// Seconds that were used of `seconds`.
double ElasticRun::go_on(double seconds, const MeasuredTime& sample, double gained) {
  const double step_s = sample.step_s + batch_.accumulation * (sample.step_s - sample.sync_s);
  const double speed = gained / step_s / application_->traits.slowdown;
  const double next = next_end();
  if (progress_ + speed * seconds < next) {
    progress_ += speed * seconds;
    return seconds;
  }
  const double used = std::min(seconds, std::nearbyint((next - progress_) / speed));
  progress_ = next;
  ++epoch_;
  if (progress_ >= end_) completion_s_ = now_s_ + used;
  return used;
}

void ElasticRun::save() { saved_ = {progress_, 0, 0}; }

void ElasticRun::train_for(double seconds, std::int32_t replicas) {
  now_s_ += seconds;
  spent_.training += seconds * replicas;
  saved_.since_s += seconds;
  saved_.since_gpu_s += seconds * replicas;
  if (saved_.since_s >= checkpoint_s_) save();
}

void ElasticRun::crash(const ElasticRecovery& recovery) {
  failed_ = recovery;
  ++failures_;
  progress_ = saved_.progress;
  while (epoch_ > 0 && progress_ < application_->training.end_of(epoch_ - 1)) --epoch_;
  spent_.training -= saved_.since_gpu_s;
  spent_.lost += saved_.since_gpu_s;
  save();
}

/// It holds its GPUs until somebody notices, then goes.
void ElasticRun::hang(double now_s, double seconds) {
  const double used = std::min(failed_->detection_s, seconds);
  failed_->detection_s -= used;
  spent_.hanging += used * replicas_of(held_.placement);
  if (failed_->detection_s > 0) return;
  back_s_ = now_s + used + failed_->restart_s;
  failed_.reset();
  held_ = {};
  restart_left_s_ = 0;
}

Result<void> ElasticRun::advance(double now_s, double seconds) {
  measure(now_s, seconds);
  if (!runs() || completion_s_) return {};
  if (failed_) {
    hang(now_s, seconds);
    return {};
  }
  if (!start_s_) start_s_ = now_s;
  const std::int32_t replicas = replicas_of(held_.placement);
  const double delay = std::min(restart_left_s_, seconds);
  restart_left_s_ -= delay;
  spent_.restarting += delay * replicas;
  double left = seconds - delay;
  now_s_ = now_s + delay;
  while (left > 0 && !completion_s_) {
    const auto sample = true_step();
    if (!sample) return tl::unexpected(sample.error());
    const double batch =
        static_cast<double>(replicas) * batch_.atomic_batch * (batch_.accumulation + 1);
    const GradientNoise noise = application_->training.noise_at(batch, epoch_);
    observe(*sample, noise);
    const double used =
        go_on(left, *sample, gain(noise, batch, application_->training.initial_batch()));
    train_for(used, replicas);
    left -= used;
    batch_ = batch_at(held_);
  }
  return {};
}

void ElasticRun::profile_first(std::span<const std::uint16_t> types, double seconds) {
  for (const std::uint16_t type : types) slots_.push_back({type, false, seconds});
}

void ElasticRun::profile_on(std::uint16_t type) {
  std::ranges::find(slots_, type, &ProfileSlot::type)->runs = true;
}

/// A slot that ends within the round keeps its GPU until the next decision, but measures no more.
void ElasticRun::measure(double now_s, double seconds) {
  for (ProfileSlot& slot : slots_) {
    if (!slot.runs) continue;
    if (!start_s_) start_s_ = now_s;
    const double used = std::min(slot.left_s, seconds);
    slot.left_s -= used;
    spent_.measuring += used;
    if (slot.left_s <= 0) finish_profile(slot.type);
  }
  std::erase_if(slots_, [](const ProfileSlot& slot) { return slot.runs && slot.left_s <= 0; });
}

void ElasticRun::finish_profile(std::uint16_t type) {
  std::vector<ObservedStep> steps;
  const StepCurve* const curve = application_->tables[type]->single_gpu();
  for (std::size_t i = 0; curve != nullptr && i < curve->batch.size(); ++i) {
    const MeasuredTime& sample = curve->samples[i];
    steps.push_back({{1, 1, static_cast<std::int32_t>(curve->batch[i])},
                     sample.step_s,
                     sample.step_s - sample.sync_s});
  }
  for (const ObservedStep& step : steps) profiles_[type].add(step);
  profiles_[type].refit();
  noise_ = application_->training.noise_at(application_->training.initial_batch(), 0);
  ++version_;
}

BatchChoice ElasticRun::batch_at(const Assignment& at) const {
  const StepTable& table = *application_->tables[at.type];
  const auto& model = profiles_[at.type].model;
  const StepShape spread = shape_of(at.placement, 1);
  const std::int32_t replicas = spread.replicas;
  BatchLimits limits;
  limits.least = static_cast<std::int32_t>(table.least_batch());
  limits.most = static_cast<std::int32_t>(
      std::min(table.most_batch(at.placement), application_->most_batch(at.type)));
  limits.initial_batch = static_cast<std::int32_t>(application_->training.initial_batch());
  limits.most_batch = static_cast<std::int32_t>(application_->training.most_batch());
  BatchChoice batch;
  if (job_->kind != ElasticKind::adaptive) {
    batch = fixed_batch(limits, job_->batch, replicas);
  } else if (noise_ && model) {
    batch = best_batch(*model, *noise_, limits, spread);
  } else {
    const double first = std::max(limits.initial_batch, limits.least * replicas);
    batch = fixed_batch(limits, first, replicas);
  }
  if (const auto most = table.most_batch_of(replicas))
    batch.atomic_batch = std::min(batch.atomic_batch, static_cast<std::int32_t>(*most));
  const std::int32_t fits = limits.most_batch / (replicas * (batch.accumulation + 1));
  batch.atomic_batch = std::max(1, std::min(batch.atomic_batch, fits));
  return batch;
}

void ElasticRun::fit_by(FitSearch search) {
  for (TypeProfile& profile : profiles_) profile.search = search;
}

void ElasticRun::inherit(std::size_t type, const TypeProfile& steps) {
  TypeProfile& profile = profiles_[type];
  profile.steps = steps.steps;
  profile.from = steps.from;
  profile.inherited = steps.steps.size();
  if (profile.inherited > 0) profile.refit();
  matches_.insert(matches_.end(), steps.from.begin(), steps.from.end());
  std::ranges::sort(matches_);
  matches_.erase(std::ranges::unique(matches_).begin(), matches_.end());
  ++version_;
}

void ElasticRun::inherit(const GradientNoise& noise) {
  noise_ = noise;
  ++version_;
}

/// The match was wrong: nothing of it is believed any more, on no GPU type.
void ElasticRun::forget_inherited() {
  for (TypeProfile& profile : profiles_) profile.forget_inherited();
  forgot_ = true;
  ++version_;
}

}  // namespace schedmate::elastic
