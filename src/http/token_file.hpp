// SPDX-License-Identifier: Apache-2.0
#pragma once

/// The token file as a running server sees it.

#include <schedmate/result.hpp>
#include <set>
#include <string>
#include <vector>

#include "http/tokens.hpp"

namespace schedmate::http {

class TokenFile {
 public:
  /// "" as path: no tokens. Errors: those of load_tokens().
  [[nodiscard]] static Result<TokenFile> open(const std::string& path);
  [[nodiscard]] const std::vector<Token>& tokens() const { return tokens_; }
  [[nodiscard]] std::set<std::string> hashes() const;
  /// Reads it anew if it is another than before; says whether tokens changed. What cannot be read
  /// leaves no token valid: a revoked one must not live on because the file is broken.
  [[nodiscard]] bool refresh();

 private:
  std::string path_;
  std::string mark_;  ///< of the file's identity and times
  std::vector<Token> tokens_;
};

}  // namespace schedmate::http
