// SPDX-License-Identifier: Apache-2.0
#include "facts/safe.hpp"

#include <map>

#include "base/text.hpp"
#include "secrets/redact.hpp"

namespace schedmate::facts {
namespace {

constexpr std::size_t most_learnt = std::size_t{8} << 20U;  ///< bytes of files

class Redactor {
 public:
  Redactor(tree::Tree& tree, const std::string& command)
      : tree_(tree), safe_command_(secrets::redact(command)), plain_(safe_command_ == command) {
    known_.learn(command);
    std::size_t bytes = 0;
    const std::vector<std::string> paths = tree.files_read();
    for (const std::string& path : paths) {
      const auto file = tree.read(path);
      if (!file) continue;
      bytes += (*file)->text.size();
      if (bytes > most_learnt) continue;
      known_.learn((*file)->text);
    }
  }

  [[nodiscard]] std::string clean(const std::string& text) const { return known_.redact(text); }

  void clean(Fact& fact) {
    if (auto* text = std::get_if<std::string>(&fact.value)) *text = known_.redact(*text);
    for (Evidence& line : fact.evidence) trace(line);
    std::erase_if(fact.evidence, [&](const Evidence& line) { return !stands(line); });
    for (Evidence& line : fact.evidence) clean(line);
    if (fact.evidence.empty()) fact.value = std::monostate();
  }

 private:
  /// A line that the command writes (sed -i, a here-document) stands in no file of the tree, but in
  /// the command or in the script that writes it.
  void trace(Evidence& evidence) {
    if (evidence.line == 0) return;
    const auto file = tree_.read(evidence.file);
    if (!file || !(*file)->written || original(**file, evidence)) return;
    std::string_view text = evidence.text;
    while (!text.empty() && std::string_view(",;\"' ").contains(text.back())) text.remove_suffix(1);
    const auto blank = text.find_last_of(" =:\"'");
    const auto value = blank == std::string_view::npos ? text : text.substr(blank + 1);
    if (!value.empty() && safe_command_.contains(value)) {
      evidence = {"<command>", 0, safe_command_};
      return;
    }
    // A script that writes the line, or a file that this one was made from.
    const auto ending =
        evidence.file.substr(std::min(evidence.file.rfind('.'), evidence.file.size()));
    for (const std::string& path : tree_.files_read()) {
      const bool may_hold = path.ends_with(".sh") || (!ending.empty() && path.ends_with(ending));
      const auto source = may_hold ? tree_.read(path) : file;
      if (!source || (*source)->written) continue;
      for (int line = 1; line <= (*source)->lines(); ++line) {
        if (!(*source)->line(line).contains(evidence.text)) continue;
        evidence = {path, line, evidence.text};
        return;
      }
    }
    evidence.text = "\n";  // stands nowhere
  }

  /// A line that an edit left as it was in the file of the tree.
  static bool original(const tree::TextFile& written, const Evidence& evidence) {
    const tree::TextFile* below = written.below;
    while (below != nullptr && below->written) below = below->below;
    return below != nullptr && below->line(evidence.line).contains(evidence.text);
  }

  /// Whether the line is really there: text that a program makes has no place in the tree.
  bool stands(const Evidence& evidence) {
    if (evidence.file.starts_with("rules/") || evidence.file.starts_with('<')) return true;
    const auto file = tree_.read(evidence.file);
    return file && (*file)->line(evidence.line).contains(evidence.text);
  }

  void clean(Evidence& evidence) {
    if (evidence.file == "<command>") {
      if (!plain_ && !safe_command_.contains(evidence.text))
        evidence.text = known_.redact(evidence.text);
    } else if (evidence.line > 0 && !evidence.file.starts_with("rules/")) {
      if (const auto safe = safe_line(evidence.file, evidence.line)) evidence.text = *safe;
    }
    evidence.file = secrets::redact(evidence.file);
  }

  /// The line as it stands in the redacted file; nothing when redacting changed nothing in the
  /// file.
  std::optional<std::string> safe_line(const std::string& path, int number) {
    auto held = files_.find(path);
    if (held == files_.end()) {
      const auto file = tree_.read(path);
      std::string safe = file ? secrets::redact((*file)->text) : "";
      if (file && safe == (*file)->text) safe.clear();
      held = files_.emplace(path, std::move(safe)).first;
    }
    if (held->second.empty()) return std::nullopt;
    const auto lines = split(held->second, '\n');
    const auto index = static_cast<std::size_t>(number) - 1;
    return index < lines.size() ? std::optional(std::string(trim(lines[index]))) : std::nullopt;
  }

  tree::Tree& tree_;
  std::string safe_command_;
  bool plain_;
  secrets::KnownSecrets known_;
  std::map<std::string, std::string> files_;  ///< redacted text; "" = nothing to hide
};

}  // namespace

void redact_facts(tree::Tree& tree, const std::string& command, Facts& facts) {
  Redactor redactor(tree, command);
  for (auto& [name, fact] : facts.facts) redactor.clean(fact);
  for (auto& [name, fact] : facts.extra) redactor.clean(fact);
  for (Rejected& rejected : facts.rejected) redactor.clean(rejected.fact);
  // A file that cannot be named cannot be compared with its next version either.
  std::erase_if(facts.files_read,
                [](const std::string& file) { return secrets::redact(file) != file; });
  for (std::string& note : facts.degraded) note = redactor.clean(note);
  facts.expect_reason = redactor.clean(facts.expect_reason);
}

}  // namespace schedmate::facts
