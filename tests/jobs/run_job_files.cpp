// SPDX-License-Identifier: Apache-2.0
/// Plays job files (docs/formats/job-file.md): a small tree, a command, and the facts that are to
/// be read from them. `run_job_files FILE...`; exit 1 when a fact differs.
#include <fmt/format.h>

#include <cstdio>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <map>

#include "base/text.hpp"
#include "core/facts_json.hpp"
#include "facts/extract.hpp"
#include "tests/support/scratch.hpp"

namespace schedmate {
namespace {

struct JobFile {
  JobSource source;
  std::map<std::string, std::string> files;
  std::vector<std::pair<std::string, std::string>> expected;
};

void take_header(JobFile& job, std::string_view key, std::string_view value) {
  if (key == "command") job.source.command = value;
  if (key == "workdir") job.source.workdir = value;
  if (key == "root")
    job.source.roots.push_back({std::string(value.substr(0, value.find('='))),
                                std::string(value.substr(value.find('=') + 1))});
  if (key == "gpus") job.source.gpus = parse_number<int>(value).value_or(0);
  if (key == "nodes") job.source.nodes = parse_number<int>(value).value_or(0);
}

JobFile read_job_file(const std::string& path) {
  JobFile job;
  std::ifstream in(path);
  std::string* file = nullptr;
  bool expects = false;
  for (std::string line; std::getline(in, line);) {
    if (line.starts_with("---- expect")) {
      expects = true;
      file = nullptr;
    } else if (line.starts_with("--- ")) {
      file = &job.files[line.substr(4)];
    } else if (file != nullptr) {
      *file += line + "\n";
    } else if (const auto colon = line.find(": "); colon != std::string::npos && line[0] != '#') {
      const auto key = line.substr(0, colon);
      const std::string value(trim(std::string_view(line).substr(colon + 2)));
      if (expects) {
        job.expected.emplace_back(key, value);
      } else {
        take_header(job, key, value);
      }
    }
  }
  return job;
}

/// What a line of the expectation asks for: a field's value, "lines FIELD", expect, runs, degraded.
std::string answer(const Facts& facts, const std::string& what) {
  if (what == "expect") return std::string(outlook_word(facts.expect));
  if (what == "expect_reason") return facts.expect_reason;
  if (what == "runs") return fmt::format("{}", facts.runs);
  if (what == "degraded") return fmt::format("{}", fmt::join(facts.degraded, "; "));
  if (what.starts_with("lines ")) {
    const Fact* fact = facts.find(what.substr(6));
    std::string lines;
    for (const Evidence& line : fact == nullptr ? std::vector<Evidence>{} : fact->evidence) {
      lines += (lines.empty() ? "" : " ") + line.file;
      if (line.line > 0) lines += fmt::format(":{}", line.line);
    }
    return lines;
  }
  const Fact* fact = facts.find(what);
  return fact == nullptr || !fact->known() ? "null" : value_text(fact->value);
}

int play(const std::string& path, const FactRules& rules) {
  JobFile job = read_job_file(path);
  const testing::Scratch scratch;
  for (const auto& [name, text] : job.files) {
    const std::filesystem::path file = scratch.path(name);
    std::filesystem::create_directories(file.parent_path());
    std::ofstream(file) << text;
  }
  job.source.root = scratch.path();
  auto tree = tree::Tree::open(job.source.root);
  const auto facts =
      tree ? facts::extract_facts_in(*tree, job.source, rules) : tl::unexpected(tree.error());
  if (!facts) {
    fmt::print("{}: {}\n", path, facts.error().message);
    return 1;
  }
  int different = 0;
  for (const auto& [what, wanted] : job.expected) {
    const std::string got = answer(*facts, what);
    if (got == wanted) continue;
    ++different;
    fmt::print("{}: {}: expected {}, got {}\n", path, what, wanted, got);
  }
  if (job.expected.empty()) fmt::print("{}: expects nothing\n", path);
  return different > 0 || job.expected.empty() ? 1 : 0;
}

}  // namespace
}  // namespace schedmate

int main(int count, char** words) {
  const auto rules = schedmate::load_fact_rules("");
  if (!rules) return 2;
  int failed = 0;
  for (int i = 1; i < count; ++i) failed |= schedmate::play(words[i], **rules);
  return count > 1 ? failed : 2;
}
