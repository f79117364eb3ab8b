// SPDX-License-Identifier: Apache-2.0
#pragma once

/// The agent's three tools. Each reads beneath the job's root and returns text for the model, cut
/// to a size; secrets are taken out of whole files before anything is cut out of them.

#include <set>

#include "agent/reply.hpp"

namespace schedmate::agent {

class Toolbox {
 public:
  explicit Toolbox(tree::Tree& tree) : tree_(tree) {}

  /// What the tool found, or a sentence why not; never longer than `most_bytes`.
  [[nodiscard]] std::string use(const ToolCall& call, std::size_t most_bytes);

 private:
  std::string file_tree(const ToolCall& call, std::size_t most_bytes);
  std::string file_read(const ToolCall& call, std::size_t most_bytes);
  std::string search(const ToolCall& call, std::size_t most_bytes);
  /// The file without its secrets, by line; nullptr with the reason in `why`.
  const std::vector<std::string>* clean_lines(const std::string& path, std::string& why);

  tree::Tree& tree_;
  std::map<std::string, std::vector<std::string>> clean_;
};

/// Is this a file that a model may see in a listing? Texts for coding agents, secrets and binary
/// files are not.
[[nodiscard]] bool is_shown(std::string_view path);

}  // namespace schedmate::agent
