// SPDX-License-Identifier: Apache-2.0
#pragma once

/// Sums per VC, size class or user. Jobs come in ascending order of JCT, so a group's p99 is simply
/// the job that brings it to the rank; no group keeps its values.

#include <cstdint>
#include <schedmate/report.hpp>
#include <string>
#include <vector>

namespace schedmate::report {

/// "1", "2-4", "5-8", "9-16", "17-32", ">32" GPUs.
[[nodiscard]] const std::vector<std::string>& size_classes();
[[nodiscard]] std::uint32_t size_class(std::int32_t gpus);

class Groups {
 public:
  explicit Groups(const std::vector<std::string>& names);
  /// First all jobs, in any order: how many each group has.
  void expect(std::uint32_t group) { ++members_[group].jobs; }
  /// Then all jobs again, by JCT.
  void add(std::uint32_t group, const Job& job, const JobOutcome& outcome);
  /// Mean slowdown of each group that has jobs.
  [[nodiscard]] std::vector<double> slowdowns() const;
  [[nodiscard]] std::vector<GroupSummary> summaries() const;

 private:
  struct Member {
    std::uint64_t jobs = 0;
    std::uint64_t seen = 0;
    Seconds jct{0};
    Seconds queue{0};
    Seconds p99{0};
    double slowdown = 0;
  };
  const std::vector<std::string>& names_;
  std::vector<Member> members_;
};

}  // namespace schedmate::report
