// SPDX-License-Identifier: Apache-2.0
#pragma once

/// Which answers of a model count (poster: Vote and Evaluate). A claim becomes a fact when the line
/// that it cites stands in a file of the closure, is code or configuration, sets the field and
/// holds the value, and when nothing that is known speaks against it.

#include "agent/closure.hpp"

namespace schedmate::agent {

class Evaluator {
 public:
  /// `gaps`: the fields that were asked for.
  Evaluator(const AgentTask& task, std::vector<std::string> gaps);

  /// The fact, or why the claim is dropped.
  [[nodiscard]] tl::expected<Fact, std::string> check(const Claim& claim);

 private:
  struct Source {
    std::string file;
    const Bindings* bindings;
    const tree::TextFile* text;  ///< of the tree; nullptr for the command and the log
    std::string line_text;       ///< of those, without secrets
    double confidence;
  };
  tl::expected<Source, std::string> source_of(const Claim& claim);
  tl::expected<Source, std::string> whole_text(std::string_view name, std::string_view text,
                                               const Claim& claim);
  tl::expected<const Binding*, std::string> proof_in(const Source& source, const Claim& claim);
  [[nodiscard]] std::string objection(const Claim& claim, const Binding& binding) const;
  [[nodiscard]] std::string overridden(const Claim& claim, const Binding& binding);
  [[nodiscard]] bool contested(const Claim& claim);
  [[nodiscard]] bool selectable(const Binding& binding) const;
  [[nodiscard]] std::string contradiction(const Claim& claim) const;
  tl::expected<FactValue, std::string> typed_value(const Claim& claim) const;

  const AgentTask& task_;
  std::vector<std::string> gaps_;
  TaskClosure closure_;
  Bindings log_;
};

/// What all samples said: for each name the value that most of `samples` agree on, by majority;
/// agreement is the confidence. The rest goes to `dropped`.
struct CheckedClaim {
  Claim claim;
  Fact fact;
};
struct VoteOutcome {
  std::map<std::string, Fact, std::less<>> facts;
  std::map<std::string, Fact, std::less<>> extra;
  std::vector<DroppedClaim> dropped;
};
[[nodiscard]] VoteOutcome vote(std::span<const CheckedClaim> claims, int samples);

}  // namespace schedmate::agent
