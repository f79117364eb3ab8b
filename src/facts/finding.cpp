// SPDX-License-Identifier: Apache-2.0
#include "facts/finding.hpp"

namespace schedmate {

void add(Findings& out, std::string_view field, FactValue what, double confidence,
         const PlacePtr& place, std::string_view why) {
  Fact fact{.value = std::move(what), .confidence = confidence, .evidence = evidence_of(place)};
  if (place) fact.source = place->source;
  out.push_back({std::string(field), std::move(fact), std::string(why)});
}

void add_from_table(Findings& out, std::string_view field, FactValue what, double confidence,
                    const Evidence& row, const PlacePtr& place) {
  Fact fact{.value = std::move(what),
            .confidence = confidence,
            .source = FactSource::table,
            .evidence = evidence_of(place)};
  fact.evidence.push_back(row);
  out.push_back({std::string(field), std::move(fact), row.file});
}

}  // namespace schedmate
