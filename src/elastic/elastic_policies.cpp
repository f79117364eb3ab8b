// SPDX-License-Identifier: Apache-2.0
#include "elastic/elastic_policies.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <utility>
#include <vector>

#include "base/text.hpp"

namespace schedmate::elastic {
namespace {

constexpr std::array elastic_rows{
#define ELASTIC_POLICY(name, function, use, summary) \
  ElasticPolicyRow{name, JobKnowledge::use, summary, make_elastic_##function},
#include "elastic/elastic_policies.def"
#undef ELASTIC_POLICY
};

struct MatchName {
  std::string_view name;
  MatchRule rule;
};
constexpr std::array match_names{
    MatchName{"advisor", MatchRule::advisor}, MatchName{"perfect", MatchRule::perfect},
    MatchName{"wrong", MatchRule::wrong}, MatchName{"shuffled", MatchRule::shuffled}};

Result<MatchOptions> take_match(PolicyOptions& options) {
  const std::string name = options.take_text("match", "advisor");
  const auto* const row = std::ranges::find(match_names, name, &MatchName::name);
  if (row == match_names.end())
    return fail(ErrorCode::unsupported,
                fmt::format("match={}: must be advisor, perfect, wrong or shuffled", name));
  const auto hits = options.take_number("hit_pct", 100);
  if (!hits) return tl::unexpected(hits.error());
  if (!(*hits >= 0 && *hits <= 100))
    return fail(ErrorCode::unsupported,
                fmt::format("hit_pct={}: must be a number from 0 to 100", *hits));
  const auto finished = options.take_flag("finished_only", false);
  if (!finished) return tl::unexpected(finished.error());
  const auto guarded = options.take_flag("guarded", true);
  if (!guarded) return tl::unexpected(guarded.error());
  constexpr double percent = 0.01;
  return MatchOptions{row->rule, percent * *hits, *finished, *guarded};
}

}  // namespace

std::span<const ElasticPolicyRow> elastic_policy_rows() { return elastic_rows; }

Result<ElasticScheduler> make_elastic_scheduler(std::string_view name, PolicyOptions options,
                                                std::uint64_t ties) {
  const auto* const row = std::ranges::find(elastic_rows, name, &ElasticPolicyRow::name);
  if (row == elastic_rows.end()) {
    std::vector<std::string_view> names;
    for (const ElasticPolicyRow& each : elastic_rows) names.push_back(each.name);
    return fail(ErrorCode::not_found, unknown_name("elastic policy", name, names));
  }
  ElasticScheduler scheduler{{}, row->knowledge, {}, false};
  if (row->knowledge == JobKnowledge::matches) {
    auto match = take_match(options);
    if (!match) return tl::unexpected(match.error());
    scheduler.match = *match;
    const auto recovers = options.take_flag("recover", false);
    if (!recovers) return tl::unexpected(recovers.error());
    scheduler.recovers = *recovers;
  }
  auto policy = row->make(options, ties);
  if (!policy) return tl::unexpected(policy.error());
  if (auto taken = options.check_all_taken(name); !taken) return tl::unexpected(taken.error());
  scheduler.decide = std::move(*policy);
  return scheduler;
}

}  // namespace schedmate::elastic
