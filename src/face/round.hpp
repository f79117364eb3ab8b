// SPDX-License-Identifier: Apache-2.0
#pragma once

/// One call of a host's policy: what it may ask, and what it decides, checked before it is carried
/// out. The first decision that is impossible is kept: the simulation ends with it.

#include <schedmate_policy.h>

#include <optional>
#include <schedmate/policy.hpp>
#include <schedmate/result.hpp>
#include <thread>
#include <vector>

#include "face/job_columns.hpp"

namespace schedmate::face {

/// Memory of a policy's rounds, used again by the next.
struct RoundMemory {
  JobColumns arrived, asked;
  std::vector<JobId> ids;
  std::vector<schedmate_slice> slices;
  std::vector<std::uint32_t> residents;
  std::vector<std::uint64_t> masks;
};

/// Of the thread that made it. What it refers to outlives it.
class Round {
 public:
  Round(const View& view, Plan& plan, RoundMemory& memory, bool shares)
      : view_(view), plan_(plan), memory_(memory), shares_(shares) {}

  [[nodiscard]] bool is_of_this_thread() const { return thread_ == std::this_thread::get_id(); }
  [[nodiscard]] const std::optional<Error>& fault() const { return fault_; }

  // Decisions. False: no room. Errors: not_found for a job that is not here, invalid and conflict
  // for what cannot be done with it.
  Result<bool> start(std::uint32_t job);
  Result<bool> start_on(std::uint32_t job, std::span<const schedmate_slice> where);
  Result<bool> preempt(std::uint32_t job);
  Result<bool> evict(std::uint32_t job);
  Result<bool> wake_at(std::int64_t time_s);

  // Questions. Errors: as above.
  [[nodiscard]] Result<bool> fits(std::int32_t gpus) const;
  [[nodiscard]] schedmate_gpus gpus() const;
  Result<const schedmate_jobs*> jobs(std::span<const std::uint32_t> numbers);
  std::span<const std::uint64_t> free_masks();
  Result<std::span<const schedmate_slice>> held(std::uint32_t job);
  Result<std::span<const std::uint32_t>> residents(std::uint32_t node, std::int32_t gpu);

 private:
  [[nodiscard]] Result<const JobInfo*> find(std::uint32_t job) const;
  [[nodiscard]] Result<const JobInfo*> waiting(std::uint32_t job) const;
  [[nodiscard]] Result<void> check_holds(std::uint32_t job) const;
  [[nodiscard]] Result<Placement> checked(const JobInfo& job,
                                          std::span<const schedmate_slice> where) const;
  [[nodiscard]] Result<void> check_slice(const schedmate_slice& slice) const;
  tl::unexpected<Error> impossible(Error error);

  const View& view_;
  Plan& plan_;
  RoundMemory& memory_;
  bool shares_;
  std::thread::id thread_ = std::this_thread::get_id();
  std::optional<Error> fault_;
};

}  // namespace schedmate::face
