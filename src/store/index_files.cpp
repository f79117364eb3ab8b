// SPDX-License-Identifier: Apache-2.0
#include "store/index_files.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstring>
#include <utility>

#include "base/check.hpp"
#include "base/hash.hpp"
#include "base/own_files.hpp"
#include "base/random.hpp"

namespace schedmate::store {
namespace {

struct Manifest {
  std::uint64_t key = 0;
  IndexFiles::Counts counts;
  struct Length {
    std::uint64_t bytes = 0, tail_sum = 0;
  };
  std::array<Length, IndexFiles::most_columns> columns{};
  std::uint64_t sum = 0;  ///< of everything before it
};

std::uint64_t sum_of(const Manifest& manifest) {
  return hash_bytes({reinterpret_cast<const char*>(&manifest), offsetof(Manifest, sum)});
}

Result<int> open_manifest(const std::string& folder) {
  return make_own_folder(folder)
      .and_then([&](bool) { return open_own_file(folder + "/manifest", O_RDWR); })
      .map([](Descriptor file) { return file.release(); })
      .map_error(of_index);
}

}  // namespace

Result<IndexFiles> IndexFiles::open(const std::string& folder, std::uint64_t key,
                                    const std::vector<std::string>& columns) {
  SCHEDMATE_CHECK(columns.size() <= most_columns, "the manifest has room for every column");
  IndexFiles files;
  files.key_ = key;
  int descriptor = -1;
  if (!folder.empty()) {
    const auto opened = open_manifest(folder);
    if (!opened) return tl::unexpected(opened.error());
    descriptor = *opened;
  }
  files.manifest_ =
      std::shared_ptr<int>(std::make_unique<int>(descriptor).release(), [](int* file) {
        if (*file >= 0) ::close(*file);
        std::default_delete<int>()(file);
      });
  for (const auto& name : columns) {
    auto column = Column::open(folder.empty() ? "" : fmt::format("{}/{}", folder, name));
    if (!column) return tl::unexpected(column.error());
    files.columns_.push_back(std::move(*column));
  }
  return files;
}

IndexFiles::Lock::Lock(Lock&& other) noexcept : file_(std::exchange(other.file_, -1)) {}

IndexFiles::Lock::~Lock() {
  if (file_ >= 0) ::flock(file_, LOCK_UN);
}

Result<IndexFiles::Lock> IndexFiles::lock(int how) {
  if (*manifest_ < 0) return Lock(-1);
  while (::flock(*manifest_, how) != 0) {
    if (errno != EINTR) return index_error("manifest");
  }
  is_in_place_ = false;
  return Lock(*manifest_);
}

Result<IndexFiles::Lock> IndexFiles::lock_shared() {
  auto locked = lock(LOCK_SH);
  if (!locked) return locked;
  if (auto loaded = load(); !loaded) return tl::unexpected(loaded.error());
  return locked;
}

Result<IndexFiles::Lock> IndexFiles::lock_exclusive() {
  auto locked = lock(LOCK_EX);
  if (!locked) return locked;
  if (auto loaded = load(); !loaded) {
    if (loaded.error().code != ErrorCode::invalid) return tl::unexpected(loaded.error());
    if (auto cleared = clear(); !cleared) return tl::unexpected(cleared.error());
  }
  return locked;
}

Result<void> IndexFiles::load() {
  if (*manifest_ < 0) return {};
  Manifest manifest;
  const auto got = ::pread(*manifest_, &manifest, sizeof manifest, 0);
  if (got != sizeof manifest || manifest.key != key_ || manifest.sum != sum_of(manifest)) {
    return fail(ErrorCode::invalid, "the index is empty, damaged or of another store");
  }
  for (std::size_t i = 0; i < columns_.size(); ++i) {
    const auto& length = manifest.columns.at(i);
    if (auto done = columns_[i].resize(length.bytes, length.tail_sum); !done) return done;
  }
  counts = manifest.counts;
  return {};
}

Result<void> IndexFiles::begin_in_place() {
  if (*manifest_ < 0 || is_in_place_) return {};
  const Manifest nothing;
  if (::pwrite(*manifest_, &nothing, sizeof nothing, 0) != sizeof nothing ||
      ::fdatasync(*manifest_) != 0) {
    return index_error("manifest");
  }
  is_in_place_ = true;
  return {};
}

Result<void> IndexFiles::commit() {
  if (*manifest_ < 0) return {};
  Manifest manifest{.key = key_, .counts = counts, .columns = {}, .sum = 0};
  for (std::size_t i = 0; i < columns_.size(); ++i) {
    if (auto sealed = columns_[i].seal(); !sealed) return sealed;
    manifest.columns.at(i) = {columns_[i].bytes(), columns_[i].tail_sum()};
  }
  manifest.sum = sum_of(manifest);
  // Not synced itself: an older one names what is there as well.
  if (::pwrite(*manifest_, &manifest, sizeof manifest, 0) != sizeof manifest) {
    return index_error("manifest");
  }
  is_in_place_ = false;
  return {};
}

/// Another process may have emptied the files as well, so counting on would not do.
std::uint64_t IndexFiles::next_epoch() const {
  struct stat status{};
  if (*manifest_ < 0 || ::fstat(*manifest_, &status) != 0) return counts.epoch + 1;
  const auto changed = static_cast<std::uint64_t>(status.st_mtim.tv_nsec) ^
                       (static_cast<std::uint64_t>(status.st_mtim.tv_sec) << 30U);
  return mix(counts.epoch ^ mix(changed ^ static_cast<std::uint64_t>(::getpid()) << 40U));
}

Result<void> IndexFiles::clear() {
  if (auto begun = begin_in_place(); !begun) return begun;
  for (auto& column : columns_) {
    if (auto done = column.clear(); !done) return done;
  }
  counts = {.epoch = next_epoch()};
  return commit();
}

}  // namespace schedmate::store
