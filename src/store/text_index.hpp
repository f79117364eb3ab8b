// SPDX-License-Identifier: Apache-2.0
#pragma once

/// What the sparse and the dense index share: catching up with the store, forgetting, locking, and
/// starting again when the files are damaged. A kind of index adds rows and searches them.

#include <memory>
#include <mutex>
#include <optional>
#include <schedmate/search.hpp>
#include <span>

#include "store/index_files.hpp"

namespace schedmate::store {

struct QueryText {
  std::string text;
  std::vector<float> vector;  ///< where the embedder is dense
};

/// The rows of one kind. Column 0 holds the text of each row as `RowId`. Called under the lock.
class Rows {
 public:
  virtual ~Rows() = default;
  /// `vectors` are those of the texts where the embedder is dense, else empty.
  virtual Result<void> add(const std::vector<StoredText>& texts, const DenseVectors& vectors) = 0;
  /// Forgets what it knows of rows that were added and are not committed.
  virtual void drop_uncommitted() {}
  /// Whether such vectors can be added. Errors: bad_reply.
  [[nodiscard]] virtual Result<void> check(std::span<const std::vector<float>>) const { return {}; }
  /// Wipes the row's content.
  virtual Result<void> wipe(std::uint64_t row) = 0;
  virtual Result<std::vector<SimilarText>> search(const QueryText& query, std::size_t count) = 0;
};

/// Text of a row; the flag marks one that was forgotten. Ids rise from row to row.
struct RowId {
  static constexpr std::uint64_t forgotten_flag = std::uint64_t{1} << 63U;
  std::uint64_t value = 0;
  [[nodiscard]] std::uint64_t id() const { return value & ~forgotten_flag; }
  [[nodiscard]] bool forgotten() const { return (value & forgotten_flag) != 0; }
};

[[nodiscard]] std::vector<std::string> sparse_columns();
[[nodiscard]] std::unique_ptr<Rows> make_sparse_rows(IndexFiles& files, const Embedder& embedder,
                                                     unsigned threads);
[[nodiscard]] std::vector<std::string> dense_columns();
[[nodiscard]] std::unique_ptr<Rows> make_dense_rows(IndexFiles& files, const Embedder& embedder,
                                                    unsigned threads);

}  // namespace schedmate::store
