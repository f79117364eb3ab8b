// SPDX-License-Identifier: Apache-2.0
#include "service/slurm_hook_files.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <sys/xattr.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <filesystem>

#include "base/input.hpp"
#include "base/output.hpp"
#include "service/slurm_hooks.hpp"

namespace schedmate::service {
namespace {

Result<std::string> real_path(const std::string& path) {
  std::error_code error;
  const auto real = std::filesystem::canonical(path, error);
  if (!error) return real.string();
  return fail(ErrorCode::unavailable, fmt::format("{}: {}", path, error.message()));
}

tl::unexpected<Error> no_step(const std::string& path) {
  return fail(ErrorCode::unavailable, fmt::format("{}: {}", path, std::strerror(errno)));
}

/// Nobody has changed it since the plan was made.
Result<void> check_unchanged(const FileStep& step) {
  const auto now = read_hook_file(step.path);
  if (!now) return tl::unexpected(now.error());
  if (now->has_value() == step.exists && now->value_or("") == step.before) return {};
  return fail(
      ErrorCode::conflict,
      step.path + ": somebody changed it in this moment; nothing was done to it, call again");
}

Result<void> write_step(const FileStep& step) {
  struct stat status{};
  const std::string& model = step.exists ? step.path : step.rights_of;
  if (::stat(model.c_str(), &status) != 0) return no_step(model);
  const mode_t bits = step.exists ? status.st_mode & 07777U : step.mode;
  const FileRights rights{.user = status.st_uid, .group = status.st_gid, .mode = bits};
  struct stat link{};
  // A link to the site's own script is kept as a link, under the other name; ours takes its place.
  const bool is_kept_link = step.path != step.rights_of && ::lstat(step.path.c_str(), &link) == 0 &&
                            S_ISLNK(link.st_mode);
  if (!step.exists || is_kept_link) return write_file(step.path, step.after, rights);
  const auto real = real_path(step.path);
  if (!real) return tl::unexpected(real.error());
  return write_file(*real, step.after, rights);
}

Result<void> give_back(const FileStep& step) {
  if (is_same_file(step.path, step.other)) {  // a second name that nothing came of
    if (::unlink(step.other.c_str()) != 0) return no_step(step.other);
    return {};
  }
  if (::rename(step.other.c_str(), step.path.c_str()) != 0) return no_step(step.path);
  // Slurm reads a script again whose time of change is later than the last reading.
  (void)::utimensat(AT_FDCWD, step.path.c_str(), nullptr, 0);
  return {};
}

Result<void> take_step(const FileStep& step) {
  using enum FileStep::Deed;
  if (step.deed != keep)
    if (auto fine = check_unchanged(step); !fine) return fine;
  switch (step.deed) {
    case write:
      return write_step(step);
    case keep:
      if (::linkat(AT_FDCWD, step.path.c_str(), AT_FDCWD, step.other.c_str(), 0) != 0)
        return no_step(step.other);
      return {};
    case FileStep::Deed::give_back:
      return service::give_back(step);
    case remove:
      if (::unlink(step.path.c_str()) != 0) return no_step(step.path);
      return {};
  }
  return {};
}

}  // namespace

Result<std::optional<std::string>> read_hook_file(const std::string& path) {
  struct stat status{};
  if (::lstat(path.c_str(), &status) != 0 && errno == ENOENT) return std::nullopt;
  auto file = InputFile::open_bytes(path);
  if (!file) return tl::unexpected(file.error());
  auto text = read_rest("", [&](std::span<char> out) { return file->read(out); });
  if (!text) return tl::unexpected(text.error());
  return std::move(*text);
}

bool is_same_file(const std::string& a, const std::string& b) {
  struct stat one{};
  struct stat other{};
  return ::lstat(a.c_str(), &one) == 0 && ::lstat(b.c_str(), &other) == 0 &&
         one.st_dev == other.st_dev && one.st_ino == other.st_ino;
}

Result<void> check_replaceable(const std::string& path) {
  const auto real = real_path(path);
  if (!real) return tl::unexpected(real.error());
  struct stat status{};
  if (::stat(real->c_str(), &status) != 0) return no_step(*real);
  if (status.st_nlink > 1)
    return fail(
        ErrorCode::conflict,
        fmt::format("{}: has a second name, which would keep the old text; leave it one", *real));
  if (::getxattr(real->c_str(), "system.posix_acl_access", nullptr, 0) > 0)
    return fail(ErrorCode::conflict,
                fmt::format("{}: has a list of rights (getfacl), which a new file would lack; "
                            "remove it (setfacl -b) for the change",
                            *real));
  return {};
}

Result<void> carry_out(const SlurmHooksPlan& plan) {
  for (const FileStep& step : plan.steps)
    if (step.deed == FileStep::Deed::write && step.exists)
      if (const auto real = real_path(step.path); real && ::access(real->c_str(), W_OK) != 0)
        return fail(ErrorCode::refused, fmt::format("{}: may not be written by this user: {}",
                                                    *real, std::strerror(errno)));
  for (const FileStep& step : plan.steps)
    if (auto taken = take_step(step); !taken) return taken;
  return {};
}

}  // namespace schedmate::service
