// SPDX-License-Identifier: Apache-2.0
#pragma once

/// Slow work about one attempt of a job, which others do outside the loop: reading its code, its
/// log, the cause of its failure. Values.

#include <cstdint>
#include <optional>
#include <schedmate/connector.hpp>
#include <schedmate/diagnosis.hpp>
#include <schedmate/estimator.hpp>
#include <string>
#include <variant>
#include <vector>

namespace schedmate::live {

struct Study {
  enum class What : std::uint8_t { code, log, failure };
  std::uint64_t number = 0;  ///< of the study; its answer names it
  What what = What::code;
  SeenJob job;                    ///< at the last reading that showed it
  std::vector<SeenStep> steps{};  ///< of one that has failed, where the cluster tells them
};

/// What its code and past jobs say of it.
struct CodeFound {
  std::optional<Prediction> prediction{};  ///< for policies; empty: nothing is known
  std::string source{};                    ///< of the estimate: resubmission, similar, user_history
  FractionalSeconds p10{0}, p50{0}, p90{0};
  bool gives_length = true;  ///< false: its user reads that the length is not known
};

/// One look at its log.
struct LogFound {
  std::optional<double> step{}, total_steps{}, loss{}, step_time_s{}, remaining_s{};
  std::optional<double> recent_step_s{};  ///< by its last reports alone
  std::uint64_t file = 0, bytes = 0;      ///< which file this is, and how long
  std::optional<SimTime> written{};       ///< last, on the clock of its machine
  /// Of the run, by its counters, in seconds: queue::accounted_s().
  std::vector<double> accounted_s{};
  /// Seconds of a step as it is now; positive.
  [[nodiscard]] std::optional<double> step_s_now() const {
    const auto seconds = recent_step_s ? recent_step_s : step_time_s;
    return seconds && *seconds > 0 ? seconds : std::nullopt;
  }
};

/// Why it failed.
struct CauseFound {
  bool judged = true;  ///< false: its log says nothing that one could judge by
  FailureClass verdict = FailureClass::none;
  Component component = Component::none;
  Recommendation recommendation = Recommendation::notify;
  std::string reason{}, advice{}, fingerprint{};
  /// Why its log was not read, for people: that is the site's trouble, and no cause of its end.
  std::string unread{};
  std::vector<std::string> blamed{};  ///< nodes that the log names
  std::optional<double> step{};       ///< that it had reached
  std::string document{};             ///< schedmate.diagnosis.v1, "" = none
  std::vector<SeenStep> steps{};      ///< of the attempt, where the cluster tells them
};

using Finding = std::variant<CodeFound, LogFound, CauseFound>;

}  // namespace schedmate::live
