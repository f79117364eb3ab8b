// SPDX-License-Identifier: Apache-2.0
#pragma once

/// Which past texts are like this one (paper 3.1, Vector Store): exact nearest neighbours by
/// cosine, in process, for every store. A row is a distinct text of the store.
///
/// The rows lie in mapped files beside the store, one folder per embedder, so that vectors of
/// different embedders never mix and opening costs nothing. The store can always make them again,
/// and does so when they are damaged or belong to another store. Several processes may share them.

#include <cstdint>
#include <functional>
#include <memory>
#include <schedmate/embed.hpp>
#include <schedmate/result.hpp>
#include <schedmate/store.hpp>
#include <string>
#include <vector>

namespace schedmate {

struct SimilarText {
  std::uint64_t text_id = 0;  ///< JobFilter::text_id finds its jobs
  double score = 0;           ///< cosine
  bool operator==(const SimilarText&) const = default;
};

/// Called between batches with the number of the text that the index has come to and of the newest
/// in the store; false stops there, and the next call goes on from that point.
using IndexProgress = std::function<bool(std::uint64_t done, std::uint64_t newest)>;

/// May be used from several threads.
class TextIndex {
 public:
  virtual ~TextIndex() = default;

  /// Takes in what the store has learned or forgotten since, by this or another process. Cost:
  /// nothing when nothing changed; for a dense embedder a call of its server for new texts.
  virtual Result<void> refresh(const IndexProgress& progress = {}) = 0;

  /// The `count` most similar texts, best first, equal scores by rising id; fewer when there are
  /// not so many or their score is not above 0. Errors: those of the embedder.
  virtual Result<std::vector<SimilarText>> nearest(const std::string& text, std::size_t count) = 0;

  /// Rows taken in, those of forgotten texts included.
  [[nodiscard]] virtual std::uint64_t rows() const = 0;

  /// Reads every row and compares it with its checksum. Errors: invalid.
  virtual Result<void> verify() = 0;
};

struct IndexOptions {
  std::string folder;        ///< where the files lie; "" = in memory only
  unsigned threads = 2;      ///< for one search
  std::size_t batch = 4096;  ///< texts taken in between two calls of the progress function
};

/// Opens the index of `store` for this embedder; the store must outlive it. Does not refresh.
/// Errors: unavailable (no rights, disk full).
[[nodiscard]] Result<std::unique_ptr<TextIndex>> open_index(Store& store, const Embedder& embedder,
                                                            const IndexOptions& options = {});

/// After a change of the embedder: brings its own index up to date, beside the old one, which
/// answers meanwhile. Can be stopped and resumed. Cost: as refresh for all texts. Errors: as
/// refresh.
[[nodiscard]] Result<void> reembed(Store& store, const Embedder& embedder,
                                   const IndexOptions& options, const IndexProgress& progress);

}  // namespace schedmate
