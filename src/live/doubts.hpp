// SPDX-License-Identifier: Apache-2.0
#pragma once

/// Readings that lack what was there. A part that is taken for the whole would end jobs that run
/// and free nodes that are held: such a reading tells of nothing until the next one says the same.

#include <array>
#include <cstdint>
#include <schedmate/connector.hpp>
#include <set>
#include <string>

#include "live/jobs.hpp"

namespace schedmate::live {

class Doubts {
 public:
  /// Without `whole_readings` every reading is believed.
  explicit Doubts(bool whole_readings) : whole_readings_(whole_readings) {}

  /// Whether this reading is to be passed over: a node of the last one that was believed (of the
  /// first one: a node on which a job runs), a job that has not ended, or an end that it ought to
  /// show is missing, and was not in two readings in a row. At most ten in a row are passed over.
  [[nodiscard]] bool has(const Listing& listing, const Jobs& jobs);
  /// Whether the last one that was believed is of another version than the one before, or shows
  /// more or less: one of them was a part.
  [[nodiscard]] bool is_news() const { return is_news_; }

 private:
  bool whole_readings_;
  std::set<std::string, std::less<>> nodes_;  // of the last reading that was believed
  std::set<std::string> missing_;             // in the one that was passed over last
  std::set<std::string> gone_;                // missing in two that were, in a row
  int in_a_row_ = 0;
  std::array<std::int64_t, 3> shown_{-1, 0, 0};  // version, jobs, nodes
  bool is_news_ = false;
};

}  // namespace schedmate::live
