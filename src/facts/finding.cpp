// SPDX-License-Identifier: Apache-2.0
#include "facts/finding.hpp"

#include <algorithm>

#include "config/config.hpp"

namespace schedmate::facts {

namespace {

/// Every run of the job has another one.
bool is_swept(const PlacePtr& place) {
  for (const Place* at = place.get(); at != nullptr; at = at->from.get()) {
    if (at->swept) return true;
  }
  return false;
}

/// The command names another config file than that of the setting.
bool is_beside(const Scene& scene, const Setting& setting) {
  if (!setting.value.place) return false;
  const std::string& own = setting.value.place->file;
  const auto names = [&](std::string_view file) {
    return std::ranges::any_of(scene.launch.args, [&](const command::Word& word) {
      return word.text.size() > 4 && (file.ends_with(word.text) || word.text.ends_with(file));
    });
  };
  const auto& configs = scene.seen.configs;
  return config::config_format(own) && !names(own) &&
         std::ranges::any_of(configs, names, &python::LoadedConfig::file);
}

}  // namespace

void add(Findings& out, FieldClaim claim, const PlacePtr& place, std::string_view why) {
  if (is_swept(place)) claim.value = std::monostate();
  Fact fact{.value = std::move(claim.value),
            .confidence = claim.confidence,
            .source = place ? place->source : FactSource::code,
            .evidence = evidence_of(place)};
  out.push_back({std::string(claim.field), std::move(fact), std::string(why)});
}

void add_from_table(Findings& out, FieldClaim claim, const Evidence& row, const PlacePtr& place) {
  Fact fact{.value = std::move(claim.value),
            .confidence = claim.confidence,
            .source = FactSource::table,
            .evidence = evidence_of(place)};
  fact.evidence.push_back(row);
  out.push_back({std::string(claim.field), std::move(fact), row.file});
}

double sure_of(const Scene& scene, const Setting& setting) {
  switch (setting.precedence) {
    case Precedence::given:
      // A flag that a program takes and never looks at changes nothing.
      return setting.read || setting.value.entries() != nullptr ? 0.93 : scene.trains ? 0.5 : 0.85;
    case Precedence::launcher:
      return 0.93;
    case Precedence::config:
      return is_beside(scene, setting) ? 0.84 : 0.87;
    case Precedence::fallback:
      return setting.read ? 0.82 : scene.trains ? confidence::weak : confidence::fair;
    case Precedence::argument:
      return setting.read ? confidence::fair : confidence::weak;
    case Precedence::global:
      return 0.78;
    case Precedence::loose:
      return confidence::fair;
  }
  return confidence::weak;
}

}  // namespace schedmate::facts
