// SPDX-License-Identifier: Apache-2.0
/// The features of an answer.
#include "facts/confidence.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <set>

#include "core/facts_json.hpp"

namespace schedmate::facts {
namespace {

/// Fields with few values, each with a reliability of its own.
constexpr std::array closed_fields{"distributed", "precision",  "params_scale", "pretrained",
                                   "task_type",   "model_type", "framework"};
/// What most jobs have; how many of them were found tells how well the job was read.
constexpr std::array common_fields{"model_name",   "dataset",    "distributed", "batch_size",
                                   "length",       "precision",  "optimizer",   "framework",
                                   "params_scale", "pretrained", "model_type",  "task_type"};

double log_of(std::size_t count) { return std::log1p(static_cast<double>(count)); }

std::string word_of(const FactValue& value) {
  if (const auto* flag = std::get_if<bool>(&value)) return *flag ? "true" : "false";
  if (const auto* text = std::get_if<std::string>(&value)) return *text;
  if (const auto* length = std::get_if<Length>(&value)) return length->unit;
  return "";
}

/// "setting train.epochs" -> "setting": what a rule looked at is not its name.
std::string rule_name(std::string_view why) {
  for (const std::string_view kind : {"setting", "launcher"}) {
    if (why.starts_with(kind)) return std::string(kind);
  }
  return std::string(why);
}

/// What is the same for all answers of a job.
class AnswerFeatures {
 public:
  AnswerFeatures(const Scene& scene, const GroundsByField& grounds, const Facts& facts)
      : scene_(scene), grounds_(grounds) {
    const auto& calls = scene.seen.calls;
    const auto unsure = [](const python::Call& call) { return !call.certain; };
    const auto partial = [](const python::Call& call) { return !call.complete; };
    of_job_["calls"] = log_of(calls.size());
    of_job_["unsure calls"] = share(std::ranges::count_if(calls, unsure), calls.size());
    of_job_["partial calls"] = share(std::ranges::count_if(calls, partial), calls.size());
    of_job_["files"] = log_of(scene.closure.size());
    of_job_["configs"] = log_of(scene.seen.configs.size());
    of_job_["stops"] = log_of(scene.seen.stops.size());
    of_job_["followed"] = scene.followed ? 1 : 0;
    of_job_["trains"] = scene.trains ? 1 : 0;
    of_job_["devices"] = scene.job.gpus > 1 ? 1 : 0;
    of_job_["not read"] = log_of(facts.degraded.size());
    if (const Fact* framework = facts.find("framework"); framework != nullptr)
      of_job_["framework:" + word_of(framework->value)] = 1;
  }

  [[nodiscard]] Features of(const std::string& field, const Fact& fact) const {
    Features made = of_job_;
    add_grounds(grounds_.find(field)->second, made);
    made[fmt::format("source:{}", source_word(fact.source))] = 1;
    made["chain"] = log_of(fact.evidence.size());
    std::set<std::string> files;
    for (const Evidence& line : fact.evidence) files.insert(line.file);
    made["chain files"] = log_of(files.size());
    if (!fact.known()) made["no value"] = 1;
    add_value(field, fact, made);
    add_others(field, made);
    return made;
  }

 private:
  static double share(std::ptrdiff_t part, std::size_t whole) {
    return whole == 0 ? 0 : static_cast<double>(part) / static_cast<double>(whole);
  }
  static void add_grounds(const Grounds& grounds, Features& made) {
    made["rank"] = std::log(grounds.rank / (1 - grounds.rank));
    made["rival"] = grounds.rival;
    made["rivals"] = log_of(static_cast<std::size_t>(grounds.rivals));
    made["close rival"] = std::max(0.0, 1 - 5 * (grounds.rank - grounds.rival));
    made["rules"] = log_of(static_cast<std::size_t>(grounds.rules));
    made["rule:" + rule_name(grounds.why)] = 1;
  }

  void add_value(const std::string& field, const Fact& fact, Features& made) const {
    const std::string word = word_of(fact.value);
    const bool closed = std::ranges::find(closed_fields, field) != closed_fields.end();
    if (!word.empty() && (closed || field == "length")) made["value:" + word] = 1;
    if (field == "dataset") made["in table"] = scene_.tables->find_dataset(word) ? 1 : 0;
    if (field == "model_name") made["in table"] = scene_.tables->find_model(word) ? 1 : 0;
    if (field == "dataset" || field == "model_name") {
      made["several"] = word.contains(", ") ? 1 : 0;
      made["short"] = word.size() < 5 ? 1 : 0;
    }
  }

  /// How well the rest of the job is known.
  void add_others(const std::string& field, Features& made) const {
    double known = 0;
    double rank = 0;
    double asked = 0;
    for (const std::string_view other : common_fields) {
      if (other == field) continue;
      ++asked;
      const auto grounds = grounds_.find(other);
      if (grounds == grounds_.end()) continue;
      ++known;
      rank += grounds->second.rank;
    }
    made["others known"] = known / asked;
    made["others' rank"] = known == 0 ? 0 : rank / known;
    for (const auto* other : {"model_name", "dataset", "optimizer", "length"}) {
      const auto grounds = grounds_.find(other);
      if (other != field)
        made[fmt::format("{}'s rank", other)] =
            grounds == grounds_.end() ? 0 : grounds->second.rank;
    }
  }

  const Scene& scene_;
  const GroundsByField& grounds_;
  Features of_job_;
};

}  // namespace

void calibrate(const Scene& scene, const GroundsByField& grounds, const Confidence& confidence,
               Facts& facts) {
  const AnswerFeatures job(scene, grounds, facts);
  for (auto& [field, fact] : facts.facts) {
    if (grounds.contains(field))
      fact.confidence = confidence.probability(field, job.of(field, fact));
  }
}

}  // namespace schedmate::facts
