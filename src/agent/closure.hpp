// SPDX-License-Identifier: Apache-2.0
#pragma once

/// The files that decide what a job is: those the facts were read from, those the command names,
/// and, of those a model opened, the ones that these import or name as their configuration.

#include <map>
#include <set>
#include <string>

#include "agent/agent.hpp"
#include "agent/binding.hpp"

namespace schedmate::agent {

class TaskClosure {
 public:
  TaskClosure(const AgentTask& task);

  [[nodiscard]] bool contains(const std::string& path);
  /// Of one file of the tree, kept after the first time; empty when it cannot be read.
  const Bindings& bindings(const std::string& path);
  [[nodiscard]] const Bindings& command() const { return command_; }
  [[nodiscard]] std::vector<std::string> files() const { return {files_.begin(), files_.end()}; }
  /// Configuration of this job, which wins over defaults that code declares: a configuration file,
  /// or a file that the command hands to its program.
  [[nodiscard]] bool overrides_code(const std::string& path) const;

 private:
  bool belongs(const std::string& path);
  bool imported_by(const std::string& path, const Bindings& of);
  bool named_by(const std::string& path, const Bindings& of);

  const AgentTask& task_;
  std::set<std::string> files_;
  std::map<std::string, bool> judged_;
  std::map<std::string, Bindings> bindings_;
  Bindings command_;
};

}  // namespace schedmate::agent
