// SPDX-License-Identifier: Apache-2.0
#pragma once

/// The resident driver (schedmate_driver.py): a job of Ray that starts attempts in a tenth of a
/// second and tells of them in the words of Ray's Jobs API. It is begun when it is first needed,
/// and again when it is gone; what it has started outlives it.

#include <map>
#include <optional>
#include <string>

#include "ray_live/head.hpp"
#include "ray_live/start.hpp"

namespace schedmate::ray_live {

class Driver {
 public:
  Driver(Head ray, std::string instance, StartOptions options)
      : ray_(std::move(ray)), instance_(std::move(instance)), options_(std::move(options)) {}

  using Jobs = std::map<std::string, RayJob>;
  /// Looks for it among Ray's jobs and learns where it answers. One that `is_needed` is begun where
  /// there is none, unless the last one failed within a minute. Errors: unavailable (it is needed,
  /// and not there yet); those of the head.
  [[nodiscard]] Result<void> find(const Jobs& jobs, bool is_needed, Head::Until until);
  [[nodiscard]] const std::optional<Head>& server() const { return server_; }
  /// Adds its attempts to `jobs`; its session. Errors: unavailable, invalid.
  [[nodiscard]] Result<std::string> list(Jobs& jobs, Head::Until until) const;

 private:
  [[nodiscard]] std::string prefix() const;
  Result<void> begin(const RayJob* last, Head::Until until);
  Head ray_;
  std::string instance_;
  StartOptions options_;
  std::string id_{};  ///< of the job whose server is known
  std::optional<Head> server_{};
};

}  // namespace schedmate::ray_live
