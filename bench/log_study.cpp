// SPDX-License-Identifier: Apache-2.0
/// What `track` and `diagnose` say of labelled logs, and what their confidence is made of, for
/// scripts/log_confidence.py.
///   log_study CASES.jsonl     one line of JSON a log: id, progress, diagnosis, features of each
/// A case has an id and a `log`.
#include <fmt/format.h>

#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>

#include "base/text.hpp"
#include "log/failure/certainty.hpp"
#include "log/failure/diagnosis_document.hpp"
#include "log/lines/lines.hpp"
#include "log/progress/progress_document.hpp"
#include "log/progress/tracker.hpp"

namespace schedmate::bench {
namespace {

using Json = nlohmann::ordered_json;

/// As track() reads a short log.
void add_progress(std::string text, Json& row) {
  std::ranges::replace(text, '\r', '\n');
  progress::ProgressTracker tracker;
  lines::each_line_of(text, [&](const lines::Line& line) {
    tracker.add(line.text);
    return true;
  });
  row["progress"] = progress::progress_document(tracker.now());
  row["progress_features"] = tracker.grounds();
}

void add_diagnosis(const std::string& path, Json& row) {
  const Confidence& table = failure::diagnosis_confidence();
  Json features = Json::object();
  const Confidence seen{[&](std::string_view answer, const Features& of) {
                          features[std::string(answer)] = of;
                          return table.probability(answer, of);
                        },
                        table.careful};
  DiagnoseInput input;
  input.paths = {path};
  const auto made = failure::diagnose_with(input, seen);
  if (made) row["diagnosis"] = failure::diagnosis_document(*made);
  row["diagnosis_features"] = std::move(features);
}

int run(const std::string& cases) {
  const auto path = std::filesystem::path(cases + ".one.log");
  std::ifstream file(cases);
  for (std::string line; std::getline(file, line);) {
    const Json one = Json::parse(line);
    const auto log = one.at("log").get<std::string>();
    std::ofstream(path, std::ios::binary) << log;
    Json row = {{"id", one.at("id")}};
    add_progress(log, row);
    add_diagnosis(path, row);
    fmt::print("{}\n", row.dump(-1, ' ', false, Json::error_handler_t::replace));
  }
  std::filesystem::remove(path);
  return 0;
}

}  // namespace
}  // namespace schedmate::bench

int main(int count, char** words) {
  if (count != 2) {
    fmt::print(stderr, "usage: log_study CASES.jsonl\n");
    return 2;
  }
  return schedmate::bench::run(words[1]);
}
