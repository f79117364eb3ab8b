// SPDX-License-Identifier: Apache-2.0

/// The paper's classifier (3.2): the cosine of a line and the texts of the four categories, by any
/// embedder. A sparse one weighs a feature by how few of the category texts have it.

#include <algorithm>
#include <memory>

#include "log/failure/classify.hpp"
#include "log/failure/sparse_text.hpp"
#include "log/lines/clean.hpp"
#include "log/lines/rule_rows.hpp"

namespace schedmate::embedded {
extern const std::string_view log_categories_toml;
}  // namespace schedmate::embedded

namespace schedmate::failure {
namespace {

constexpr std::size_t most_texts = 4096;

struct CategoryText {
  LineKind kind = LineKind::other;
  std::string text;
  Sparse sparse;
  std::vector<float> dense;
};

Result<std::vector<CategoryText>> read_texts(const std::string& folder) {
  const lines::RuleTable table{
      "log_categories.toml", "category", {"kind", "text", "test"}, embedded::log_categories_toml};
  const auto rows = lines::rule_rows(table, folder);
  if (!rows) return tl::unexpected(rows.error());
  std::vector<CategoryText> texts;
  for (const lines::RuleRow& row : *rows) {
    const auto kind = kind_named(row.text("kind"));
    if (!kind) return row.refuse("kind must be failure, warning, progress or other");
    if (row.list("text").empty()) return row.refuse("a category needs texts");
    for (const std::string& text : row.list("text")) texts.push_back({*kind, text, {}, {}});
    if (texts.size() > most_texts) return row.refuse("too many texts");
  }
  return texts;
}

LineVerdict verdict_of(LineKind kind) {
  // All it knows is "failure": as sure as a program's own last word.
  constexpr std::uint8_t weight = 3;
  return {.kind = kind, .weight = kind == LineKind::failure ? weight : std::uint8_t{0}};
}

/// The kind of the nearest text; `other` where nothing is near at all.
template <class Similarity>
LineVerdict nearest(const std::vector<CategoryText>& texts, const Similarity& similarity) {
  double best = 0;
  LineKind kind = LineKind::other;
  for (const CategoryText& text : texts) {
    const double near = similarity(text);
    if (near > best) {
      best = near;
      kind = text.kind;
    }
  }
  return verdict_of(kind);
}

ClassifyLine sparse_classifier(std::vector<CategoryText> texts, const Embedder& embedder) {
  std::vector<Sparse> all;
  for (const CategoryText& text : texts) all.push_back(sparse_of(embedder, text.text));
  auto rarity = std::make_shared<const Rarity>(all);
  for (std::size_t i = 0; i < texts.size(); ++i) texts[i].sparse = rarity->weighed(all[i]);
  auto kept = std::make_shared<const std::vector<CategoryText>>(std::move(texts));
  return [kept, rarity, embedder](std::string_view state) {
    const Sparse line = rarity->weighed(sparse_of(embedder, state));
    return nearest(*kept, [&line](const CategoryText& text) { return dot(line, text.sparse); });
  };
}

Result<ClassifyLine> dense_classifier(std::vector<CategoryText> texts,
                                      const ClassifierInput& input) {
  std::vector<std::string> wanted;
  for (const CategoryText& text : texts) wanted.push_back(text.text);
  auto vectors = input.embedder->embed(wanted);
  if (!vectors) return tl::unexpected(vectors.error());
  for (std::size_t i = 0; i < texts.size(); ++i) texts[i].dense = std::move((*vectors)[i]);
  auto kept = std::make_shared<const std::vector<CategoryText>>(std::move(texts));
  return [kept, embedder = *input.embedder, report = input.report](std::string_view state) {
    const std::string text(lines::read_prefixes(state).body.substr(0, most_embedded_text));
    if (text.find_first_not_of(" \t") == std::string::npos) return LineVerdict{};
    const auto vector = embedder.embed({&text, 1});
    if (!vector) {
      if (report) report(vector.error());
      return LineVerdict{};
    }
    const auto& line = vector->front();
    return nearest(*kept, [&line](const CategoryText& each) {
      double sum = 0;
      for (std::size_t i = 0; i < std::min(line.size(), each.dense.size()); ++i)
        sum += static_cast<double>(line[i]) * each.dense[i];
      return sum;
    });
  };
}

}  // namespace

Result<ClassifyLine> make_embedding_classifier(const ClassifierInput& input) {
  if (input.embedder == nullptr)
    return fail(ErrorCode::invalid, "the classifier `embedding` needs an embedder");
  auto texts = read_texts(input.rules);
  if (!texts) return tl::unexpected(texts.error());
  if (input.embedder->sparse()) return sparse_classifier(*std::move(texts), *input.embedder);
  return dense_classifier(*std::move(texts), input);
}

}  // namespace schedmate::failure
