// SPDX-License-Identifier: Apache-2.0
#pragma once

/// A growing array of bytes in a mapped file with a checksum for each block, or in memory. What is
/// behind `bytes()` in the file is rubbish of an append that was not committed. A block is compared
/// with its checksum before it is first used, so that opening a large file costs nothing; one that
/// cannot be read is damaged.

#include <cstdint>
#include <memory>
#include <optional>
#include <schedmate/result.hpp>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace schedmate::store {

class Column {
 public:
  static constexpr std::size_t block_bytes = std::size_t{1} << 16U;

  /// "" = in memory. Errors: unavailable.
  static Result<Column> open(const std::string& path);
  Column(Column&& other) noexcept;
  Column& operator=(Column&& other) noexcept;
  Column(const Column&) = delete;
  Column& operator=(const Column&) = delete;
  ~Column();

  [[nodiscard]] std::uint64_t bytes() const { return bytes_; }
  /// Checksum of the last, incomplete block, for `resize`.
  [[nodiscard]] std::uint64_t tail_sum() const { return tail_sum_; }

  /// Takes over the length that was committed, by this process or another. Errors: invalid when
  /// the file is shorter than that.
  Result<void> resize(std::uint64_t bytes, std::uint64_t tail_sum);
  /// Adds bytes at the end; they count once they were sealed and the owner has committed the new
  /// length. Errors: unavailable (disk full), invalid when the last block is damaged.
  Result<void> append(std::string_view bytes);
  /// Writes the checksums of what was appended; all that was written is then on the disk.
  Result<void> seal();
  /// Leaves nothing in the files. Nobody else may be looking at them.
  Result<void> clear();
  /// Replaces bytes in place. Errors: as `append`, of the blocks of the range.
  Result<void> overwrite(std::uint64_t offset, std::string_view bytes);

  /// Compares the blocks of a range that were not compared yet. Errors: invalid.
  Result<void> check(std::uint64_t offset, std::uint64_t size);
  Result<void> check_all();
  /// Forgets which blocks were compared.
  void forget_checks() { checked_.clear(); }
  /// Takes the pages of a file out of this process; the system keeps them in its cache.
  void release() const;

  template <class T>
  [[nodiscard]] std::span<const T> as() const {
    return {reinterpret_cast<const T*>(data_), bytes_ / sizeof(T)};
  }

 private:
  Column() = default;
  Result<void> map(std::uint64_t capacity);
  Result<void> write(std::uint64_t offset, std::string_view bytes);
  Result<void> write_sums(std::uint64_t offset, std::uint64_t size);
  [[nodiscard]] bool is_good(std::uint64_t number) const;
  [[nodiscard]] bool is_whole(std::uint64_t number) const {
    return (number + 1) * block_bytes <= bytes_;
  }
  /// Nothing: the block cannot be read.
  [[nodiscard]] std::optional<std::uint64_t> sum_of(std::uint64_t number) const;
  void close();

  std::string path_;
  int file_ = -1, sums_ = -1;
  char* data_ = nullptr;
  std::uint64_t bytes_ = 0, sealed_ = 0, capacity_ = 0, tail_sum_ = 0;
  std::vector<bool> checked_;
  bool is_unsynced_ = false, has_unsynced_sums_ = false;
};

/// The bytes of an array of plain values.
template <class T>
[[nodiscard]] std::string_view bytes_of_array(const std::vector<T>& values) {
  return {reinterpret_cast<const char*>(values.data()), values.size() * sizeof(T)};
}

/// An error of a file, as one of the index.
[[nodiscard]] Error of_index(const Error& error);
/// "index WHAT: ", then what the system says (errno).
[[nodiscard]] tl::unexpected<Error> index_error(const std::string& what);

}  // namespace schedmate::store
