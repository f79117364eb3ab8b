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
  /// What it printed. Errors: as process::run_tool(), and timeout once `until` has passed.
  [[nodiscard]] Result<std::string> run(std::vector<std::string> words, Until until) const {
    return run(std::move(words), until, false);
  }
  /// The same of one that ends with 0 whatever it could not do.
  [[nodiscard]] Result<std::string> must_print(std::vector<std::string> words, Until until) const {
    return run(std::move(words), until, true);
  }
  void wait_until(Until when) const {
    if (when > clock_.now()) clock_.sleep(when - clock_.now());
  }
  /// Waits, unless that would be beyond `until`.
  [[nodiscard]] bool wait(std::chrono::milliseconds time, Until until) const;
  [[nodiscard]] std::chrono::milliseconds left(Until until) const {
    return std::chrono::duration_cast<std::chrono::milliseconds>(until - clock_.now());
  }
  /// Of the programs: "NAME=VALUE".
  [[nodiscard]] std::vector<std::string> variables() const;
  [[nodiscard]] SimTime wall() const { return clock_.wall(); }

 private:
  [[nodiscard]] Result<std::string> run(std::vector<std::string> words, Until until,
                                        bool must_print) const;

  settings::Environment environment_;
  Clock clock_;
  std::vector<std::string> variables_;
};

/// What a call came to, by what the program that made it said: refused only where the controller
/// (or the program, before it asked) said no.
[[nodiscard]] CallReply reply_of(const Result<std::string>& said);
/// What Slurm is not even asked.
[[nodiscard]] CallReply refuse(std::string why);
/// The error of a reading that failed: invalid, else unavailable.
[[nodiscard]] tl::unexpected<Error> unread(const Error& error);

}  // namespace schedmate::slurm_live
