// SPDX-License-Identifier: Apache-2.0
/// The process that has Slurm's library, for tests: host --slurm-library MODULE.
#include "slurm_live/library_child.hpp"

int main(int count, char** words) {
  return count == 3 ? schedmate::slurm_live::serve_library(words[2]) : 2;
}
