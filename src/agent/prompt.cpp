// SPDX-License-Identifier: Apache-2.0
#include "agent/prompt.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "agent/fields.hpp"
#include "agent/tools.hpp"
#include "base/fence.hpp"
#include "base/random.hpp"
#include "secrets/redact.hpp"

namespace schedmate::embedded {
extern const std::string_view prompt_task, prompt_tools, prompt_metadata, prompt_format;
}  // namespace schedmate::embedded

namespace schedmate::agent {
namespace {

constexpr std::size_t most_facts_text = 160;
constexpr std::size_t most_listed = 400;

std::string head_of(std::string_view text, std::size_t most_bytes) {
  if (text.size() <= most_bytes) return std::string(text);
  std::size_t end = most_bytes;
  while (end > 0 && (text[end] & '\xC0') == '\x80') --end;
  return std::string(text.substr(0, end)) + "\n(the rest is left out)";
}

std::string tail_of(std::string_view text, std::size_t most_bytes) {
  if (text.size() <= most_bytes) return std::string(text);
  std::size_t start = text.size() - most_bytes;
  while (start < text.size() && (text[start] & '\xC0') == '\x80') ++start;
  return "(the beginning is left out)\n" + std::string(text.substr(start));
}

/// The log with its own line numbers, which an answer cites; the end matters most, but what a run
/// prints of its settings stands at the beginning.
std::string numbered(std::string_view log, std::size_t most_bytes) {
  std::vector<std::string> lines;
  std::size_t number = 0;
  for (std::size_t at = 0; at < log.size();) {
    const std::size_t end = std::min(log.find('\n', at), log.size());
    lines.push_back(fmt::format("{}: {}", ++number, head_of(log.substr(at, end - at), 300)));
    at = end + 1;
  }
  return without_middle(lines, most_bytes);
}

std::string facts_part(const Facts& found) {
  std::string out;
  for (const auto& [name, fact] : found.facts) {
    if (!fact.known()) continue;
    out += fmt::format("{} = {}", name, shown(fact.value));
    if (!fact.evidence.empty()) {
      const Evidence& line = fact.evidence.front();
      out +=
          fmt::format("  ({}:{}: {})", line.file, line.line, head_of(line.text, most_facts_text));
    }
    out += '\n';
  }
  return out.empty() ? "none\n" : out;
}

std::string gaps_part(std::span<const std::string> gaps) {
  std::string out;
  for (const std::string& gap : gaps) {
    const Field* field = find_field(gap);
    out += fmt::format("{}: {}\n", gap, field != nullptr ? field->meaning : "");
  }
  return out;
}

/// The files that the facts came from first; then the job's folder.
std::vector<std::string> short_list(const AgentTask& task) {
  std::vector<std::string> files;
  for (const std::string& file : task.found.files_read) {
    if (is_shown(file) && files.size() < most_listed) files.push_back(file + "  (read already)");
  }
  for (const tree::TreeEntry& entry : task.tree.list("")) {
    if (!is_shown(entry.path) || files.size() >= most_listed) continue;
    const bool known =
        std::ranges::find(task.found.files_read, entry.path) != task.found.files_read.end();
    if (!known) files.push_back(entry.is_folder ? entry.path + "/" : entry.path);
  }
  return files;
}

}  // namespace

std::string prompt_version() {
  std::uint64_t hash = 0;
  for (const char c : task_prompt() + guide_prompt()) {
    hash = mix(hash ^ static_cast<unsigned char>(c));
  }
  return fmt::format("extract-{:08x}", hash >> 32U);
}

std::string task_prompt() { return std::string(embedded::prompt_task); }

std::string guide_prompt() {
  return fmt::format("{}\n{}\n{}", embedded::prompt_tools, embedded::prompt_metadata,
                     embedded::prompt_format);
}

std::string without_middle(std::span<const std::string> lines, std::size_t most_bytes) {
  constexpr std::size_t gap_bytes = 40;
  std::size_t all = 0;
  for (const std::string& line : lines) all += line.size() + 1;
  std::size_t head = 0, tail = 0, used = gap_bytes;
  while (all > most_bytes && head + tail < lines.size()) {
    const bool at_front = head <= tail;
    const std::string& line = at_front ? lines[head] : lines[lines.size() - 1 - tail];
    if (used + line.size() + 1 > most_bytes) break;
    used += line.size() + 1;
    (at_front ? head : tail) += 1;
  }
  std::string out;
  const std::size_t first = all > most_bytes ? head : lines.size();
  for (std::size_t i = 0; i < first; ++i) out += lines[i] + '\n';
  if (all <= most_bytes) return out;
  out += fmt::format("... {} left out ...\n", lines.size() - head - tail);
  for (std::size_t i = lines.size() - tail; i < lines.size(); ++i) out += lines[i] + '\n';
  return out;
}

std::string job_prompt(const AgentTask& task, std::span<const std::string> gaps,
                       std::size_t most_bytes, std::uint64_t seed) {
  const auto share = [&](std::size_t percent) { return most_bytes * percent / 100; };
  std::string out = fmt::format(
      "The job runs on {} GPUs ({}) of {} nodes, started in the folder '{}' by\n{}\n",
      task.job.gpus, task.job.gpu_type.empty() ? "kind unknown" : task.job.gpu_type, task.job.nodes,
      task.job.workdir,
      fenced("<command>", head_of(secrets::redact(task.job.command), share(20)), mix(seed + 1)));
  out += fmt::format(
      "\nFacts found:\n{}\n",
      fenced("facts", head_of(secrets::redact(facts_part(task.found)), share(25)), mix(seed + 2)));
  out += fmt::format("\nGaps to fill:\n{}", gaps_part(gaps));
  if (!task.log.empty()) {
    out +=
        fmt::format("\nIts log so far:\n{}\n",
                    fenced("<log>", numbered(secrets::redact(task.log), share(20)), mix(seed + 3)));
  }
  if (!task.monitoring.empty()) {
    out += fmt::format(
        "\nMeasured while it ran:\n{}\n",
        fenced("monitoring", tail_of(secrets::redact(task.monitoring), share(10)), mix(seed + 4)));
  }
  const std::size_t used = out.size() + 100;
  const std::size_t left = most_bytes > used ? most_bytes - used : 0;
  out += fmt::format("\nFiles:\n{}\n",
                     fenced("files", without_middle(short_list(task), left), mix(seed + 5)));
  return out;
}

}  // namespace schedmate::agent
