// SPDX-License-Identifier: Apache-2.0
#pragma once

/// The token file as a running server sees it.

#include <optional>
#include <schedmate/result.hpp>
#include <string>
#include <vector>

#include "http/tokens.hpp"

namespace schedmate::http {

class TokenFile {
 public:
  /// "" as path: no tokens. Errors: those of load_tokens().
  [[nodiscard]] static Result<TokenFile> open(const std::string& path, SimTime now);
  /// Those that had not expired when it was last read or refreshed.
  [[nodiscard]] const std::vector<Token>& tokens() const { return tokens_; }
  /// Reads it anew if it is another than before, or could not be read then. What cannot be read
  /// leaves no token valid: a revoked one must not live on because the file is broken.
  void refresh(SimTime now);

 private:
  void drop_expired(SimTime now);
  std::string path_;
  std::optional<std::string> mark_;  ///< of what was read: the file's identity and times
  std::vector<Token> tokens_;
};

}  // namespace schedmate::http
