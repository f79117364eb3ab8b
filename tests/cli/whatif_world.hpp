// SPDX-License-Identifier: Apache-2.0
#pragma once

/// What the tests of `schedmate whatif` share.

#include <string>
#include <vector>

#include "tests/cli/program.hpp"

namespace schedmate {

using Words = std::vector<std::string>;

/// What a real Slurm said of some 300 short jobs (scripts/sacct_testbed.sh).
inline const std::string testbed_dump = SCHEDMATE_SOURCE_DIR "/tests/fixtures/sacct/testbed.txt.gz";

inline Ran whatif(const Scratch& here, const std::string& dump, const Words& more = {}) {
  Words words{"whatif", "--sacct", dump};
  words.insert(words.end(), more.begin(), more.end());
  return here.run(words);
}

}  // namespace schedmate
