// SPDX-License-Identifier: Apache-2.0
#pragma once

/// The prompt of the model (paper, Figure 6): the files of prompts/extract, which never change
/// between requests, then the job: command, facts, gaps, files, log, monitoring.

#include "agent/agent.hpp"

namespace schedmate::agent {

/// Changes whenever a file under prompts/extract does.
[[nodiscard]] std::string prompt_version();
[[nodiscard]] std::string task_prompt();
/// Tool guide, metadata schema and format instruction.
[[nodiscard]] std::string guide_prompt();

/// The first message. Beyond `most_bytes` the file list loses its middle, long parts their rest.
[[nodiscard]] std::string job_prompt(const AgentTask& task, std::span<const std::string> gaps,
                                     std::size_t most_bytes, std::uint64_t seed);

/// The lines around the gap are kept: first and last ones in turn, as many as fit.
[[nodiscard]] std::string without_middle(std::span<const std::string> lines,
                                         std::size_t most_bytes);

}  // namespace schedmate::agent
