// SPDX-License-Identifier: Apache-2.0
#pragma once

/// The edge of the service: whatever a use case shows, stores or sends passes one of these.
/// Texts from which parts are cut are redacted before the cut, where they are still whole: lines of
/// a tree in facts/safe.hpp, excerpts for a model in src/agent, lines of a log by LogRedactor.

#include <memory>
#include <schedmate/facts.hpp>
#include <schedmate/file_access.hpp>
#include <string>
#include <string_view>
#include <vector>

namespace schedmate::secrets {

/// Without secrets; line ends stay. For what is stored or sent.
[[nodiscard]] std::string redacted(std::string_view text);
[[nodiscard]] std::vector<std::string> redacted(std::vector<std::string> texts);
/// The same of a submission's command, and of facts that somebody else wrote.
[[nodiscard]] JobSource redacted(JobSource job);
[[nodiscard]] Facts redacted(Facts facts);
/// A line without secrets and without what controls a terminal; the same of a text, which keeps its
/// line ends. For what is shown.
[[nodiscard]] std::string safe_line(std::string_view line);
[[nodiscard]] std::string safe_text(std::string_view text);
void make_safe(std::vector<std::string>& lines);

/// Lines of logs that are shown apart. A line knows nothing of the key block that it is a part of,
/// nor that its first word was announced as a token elsewhere; so the logs are looked through for
/// secrets when the first line is asked for: whole up to 4 MiB, else their first and last MiB.
/// Copies share what they know. Not for several threads at once.
class LogRedactor {
 public:
  /// Pipes and devices are not read, since that would take their text from others.
  explicit LogRedactor(std::vector<std::string> logs, FileAccess access = {});

  /// For one who reads a log anyway; the logs themselves are not read then.
  void learn(std::string_view text) const;
  /// As safe_text(), safe_line() and make_safe().
  [[nodiscard]] std::string text(std::string_view text) const;
  [[nodiscard]] std::string line(std::string_view line) const;
  void make_safe(std::vector<std::string>& lines) const;

 private:
  struct State;
  std::shared_ptr<State> state_;
};

}  // namespace schedmate::secrets
