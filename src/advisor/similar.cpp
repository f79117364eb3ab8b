// SPDX-License-Identifier: Apache-2.0
#include "advisor/similar.hpp"

#include <algorithm>
#include <schedmate/paper.hpp>
#include <tuple>

namespace schedmate {
namespace {

constexpr double cosine_share = 0.3;

bool has_ended(const JobRecord& record) {
  return record.outcome && record.outcome->state != EndState::unknown;
}

/// What is known of a text's jobs is known of all of them: they have the same fields.
Result<void> add_jobs(const SimilarityQuery& query, const SimilarText& text,
                      const SimilarityOptions& options, std::vector<FoundJob>& found) {
  JobFilter filter;
  filter.text_id = text.text_id;
  filter.finished = true;
  filter.limit = jobs_of_a_text;
  filter.brief = true;
  return query.store.each(filter, [&](JobRecord record) {
    Match match = match_fields(query.fields, record.fields);
    const double score =
        options.paper ? text.score : mixed_score(text.score, match.score, options.similar_cosine);
    const bool fits = options.paper || match.same_kind();
    if (fits && score >= threshold_of(options) && record.id != query.without && has_ended(record))
      found.push_back({std::move(record), score, std::move(match)});
    return true;
  });
}

}  // namespace

double mixed_score(double cosine, double fields, double similar_cosine) {
  constexpr double measure = 0.70;
  const double threshold = std::clamp(similar_cosine, 0.01, 0.99);
  const double stretched = cosine < threshold
                               ? measure * cosine / threshold
                               : measure + (1 - measure) * (cosine - threshold) / (1 - threshold);
  return cosine_share * std::clamp(stretched, 0.0, 1.0) + (1 - cosine_share) * fields;
}

double threshold_of(const SimilarityOptions& options) {
  return options.paper ? paper::similarity_threshold : options.threshold;
}

Result<std::vector<FoundJob>> find_similar(const SimilarityQuery& query,
                                           const SimilarityOptions& options) {
  std::vector<FoundJob> found;
  const std::string text = embedding_text(query.fields);
  if (text.empty()) return found;
  if (auto done = query.index.refresh(); !done) return tl::unexpected(done.error());
  const auto texts = query.index.nearest(text, nearest_texts);
  if (!texts) return tl::unexpected(texts.error());
  for (const SimilarText& each : *texts)
    if (auto done = add_jobs(query, each, options, found); !done)
      return tl::unexpected(done.error());
  std::ranges::stable_sort(found, std::ranges::greater(), [](const FoundJob& each) {
    return std::tuple(each.score, each.record.submit, std::string_view(each.record.id));
  });
  if (found.size() > options.most) found.resize(options.most);
  return found;
}

}  // namespace schedmate
