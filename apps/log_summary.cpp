// SPDX-License-Identifier: Apache-2.0
#include "apps/log_summary.hpp"

#include <filesystem>
#include <nlohmann/json.hpp>
#include <schedmate/diagnosis.hpp>
#include <schedmate/progress.hpp>

#include "apps/words.hpp"
#include "tree/redact.hpp"

namespace schedmate {

using Json = nlohmann::ordered_json;

Result<std::string> summarize_log(const Session& session, const std::string& path) {
  auto progress = track(path, {session.settings.text("rules")});
  if (!progress) return tl::unexpected(progress.error());
  for (auto& line : progress->evidence) line = printable(redact(line));
  DiagnoseInput input;
  input.paths = {path};
  input.rules = session.settings.text("rules");
  input.clean = [](std::string_view text) { return printable(redact(text)); };
  const auto made = diagnose(input);
  if (!made) return tl::unexpected(made.error());
  std::error_code error;
  const Json summary = {{"log", std::filesystem::absolute(path, error).lexically_normal().string()},
                        {"progress", Json::parse(progress_json(*progress))},
                        {"diagnosis", Json::parse(diagnosis_json(*made))}};
  return summary.dump(-1, ' ', false, Json::error_handler_t::replace);
}

std::string log_of_summary(std::string_view summary) {
  const Json json = Json::parse(summary, nullptr, false);
  if (!json.is_object() || !json.contains("log") || !json["log"].is_string()) return "";
  return json["log"].get<std::string>();
}

}  // namespace schedmate
