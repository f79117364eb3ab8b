// SPDX-License-Identifier: Apache-2.0
#pragma once

/// What one rule says of one field. Rules do not know each other: each gives findings with a
/// confidence, `choose` takes the best and keeps the others for --explain.

#include "facts/scene.hpp"

namespace schedmate::facts {

/// How sure a rule is, as a share of right answers; in one place so that the scale stays one.
namespace confidence {
inline constexpr double certain = 0.97;  ///< the value reaches the library on a taken path
inline constexpr double strong = 0.9;    ///< the setting that names the field, and it is used
inline constexpr double likely = 0.8;
inline constexpr double fair = 0.7;
inline constexpr double weak = 0.55;  ///< still better than no answer
inline constexpr double hint = 0.3;   ///< never answered, only explained
}  // namespace confidence

struct Finding {
  std::string field;
  Fact fact;
  std::string why;  ///< name of the rule, for --explain
};
using Findings = std::vector<Finding>;

/// A rule: looks at the scene, says what it found.
using Rule = void (*)(const Scene& scene, Findings& out);

/// What a rule says, without its proof.
struct FieldClaim {
  std::string_view field;
  FactValue value;
  double confidence = 0;
};

/// Adds a finding whose evidence is `place` and what that was made of.
void add(Findings& out, FieldClaim claim, const PlacePtr& place, std::string_view why);
/// Adds a finding that general knowledge gives: `row` of rules/NAME.toml, besides `place`.
void add_from_table(Findings& out, FieldClaim claim, const Evidence& row, const PlacePtr& place);

/// Confidence in a setting that names a field, by how it got its value and whether the program was
/// seen to use it.
[[nodiscard]] double sure_of(const Scene& scene, const Setting& setting);

// One file per group of fields.
void find_batch_size(const Scene& scene, Findings& out);
void find_length(const Scene& scene, Findings& out);
void find_precision(const Scene& scene, Findings& out);
void find_optimizer(const Scene& scene, Findings& out);
void find_distributed(const Scene& scene, Findings& out);
void find_model(const Scene& scene, Findings& out);
void find_dataset(const Scene& scene, Findings& out);
void find_pretrained(const Scene& scene, Findings& out);
void find_framework(const Scene& scene, Findings& out);
void find_shape(const Scene& scene, Findings& out);
}  // namespace schedmate::facts
