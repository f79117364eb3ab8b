// SPDX-License-Identifier: Apache-2.0
#pragma once

/// The facts of a submission, from memory where nothing that they stand on has changed.

#include "advisor/advisor.hpp"

namespace schedmate::advisor {

struct KnownFacts {
  Facts facts;
  Closure closure;
  std::string commit;
  bool remembered = false;
  std::string previous;  ///< the user's last run of this entry, "" = none
  std::vector<FactChange> changes;
  std::vector<std::string> notes;
};

/// Errors: those of reading the facts, and those of the store.
[[nodiscard]] Result<KnownFacts> know_facts(const Submission& submission,
                                            const AdvisorParts& parts);

}  // namespace schedmate::advisor
