// SPDX-License-Identifier: Apache-2.0
#include "http/token_file.hpp"

#include <fmt/format.h>
#include <sys/stat.h>

#include <utility>

namespace schedmate::http {
namespace {

std::string mark_of(const std::string& path) {
  struct stat status{};
  if (path.empty() || ::lstat(path.c_str(), &status) != 0) return "";
  return fmt::format("{}:{}:{}:{}.{}:{}.{}:{:o}", status.st_dev, status.st_ino, status.st_size,
                     status.st_mtim.tv_sec, status.st_mtim.tv_nsec, status.st_ctim.tv_sec,
                     status.st_ctim.tv_nsec, status.st_mode);
}

}  // namespace

Result<TokenFile> TokenFile::open(const std::string& path, SimTime now) {
  TokenFile file;
  file.path_ = path;
  if (path.empty()) return file;
  file.mark_ = mark_of(path);
  auto tokens = load_tokens(path);
  if (!tokens) return tl::unexpected(tokens.error());
  file.tokens_ = std::move(*tokens);
  file.drop_expired(now);
  return file;
}

/// One that has expired does not come back: the file is not read again for it.
void TokenFile::drop_expired(SimTime now) {
  std::erase_if(tokens_, [now](const Token& token) {
    return token.expires_s && *token.expires_s <= seconds_of(now);
  });
}

void TokenFile::refresh(SimTime now) {
  std::string mark = mark_of(path_);
  if (mark == mark_) return drop_expired(now);
  auto tokens = load_tokens(path_);
  mark_ = tokens ? std::optional(std::move(mark)) : std::nullopt;
  tokens_ = std::move(tokens).value_or(std::vector<Token>());
  drop_expired(now);
}

}  // namespace schedmate::http
