// SPDX-License-Identifier: Apache-2.0
#pragma once

/// Who may come in by TCP: bearer tokens of 256 random bits, "smt_" and 64 hexadecimal digits. The
/// file keeps their SHA-256 alone, so that who reads it cannot come in by it. It has rights 0600,
/// is whole or absent, and one line a token: HASH ROLE USER CREATED LABEL [EXPIRES], with tabs
/// between.

#include <cstdint>
#include <optional>
#include <schedmate/caller.hpp>
#include <schedmate/result.hpp>
#include <schedmate/time.hpp>
#include <string>
#include <string_view>
#include <vector>

namespace schedmate::http {

struct Token {
  std::string hash;  ///< SHA-256 of the token, 64 hexadecimal digits
  Role role = Role::owner;
  std::string user;
  std::int64_t created_s = 0;  ///< Unix time
  std::string label;           ///< for people, and the name by which it is revoked; unique
  std::optional<std::int64_t> expires_s{};  ///< Unix time from which on it opens nothing
};

/// "owner", "viewer", "operator".
[[nodiscard]] std::string_view name_of(Role role);
[[nodiscard]] std::optional<Role> role_named(std::string_view name);

/// Errors: invalid, with the line ("3: ..."). One bad line makes the whole text bad: nobody comes
/// in by half a file.
[[nodiscard]] Result<std::vector<Token>> read_tokens(std::string_view text);
[[nodiscard]] std::string write_tokens(const std::vector<Token>& tokens);

/// The token whose hash is that of `secret`, or null. Takes as long whichever it is, and however
/// far a wrong one is right.
[[nodiscard]] const Token* find_token(const std::vector<Token>& tokens, std::string_view secret);

/// A file that is not there holds no tokens. Errors: refused (others may read or write it, or its
/// folder), unavailable, invalid.
[[nodiscard]] Result<std::vector<Token>> load_tokens(const std::string& path);

struct NewToken {
  std::string user;
  Role role = Role::owner;
  std::string label;
  std::int64_t created_s = 0;
  std::optional<std::int64_t> expires_s{};
};
/// The token's text, which is nowhere kept and cannot be had again. Errors: those of load_tokens();
/// invalid (an empty user or label, or one with a control character or over 64 bytes), conflict
/// (the label is there), unavailable (another process is changing the file, or it cannot be
/// written).
[[nodiscard]] Result<std::string> add_token(const std::string& path, const NewToken& token);
/// Errors: those of load_tokens(); not_found, with the labels that there are.
[[nodiscard]] Result<void> revoke_token(const std::string& path, std::string_view label);

}  // namespace schedmate::http
