// SPDX-License-Identifier: Apache-2.0
#pragma once

/// What may be recommended, and which nodes may be named: a log alone blames no machine.

#include <schedmate/diagnosis.hpp>
#include <string_view>

#include "log/witness/witness.hpp"

namespace schedmate::failure {

/// The line that names the cause; empty where the log shows no failure.
struct CauseLine {
  std::string_view text;
  int rank = -1;      ///< that printed it
  bool open = false;  ///< it says that the job ended, not why
};

/// Consults every row of witnesses.def and lets them settle the verdict:
/// - where the line is open, or the log shows no failure although the scheduler's state is one, the
///   verdict becomes that of the most certain finding that explains an end;
/// - an agreeing finding of the vendor's table decides the recommendation;
/// - where none of them agrees, restart_elsewhere becomes test_first and no node is named.
/// Errors: those of reading kernel logs and rules.
[[nodiscard]] Result<void> consult_witnesses(const witness::WitnessCase& what,
                                             const CauseLine& line, Diagnosis& made);

}  // namespace schedmate::failure
