// SPDX-License-Identifier: Apache-2.0
#pragma once

/// Logs of jobs, fetched while they run: once its node is lost, Ray gives no log of a job. Ray
/// shows the last lines of one at a time; what is new of them is appended to a file here.

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <utility>

#include "ray_live/head.hpp"

namespace schedmate::ray_live {

/// Of the last lines of a log that grows only at its end, those that are new since `before` was
/// fetched; with a line in front that says so where lines between are missing.
[[nodiscard]] std::string new_of(std::string_view before, std::string_view now);

class Logs {
 public:
  /// "": none are fetched.
  explicit Logs(std::string folder) : folder_(std::move(folder)) {}

  /// Of a job by its id; "" where none are fetched.
  [[nodiscard]] std::string path_of(const std::string& job) const;
  struct Attempt {
    std::string job, ray_id, node;
    bool is_over = false;
  };
  /// Appends what is new. What cannot be had now is had later. Errors: those of the head.
  Result<void> fetch(const Attempt& attempt, const Head& head, Head::Until until);
  /// Nothing is fetched of it any more.
  void forget(const std::string& job) { last_.erase(job); }

 private:
  struct Last {
    std::string ray_id, lines;
    std::uint64_t written = 0;
  };
  std::string folder_;
  std::map<std::string, Last, std::less<>> last_;
};

}  // namespace schedmate::ray_live
