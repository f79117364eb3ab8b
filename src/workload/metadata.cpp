// SPDX-License-Identifier: Apache-2.0

/// Metadata as it would be read: facts, directory, command.

#include <fmt/format.h>

#include <map>
#include <schedmate/workload.hpp>

#include "base/check.hpp"

namespace schedmate {
namespace {

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
