// SPDX-License-Identifier: Apache-2.0
#include "advisor/scaling.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace schedmate::advisor {
namespace {

constexpr double most = 256;  ///< beyond that the law says nothing

/// Devices that share the samples: a job that uses one of its eight GPUs has one.
std::optional<double> devices(const Fields& fields) {
  if (field(fields, "distributed") == "none") return 1;
  return number_field(fields, "gpus");
}

/// Samples that a device takes between two updates.
std::optional<double> device_batch(const Fields& fields) {
  const auto batch = number_field(fields, "batch_size");
  if (!batch) return std::nullopt;
  return *batch * number_field(fields, "accumulation").value_or(1);
}

bool counts_steps(const Length& length) { return length.unit == "steps"; }

std::optional<double> samples_of(const Fields& fields, const Length& length) {
  if (length.unit == "samples") return length.amount;
  if (length.unit == "kimg") return length.amount * 1000;
  const auto size = number_field(fields, "dataset_size");
  if (length.unit == "epochs" && size) return length.amount * *size;
  const auto batch = device_batch(fields);
  const auto count = devices(fields);
  if (counts_steps(length) && batch && count) return length.amount * *batch * *count;
  return std::nullopt;
}

double ratio(std::optional<double> ours, std::optional<double> theirs) {
  if (!ours || !theirs || !(*ours > 0) || !(*theirs > 0)) return 1;
  return *ours / *theirs;
}

struct Work {
  double ratio = 1;    ///< of the lengths
  bool steps = false;  ///< both are counted in steps; else in samples, directly or not
  bool known = false;
};

Work compare_work(const Fields& ours, const Fields& theirs) {
  const auto a = length_field(ours);
  const auto b = length_field(theirs);
  if (!a || !b || !(a->amount > 0) || !(b->amount > 0)) return {};
  if (a->unit == b->unit) {
    const auto size = [](const Fields& fields) { return number_field(fields, "dataset_size"); };
    const double per_unit = a->unit == "epochs" ? ratio(size(ours), size(theirs)) : 1;
    return {a->amount / b->amount * per_unit, counts_steps(*a), true};
  }
  const auto left = samples_of(ours, *a);
  const auto right = samples_of(theirs, *b);
  if (!left || !right || !(*left > 0) || !(*right > 0)) return {};
  return {*left / *right, false, true};
}

}  // namespace

Scaling scale_between(const Fields& ours, const Fields& theirs) {
  Scaling scaling;
  const auto apply = [&](std::string_view what, double by, double exponent) {
    const double factor = std::pow(by, exponent);
    if (by == 1 || !std::isfinite(factor)) return;
    scaling.factor *= factor;
    scaling.why.push_back(fmt::format("{} x{:.3g}", what, by));
  };
  apply("trainings", ratio(number_field(ours, "runs"), number_field(theirs, "runs")), 1);
  const Work work = compare_work(ours, theirs);
  if (work.known) {
    const double shared = work.steps ? 0 : 1;  // samples are divided among batches and devices
    apply("length", work.ratio, 1);
    apply("batch", ratio(device_batch(ours), device_batch(theirs)), batch_exponent - shared);
    apply("devices", ratio(devices(ours), devices(theirs)), device_exponent - shared);
  }
  scaling.factor = std::clamp(scaling.factor, 1 / most, most);
  return scaling;
}

}  // namespace schedmate::advisor
