// SPDX-License-Identifier: Apache-2.0
#include "lab/pseudonyms.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

#include "base/hmac.hpp"
#include "base/input.hpp"
#include "base/text.hpp"
#include "settings/state_folder.hpp"

namespace schedmate::lab {
namespace {

constexpr std::size_t key_digits = 64;

bool is_hex(char c) { return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f'); }

/// Writes the key whole or not at all; false when another process was first.
Result<bool> make_key(const std::string& path) {
  const std::string key = random_key();
  const std::string part = fmt::format("{}.{}", path, ::getpid());
  const auto failed = [&](int error) {
    ::unlink(part.c_str());
    return fail(ErrorCode::unavailable, fmt::format("cannot write {}: {}; choose another folder "
                                                    "with --state-dir, or --names plain",
                                                    path, std::strerror(error)));
  };
  if (key.empty()) return failed(EIO);
  const int file = ::open(part.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
  if (file < 0) return failed(errno);
  const ssize_t written = ::write(file, key.data(), key.size());
  const int error = written < 0 ? errno : ENOSPC;
  ::close(file);
  if (written != static_cast<ssize_t>(key.size())) return failed(error);
  const bool first = ::link(part.c_str(), path.c_str()) == 0;
  if (!first && errno != EEXIST) return failed(errno);
  ::unlink(part.c_str());
  return first;
}

}  // namespace

Result<Pseudonyms> Pseudonyms::open(const settings::Session& session) {
  if (auto made = settings::make_state_folder(session); !made) return tl::unexpected(made.error());
  const std::string path = session.state_dir() + "/names.key";
  if (::access(path.c_str(), F_OK) != 0) {
    if (auto made = make_key(path); !made) return tl::unexpected(made.error());
  }
  const auto text = read_file(path);
  if (!text) return tl::unexpected(text.error());
  Pseudonyms names;
  names.key_ = trim(*text);
  if (names.key_.size() != key_digits || !std::ranges::all_of(names.key_, is_hex)) {
    return fail(ErrorCode::invalid,
                fmt::format("{} does not contain a key of 64 hexadecimal digits; remove it to get "
                            "a new one (users then get new pseudonyms)",
                            path));
  }
  return names;
}

std::string Pseudonyms::of(std::string_view name) const {
  constexpr std::size_t digits = 12;
  if (key_.empty()) return std::string(name);
  return "u-" + hmac_sha256(key_, name).substr(0, digits);
}

}  // namespace schedmate::lab
