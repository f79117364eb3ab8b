// SPDX-License-Identifier: Apache-2.0
#include "store/column.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <utility>

#include "base/hash.hpp"
#include "base/own_files.hpp"

namespace schedmate::store {
namespace {

constexpr std::uint64_t first_capacity = std::uint64_t{1} << 20U;

Result<void> write_all(int file, std::string_view bytes, std::uint64_t offset,
                       const std::string& path) {
  while (!bytes.empty()) {
    const auto done = ::pwrite(file, bytes.data(), bytes.size(), static_cast<off_t>(offset));
    if (done < 0 && errno == EINTR) continue;
    if (done <= 0) return index_error(path);
    bytes.remove_prefix(static_cast<std::size_t>(done));
    offset += static_cast<std::uint64_t>(done);
  }
  return {};
}

}  // namespace

Result<Column> Column::open(const std::string& path) {
  Column column;
  column.path_ = path;
  if (path.empty()) return column;
  auto file = open_own_file(path, O_RDWR);
  if (!file) return tl::unexpected(of_index(file.error()));
  auto sums = open_own_file(path + ".sums", O_RDWR);
  if (!sums) return tl::unexpected(of_index(sums.error()));
  column.file_ = file->release();
  column.sums_ = sums->release();
  return column;
}

Column::Column(Column&& other) noexcept { *this = std::move(other); }

Column& Column::operator=(Column&& other) noexcept {
  std::swap(path_, other.path_);
  std::swap(file_, other.file_);
  std::swap(sums_, other.sums_);
  std::swap(data_, other.data_);
  std::swap(bytes_, other.bytes_);
  std::swap(sealed_, other.sealed_);
  std::swap(capacity_, other.capacity_);
  std::swap(tail_sum_, other.tail_sum_);
  std::swap(checked_, other.checked_);
  std::swap(is_unsynced_, other.is_unsynced_);
  std::swap(has_unsynced_sums_, other.has_unsynced_sums_);
  return *this;
}

Column::~Column() { close(); }

void Column::close() {
  if (data_ != nullptr) ::munmap(data_, capacity_);
  if (file_ >= 0) ::close(file_);
  if (sums_ >= 0) ::close(sums_);
  data_ = nullptr;
  file_ = sums_ = -1;
}

// The mapping may be larger than the file: the part behind its end is not touched.
Result<void> Column::map(std::uint64_t capacity) {
  if (capacity <= capacity_) return {};
  std::uint64_t wanted = std::max(capacity_, first_capacity);
  while (wanted < capacity) wanted *= 2;
  void* const data = data_ != nullptr ? ::mremap(data_, capacity_, wanted, MREMAP_MAYMOVE)
                     : file_ >= 0     ? ::mmap(nullptr, wanted, PROT_READ, MAP_SHARED, file_, 0)
                                      : ::mmap(nullptr, wanted, PROT_READ | PROT_WRITE,
                                               MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (data == MAP_FAILED) return index_error(path_);
  data_ = static_cast<char*>(data);
  capacity_ = wanted;
  return {};
}

/// Read, not mapped: what the disk cannot give is an error then instead of a signal.
std::optional<std::uint64_t> Column::sum_of(std::uint64_t number) const {
  const auto begin = number * block_bytes;
  std::string bytes(std::min<std::uint64_t>(block_bytes, bytes_ - begin), '\0');
  for (std::size_t at = 0; at < bytes.size();) {
    const auto offset = static_cast<off_t>(begin + at);
    const auto got = ::pread(file_, bytes.data() + at, bytes.size() - at, offset);
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0) return std::nullopt;
    at += static_cast<std::size_t>(got);
  }
  return hash_bytes(bytes);
}

Result<void> Column::resize(std::uint64_t bytes, std::uint64_t tail_sum) {
  if (file_ >= 0) {
    struct stat status{};
    if (::fstat(file_, &status) != 0) return index_error(path_);
    if (static_cast<std::uint64_t>(status.st_size) < bytes) {
      return fail(ErrorCode::invalid, fmt::format("index {}: shorter than it should be", path_));
    }
  }
  if (auto mapped = map(bytes); !mapped) return mapped;
  // The block that was the last one may have grown.
  const auto last = std::min(bytes_, bytes) / block_bytes;
  if (bytes != bytes_ && last < checked_.size()) checked_.resize(last);
  bytes_ = sealed_ = bytes;
  tail_sum_ = tail_sum;
  return {};
}

Result<void> Column::write(std::uint64_t offset, std::string_view bytes) {
  if (bytes.empty()) return {};
  if (file_ >= 0) {
    is_unsynced_ = true;
    if (auto done = write_all(file_, bytes, offset, path_); !done) return done;
    return map(offset + bytes.size());
  }
  if (auto mapped = map(offset + bytes.size()); !mapped) return mapped;
  std::memcpy(data_ + offset, bytes.data(), bytes.size());
  return {};
}

/// Sums of the complete blocks go to the file; that of the last one is committed by the owner.
Result<void> Column::write_sums(std::uint64_t offset, std::uint64_t size) {
  if (file_ < 0 || size == 0) return {};
  std::vector<std::uint64_t> sums;
  const auto first = offset / block_bytes;
  for (auto number = first; number * block_bytes < offset + size; ++number) {
    const auto sum = sum_of(number);
    if (!sum) return index_error(path_);
    if (is_whole(number)) {
      sums.push_back(*sum);
    } else {
      tail_sum_ = *sum;
    }
  }
  has_unsynced_sums_ = has_unsynced_sums_ || !sums.empty();
  return write_all(sums_, bytes_of_array(sums), first * sizeof(std::uint64_t), path_);
}

// A block that changes gets a new checksum, so it is compared with the old one first: damage in it
// would look sound from then on.
Result<void> Column::append(std::string_view bytes) {
  const bool grows_block = bytes_ == sealed_ && sealed_ % block_bytes != 0;
  if (auto good = check(sealed_, grows_block ? 1 : 0); !good) return good;
  if (auto done = write(bytes_, bytes); !done) return done;
  bytes_ += bytes.size();
  return {};
}

Result<void> Column::seal() {
  if (auto done = write_sums(sealed_, bytes_ - sealed_); !done) return done;
  if (is_unsynced_ && ::fdatasync(file_) != 0) return index_error(path_);
  if (has_unsynced_sums_ && ::fdatasync(sums_) != 0) return index_error(path_);
  is_unsynced_ = has_unsynced_sums_ = false;
  sealed_ = bytes_;
  release();
  return {};
}

Result<void> Column::clear() {
  for (const int file : {file_, sums_})
    if (file >= 0 && ::ftruncate(file, 0) != 0) return index_error(path_);
  forget_checks();
  return resize(0, 0);
}

void Column::release() const {
  if (file_ >= 0 && data_ != nullptr) ::madvise(data_, capacity_, MADV_DONTNEED);
}

Result<void> Column::overwrite(std::uint64_t offset, std::string_view bytes) {
  const auto sealed = std::min<std::uint64_t>(offset + bytes.size(), sealed_);
  if (auto good = check(offset, std::max(sealed, offset) - offset); !good) return good;
  if (auto done = write(offset, bytes); !done) return done;
  return write_sums(offset, bytes.size());
}

bool Column::is_good(std::uint64_t number) const {
  std::uint64_t sum = tail_sum_;
  if (is_whole(number)) {
    const auto offset = static_cast<off_t>(number * sizeof sum);
    if (::pread(sums_, &sum, sizeof sum, offset) != sizeof sum) return false;
  }
  return sum_of(number) == sum;
}

Result<void> Column::check(std::uint64_t offset, std::uint64_t size) {
  if (file_ < 0 || size == 0) return {};
  for (auto number = offset / block_bytes; number * block_bytes < offset + size; ++number) {
    if (number < checked_.size() && checked_[number]) continue;
    if (!is_good(number)) {
      return fail(ErrorCode::invalid, fmt::format("index {}: block {} is damaged", path_, number));
    }
    if (checked_.size() <= number) checked_.resize(number + 1);
    checked_[number] = true;
  }
  return {};
}

Result<void> Column::check_all() {
  forget_checks();
  return check(0, bytes_);
}

Error of_index(const Error& error) {
  const bool refused = error.code == ErrorCode::refused;
  return {refused ? ErrorCode::refused : ErrorCode::unavailable, "index " + error.message};
}

tl::unexpected<Error> index_error(const std::string& what) {
  return fail(ErrorCode::unavailable, fmt::format("index {}: {}", what, std::strerror(errno)));
}

}  // namespace schedmate::store
