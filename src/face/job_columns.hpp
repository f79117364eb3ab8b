// SPDX-License-Identifier: Apache-2.0
#pragma once

/// Jobs as the columns of schedmate_policy.h, in memory that is used again.

#include <schedmate_policy.h>

#include <schedmate/policy.hpp>
#include <string>
#include <vector>

namespace schedmate::face {

/// Texts as C has them. What table() gives is valid until the next add() or clear().
class TextColumn {
 public:
  void clear();
  void add(std::string_view text);
  [[nodiscard]] const char* const* table();

 private:
  std::string all_;
  std::vector<std::size_t> begins_;
  std::vector<const char*> table_;
};

/// What it gives is valid until it is asked again.
class JobColumns {
 public:
  /// `ids` are in `jobs`.
  [[nodiscard]] const schedmate_jobs* fill(const JobMap<JobInfo>& jobs, std::span<const JobId> ids);

 private:
  void clear();
  void add(JobId id, const JobInfo& job);
  void add_state(const JobInfo& job);
  void add_profile(const Profile* profile);

  TextColumn ids_;
  std::vector<std::uint32_t> numbers_, users_;
  std::vector<std::int32_t> gpus_, scores_;
  std::vector<std::int64_t> submits_, entries_, starts_, attained_, overheads_;
  std::vector<double> estimates_, expected_, p10_, p50_, p90_, advised_, gpu_util_, memory_util_,
      memory_, speeds_;
  std::vector<std::uint8_t> running_, sharing_, alone_;
  schedmate_jobs told_{};
};

}  // namespace schedmate::face
