// SPDX-License-Identifier: Apache-2.0
#include "http/tokens.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>
#include <sys/random.h>
#include <sys/stat.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <span>

#include "base/characters.hpp"
#include "base/input.hpp"
#include "base/output.hpp"
#include "base/own_files.hpp"
#include "base/sha256.hpp"
#include "base/text.hpp"
#include "base/words.hpp"

namespace schedmate::http {
namespace {

constexpr std::string_view prefix = "smt_";
constexpr std::size_t hash_digits = 64;
constexpr std::size_t longest_name = 64;
constexpr std::size_t largest_file = 1U << 20U;

struct RoleWord {
  Role role;
  std::string_view word;
};
constexpr std::array role_words{RoleWord{Role::owner, "owner"}, RoleWord{Role::viewer, "viewer"},
                                RoleWord{Role::cluster_operator, "operator"}};

bool is_hash(std::string_view text) {
  return text.size() == hash_digits &&
         std::ranges::all_of(text, [](char c) { return is_digit(c) || (c >= 'a' && c <= 'f'); });
}

bool is_name(std::string_view text) {
  return !text.empty() && text.size() <= longest_name && is_printable(text);
}

Result<Token> read_token_line(std::string_view line) {
  const auto parts = split(line, '\t');
  if (parts.size() != 5 && parts.size() != 6)
    return fail(ErrorCode::invalid,
                "a token has HASH, ROLE, USER, CREATED, LABEL and maybe EXPIRES");
  const auto role = role_named(parts[1]);
  const auto created_s = parse_number<std::int64_t>(parts[3]);
  if (!is_hash(parts[0])) return fail(ErrorCode::invalid, "the hash is not 64 digits");
  if (!role) return fail(ErrorCode::invalid, "the role is not owner, viewer or operator");
  if (!created_s) return fail(ErrorCode::invalid, "the time of creation is not a number");
  const auto expires_s =
      parts.size() == 6 ? parse_number<std::int64_t>(parts[5]) : std::optional<std::int64_t>();
  if (parts.size() == 6 && !expires_s)
    return fail(ErrorCode::invalid, "the time of its end is not a number");
  if (!is_name(parts[2]) || !is_name(parts[4]))
    return fail(ErrorCode::invalid, "user or label is empty, too long or not printable");
  return Token{std::string(parts[0]), *role,    std::string(parts[2]), *created_s,
               std::string(parts[4]), expires_s};
}

/// Equal or not in a time that does not tell where they differ.
bool equal_slowly(std::string_view a, std::string_view b) {
  unsigned difference = a.size() == b.size() ? 0 : 1;
  for (std::size_t at = 0; at < std::min(a.size(), b.size()); ++at)
    difference |= static_cast<unsigned char>(a[at] ^ b[at]);
  return difference == 0;
}

Result<std::string> random_secret() {
  std::array<unsigned char, 32> bytes{};
  if (::getrandom(bytes.data(), bytes.size(), 0) != static_cast<ssize_t>(bytes.size()))
    return fail(ErrorCode::unavailable, "the system gives no random numbers");
  std::string text(prefix);
  for (const unsigned char byte : bytes) text += fmt::format("{:02x}", byte);
  return text;
}

/// One process changes the file at a time. The lock is a file beside it, for the file itself is
/// replaced.
Result<Descriptor> locked(const std::string& path) {
  auto lock = open_own_file(path + ".lock", O_RDWR);
  if (!lock || ::flock(lock->number(), LOCK_EX | LOCK_NB) == 0) return lock;
  if (errno == EWOULDBLOCK)
    return fail(ErrorCode::unavailable, path + ": another process is changing it; try again");
  return fail(ErrorCode::unavailable,
              fmt::format("{}.lock: cannot be locked: {}", path, std::strerror(errno)));
}

Result<std::string> read_whole(const std::string& path, int file) {
  std::size_t size = 0;
  return read_rest("", [&](std::span<char> part) -> Result<std::size_t> {
    ssize_t got = -1;
    do {
      got = ::read(file, part.data(), part.size());
    } while (got < 0 && errno == EINTR);
    if (got < 0)
      return fail(ErrorCode::unavailable, fmt::format("{}: {}", path, std::strerror(errno)));
    size += static_cast<std::size_t>(got);
    if (size > largest_file)
      return fail(ErrorCode::invalid, path + ": larger than any file of tokens is");
    return static_cast<std::size_t>(got);
  });
}

}  // namespace

std::string_view name_of(Role role) {
  const auto* const found = std::ranges::find(role_words, role, &RoleWord::role);
  return found == role_words.end() ? "" : found->word;
}

std::optional<Role> role_named(std::string_view name) {
  const auto* const found = std::ranges::find(role_words, name, &RoleWord::word);
  if (found == role_words.end()) return std::nullopt;
  return found->role;
}

Result<std::vector<Token>> read_tokens(std::string_view text) {
  std::vector<Token> tokens;
  int number = 0;
  for (const std::string_view line : split(text, '\n')) {
    ++number;
    if (line.empty() && text.size() == static_cast<std::size_t>(line.data() - text.data())) break;
    auto token = read_token_line(line);
    if (!token)
      return fail(ErrorCode::invalid, fmt::format("{}: {}", number, token.error().message));
    const bool twice = std::ranges::any_of(tokens, [&](const Token& known) {
      return known.hash == token->hash || known.label == token->label;
    });
    if (twice)
      return fail(ErrorCode::invalid, fmt::format("{}: a hash or label appears twice", number));
    tokens.push_back(std::move(*token));
  }
  return tokens;
}

std::string write_tokens(const std::vector<Token>& tokens) {
  std::string text;
  for (const Token& token : tokens) {
    text += fmt::format("{}\t{}\t{}\t{}\t{}", token.hash, name_of(token.role), token.user,
                        token.created_s, token.label);
    text += token.expires_s ? fmt::format("\t{}\n", *token.expires_s) : "\n";
  }
  return text;
}

const Token* find_token(const std::vector<Token>& tokens, std::string_view secret) {
  const std::string hash = sha256(secret);
  const Token* found = nullptr;
  for (const Token& token : tokens)
    if (equal_slowly(token.hash, hash)) found = &token;
  return found;
}

Result<std::vector<Token>> load_tokens(const std::string& path) {
  struct stat status{};
  if (::lstat(path.c_str(), &status) != 0 && errno == ENOENT) return std::vector<Token>();
  auto file = open_own_file(path, O_RDONLY);
  if (!file) return tl::unexpected(file.error());
  if (::fstat(file->number(), &status) != 0 || (status.st_mode & 0077U) != 0)
    return fail(ErrorCode::refused, path + ": others may read it (chmod 600 mends that)");
  const auto text = read_whole(path, file->number());
  if (!text) return tl::unexpected(text.error());
  auto tokens = read_tokens(*text);
  if (!tokens)
    return fail(ErrorCode::invalid, fmt::format("{}:{}; restore the file, or remove the line", path,
                                                tokens.error().message));
  return tokens;
}

Result<std::string> add_token(const std::string& path, const NewToken& token) {
  if (!is_name(token.user) || !is_name(token.label))
    return fail(ErrorCode::invalid, "user and label need 1 to 64 printable bytes");
  const auto lock = locked(path);
  if (!lock) return tl::unexpected(lock.error());
  auto tokens = load_tokens(path);
  if (!tokens) return tl::unexpected(tokens.error());
  if (std::ranges::find(*tokens, token.label, &Token::label) != tokens->end())
    return fail(ErrorCode::conflict,
                fmt::format("there is a token '{}'; choose another label, or revoke that one first",
                            token.label));
  auto secret = random_secret();
  if (!secret) return secret;
  tokens->push_back(
      {sha256(*secret), token.role, token.user, token.created_s, token.label, token.expires_s});
  if (auto done = write_file(path, write_tokens(*tokens), Kept::secret); !done)
    return tl::unexpected(done.error());
  return secret;
}

Result<void> revoke_token(const std::string& path, std::string_view label) {
  const auto lock = locked(path);
  if (!lock) return tl::unexpected(lock.error());
  auto tokens = load_tokens(path);
  if (!tokens) return tl::unexpected(tokens.error());
  const auto found = std::ranges::find(*tokens, label, &Token::label);
  if (found == tokens->end()) {
    std::vector<std::string_view> labels;
    for (const Token& token : *tokens) labels.emplace_back(token.label);
    return fail(ErrorCode::not_found, unknown_name("token", printable(label), labels));
  }
  tokens->erase(found);
  return write_file(path, write_tokens(*tokens), Kept::secret);
}

}  // namespace schedmate::http
