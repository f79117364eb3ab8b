// SPDX-License-Identifier: Apache-2.0
#pragma once

/// Vectors of texts, by which jobs are compared (paper 3.1, Vector Store). Rows:
/// src/llm/embedders.def; docs/store.md compares them. The caller takes secrets out of the texts
/// before they come here.
///
/// A dense embedder (`openai`, `replay`) gives unit vectors, and may ask a server. A sparse one
/// (`lexical`) is a pure function of one word. The vector of a text is the sum over its words
/// (parts between white space), and the index (search.hpp) weighs the features by how rare they are
/// in the history. So a text should have one word per fact, as "dataset=imagenet batch_size=64".

#include <cstdint>
#include <functional>
#include <optional>
#include <schedmate/llm.hpp>
#include <schedmate/result.hpp>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace schedmate {

/// A hashed property of a word, and how often the word has it. Buckets are below 2^16.
struct Feature {
  std::uint32_t bucket = 0;
  float count = 0;
  bool operator==(const Feature&) const = default;
};

/// Rows of equal, unit length, in the order of the texts.
using DenseVectors = std::vector<std::vector<float>>;

/// Several threads may use it at once.
struct Embedder {
  /// With model and version. Only vectors of the same name are ever compared.
  std::string name;
  /// Cosine from which two texts count as similar, unless the history has calibrated another.
  double threshold = 0;
  /// Of a sparse embedder, else empty.
  std::function<std::vector<Feature>(std::string_view word)> features;
  /// Of a dense embedder, else empty. Errors: unavailable, timeout, bad_reply, refused; not_found
  /// when a replay has no such text. Cost: one call of the server for each batch.
  std::function<Result<DenseVectors>(std::span<const std::string> texts)> embed;

  [[nodiscard]] bool sparse() const { return static_cast<bool>(features); }
};

struct EmbedderOptions {
  /// openai: url (up to and with /v1), model, token, deadline (for one call of `embed`, retries
  /// included) and the like, as for a chat. replay: recording, with JSON lines of
  /// {"text": ..., "vector": [...]}.
  ChatSettings server{.model = "bge-m3"};
  /// openai: clock, environment and the seed of the jitter.
  ChatServices services{};
  /// Unset: 0.70 for lexical (measured), 0.90 for the others (paper 4.1).
  std::optional<double> threshold{};
  /// openai: texts in one request.
  std::size_t batch = 64;
  /// openai: vectors that were paid for already, by text. Give both or none.
  std::function<std::optional<std::vector<float>>(const std::string& text)> recall{};
  std::function<void(const std::string& text, const std::vector<float>& vector)> remember{};
};

/// One row of embedders.def.
struct EmbedderRow {
  std::string_view name;
  std::string_view summary;
};
[[nodiscard]] std::span<const EmbedderRow> embedder_rows();

/// Makes "lexical", "openai" or "replay". It does not call the server. Errors: not_found with the
/// nearest name; invalid (no URL, an unreadable recording or token).
[[nodiscard]] Result<Embedder> make_embedder(std::string_view name,
                                             const EmbedderOptions& options = {});

}  // namespace schedmate
