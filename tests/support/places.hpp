// SPDX-License-Identifier: Apache-2.0
#pragma once

/// Where the files lie that tests read.

#include <string>

namespace schedmate::testing {

inline const std::string fixtures = SCHEDMATE_SOURCE_DIR "/tests/fixtures/";
/// The rows, recipes and tables that are bundled.
inline const std::string data = SCHEDMATE_SOURCE_DIR "/data/";

}  // namespace schedmate::testing
