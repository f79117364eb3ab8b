// SPDX-License-Identifier: Apache-2.0
/// Recorded vectors: what is not in the recording is an error, never a call.
#include <fmt/format.h>

#include <nlohmann/json.hpp>
#include <unordered_map>

#include "base/input.hpp"
#include "base/text.hpp"
#include "llm/embedders.hpp"
#include "llm/exchange.hpp"

namespace schedmate::llm {
namespace {

using Recording = std::unordered_map<std::string, std::vector<float>>;

Result<Recording> read_recording(const std::string& path) {
  const auto text = read_file(path);
  if (!text) return tl::unexpected(text.error());
  Recording recording;
  int line = 0;
  for (const auto part : split(*text, '\n')) {
    ++line;
    if (trim(part).empty()) continue;
    try {
      const auto entry = nlohmann::json::parse(part);
      auto unit = unit_vector(entry.at("vector").get<std::vector<float>>());
      if (!unit)
        return fail(ErrorCode::invalid, fmt::format("{}:{}: {}", path, line, unit.error().message));
      recording[entry.at("text").get<std::string>()] = std::move(*unit);
    } catch (const nlohmann::json::exception& error) {
      return fail(ErrorCode::invalid,
                  fmt::format("{}:{}: no {{\"text\": ..., \"vector\": [...]}} ({})", path, line,
                              quotable(error.what())));
    }
  }
  return recording;
}

}  // namespace

Result<Embedder> make_replay_embedder(const EmbedderOptions& options) {
  const auto& path = options.server.recording;
  if (path.empty()) {
    return fail(ErrorCode::invalid, "embedder replay: needs a recording, a file of JSON lines");
  }
  auto read = read_recording(path);
  if (!read) return tl::unexpected(read.error());
  auto vectors_for = [recording = std::make_shared<const Recording>(std::move(*read)),
                      path](std::span<const std::string> texts) -> Result<DenseVectors> {
    DenseVectors vectors;
    for (const auto& text : texts) {
      const auto found = recording->find(text);
      if (found == recording->end()) {
        return fail(ErrorCode::not_found, fmt::format("{} has no vector for '{}'; record it first",
                                                      path, quotable(text)));
      }
      vectors.push_back(found->second);
    }
    return vectors;
  };
  return Embedder{.name = "replay/" + options.server.model,
                  .threshold = options.threshold.value_or(0.90),
                  .features = {},
                  .embed = std::move(vectors_for)};
}

}  // namespace schedmate::llm
