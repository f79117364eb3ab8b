// SPDX-License-Identifier: Apache-2.0
#include "service/snapshot.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <filesystem>
#include <set>
#include <system_error>
#include <utility>

#include "base/own_files.hpp"
#include "base/sha256.hpp"
#include "base/text.hpp"
#include "process/run_tool.hpp"
#include "secrets/outgoing.hpp"

namespace schedmate::service {
namespace {

namespace fs = std::filesystem;

/// What git says of a folder; "": nothing, for it is no work tree or there is no git. A work tree
/// cannot name a program here that git would start.
std::string git(const settings::Environment& environment, const fs::path& dir,
                std::vector<std::string> words) {
  std::vector<std::string> all = {"git", "-C", dir.string(), "-c", "core.fsmonitor=false"};
  all.insert(all.end(), words.begin(), words.end());
  constexpr std::chrono::minutes patience{1};
  return process::run_tool(environment, {.words = std::move(all), .deadline = patience})
      .value_or("");
}

/// "": there is none, or it ignores the folder, of which its copy would have nothing.
std::string work_tree(const settings::Environment& environment, const fs::path& here) {
  if (!git(environment, here, {"check-ignore", "."}).empty()) return {};
  return std::string(trim(git(environment, here, {"rev-parse", "--show-toplevel"})));
}

/// What is never copied: a repository, and what git ignores in a work tree.
std::set<fs::path> linked_whole(const settings::Environment& environment, const fs::path& root,
                                bool is_work_tree) {
  std::set<fs::path> made = {root / ".git"};
  if (!is_work_tree) return made;
  const std::string ignored =
      git(environment, root,
          {"ls-files", "--others", "--ignored", "--exclude-standard", "--directory", "-z"});
  for (std::string_view name : split(ignored, '\0')) {
    if (name.ends_with('/')) name.remove_suffix(1);
    if (!name.empty()) made.insert(root / name);
  }
  return made;
}

tl::unexpected<Error> failed(const fs::path& path, const std::error_code& error) {
  return fail(ErrorCode::unavailable,
              fmt::format("snapshot of the job's folder: {}: {}", secrets::safe_line(path.string()),
                          error.message()));
}

class Copying {
 public:
  Copying(fs::path from, fs::path to, SnapshotLimits limits, std::set<fs::path> linked)
      : from_(std::move(from)), to_(std::move(to)), limits_(limits), linked_(std::move(linked)) {}

  /// `made.root` and `made.dir` stay as they are.
  Result<void> run(const fs::path& spared, Snapshot& made) {
    std::error_code error;
    fs::recursive_directory_iterator each(from_, fs::directory_options::skip_permission_denied,
                                          error);
    for (; !error && each != fs::recursive_directory_iterator(); each.increment(error)) {
      if (each->path() == spared) {
        each.disable_recursion_pending();
        continue;
      }
      const bool is_whole = is_linked(each->path());
      if (is_whole) each.disable_recursion_pending();
      if (auto done = entry(*each, is_whole, made); !done) return done;
      if (made.copied + made.linked > limits_.files || made.bytes > limits_.bytes)
        return too_much();
    }
    return error ? failed(from_, error) : Result<void>();
  }

 private:
  [[nodiscard]] bool is_linked(const fs::path& path) const {
    std::error_code unknown;
    const bool is_folder = fs::is_directory(fs::symlink_status(path, unknown));
    return linked_.contains(path) || ::access(path.c_str(), is_folder ? R_OK | X_OK : R_OK) != 0;
  }

  Result<void> entry(const fs::directory_entry& entry, bool is_whole, Snapshot& made) const {
    const fs::path target = to_ / entry.path().lexically_relative(from_);
    std::error_code error;
    const fs::file_status status = entry.symlink_status(error);
    if (fs::is_symlink(status)) return copy_link(entry.path(), target, made);
    if (is_whole) return link(entry.path(), target, made);
    if (fs::is_directory(status)) {
      fs::create_directory(target, entry.path(), error);  // with its rights, and to be filled
      if (!error) fs::permissions(target, fs::perms::owner_all, fs::perm_options::add, error);
      return error ? failed(target, error) : Result<void>();
    }
    const bool is_small = fs::is_regular_file(status) && entry.file_size(error) <= limits_.large;
    return is_small ? copy(entry, target, made) : link(entry.path(), target, made);
  }

  static Result<void> link(const fs::path& path, const fs::path& target, Snapshot& made) {
    std::error_code error;
    fs::create_symlink(path, target, error);
    ++made.linked;
    return error ? failed(target, error) : Result<void>();
  }

  /// One that stays in the tree leads to the copy there.
  Result<void> copy_link(const fs::path& path, const fs::path& target, Snapshot& made) const {
    std::error_code error;
    const fs::path to = fs::read_symlink(path, error);
    if (error) return failed(path, error);
    const fs::path there = (path.parent_path() / to).lexically_normal();
    const bool stays = to.is_relative() && *there.lexically_relative(from_).begin() != "..";
    return link(stays ? to : there, target, made);
  }

  Result<void> copy(const fs::directory_entry& entry, const fs::path& target,
                    Snapshot& made) const {
    std::error_code error;
    fs::copy_file(entry.path(), target, error);
    if (error) return failed(entry.path(), error);
    std::error_code untold;  // times are a nicety
    fs::last_write_time(target, entry.last_write_time(untold), untold);
    ++made.copied;
    made.bytes += entry.file_size(untold);
    return {};
  }

  [[nodiscard]] tl::unexpected<Error> too_much() const {
    return fail(
        ErrorCode::invalid,
        fmt::format("snapshot of the job's folder: {} has more than {} files or {} MiB; "
                    "let .gitignore name its data, or submit without --snapshot",
                    secrets::safe_line(from_.string()), limits_.files, limits_.bytes >> 20U));
  }

  fs::path from_, to_;
  SnapshotLimits limits_;
  std::set<fs::path> linked_;
};

/// Where the copy of `of` is made before it has its name.
Result<fs::path> new_folder(const fs::path& kept, const fs::path& of) {
  std::string name = (kept / (of.filename().string() + ".part-XXXXXX")).string();
  if (::mkdtemp(name.data()) == nullptr)
    return failed(kept, std::error_code(errno, std::generic_category()));
  return name;
}

/// Fills `made.root`, which is not there yet.
Result<void> make_copy(Copying copying, const fs::path& part, const fs::path& kept,
                       Snapshot& made) {
  std::error_code error;
  auto done = copying.run(kept, made);
  if (done) {
    fs::rename(part, made.root, error);
    if (error && !fs::is_directory(made.root)) done = failed(made.root, error);
  }
  std::error_code left;
  if (!done || error) fs::remove_all(part, left);  // another call was first
  return done;
}

}  // namespace

Result<Snapshot> take_snapshot(const settings::Environment& environment, const std::string& dir,
                               const SnapshotPlace& place, const SnapshotLimits& limits) {
  std::error_code error;
  const fs::path here = fs::canonical(dir, error);
  if (error || !fs::is_directory(here, error))
    return fail(
        ErrorCode::not_found,
        fmt::format("snapshot of the job's folder: {}: no such folder", secrets::safe_line(dir)));
  const std::string top = work_tree(environment, here);
  const fs::path root = top.empty() ? here : fs::path(top);
  if (auto owned = make_own_folder(place.folder); !owned) return tl::unexpected(owned.error());
  const fs::path kept = fs::canonical(place.folder, error);
  constexpr std::size_t enough = 12;
  const std::string name = root.filename().string() + "-" + sha256(place.key).substr(0, enough);
  Snapshot made{.root = (kept / name).string(), .dir = (kept / name).string()};
  if (here != root) made.dir = (kept / name / here.lexically_relative(root)).string();
  if (fs::is_directory(made.root)) return made;
  const auto part = new_folder(kept, root);
  if (!part) return tl::unexpected(part.error());
  Copying copying(root, *part, limits, linked_whole(environment, root, !top.empty()));
  if (auto done = make_copy(std::move(copying), *part, kept, made); !done)
    return tl::unexpected(done.error());
  return made;
}

void drop_snapshot(const Snapshot& snapshot) {
  std::error_code left;
  if (!snapshot.root.empty()) fs::remove_all(snapshot.root, left);
}

}  // namespace schedmate::service
