// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "base/input.hpp"
#include "base/text.hpp"
#include "bench/fake_llm/witness.hpp"

namespace schedmate::bench {
namespace {

using Json = nlohmann::json;

/// "ddp (manual all-reduce)" -> "ddp"; names keep their explanation.
std::string label_text(const std::string& field, const Json& label) {
  if (label.is_boolean()) return label.get<bool>() ? "true" : "false";
  if (label.is_number()) return label.dump();
  std::string text = label.get<std::string>();
  const bool name = field == "model_name" || field == "dataset";
  if (const std::size_t bracket = text.find(" ("); bracket != std::string::npos && !name) {
    text.erase(bracket);
  }
  return text;
}

}  // namespace

std::vector<LabelledJob> read_jobs(const std::string& path, const std::string& trees) {
  std::vector<LabelledJob> jobs;
  const auto text = read_file(path);
  if (!text) return jobs;
  for (const std::string_view line : split(*text, '\n')) {
    const Json json = Json::parse(line, nullptr, false);
    if (!json.is_object()) continue;
    std::string folder = json.at("repo").get<std::string>();
    folder.replace(folder.find('/'), 1, "__");
    LabelledJob job{.id = json.at("id"),
                    .command = json.at("command"),
                    .tree = fmt::format("{}/{}", trees, folder),
                    .workdir = json.value("workdir", ""),
                    .gpus = json.value("gpus", 1),
                    .nodes = json.value("nodes", 1),
                    .labels = {},
                    .key_files = json.at("labels").value("key_files", std::vector<std::string>())};
    for (const auto& [name, label] : json.at("labels").items()) {
      if (label.is_null() || label.is_array()) continue;
      const std::string field = name == "epochs_or_steps" ? "length" : name;
      job.labels[field] = label_text(field, label);
    }
    jobs.push_back(std::move(job));
  }
  return jobs;
}

}  // namespace schedmate::bench
