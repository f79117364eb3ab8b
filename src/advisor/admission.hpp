// SPDX-License-Identifier: Apache-2.0
#pragma once

/// Is a submission one that was there before (paper 3.1, Admission Analyzer)? Same user, directory
/// and branch; then the command, flag by flag, by the classes of rules/flags.toml; and the request.
/// What the facts of both jobs say of a field counts more than how its flag is written.

#include <schedmate/advice.hpp>
#include <schedmate/job_record.hpp>
#include <string>
#include <vector>

#include "advisor/command_flags.hpp"
#include "advisor/fields.hpp"

namespace schedmate::advisor {

struct FlagDifference {
  std::string name;
  std::string ours, theirs;  ///< "" = not given
  std::string rule;          ///< of flags.toml; "unknown flag", "argument" or "request" beside
  FlagClass flag_class = FlagClass::another_job;
};

/// Flags and words that differ, the greatest difference first.
[[nodiscard]] std::vector<FlagDifference> compare_commands(const CommandFlags& ours,
                                                           const CommandFlags& theirs,
                                                           const FlagRules& rules);

struct Verdict {
  FlagClass relation = FlagClass::another_job;  ///< same_job .. scaled: a resubmission
  std::string rule;                             ///< why, naming what differs
  double scale = 1;                             ///< duration of ours / duration of theirs
  [[nodiscard]] bool resubmission() const { return relation != FlagClass::another_job; }
};

/// `ours` is nullptr as long as the facts of the submission are not known.
struct AdmissionCase {
  const Submission& submission;
  const Fields* ours = nullptr;
  const JobRecord& earlier;
};

[[nodiscard]] Verdict judge(const AdmissionCase& both, const FlagRules& rules);

/// The same for commands that were read already; user, directory and branch are known to agree.
struct BothFlags {
  const CommandFlags& ours;
  const CommandFlags& theirs;
};
[[nodiscard]] Verdict judge(const AdmissionCase& both, const BothFlags& flags,
                            const FlagRules& rules);

/// How much an earlier submission of that relation counts, 0 to 1.
[[nodiscard]] double similarity(FlagClass relation);

inline constexpr std::size_t submissions_of_an_entry = 64;  ///< the user's latest are looked at

}  // namespace schedmate::advisor
