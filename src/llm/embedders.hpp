// SPDX-License-Identifier: Apache-2.0
#pragma once

/// What each row of embedders.def defines.

#include <schedmate/embed.hpp>

namespace schedmate::llm {

#define EMBED(name, summary) \
  [[nodiscard]] Result<Embedder> make_##name##_embedder(const EmbedderOptions& options);
#include "llm/embedders.def"
#undef EMBED

/// To unit length. Errors: bad_reply (empty, not finite, all zero).
[[nodiscard]] Result<std::vector<float>> unit_vector(std::vector<float> values);

}  // namespace schedmate::llm
