// SPDX-License-Identifier: Apache-2.0
#pragma once

/// Names of people in what leaves the site: HMAC-SHA256 with a key that stays in the state folder,
/// so that a user has the same pseudonym in every report, and nobody without the key can try names.

#include <schedmate/result.hpp>
#include <string>
#include <string_view>

#include "settings/session.hpp"

namespace schedmate::lab {

class Pseudonyms {
 public:
  /// The key in STATE/names.key; made on first use, readable for its owner alone. Errors:
  /// unavailable when the folder or the file cannot be made or read; invalid when the file is no
  /// key.
  static Result<Pseudonyms> open(const settings::Session& session);
  /// Names as they are.
  static Pseudonyms plain() { return {}; }

  /// "u-" and 12 hexadecimal digits (48 bits: a chance of 2e-9 that any two of 1,000 users meet).
  [[nodiscard]] std::string of(std::string_view name) const;

 private:
  Pseudonyms() = default;
  std::string key_;  ///< "" = plain
};

}  // namespace schedmate::lab
