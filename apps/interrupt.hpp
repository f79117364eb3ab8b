// SPDX-License-Identifier: Apache-2.0
#pragma once

namespace schedmate {

/// Ctrl-C, a kill, a closed terminal or a reader that went away (| head) ends the process with 128
/// + the signal's number and leaves no half-written file.
void clean_up_when_interrupted();

}  // namespace schedmate
