// SPDX-License-Identifier: Apache-2.0
#pragma once

/// The model's part of the Metadata Extractor (paper 3.1, poster section 2): an
/// agent that reasons, looks at files and answers, and the checks that decide which of its answers
/// count. It cannot change anything: its tools list, read and search beneath the job's root.

#include <schedmate/facts.hpp>
#include <schedmate/llm.hpp>

#include "tree/tree.hpp"

namespace schedmate::agent {

/// What is asked, of which job. `log` and `monitoring` are further sources, "" when there are none.
struct AgentTask {
  const JobSource& job;
  tree::Tree& tree;
  const Facts& found;  ///< a fact that is known, or unknown with a confidence, is resolved
  std::string_view log;
  std::string_view monitoring;
};

struct AgentSettings {
  int tool_calls = 12;
  std::int64_t tokens = 40'000;        ///< prompts and answers of one sample
  std::int64_t context_tokens = 8192;  ///< of the server; prompts are trimmed to fit
  std::int64_t answer_tokens = 1000;   ///< most for one reply
  std::chrono::seconds deadline{120};  ///< for all samples together
  int samples = 1;                     ///< requested from each model
  double doubtful_below = 0;           ///< known facts below this confidence are asked for again
  std::uint64_t seed = 1;
};

/// An answer of the model before it is checked; `field` is one of agent/fields.def or, when
/// `extra`, a name of the model's choice.
struct Claim {
  std::string field;
  FactValue value;
  std::string file;
  int line = 0;
  bool extra = false;
};

struct DroppedClaim {
  Claim claim;
  std::string why;
};

struct AgentOutcome {
  std::map<std::string, Fact, std::less<>> facts;  ///< new ones only, source `model`
  std::map<std::string, Fact, std::less<>> extra;
  std::vector<std::string> asked;  ///< the gaps
  std::vector<DroppedClaim> dropped;
  int accepted = 0;  ///< facts and extra
  int samples = 0;   ///< that ended in an answer
  int tool_calls = 0;
  std::int64_t requests = 0;
  std::int64_t tokens = 0;
  std::string prompt_version;
  std::vector<std::string> notes;  ///< why samples ended without an answer
};

/// Asks every model `settings.samples` times and keeps what a majority says and a line proves. With
/// no gap nothing is asked. Errors: those of the chats when no sample ends in an answer.
[[nodiscard]] Result<AgentOutcome> fill_gaps(const AgentTask& task, const AgentSettings& settings,
                                             std::span<const Chat> models, const Clock& clock);

/// The fields that `found` leaves open.
[[nodiscard]] std::vector<std::string> gaps_of(const Facts& found, double doubtful_below);

/// A short table of the counts, for people.
[[nodiscard]] std::string describe(const AgentOutcome& outcome);

}  // namespace schedmate::agent
