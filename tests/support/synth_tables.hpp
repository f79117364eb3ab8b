// SPDX-License-Identifier: Apache-2.0
#pragma once

/// The published figures that are bundled, for tests.

#include <string>

#include "base/input.hpp"
#include "synth/published.hpp"
#include "tests/support/need.hpp"

namespace schedmate {

inline std::string synth_text(const std::string& name) {
  return testing::need(read_file(SCHEDMATE_SOURCE_DIR "/data/synth/" + name + ".toml"));
}

inline synth::Published bundled_figures(const std::string& cluster) {
  return {testing::need(synth::parse_figures(synth_text(cluster), cluster)),
          testing::need(synth::parse_behaviour(synth_text("behaviour"), "behaviour")),
          testing::need(synth::parse_causes(synth_text("failures"), "failures"))};
}

}  // namespace schedmate
