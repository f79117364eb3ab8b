// SPDX-License-Identifier: Apache-2.0
#include "base/confidence.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <memory>

#include "base/check.hpp"
#include "base/table_reader.hpp"
#include "base/text.hpp"
#include "base/words.hpp"

namespace schedmate {
namespace {

/// No table makes an answer certain, or certainly wrong.
constexpr Bounds possible{0.02, 0.99};
constexpr Bounds any_weight{-100, 100};
constexpr const char* any_other = "other";  ///< name of the base of fields without one

struct Weights {
  std::map<std::string, double, std::less<>> base;  ///< by field, and any_other
  std::map<std::string, double, std::less<>> of_all;
  std::map<std::string, std::map<std::string, double, std::less<>>, std::less<>> of_field;

  [[nodiscard]] double probability(std::string_view field, const Features& features) const {
    const auto own = base.find(field);
    double sum = own != base.end() ? own->second : base.find(any_other)->second;
    const auto special = of_field.find(field);
    for (const auto& [name, value] : features) {
      if (const auto weight = of_all.find(name); weight != of_all.end())
        sum += weight->second * value;
      if (special == of_field.end()) continue;
      if (const auto weight = special->second.find(name); weight != special->second.end())
        sum += weight->second * value;
    }
    return std::clamp(1 / (1 + std::exp(-sum)), possible.low, possible.high);
  }
};

}  // namespace

Result<Confidence> read_confidence(std::string_view toml, std::string_view file_name) {
  auto weights = std::make_shared<Weights>();
  weights->base[any_other] = 0;
  Confidence confidence;
  const auto done = TableReader::read(toml, std::string(file_name), [&](TableReader& file) {
    file.number("careful", confidence.careful, {0, 1});
    file.maybe_tables("field", [&](TableReader& row) {
      std::string name;
      row.text("name", name);
      row.number("base", weights->base[name], any_weight);
    });
    file.maybe_tables("weight", [&](TableReader& row) {
      std::string field;
      std::string feature;
      const bool special = row.maybe_text("field", field);
      row.text("feature", feature);
      auto& of = special ? weights->of_field[field] : weights->of_all;
      row.number("weight", of[feature], any_weight);
    });
  });
  if (!done) return tl::unexpected(done.error());
  confidence.probability = [weights](std::string_view field, const Features& features) {
    return weights->probability(field, features);
  };
  return confidence;
}

Confidence built_in_confidence(std::string_view toml) {
  auto read = read_confidence(toml, "built in");
  SCHEDMATE_CHECK(read.has_value(), "the built-in table of confidence can be read");
  return *std::move(read);
}

Result<double> confidence_bound(std::string_view least, double careful) {
  if (least.empty()) return 0;
  if (least == "auto") return careful;
  const auto share = parse_number<double>(least);
  if (share && *share >= 0 && *share <= 1) return *share;
  return fail(ErrorCode::unsupported,
              fmt::format("--min-confidence {}: must be 0 to 1, or auto", printable(least)));
}

}  // namespace schedmate
