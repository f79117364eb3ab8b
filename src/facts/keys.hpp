// SPDX-License-Identifier: Apache-2.0
#pragma once

/// rules/keys.toml: the names under which programs keep batch size, length, model and so on.

#include <map>
#include <schedmate/result.hpp>
#include <string>
#include <string_view>
#include <vector>

namespace schedmate::facts {

struct KeyMeaning {
  std::string field;    ///< "batch_size", "length", ...
  std::string meaning;  ///< "per_device", "total", "epochs", ... (rules/keys.toml)
  int trust = 0;        ///< position in the file: a smaller number is more relevant
};

class Keys {
 public:
  /// Errors: invalid, with the line of the TOML text.
  static Result<Keys> parse(std::string_view toml);

  /// What `key` ("optimizer.lr", "solver.ims_per_batch", normalised) stands for: the longest row
  /// that matches its last parts. Empty when no row does. One name may serve several fields.
  [[nodiscard]] std::vector<KeyMeaning> find(std::string_view key) const;

 private:
  std::multimap<std::string, KeyMeaning, std::less<>> by_name_;
};

/// Lower case, '-' as '_', leading dashes off: "--Batch-Size" -> "batch_size".
[[nodiscard]] std::string normal_key(std::string_view key);

}  // namespace schedmate::facts
