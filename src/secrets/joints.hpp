// SPDX-License-Identifier: Apache-2.0
#pragma once

/// How names of secrets are written, and how their values are joined to them.

#include "secrets/text.hpp"
#include "secrets/words.hpp"

namespace schedmate::secrets {

/// A name, and how it is written.
struct Name {
  std::size_t begin = 0;
  std::size_t end = 0;
  SecretKind kind = SecretKind::none;
  bool quoted = false;
  bool flag = false;
  bool item = false;      ///< of a section "secrets"
  bool declared = false;  ///< behind a name that is said before its value
};

/// How the value is joined to its name.
enum class Joint : unsigned char { none, assigned, colon, compared, flag, argument, command };

struct Joined {
  Joint joint = Joint::none;
  std::size_t at = 0;  ///< behind the joint
};

/// Where the value of a name stands, and where its line ends.
struct TupleValue {
  std::size_t value = nowhere;
  std::size_t end = 0;
};

class SecretJoints {
 public:
  explicit SecretJoints(std::string_view text) : text_(text), read_(text) {}

  /// After "=", ":", ":=", "=>", "==", "!=", ...; for a flag after blanks.
  [[nodiscard]] Joined after(const Name& name) const;
  /// Of one name of several that are assigned in one line; nowhere when it is none.
  [[nodiscard]] TupleValue tuple_value(const Name& name) const;
  /// Of a call such as add_argument(, option(: what follows are other names of the same flag.
  [[nodiscard]] bool is_declaration(std::size_t open) const;
  [[nodiscard]] bool in_netrc(const Name& name) const;
  [[nodiscard]] bool sets_by_name(const Name& name) const;
  [[nodiscard]] std::string_view word_of(const Name& name) const {
    return text_.substr(name.begin, name.end - name.begin);
  }

 private:
  [[nodiscard]] Joined after_type(Joined joined) const;
  [[nodiscard]] Joined argument_after(const Name& name, std::size_t at) const;
  [[nodiscard]] Joint joint_by_blank(const Name& name) const;
  [[nodiscard]] bool is_symbol(const Name& name) const;
  [[nodiscard]] bool is_element(std::size_t at) const;
  [[nodiscard]] std::size_t next_cell(const Name& name, std::size_t at) const;
  [[nodiscard]] std::string_view call_before(std::size_t open) const;

  std::string_view text_;
  SecretText read_;
};

}  // namespace schedmate::secrets
