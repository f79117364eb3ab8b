// SPDX-License-Identifier: Apache-2.0
#pragma once

/// What the Advisor reads of true facts: some are missing, some are others. One template is misread
/// in one way, as the same code would be.

#include "workload/vocabulary.hpp"

namespace schedmate::workload {

class ExtractionNoise {
 public:
  ExtractionNoise(const ExtractionErrors& errors, const WorkloadOptions& options,
                  const Vocabulary& vocabulary);

  [[nodiscard]] FactCodes read(const FactCodes& truth, std::uint32_t project) const;

 private:
  [[nodiscard]] std::uint16_t other(std::size_t field, std::uint16_t truth,
                                    std::uint64_t lot) const;

  const Vocabulary& vocabulary_;
  std::array<FieldErrors, workload_fields.size()> rates_;
  double noise_;
  std::uint64_t seed_;
};

}  // namespace schedmate::workload
