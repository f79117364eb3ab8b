// SPDX-License-Identifier: Apache-2.0
#pragma once

/// How likely an answer is right. Rules rank their findings on a scale of their own (finding.hpp);
/// of that, and of what else was seen while the program was read, a small model makes the share of
/// right answers to expect. Its weights are rules/confidence.toml, fitted on labelled jobs by
/// scripts/confidence.py, which gets the features from bench/reader_study.cpp.

#include "base/confidence.hpp"
#include "facts/choose.hpp"

namespace schedmate::facts {

/// Gives the answers of `facts` that have grounds their probability; `facts.degraded` is filled.
void calibrate(const Scene& scene, const GroundsByField& grounds, const Confidence& confidence,
               Facts& facts);

}  // namespace schedmate::facts
