// SPDX-License-Identifier: Apache-2.0
#include "llm/embedders.hpp"

#include <algorithm>
#include <array>
#include <cmath>

#include "base/text.hpp"

namespace schedmate {
namespace {

using Make = Result<Embedder> (*)(const EmbedderOptions&);
constexpr std::array makers{
#define EMBED(name, summary) Make{llm::make_##name##_embedder},
#include "llm/embedders.def"
#undef EMBED
};

}  // namespace

std::span<const EmbedderRow> embedder_rows() {
  static constexpr std::array rows{
#define EMBED(name, summary) EmbedderRow{#name, summary},
#include "llm/embedders.def"
#undef EMBED
  };
  return rows;
}

Result<Embedder> make_embedder(std::string_view name, const EmbedderOptions& options) {
  const auto rows = embedder_rows();
  const auto row = std::ranges::find(rows, name, &EmbedderRow::name);
  if (row == rows.end()) {
    std::vector<std::string_view> names;
    for (const EmbedderRow& each : rows) names.push_back(each.name);
    return fail(ErrorCode::not_found, unknown_name("embedder", name, names));
  }
  return makers[static_cast<std::size_t>(row - rows.begin())](options);
}

Result<std::vector<float>> llm::unit_vector(std::vector<float> values) {
  double sum = 0;
  for (const float value : values) sum += double{value} * double{value};
  if (!std::isfinite(sum) || sum <= 0) {
    return fail(ErrorCode::bad_reply, "an embedding is empty, zero or not finite");
  }
  const double length = std::sqrt(sum);
  for (float& value : values) value = static_cast<float>(double{value} / length);
  return values;
}

}  // namespace schedmate
