// SPDX-License-Identifier: Apache-2.0
#pragma once

/// Whose rights files of others are opened with, and how much of them is read: a value that goes
/// along with a request to every open (docs/security.md). On the command line it is the identity of
/// the process; a daemon that runs as root hands in that of its peer.

#include <sys/types.h>

#include <chrono>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

namespace schedmate {

struct Identity {
  static constexpr gid_t no_group = 65534;

  /// Empty: the process itself. Another user than the process is possible for root only.
  std::optional<uid_t> user;
  gid_t group = no_group;
  std::vector<gid_t> groups{};
  bool operator==(const Identity&) const = default;
};

/// Of one reading of one file. What goes beyond it is left out, and a note says so.
struct ReadBudget {
  /// Of a larger plain file the beginning and the end; of a text that is compressed, or comes
  /// through a pipe, as much from its beginning as both together.
  std::uint64_t first_bytes = std::uint64_t{1} << 30U, last_bytes = std::uint64_t{1} << 30U;
  /// Of each of the two parts.
  std::uint64_t lines = 10'000'000;
  /// Of each of the two parts.
  std::chrono::milliseconds reading{60'000};
  /// How long an open, or one step of reading, may wait for the file system.
  std::chrono::milliseconds answer{10'000};
};

struct FileAccess {
  Identity identity{};
  ReadBudget budget{};
  /// Is told what was left out of an answer: "FILE: read the first ... of ...". May be empty.
  std::function<void(const std::string&)> note{};
};

/// The name of a file and how it is opened. A name alone is opened with the rights of this process.
struct ForeignPath {
  // NOLINTBEGIN(google-explicit-constructor): a plain name is the usual case
  ForeignPath(std::string path, FileAccess how = {})
      : name(std::move(path)), access(std::move(how)) {}
  ForeignPath(const char* text) : name(text) {}
  // NOLINTEND(google-explicit-constructor)
  std::string name;
  FileAccess access;
};

}  // namespace schedmate
