// SPDX-License-Identifier: Apache-2.0
#pragma once

/// The published figures that are bundled, for tests.

#include <string>

#include "base/input.hpp"
#include "synth/published.hpp"

namespace schedmate {

inline std::string synth_text(const std::string& name) {
  return read_file(SCHEDMATE_SOURCE_DIR "/data/synth/" + name + ".toml").value();
}

inline synth::Published bundled_figures(const std::string& cluster) {
  return {synth::parse_figures(synth_text(cluster), cluster).value(),
          synth::parse_behaviour(synth_text("behaviour"), "behaviour").value(),
          synth::parse_causes(synth_text("failures"), "failures").value()};
}

}  // namespace schedmate
