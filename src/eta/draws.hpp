// SPDX-License-Identifier: Apache-2.0
#pragma once

/// Run times of one sample: the same draw for the same job in every forecast with that seed,
/// whatever else has changed.

#include <array>
#include <cstdint>
#include <schedmate/eta.hpp>

namespace schedmate::eta {

/// What its draws have in common with those of other jobs, from the widest circle to itself.
struct Kin {
  explicit Kin(const SnapshotJob& job);
  bool running;
  std::array<std::uint64_t, 4> circles;  // user, size, burst, the job
  auto operator<=>(const Kin&) const = default;
};

/// Draws of one sample. Those of jobs in the order of their kin cost least.
class Draws {
 public:
  Draws(std::uint64_t seed, std::uint64_t sample) : seed_(seed), sample_(sample) {}
  /// Between 0 and 1. `kin` outlives the next call.
  [[nodiscard]] double share_of(const Kin& kin);

 private:
  std::uint64_t seed_, sample_;
  // Of the last job: as far as the next one has the same circles, it begins there.
  const Kin* last_ = nullptr;
  std::array<std::uint64_t, 4> keys_{};
  std::array<double, 4> sums_{};
};

/// In all, in seconds, longer than it has run already.
[[nodiscard]] double run_time_of(const SnapshotJob& job, const QueueSnapshot& snapshot,
                                 double share);

}  // namespace schedmate::eta
