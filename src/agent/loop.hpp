// SPDX-License-Identifier: Apache-2.0
#pragma once

/// One sample: thought, action, observation until the answer (ReAct), within tool calls, tokens,
/// context and time.

#include "agent/reply.hpp"

namespace schedmate::agent {

struct Sample {
  std::optional<std::vector<Claim>> answer;
  std::vector<DroppedClaim> unreadable;
  int tool_calls = 0;
  std::int64_t requests = 0;
  std::int64_t tokens = 0;
  Error error;  ///< why there is no answer
};

struct SampleSpec {
  const AgentTask& task;
  const AgentSettings& settings;
  std::span<const std::string> gaps;
  const Clock& clock;
  std::chrono::nanoseconds end{0};  ///< on the clock
  std::uint64_t seed = 0;           ///< 0 = the plain first sample
};

[[nodiscard]] Sample run_sample(const SampleSpec& spec, const Chat& chat);

}  // namespace schedmate::agent
