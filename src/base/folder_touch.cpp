// SPDX-License-Identifier: Apache-2.0
#include "base/folder_touch.hpp"

#include <fcntl.h>
#include <sys/vfs.h>
#include <unistd.h>

#include <filesystem>

#include "base/descriptor.hpp"
#include "base/own_files.hpp"

namespace schedmate {
namespace {

namespace fs = std::filesystem;

/// The nearest folder above that is there: what is made will be made in its file system.
void ask_status(fs::path at) {
  Descriptor place;
  while (!(place = Descriptor(::open(at.c_str(), O_PATH | O_CLOEXEC))) && at.has_relative_path())
    at = at.parent_path();
  struct statfs system{};
  static_cast<void>(::fstatfs(place.number(), &system));
}

/// Not what this machine has kept of it.
void read_a_byte(const Descriptor& file) {
  constexpr off_t page = 4096;
  char byte = 0;
  static_cast<void>(::posix_fadvise(file.number(), 0, page, POSIX_FADV_DONTNEED));
  static_cast<void>(::pread(file.number(), &byte, 1, 0));
}

/// Parts of one file system may be dead, as servers of Lustre: so each file is asked for.
void read_each(const std::string& folder) {
  constexpr int most_files = 64;
  std::error_code error;
  int files = 0;
  for (fs::recursive_directory_iterator entry(folder, error), end; !error && entry != end;
       entry.increment(error)) {
    if (!entry->is_regular_file(error)) continue;
    const Descriptor file(
        ::open(entry->path().c_str(), O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC));
    if (file) read_a_byte(file);
    if (++files == most_files) break;
  }
}

void write_one(const std::string& path) {
  auto file = open_own_file(path, O_RDWR);
  if (!file) return;
  static_cast<void>(::write(file->number(), "1", 1));
  static_cast<void>(::ftruncate(file->number(), 1));
  static_cast<void>(::fsync(file->number()));
  struct flock lock{};
  lock.l_type = F_WRLCK;
  static_cast<void>(::fcntl(file->number(), F_SETLK, &lock));
  read_a_byte(*file);
  file->close();
  ::unlink(path.c_str());
}

}  // namespace

void touch_folder(const std::string& folder) {
  std::error_code error;
  ask_status(fs::absolute(folder, error));
  const auto own = has_own_folder(folder);
  if (!own || !*own) return;
  read_each(folder);
  write_one(folder + "/.answers");
}

}  // namespace schedmate
