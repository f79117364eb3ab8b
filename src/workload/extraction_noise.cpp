// SPDX-License-Identifier: Apache-2.0
#include "workload/extraction_noise.hpp"

#include <algorithm>

#include "base/random.hpp"

namespace schedmate::workload {
namespace {

constexpr std::uint64_t extraction_noise_salt = 0x6d697372656164ULL;

/// What the request says is never misread.
constexpr auto readable = static_cast<std::size_t>(FieldId::gpus);

}  // namespace

ExtractionNoise::ExtractionNoise(const ExtractionErrors& errors, const WorkloadOptions& options,
                                 const Vocabulary& vocabulary)
    : vocabulary_(vocabulary),
      noise_(options.noise),
      seed_(mix(options.seed ^ extraction_noise_salt)) {
  for (const FieldErrors& each : errors.fields) {
    const auto at = std::ranges::find(workload_fields, each.field) - workload_fields.begin();
    rates_[static_cast<std::size_t>(at)] = {each.field, options.errors * each.missing,
                                            options.errors * each.wrong};
  }
}

std::uint16_t ExtractionNoise::other(std::size_t field, std::uint16_t truth,
                                     std::uint64_t lot) const {
  const std::size_t values = vocabulary_.size(field);
  if (values < 2) return 0;
  const std::size_t first = lot % values;
  const std::size_t taken = first + 1 == truth ? (first + 1) % values : first;
  return static_cast<std::uint16_t>(taken + 1);
}

FactCodes ExtractionNoise::read(const FactCodes& truth, std::uint32_t project) const {
  FactCodes seen = truth;
  for (std::size_t field = 0; field < readable; ++field) {
    if (truth[field] == 0) continue;
    // Four draws for every field, so that a rate that is set otherwise moves no other draw.
    Random random(mix(seed_ ^ (std::uint64_t{project} * workload_fields.size() + field)));
    const double by_noise = random.uniform();
    const double by_absence = random.uniform();
    const double by_error = random.uniform();
    const std::uint64_t lot = random.next();
    if (by_noise >= noise_ && by_absence < rates_[field].missing)
      seen[field] = 0;
    else if (by_noise < noise_ || by_error < rates_[field].wrong)
      seen[field] = other(field, truth[field], lot);
  }
  return seen;
}

}  // namespace schedmate::workload
