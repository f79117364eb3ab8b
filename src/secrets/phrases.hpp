// SPDX-License-Identifier: Apache-2.0
#pragma once

/// Values that a sentence or a column tells: `your password is X`, `login with password X`,
/// `password for root: X`, `password "X" was refused`, `requirepass X`.

#include "secrets/joints.hpp"

namespace schedmate::secrets {

class SecretPhrases {
 public:
  SecretPhrases(std::string_view text, SecretText& read) : text_(text), read_(read) {}

  /// The value that is told of a name which no sign joins to one; empty when there is none.
  [[nodiscard]] Span value_after(const Name& name);
  /// `(using password: X)` of a sentence, no parameter of a function.
  [[nodiscard]] bool is_aside(const Name& name, const Span& value);

 private:
  struct Told {
    std::size_t at = nowhere;
    bool fills = true;    ///< a plain word must end its line to be a value
    bool is_code = true;  ///< may be an expression of a program: `password is other`
    bool given = false;   ///< "with password X"
  };
  [[nodiscard]] Told told_by(const Name& name);
  [[nodiscard]] bool is_given(const Name& name) const;
  [[nodiscard]] std::size_t after_owner(std::size_t at) const;
  [[nodiscard]] bool is_column(const Name& name);
  [[nodiscard]] bool is_told(const Name& name, const Told& told, const Value& written);
  [[nodiscard]] bool ends_sentence(std::size_t at);
  [[nodiscard]] std::string_view line_before(const Name& name) const;

  std::string_view text_;
  SecretText& read_;
};

}  // namespace schedmate::secrets
