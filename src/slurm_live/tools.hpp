// SPDX-License-Identifier: Apache-2.0
#pragma once

/// Slurm's own programs, with a deadline for all that an operation asks of them.

#include <chrono>
#include <schedmate/clock.hpp>
#include <schedmate/connector.hpp>
#include <string>
#include <vector>

#include "settings/environment.hpp"

namespace schedmate::slurm_live {

class Tools {
 public:
  /// `conf`: the slurm.conf that they read; "": whichever they find.
  Tools(settings::Environment environment, Clock clock, const std::string& conf);

  /// Until when an operation that begins now may last.
  using Until = std::chrono::nanoseconds;
  [[nodiscard]] Until from_now(Connector::Deadline within) const { return clock_.now() + within; }
  /// What it printed. Errors: as service::run_tool(), and timeout once `until` has passed.
  [[nodiscard]] Result<std::string> run(std::vector<std::string> words, Until until) const;
  /// Waits, unless that would be beyond `until`.
  [[nodiscard]] bool wait(std::chrono::milliseconds time, Until until) const;
  [[nodiscard]] SimTime wall() const { return clock_.wall(); }

 private:
  settings::Environment environment_;
  Clock clock_;
  std::vector<std::string> variables_;
};

/// What a call came to, by what the program that made it said: refused only where the controller
/// (or the program, before it asked) said no.
[[nodiscard]] CallReply reply_of(const Result<std::string>& said);
/// The error of a reading that failed: invalid, else unavailable.
[[nodiscard]] tl::unexpected<Error> unread(const Error& error);

}  // namespace schedmate::slurm_live
