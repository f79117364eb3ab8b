// SPDX-License-Identifier: Apache-2.0
#pragma once

/// Accounting dumps that cannot be used, each with what the error must say: where, what, and how to
/// fix it. Read by the tests of the reader and of the program.

#include <string>
#include <vector>

namespace schedmate {

struct BrokenDump {
  std::string name;
  std::string text;
  std::vector<std::string> says;  ///< parts of the message; "FILE" stands for the name of the file
  bool of_file = false;           ///< reported by what opens the file, or by what reads its cluster
};

[[nodiscard]] std::vector<BrokenDump> broken_dumps();

}  // namespace schedmate
