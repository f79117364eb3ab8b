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

Result<TokenFile> TokenFile::open(const std::string& path) {
  TokenFile file;
  file.path_ = path;
  if (path.empty()) return file;
  file.mark_ = mark_of(path);
  auto tokens = load_tokens(path);
  if (!tokens) return tl::unexpected(tokens.error());
  file.tokens_ = std::move(*tokens);
  return file;
}

void TokenFile::refresh() {
  std::string mark = mark_of(path_);
  if (mark == mark_) return;
  auto tokens = load_tokens(path_);
  mark_ = tokens ? std::optional(std::move(mark)) : std::nullopt;
  tokens_ = std::move(tokens).value_or(std::vector<Token>());
}

}  // namespace schedmate::http
