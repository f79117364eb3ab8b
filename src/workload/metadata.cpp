// SPDX-License-Identifier: Apache-2.0

/// Metadata as it would be read: facts, directory, command.

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <schedmate/workload.hpp>

#include "base/check.hpp"
#include "workload/vocabulary.hpp"

namespace schedmate {
namespace {

using workload::FieldId;

constexpr double metadata_confidence = 0.9;

/// "LLaMA-3 8B" -> "llama-3-8b".
std::string file_name(std::string_view model) {
  std::string name;
  for (const char c : model) {
    const bool upper = c >= 'A' && c <= 'Z';
    const bool kept = upper || (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '.';
    if (kept)
      name += upper ? static_cast<char>(c + 32) : c;
    else if (!name.empty() && name.back() != '-')
      name += '-';
  }
  return name;
}

std::string_view length_flag(std::string_view unit) {
  if (unit == "steps") return "--max-steps";
  if (unit == "samples") return "--train-samples";
  if (unit == "env steps") return "--total-timesteps";
  return unit == "kimg" ? "--kimg" : "--epochs";
}

/// Numbers for what profiles say.
class ProfileFacts {
 public:
  std::uint32_t number(const Profile* profile, std::int32_t gpus) {
    FactCodes codes{};
    code(codes, FieldId::gpus, std::int64_t{gpus});
    constexpr std::int32_t usual_node = 8;
    code(codes, FieldId::nodes, std::int64_t{(gpus + usual_node - 1) / usual_node});
    if (profile != nullptr) {
      code(codes, FieldId::model_name, profile->model);
      code(codes, FieldId::dataset, profile->dataset);
      code(codes, FieldId::batch_size, std::int64_t{profile->batch_size});
      code(codes, FieldId::precision, std::string(profile->mixed_precision ? "fp16-amp" : "fp32"));
    }
    const auto next = static_cast<std::uint32_t>(made_.facts.size());
    const auto [at, fresh] = numbers_.try_emplace(codes, next);
    if (fresh) made_.facts.push_back(codes);
    return at->second;
  }
  [[nodiscard]] Workload workload() && {
    made_.vocabulary = values_.values();
    return std::move(made_);
  }

 private:
  void code(FactCodes& codes, FieldId field, FactValue value) {
    codes[static_cast<std::size_t>(field)] = values_.add(field, std::move(value));
  }
  Workload made_;
  workload::ValueNumbers values_;
  std::map<FactCodes, std::uint32_t> numbers_;
};

/// One folder for each user and model.
JobPlace place_of_profile(const Profile* profile, std::string_view user) {
  if (profile == nullptr) return {};
  const std::string name = file_name(profile->model);
  return {fmt::format("/trace/{}/{}", user, name),
          fmt::format("python {}.py --dataset {} --batch-size {}{}", name, profile->dataset,
                      profile->batch_size, profile->mixed_precision ? " --amp" : "")};
}

}  // namespace

Facts facts_at(const Workload& workload, std::uint32_t index) {
  SCHEDMATE_CHECK(index < workload.facts.size(), "facts of this workload");
  Facts facts;
  for (std::size_t field = 0; field < workload_fields.size(); ++field) {
    Fact& fact = facts.facts[std::string(workload_fields[field])];
    const std::uint16_t code = workload.facts[index][field];
    if (code == 0) continue;
    fact.value = workload.vocabulary[field][code - 1U];
    fact.confidence = metadata_confidence;
  }
  return facts;
}

void set_reported_places(Workload& workload, const std::vector<JobPlace>& place_of_row) {
  std::map<JobPlace, std::uint32_t> known;
  workload.place_of_row.clear();
  for (const JobPlace& place : place_of_row) {
    const auto next = static_cast<std::uint32_t>(known.size());
    workload.place_of_row.push_back(known.try_emplace(place, next).first->second);
  }
  workload.reported_places.resize(known.size());
  for (const auto& [place, index] : known) workload.reported_places[index] = place;
  workload.facts = {FactCodes{}};
  workload.facts_of_row.assign(place_of_row.size(), 0);
}

Workload workload_of_profiles(const Trace& trace) {
  SCHEDMATE_CHECK(trace.packing != nullptr, "the trace has profiles");
  ProfileFacts facts;
  std::vector<JobPlace> places;
  std::vector<std::uint32_t> facts_of_row;
  for (const Job& job : trace.jobs) {
    const Profile* const profile =
        job.profile == no_index ? nullptr : &trace.packing->profiles[job.profile];
    facts_of_row.push_back(facts.number(profile, job.gpus));
    places.push_back(place_of_profile(profile, trace.users[job.user]));
  }
  Workload workload = std::move(facts).workload();
  std::vector<FactCodes> kept = std::move(workload.facts);
  set_reported_places(workload, places);
  workload.facts = std::move(kept);
  workload.facts_of_row = std::move(facts_of_row);
  return workload;
}

JobPlace place_at(const Workload& workload, std::uint32_t index) {
  if (!workload.reported_places.empty()) return workload.reported_places[index];
  SCHEDMATE_CHECK(index < workload.places.size(), "a place of this workload");
  const PlaceCode& place = workload.places[index];
  const RecipeModel& model = workload.models[workload.times[place.profile].model];
  const std::string name = file_name(model.name);
  return {fmt::format("/syn/u{}/{}-{}", place.user, name, place.project),
          fmt::format("python train.py --config configs/{}.yaml --batch-size {} {} {} --lr {} "
                      "--seed {}",
                      name, workload.tables->profiles[place.profile].batch_size,
                      length_flag(model.length_unit), model.length[place.length],
                      model.learning_rate[place.learning_rate], place.seed)};
}

}  // namespace schedmate
