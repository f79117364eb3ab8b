// SPDX-License-Identifier: Apache-2.0
#pragma once

/// Stand-ins for a good and a lying model on labelled logs: which number of a line is what, and
/// whose fault a failure is. They look at text and labels only and share no code with what checks
/// them.

#include <cstdint>
#include <map>
#include <mutex>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "tests/support/fake_llm.hpp"

namespace schedmate::bench {

struct LabelledLog {
  std::vector<std::string> lines;
  std::map<std::string, double> numbers;  ///< step, total, loss, time; those with a label
  std::string verdict, component;         ///< of a failure; "" = none
  std::set<std::string> acceptable;       ///< classes that a reader may give, too
  std::int64_t root_line = 0;             ///< 1-based
};
/// Lines of JSON as in the labelled sets of progress and of failures; "" gives none.
[[nodiscard]] std::vector<LabelledLog> read_logs(const std::string& path);

struct LogTotals {
  std::int64_t shapes = 0, causes = 0, claims = 0, unknown = 0;
};

class LogWitnesses {
 public:
  LogWitnesses(std::vector<LabelledLog> logs, bool lies) : logs_(std::move(logs)), lies_(lies) {}

  [[nodiscard]] std::string answer(const testing::FakeCall& call);
  [[nodiscard]] LogTotals totals() const;

 private:
  [[nodiscard]] std::string shape_answer(const std::string& shown);
  [[nodiscard]] std::string cause_answer(const std::string& shown);

  std::vector<LabelledLog> logs_;
  bool lies_;
  mutable std::mutex mutex_;
  LogTotals totals_;
};

}  // namespace schedmate::bench
