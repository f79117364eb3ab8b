// SPDX-License-Identifier: Apache-2.0

/// A baseline for the scorer of failures: the class of the nearest labelled incident (as RCACopilot
/// does it; paper 5.4), and the line that is most like the one that named its cause. The incident
/// in question and all others of its source are left out.
///
///   rca_nearest diagnose LOG --json --incidents failures.jsonl

#include <fmt/format.h>

#include <algorithm>
#include <fstream>
#include <iterator>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "base/text.hpp"
#include "log/failure/sparse_text.hpp"

namespace schedmate {
namespace {

constexpr std::size_t window = 200;  ///< lines at the end of a log that make its text

struct Incident {
  std::string log, source, verdict;
  nlohmann::json component;
  failure::Sparse text, root;
};

std::vector<std::string_view> last_lines(std::string_view log) {
  auto lines = split(log, '\n');
  if (lines.size() > window)
    lines.erase(lines.begin(), lines.end() - static_cast<std::ptrdiff_t>(window));
  return lines;
}

/// Each template counts once.
failure::Sparse text_of(const Embedder& embedder, std::string_view log) {
  failure::Sparse sum;
  for (const auto line : last_lines(log))
    for (const auto& [bucket, count] : failure::sparse_of(embedder, line))
      sum[bucket] = std::max(sum[bucket], count);
  return sum;
}

/// "github owner/name, file, lines 1-3" -> "owner/name".
std::string repository_of(std::string_view source) {
  source.remove_prefix(std::min(source.size(), source.find("github ") + 7));
  return std::string(source.substr(0, source.find_first_of(",# ")));
}

std::vector<Incident> read_incidents(const Embedder& embedder, const std::string& path) {
  std::vector<Incident> incidents;
  std::ifstream file(path);
  for (std::string row; std::getline(file, row);) {
    const auto from = nlohmann::json::parse(row);
    Incident made;
    made.log = from.at("log").get<std::string>();
    made.source = repository_of(from.at("source").get<std::string>());
    made.verdict = from.at("class").get<std::string>();
    made.component = from.at("component");
    made.text = text_of(embedder, made.log);
    made.root = failure::sparse_of(embedder, from.at("root_text").get<std::string>());
    incidents.push_back(std::move(made));
  }
  return incidents;
}

const Incident* nearest(const std::vector<Incident>& incidents, const failure::Rarity& rarity,
                        const failure::Sparse& text, std::string_view log) {
  const auto self = std::ranges::find(incidents, log, &Incident::log);
  const std::string source = self == incidents.end() ? "" : self->source;
  const failure::Sparse wanted = rarity.weighed(text);
  const Incident* best = nullptr;
  double best_near = -1;
  for (const Incident& each : incidents) {
    if (each.source == source) continue;
    const double near = failure::dot(wanted, rarity.weighed(each.text));
    if (near > best_near) {
      best_near = near;
      best = &each;
    }
  }
  return best;
}

/// 1-based: the line that is most like `root`.
std::size_t line_like(const Embedder& embedder, const failure::Rarity& rarity, std::string_view log,
                      const failure::Sparse& root) {
  const failure::Sparse wanted = rarity.weighed(root);
  const auto lines = split(log, '\n');
  const auto first = lines.size() - last_lines(log).size();
  std::size_t best = first;
  double best_near = -1;
  for (std::size_t i = first; i < lines.size(); ++i) {
    const double near =
        failure::dot(wanted, rarity.weighed(failure::sparse_of(embedder, lines[i])));
    if (near > best_near) {
      best_near = near;
      best = i;
    }
  }
  return best + 1;
}

int run(const std::string& log_path, const std::string& incidents_path) {
  const Embedder embedder = *make_embedder("lexical");
  const auto incidents = read_incidents(embedder, incidents_path);
  std::ifstream file(log_path, std::ios::binary);
  const std::string log{std::istreambuf_iterator<char>(file), {}};
  std::vector<failure::Sparse> texts;
  for (const Incident& each : incidents) texts.push_back(each.text);
  const failure::Rarity rarity(texts);
  const Incident* like = nearest(incidents, rarity, text_of(embedder, log), log);
  if (like == nullptr) return 1;
  const nlohmann::json document = {{"class", like->verdict},
                                   {"component", like->component},
                                   {"root_line", line_like(embedder, rarity, log, like->root)}};
  fmt::print("{}\n", document.dump());
  return 0;
}

}  // namespace
}  // namespace schedmate

int main(int count, char** words) {
  std::string log_path;
  std::string incidents_path;
  for (int i = 1; i + 1 < count; ++i) {
    const std::string_view word = words[i];
    if (word == "diagnose") log_path = words[i + 1];
    if (word == "--incidents") incidents_path = words[i + 1];
  }
  if (log_path.empty() || incidents_path.empty()) {
    fmt::print(stderr, "usage: rca_nearest diagnose LOG --json --incidents FILE\n");
    return 2;
  }
  return schedmate::run(log_path, incidents_path);
}
