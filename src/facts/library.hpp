// SPDX-License-Identifier: Apache-2.0
#pragma once

/// Training libraries that take settings and run the loop themselves (HF Trainer, Lightning, Keras,
/// ultralytics, ...): which one the program uses, and what a setting of it ends up as, given or by
/// the library's own default (rules/defaults.toml).

#include "facts/finding.hpp"

namespace schedmate::facts {

struct Library {
  std::string callee;                  ///< its row name in rules/defaults.toml
  const python::Call* call = nullptr;  ///< the constructor or fit() call, when one was seen
  bool certain = true;
};

/// The libraries in use, most relevant first.
[[nodiscard]] std::vector<Library> libraries_of(const Scene& scene);

struct LibrarySetting {
  Value value{};  ///< unknown when only the default is known
  std::optional<DefaultMatch> by_default{};
  bool certain = true;
};
/// What `name` of the library is: from the call, from flags that it owns, else its default;
/// nothing when it has no such setting.
[[nodiscard]] std::optional<LibrarySetting> library_setting(const Scene& scene,
                                                            const Library& library,
                                                            std::string_view name);

/// The number in a setting, given or by default.
[[nodiscard]] std::optional<double> number_of(const LibrarySetting& setting);
/// Adds a finding from a setting: evidence is the value's place or the default's row.
void add_setting(Findings& out, std::string_view field, FactValue what,
                 const LibrarySetting& setting);

/// Names that a value stands for: text, outside symbol, class of an object or made thing; "" else.
[[nodiscard]] std::string name_in(const Value& value);
/// The number, or the only one among those that branches left open.
[[nodiscard]] std::optional<double> likely_number(const Value& value);
/// A whole number as int, another number as double.
[[nodiscard]] FactValue number_fact(double number);

}  // namespace schedmate::facts
