// SPDX-License-Identifier: Apache-2.0
#pragma once

/// Whether a value that is joined to the name of a secret is one.

#include "secrets/phrases.hpp"

namespace schedmate::secrets {

class SecretJudge {
 public:
  SecretJudge(std::string_view text, SecretText& read)
      : text_(text), read_(read), joints_(text), phrases_(text, read) {}

  [[nodiscard]] bool is_secret(const Name& name, Joint joint, const Value& written);
  /// A plain token that no tokenizer has: a flag `--token x`, the variable `TOKEN=x` of a shell, a
  /// cookie, the `_auth` of npm.
  [[nodiscard]] bool is_login(const Name& name, Joint joint);
  /// An opening '(' before it on its line is not closed.
  [[nodiscard]] bool is_in_parens(const Name& name) const;
  [[nodiscard]] bool in_braces(const Name& name) const;

 private:
  [[nodiscard]] static bool is_quoted_secret(const Name& name, Joint joint, std::string_view value);
  [[nodiscard]] bool is_bare_secret(const Name& name, Joint joint, const Value& written);
  [[nodiscard]] bool is_same_word(const Name& name, std::string_view value) const;
  [[nodiscard]] bool logs_in(const Name& name) const;
  [[nodiscard]] bool is_file_name(const Name& name) const;
  [[nodiscard]] static bool looks_random(std::string_view value);
  [[nodiscard]] bool is_tight(const Name& name) const;
  [[nodiscard]] bool is_in_code(const Name& name, const Value& written);
  [[nodiscard]] bool is_operator_after(std::size_t at) const;
  [[nodiscard]] bool fills_line(const Name& name, std::size_t end);
  [[nodiscard]] bool in_flow(const Name& name) const;

  std::string_view text_;
  SecretText& read_;
  SecretJoints joints_;
  SecretPhrases phrases_;
};

}  // namespace schedmate::secrets
