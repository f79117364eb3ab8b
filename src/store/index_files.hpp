// SPDX-License-Identifier: Apache-2.0
#pragma once

/// The files of one search index: a folder with some columns and a manifest that says how much of
/// them is committed. Readers hold the shared lock while they look, writers the exclusive one while
/// they append, so nobody sees a half-made change; what a killed writer left behind the committed
/// length is overwritten by the next. Columns are on the disk before the manifest that names them.

#include <cstdint>
#include <memory>
#include <schedmate/result.hpp>
#include <string>
#include <vector>

#include "store/column.hpp"

namespace schedmate::store {

class IndexFiles {
 public:
  static constexpr std::size_t most_columns = 8;

  struct Counts {
    std::uint64_t rows = 0;
    std::uint64_t last_text = 0;       ///< id of the newest text taken in
    std::uint64_t last_text_hash = 0;  ///< of its words, to notice a store that was put back
    std::uint64_t last_forgotten = 0;  ///< sequence of the newest forgotten text
    std::uint64_t last_forgotten_text = 0;
    std::uint64_t own = 0;    ///< what the kind of index wants to remember
    std::uint64_t epoch = 0;  ///< another one each time that the rows restart
  };

  /// `key` distinguishes store, embedder and layout. Files with another key, or damaged ones, are
  /// emptied at the next exclusive lock. "" as folder = in memory. Errors: unavailable.
  static Result<IndexFiles> open(const std::string& folder, std::uint64_t key,
                                 const std::vector<std::string>& columns);

  Counts counts;
  [[nodiscard]] Column& column(std::size_t number) { return columns_[number]; }

  /// Unlocks when it goes. Taking it loads what others have committed.
  class Lock {
   public:
    Lock(Lock&& other) noexcept;
    Lock& operator=(Lock&&) = delete;
    ~Lock();

   private:
    friend class IndexFiles;
    explicit Lock(int file) : file_(file) {}
    int file_;
  };
  /// Errors: unavailable; invalid when there is nothing sound to read.
  Result<Lock> lock_shared();
  /// Errors: unavailable.
  Result<Lock> lock_exclusive();

  /// Before bytes that are committed are changed: a kill or a power cut until the next commit is
  /// noticed then, and the rows are made again.
  Result<void> begin_in_place();
  /// Makes the appended bytes and the counts valid; under the exclusive lock.
  Result<void> commit();
  /// Back to what is committed; under either lock. Errors: invalid.
  Result<void> load();
  /// Forgets all rows; under the exclusive lock.
  Result<void> clear();

 private:
  IndexFiles() = default;
  Result<Lock> lock(int how);
  [[nodiscard]] std::uint64_t next_epoch() const;

  std::uint64_t key_ = 0;
  std::shared_ptr<int> manifest_;  ///< file descriptor, -1 in memory
  bool is_in_place_ = false;       ///< begun under this lock, and not committed
  std::vector<Column> columns_;
};

}  // namespace schedmate::store
