// SPDX-License-Identifier: Apache-2.0
#pragma once

/// Version Manager (poster, section 2): which files a job's facts came from, in which state, and
/// what is new since the user's last run.

#include <cstdint>
#include <functional>
#include <optional>
#include <schedmate/advice.hpp>
#include <schedmate/store.hpp>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "advisor/flag_rules.hpp"

namespace schedmate::advisor {

/// A file as it was when it was read.
struct FileStamp {
  std::string path;
  std::uint64_t size = 0;
  std::int64_t mtime_ns = 0;
  std::uint64_t inode = 0;
  std::string hash;
  bool operator==(const FileStamp&) const = default;
};

/// The files behind the facts of a job.
struct Closure {
  std::string hash;
  std::vector<FileStamp> files;
};

/// How the job's tree is reached; the advisor itself opens no file.
struct TreeAccess {
  /// Stamps and hashes of these files as they are now.
  std::function<Result<Closure>(const std::string& root, std::span<const std::string> files)> read;
  /// Are they as they were? Looks at stat, and reads only files whose stat has changed.
  std::function<bool(const std::string& root, std::span<const FileStamp> files)> unchanged;
  /// A small file of the tree, such as ".git/HEAD".
  std::function<std::optional<std::string>(const std::string& root, std::string_view path)> text;
};

/// Keeps the files of a closure in the store's cache; brings them back.
[[nodiscard]] Result<void> keep_closure(Store& store, const std::string& root,
                                        const Closure& closure);
[[nodiscard]] Result<std::optional<Closure>> find_closure(Store& store, const std::string& root,
                                                          const std::string& hash);

/// The commit that is checked out: HEAD and refs are read as files, nothing is executed. "" when
/// there is no repository, or a form of it that is not known here.
[[nodiscard]] std::string git_commit(const TreeAccess& tree, const std::string& root);

/// Facts of an earlier submission made those of this one, whose command differs in flags only.
/// Nothing when a changed flag may change a fact in a way that only reading can show.
[[nodiscard]] std::optional<Facts> carry_over(const Facts& earlier, std::string_view their_command,
                                              std::string_view our_command, const FlagRules& rules);

/// Facts that are not what they were, by name.
[[nodiscard]] std::vector<FactChange> changed_facts(const Facts& before, const Facts& now);

}  // namespace schedmate::advisor
