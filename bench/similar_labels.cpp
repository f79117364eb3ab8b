// SPDX-License-Identifier: Apache-2.0

/// How well similar jobs are found when the facts are known: labelled jobs are submitted in file
/// order with their labels as facts, as shared tools score the real chain (similar_to right,
/// related_to not counted, anything else wrong), also with a share of the fields left out.
///
///   similar_labels JOBS.jsonl [THRESHOLD...]

#include <fmt/format.h>

#include <fstream>
#include <nlohmann/json.hpp>
#include <regex>
#include <set>

#include "advisor/advisor.hpp"
#include "advisor/match.hpp"
#include "base/random.hpp"

namespace schedmate {
namespace {

using nlohmann::json;

struct Case {
  std::string id;
  Facts facts;
  std::set<std::string> similar, related;
};

void set_text(Facts& facts, const json& labels, const char* name) {
  if (labels.contains(name) && labels[name].is_string())
    facts.facts[name].value = labels[name].get<std::string>();
}

Facts facts_of(const json& job) {
  Facts facts;
  const json& labels = job["labels"];
  for (const char* name :
       {"model_name", "model_family", "model_type", "task_type", "task", "dataset", "framework",
        "distributed", "precision", "optimizer", "params_scale"})
    set_text(facts, labels, name);
  if (labels["batch_size"].is_number())
    facts.facts["batch_size"].value = labels["batch_size"].get<std::int64_t>();
  if (labels["pretrained"].is_boolean())
    facts.facts["pretrained"].value = labels["pretrained"].get<bool>();
  facts.facts["gpus"].value = job["gpus"].get<std::int64_t>();
  std::smatch match;
  const std::string length =
      labels["epochs_or_steps"].is_string() ? labels["epochs_or_steps"].get<std::string>() : "";
  if (std::regex_match(length, match, std::regex(R"(([\d.]+) ([a-z ]+?)( \(.*)?)")))
    facts.facts["length"].value = Length{std::stod(match[1]), match[2]};
  const std::string text = job.dump();
  if (std::regex_search(text, match, std::regex(R"((?:x(\d+) runs|sweep of (\d+)))")))
    facts.runs = std::stoll(match[1].matched ? match[1] : match[2]);
  if (job["expect"] == "evaluation only") facts.expect = Outlook::evaluation_only;
  if (job["expect"] == "fails early") facts.expect = Outlook::fails_early;
  return facts;
}

std::vector<Case> read_cases(const char* path) {
  std::vector<Case> cases;
  std::ifstream file(path);
  for (std::string line; std::getline(file, line);) {
    const json job = json::parse(line);
    cases.push_back(
        {job["id"].get<std::string>(), facts_of(job), job["similar_to"], job["related_to"]});
  }
  return cases;
}

struct Setup {
  double dropped = 0;  ///< share of the fields left out
  double threshold = 0.70;
  bool paper = false;
  std::uint64_t seed = 0;
  bool show = false;
};

struct Score {
  int possible = 0, found = 0, right = 0, wrong = 0;
};

void count(const Case& each, const std::vector<advisor::FoundJob>& got,
           const std::set<std::string>& seen, Score& score) {
  std::set<std::string> wanted;
  for (const std::string& id : each.similar)
    if (seen.contains(id)) wanted.insert(id);
  int hits = 0;
  for (const advisor::FoundJob& job : got) {
    const bool right = wanted.contains(job.record.id);
    hits += right ? 1 : 0;
    score.wrong += right || each.related.contains(job.record.id) ? 0 : 1;
  }
  score.possible += wanted.empty() ? 0 : 1;
  score.found += hits > 0 ? 1 : 0;
  score.right += hits;
}

void show(const Case& each, const advisor::Fields& fields,
          const std::vector<advisor::FoundJob>& got) {
  for (const advisor::FoundJob& job : got) {
    if (each.similar.contains(job.record.id) || each.related.contains(job.record.id)) continue;
    fmt::print("  {} got {} {:.2f}: {}\n", each.id, job.record.id, job.score,
               advisor::describe(advisor::match_fields(fields, job.record.fields)));
  }
}

/// Everything goes through the real store, embedder and index.
Score run(const std::vector<Case>& cases, const Setup& setup) {
  auto store = open_store("memory");
  auto embedder = make_embedder("lexical");
  if (!store || !embedder) std::abort();
  auto index = open_index(**store, *embedder);
  if (!index) std::abort();
  Random random(setup.seed);
  Score score;
  std::set<std::string> seen;
  advisor::SimilarityOptions options{.paper = setup.paper, .threshold = setup.threshold, .most = 3};
  for (const Case& each : cases) {
    Submission submission;
    submission.id = each.id;
    submission.user = each.id;
    submission.job.command = "python train.py";
    submission.submit = at(static_cast<std::int64_t>(seen.size()) * 3600);
    Facts facts = each.facts;
    std::erase_if(facts.facts, [&](const auto&) { return random.uniform() < setup.dropped; });
    JobRecord record = advisor::make_record(submission, facts, advisor::FlagRules::built_in());
    const auto got = advisor::find_similar({**store, **index, record.fields, each.id}, options);
    if (!got) std::abort();
    if (setup.show) show(each, record.fields, *got);
    count(each, *got, seen, score);
    record.outcome.emplace();
    record.outcome->state = EndState::completed;
    record.outcome->duration = Seconds(3600);
    if (!(*store)->put(record)) std::abort();
    seen.insert(each.id);
  }
  return score;
}

void print(const char* what, const std::vector<Case>& cases, Setup setup) {
  constexpr int draws = 20;
  Score sum;
  for (int draw = 0; draw < (setup.dropped > 0 ? draws : 1); ++draw) {
    setup.seed = static_cast<std::uint64_t>(draw);
    const Score score = run(cases, setup);
    sum.possible += score.possible;
    sum.found += score.found;
    sum.right += score.right;
    sum.wrong += score.wrong;
  }
  const auto percent = [](int part, int whole) { return whole > 0 ? 100.0 * part / whole : 0.0; };
  fmt::print("{:10} {:10.2f} {:8.2f} {:8.1f} {:10.1f}\n", what, setup.threshold, setup.dropped,
             percent(sum.found, sum.possible), percent(sum.right, sum.right + sum.wrong));
}

}  // namespace
}  // namespace schedmate

int main(int argc, char** argv) {
  namespace sm = schedmate;
  if (argc < 2) {
    fmt::print(stderr, "similar_labels JOBS.jsonl [THRESHOLD...]\n");
    return 2;
  }
  const auto cases = sm::read_cases(argv[1]);
  std::vector<double> thresholds;
  for (int i = 2; i < argc; ++i) thresholds.push_back(std::stod(argv[i]));
  if (thresholds.empty()) thresholds = {0.60, 0.65, 0.70, 0.75, 0.80, 0.85};
  fmt::print("{} jobs\n", cases.size());
  sm::run(cases, {.show = true});
  fmt::print("{:10} {:>10} {:>8} {:>8} {:>10}\n", "similarity", "threshold", "dropped", "recall",
             "precision");
  for (const double dropped : {0.0, 0.25}) {
    sm::print("paper", cases, {.dropped = dropped, .threshold = 0.90, .paper = true});
    for (const double threshold : thresholds)
      sm::print("mixed", cases, {.dropped = dropped, .threshold = threshold});
  }
  return 0;
}
