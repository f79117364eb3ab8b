// SPDX-License-Identifier: Apache-2.0
#include "service/facts.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <ranges>
#include <schedmate/fact_rules.hpp>

#include "agent/agent.hpp"
#include "base/confidence.hpp"
#include "base/text.hpp"
#include "core/facts_json.hpp"
#include "llm/remote.hpp"
#include "secrets/outgoing.hpp"
#include "service/file_access.hpp"
#include "tree/reader.hpp"

namespace schedmate::service {
namespace {

/// Of claims that are kept for --explain: a server may answer with anything.
constexpr std::size_t most_dropped = 64;
constexpr std::size_t longest_value = 120;

Rejected rejected(agent::DroppedClaim&& dropped) {
  agent::Claim& claim = dropped.claim;
  if (auto* text = std::get_if<std::string>(&claim.value); text && text->size() > longest_value)
    text->resize(longest_value);
  return {std::move(claim.field),
          {std::move(claim.value), 0, FactSource::model, {{std::move(claim.file), claim.line, ""}}},
          "model: " + dropped.why};
}

/// A file that proves an answer is one of those that the facts come from.
void add_files(tree::Tree& tree, Facts& facts) {
  std::vector<std::string>& files = facts.files_read;
  const std::size_t before = files.size();
  for (const auto* group : {&facts.facts, &facts.extra}) {
    for (const auto& [name, fact] : *group) {
      if (fact.source != FactSource::model) continue;
      for (const Evidence& line : fact.evidence)
        if (tree.is_file(line.file) && std::ranges::find(files, line.file) == files.end())
          files.push_back(line.file);
    }
  }
  if (files.size() == before) return;
  for (const std::string& file : files) static_cast<void>(tree.read(file));
  std::vector<tree::FileVersion> versions = tree.versions();
  std::erase_if(versions, [&](const tree::FileVersion& each) {
    return std::ranges::find(files, each.path) == files.end();
  });
  facts.tree = tree::closure_hash(versions);
}

void merge(agent::AgentOutcome&& outcome, Facts& facts) {
  for (auto& [name, fact] : outcome.facts) {
    Fact& held = facts.facts[name];
    if (held.known())
      facts.rejected.push_back(
          {name, std::move(held), "doubtful; a model has evidence for another"});
    held = std::move(fact);
  }
  for (auto& [name, fact] : outcome.extra) facts.extra.try_emplace(name, std::move(fact));
  facts.model.tokens = outcome.tokens;
  facts.model.accepted = outcome.accepted;
  facts.model.dropped = static_cast<std::int64_t>(outcome.dropped.size());
  for (agent::DroppedClaim& each : outcome.dropped | std::views::take(most_dropped))
    facts.rejected.push_back(rejected(std::move(each)));
  for (const std::string& note : outcome.notes)
    facts.degraded.push_back("model: a sample without an answer: " + note);
}

struct Filling {
  const tree::TreeReader& reader;
  const JobSource& job;
  const RunSources& sources;
  const Facts& found;
  const Models& models;
};

/// In the child: facts as JSON, or "!" and why there are none.
std::string fill(const Filling& filling, const tree::Ask& ask) {
  auto tree = filling.reader.tree();
  if (!tree) return "!" + tree.error().message;
  const std::vector<Chat> chats = llm::chats_through(ask, filling.models.chats.size());
  const agent::AgentTask task{filling.job, *tree, filling.found, filling.sources.log,
                              filling.sources.monitoring};
  auto outcome = agent::fill_gaps(task, filling.models.agent, chats, filling.models.clock);
  if (!outcome) return "!" + outcome.error().message;
  Facts facts = filling.found;
  merge(*std::move(outcome), facts);
  add_files(*tree, facts);
  return facts_json(facts, FactsDetail::with_rejected);
}

Result<Facts> fill_confined(const Filling& filling) {
  const auto reply = tree::run_confined_asking(
      filling.reader.confinement(), [&](const tree::Ask& ask) { return fill(filling, ask); },
      [&](const std::string& question) { return llm::answer_for(filling.models.chats, question); });
  if (!reply) return tl::unexpected(reply.error());
  if (reply->starts_with('!')) return fail(ErrorCode::unavailable, reply->substr(1));
  return read_facts_json(*reply);
}

}  // namespace

Result<Facts> without_doubtful(Facts facts, const std::string& least, const std::string& rules) {
  if (auto ok = confidence_bound(least, 1); !ok) return tl::unexpected(ok.error());
  if (least.empty()) return facts;
  double careful = 1;
  if (least == "auto") {
    const auto loaded = load_fact_rules(rules);
    if (!loaded) return tl::unexpected(loaded.error());
    careful = careful_confidence(**loaded);
  }
  cut_below(*confidence_bound(least, careful), facts);
  return facts;
}

void cut_below(double least, Facts& facts) {
  for (auto each = facts.facts.begin(); each != facts.facts.end();) {
    const bool doubtful = each->second.known() && each->second.confidence < least;
    if (doubtful)
      facts.rejected.push_back({each->first, std::move(each->second),
                                fmt::format("less sure than --min-confidence {:.2f}", least)});
    each = doubtful ? facts.facts.erase(each) : std::next(each);
  }
}

Facts with_model_facts(Facts facts, const JobSource& job, const RunSources& sources,
                       const Models& models) {
  if (models.chats.empty()) return facts;
  constexpr std::chrono::seconds beside_the_model{20};
  tree::Confinement limits;
  limits.wall = models.agent.deadline + beside_the_model;
  const auto filled = tree::TreeReader::open(job.root, job.identity, limits)
                          .and_then([&](const tree::TreeReader& reader) {
                            return fill_confined({reader, job, sources, facts, models});
                          });
  if (filled)
    facts = *filled;
  else
    facts.degraded.push_back(
        fmt::format("no answer from the model {}; the facts are without it: {}", models.names,
                    filled.error().message));
  const ChatMeter::Sums sums = models.meter->sums();
  facts.model.calls = sums.calls;
  facts.model.tokens = std::max(facts.model.tokens, sums.prompt_tokens + sums.completion_tokens);
  for (const std::string& note : sums.notes) facts.degraded.push_back("model: " + note);
  return facts;
}

Result<Facts> read_facts(const settings::Session& session, const JobRequest& request,
                         const std::string& least) {
  if (auto ok = confidence_bound(least, 1); !ok) return tl::unexpected(ok.error());
  auto job = job_source(request);
  if (!job) return tl::unexpected(job.error());
  job->rules = session.settings.text("rules");
  const auto models = open_models(session, "");
  if (!models) return tl::unexpected(models.error());
  const auto files = request_files(session);
  if (!files) return tl::unexpected(files.error());
  job->identity = files->access.identity;
  const auto sources = run_sources(request, files->access);
  if (!sources) return tl::unexpected(sources.error());
  const auto began = session.clock.now();
  auto found = extract_facts(*job);
  if (!found) return found;
  const JobSource resolved = with_request(*std::move(job), *found);
  auto facts = without_doubtful(with_model_facts(*std::move(found), resolved, *sources, *models),
                                least, resolved.rules);
  if (!facts) return facts;
  facts->wall_ms = std::chrono::duration<double, std::milli>(session.clock.now() - began).count();
  return facts;
}

}  // namespace schedmate::service
