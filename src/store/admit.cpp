// SPDX-License-Identifier: Apache-2.0
#include "store/admit.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "base/utf8.hpp"

namespace schedmate::store {
namespace {

constexpr std::string_view replacement = "\xEF\xBF\xBD";  // U+FFFD

/// Bytes of the character at `at`, 0 when there is none or it is NUL.
std::size_t character_bytes(std::string_view text, std::size_t at) {
  return text[at] == '\0' ? 0 : utf8_length(text, at);
}

bool is_plain(std::string_view text) {
  return std::ranges::all_of(text, [](char c) { return c > 0; });
}

Result<std::string> name(std::string_view what, const std::string& text) {
  if (text.size() > StoreLimits::name_bytes) {
    return fail(ErrorCode::invalid, fmt::format("the {} of a job has {} bytes; the limit is {}",
                                                what, text.size(), StoreLimits::name_bytes));
  }
  return clean_name(text);
}

Result<std::string> document(std::string_view what, const std::string& text) {
  if (text.size() > StoreLimits::document_bytes) {
    return fail(ErrorCode::invalid, fmt::format("the {} of a job has {} bytes; the limit is {}",
                                                what, text.size(), StoreLimits::document_bytes));
  }
  return clean_text(text, replacement.size() * StoreLimits::document_bytes);
}

std::string long_text(std::string_view text) { return clean_text(text, StoreLimits::text_bytes); }

/// JSON has no such numbers, and a mean over them means nothing.
std::optional<double> finite(std::optional<double> number) {
  return number && std::isfinite(*number) ? number : std::nullopt;
}

std::vector<ProgressPoint> thinned(const std::vector<ProgressPoint>& points) {
  const std::size_t most = StoreLimits::progress_points;
  std::vector<ProgressPoint> kept;
  const auto keep = [&](const ProgressPoint& point) {
    if (!std::isfinite(point.step)) return;
    kept.push_back({point.since_start, point.step, finite(point.loss)});
  };
  if (points.size() <= most) {
    std::ranges::for_each(points, keep);
  } else {
    // The first and the last stay.
    for (std::size_t i = 0; i < most; ++i) keep(points[i * (points.size() - 1) / (most - 1)]);
  }
  return kept;
}

GivenAdvice admit_advice(const GivenAdvice& advice) {
  GivenAdvice kept = advice;
  for (auto* const member : {&kept.mean, &kept.p10, &kept.p50, &kept.p90}) {
    if (!std::isfinite(member->count())) *member = FractionalSeconds(0);
  }
  kept.source = long_text(advice.source);
  kept.gpu_util_pct = finite(advice.gpu_util_pct);
  kept.gpu_memory_mib = finite(advice.gpu_memory_mib);
  kept.neighbours.resize(std::min(kept.neighbours.size(), StoreLimits::fields));
  for (auto& neighbour : kept.neighbours) {
    neighbour.id = long_text(neighbour.id);
    neighbour.score = finite(neighbour.score).value_or(0);
    neighbour.why = long_text(neighbour.why);
  }
  if (kept.length) {
    kept.length->not_known = long_text(kept.length->not_known);
    kept.length->risk = finite(kept.length->risk).value_or(0);
    kept.length->early_end = finite(kept.length->early_end);
  }
  return kept;
}

}  // namespace

std::string clean_text(std::string_view text, std::size_t most_bytes) {
  if (text.size() <= most_bytes && is_plain(text)) return std::string(text);
  std::string clean;
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t bytes = character_bytes(text, at);
    const auto piece = bytes == 0 ? replacement : text.substr(at, bytes);
    if (clean.size() + piece.size() > most_bytes) break;
    clean += piece;
    at += std::max<std::size_t>(bytes, 1);
  }
  return clean;
}

std::string clean_name(std::string_view text) {
  return clean_text(text, replacement.size() * StoreLimits::name_bytes);
}

JobFilter admit(const JobFilter& filter) {
  JobFilter clean = filter;
  if (clean.user) clean.user = clean_name(*clean.user);
  if (clean.root) clean.root = long_text(*clean.root);
  if (clean.entry) clean.entry = long_text(*clean.entry);
  if (clean.fingerprint) clean.fingerprint = clean_name(*clean.fingerprint);
  return clean;
}

namespace {

void admit_node(UsedNode& node) {
  node.node = clean_name(node.node);
  if (node.cpu_time && !std::isfinite(node.cpu_time->count())) node.cpu_time.reset();
  node.memory_mib = finite(node.memory_mib);
  node.memory_total_mib = finite(node.memory_total_mib);
  if (node.gpus.size() > StoreLimits::gpus_of_a_node) node.gpus.resize(StoreLimits::gpus_of_a_node);
  for (UsedGpu& gpu : node.gpus) {
    gpu.gpu = clean_name(gpu.gpu);
    for (auto* const value : {&gpu.util_pct, &gpu.memory_mib, &gpu.memory_total_mib})
      *value = finite(*value);
  }
}

}  // namespace

Result<Outcome> admit(const Outcome& outcome) {
  Outcome kept = outcome;
  const auto summary = document("log summary", outcome.log_summary);
  if (!summary) return tl::unexpected(summary.error());
  kept.log_summary = *summary;
  auto fingerprint = name("fingerprint", outcome.fingerprint);
  if (!fingerprint) return tl::unexpected(fingerprint.error());
  kept.fingerprint = *std::move(fingerprint);
  kept.gpu_util_pct = finite(outcome.gpu_util_pct);
  kept.gpu_memory_mib = finite(outcome.gpu_memory_mib);
  kept.progress = thinned(outcome.progress);
  kept.memory_mib = finite(outcome.memory_mib);
  kept.gpu_memory_total_mib = finite(outcome.gpu_memory_total_mib);
  kept.energy_j = finite(outcome.energy_j);
  if (kept.node_use.size() > StoreLimits::nodes) kept.node_use.resize(StoreLimits::nodes);
  for (UsedNode& node : kept.node_use) admit_node(node);
  if (kept.cpu_time && !std::isfinite(kept.cpu_time->count())) kept.cpu_time.reset();
  if (kept.attempts.size() > StoreLimits::attempts)
    kept.attempts.erase(kept.attempts.begin(),
                        kept.attempts.end() - static_cast<std::ptrdiff_t>(StoreLimits::attempts));
  for (Attempt& attempt : kept.attempts)
    for (auto* const member : {&attempt.word, &attempt.exit_code, &attempt.nodes})
      *member = long_text(*member);
  return kept;
}

Result<JobRecord> admit(const JobRecord& record) {
  if (record.id.empty()) return fail(ErrorCode::invalid, "a job without an id cannot be stored");
  JobRecord kept = record;
  kept.text_id = 0;
  const auto names = {std::pair("id", &kept.id),
                      std::pair("user", &kept.user),
                      std::pair("partition", &kept.vc),
                      std::pair("branch", &kept.branch),
                      std::pair("GPU type", &kept.gpu_type),
                      std::pair("closure", &kept.closure)};
  for (const auto& [what, member] : names) {
    auto clean = name(what, *member);
    if (!clean) return tl::unexpected(clean.error());
    *member = std::move(*clean);
  }
  for (auto* const member :
       {&kept.root, &kept.workdir, &kept.command, &kept.text, &kept.entry, &kept.name,
        &kept.account, &kept.qos, &kept.cluster, &kept.log, &kept.group}) {
    *member = long_text(*member);
  }
  kept.memory_mib = finite(record.memory_mib);
  kept.fields.clear();
  for (const auto& [field, value] : record.fields) {
    if (kept.fields.size() < StoreLimits::fields) kept.fields[long_text(field)] = long_text(value);
  }
  const auto facts = document("facts", record.facts_json);
  if (!facts) return tl::unexpected(facts.error());
  kept.facts_json = *facts;
  if (record.advice) kept.advice = admit_advice(*record.advice);
  if (record.outcome) {
    auto outcome = admit(*record.outcome);
    if (!outcome) return tl::unexpected(outcome.error());
    kept.outcome = std::move(*outcome);
  }
  return kept;
}

Result<void> check(const CacheEntry& entry) {
  for (const auto* const part : {&entry.space, &entry.key}) {
    if (part->empty() || part->size() > StoreLimits::name_bytes) {
      return fail(ErrorCode::invalid,
                  fmt::format("a cache key needs 1 to {} bytes", StoreLimits::name_bytes));
    }
  }
  if (entry.value.size() > StoreLimits::cache_value_bytes) {
    return fail(ErrorCode::invalid,
                fmt::format("a cached value has {} bytes; the limit is {}", entry.value.size(),
                            StoreLimits::cache_value_bytes));
  }
  return {};
}

std::string no_such_job(std::string_view id) {
  return fmt::format("no job '{}' in the history; `schedmate history list` shows the ids",
                     clean_text(id, 80));
}

std::string held_by_another(std::string_view id) {
  return fmt::format("job '{}' is in the history under another user's name; forget it first",
                     clean_text(id, 80));
}

}  // namespace schedmate::store
