// SPDX-License-Identifier: Apache-2.0
#include "store/text_index.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <unordered_map>

#include "base/hash.hpp"

namespace schedmate {
namespace {

constexpr std::uint64_t layout = 2;  ///< of the files; another number makes them again

class StoreIndex final : public TextIndex {
 public:
  StoreIndex(Store& store, Embedder embedder, const IndexOptions& options, store::IndexFiles files)
      : store_(store),
        embedder_(std::move(embedder)),
        batch_(std::clamp<std::size_t>(options.batch, 1, embedder_.sparse() ? SIZE_MAX : 256)),
        files_(std::move(files)) {
    const auto make = embedder_.sparse() ? store::make_sparse_rows : store::make_dense_rows;
    rows_ = make(files_, embedder_, std::max(options.threads, 1U));
  }

  Result<void> refresh(const IndexProgress& progress) override {
    const std::scoped_lock lock(mutex_);
    return catch_up(progress);
  }

  Result<std::vector<SimilarText>> nearest(const std::string& text, std::size_t count) override {
    const std::scoped_lock lock(mutex_);
    store::QueryText query{text, {}};
    if (!embedder_.sparse()) {
      auto made = embedder_.embed({&text, 1});
      if (!made) return tl::unexpected(made.error());
      query.vector = std::move(made->front());
    }
    auto found = search(query, count);
    if (found || found.error().code != ErrorCode::invalid) return found;
    // The files are damaged: they are made again from the store, then asked once more.
    if (auto done = start_again(); !done) return tl::unexpected(done.error());
    if (auto done = catch_up({}); !done) return tl::unexpected(done.error());
    return search(query, count);
  }

  [[nodiscard]] std::uint64_t rows() const override {
    const std::scoped_lock lock(mutex_);
    return files_.counts.rows;
  }

  Result<void> verify() override {
    const std::scoped_lock lock(mutex_);
    const auto locked = files_.lock_shared();
    if (!locked) return tl::unexpected(locked.error());
    for (std::size_t i = 0; i < column_count(); ++i) {
      if (auto good = files_.column(i).check_all(); !good) return good;
    }
    return {};
  }

 private:
  [[nodiscard]] std::size_t column_count() const {
    return (embedder_.sparse() ? store::sparse_columns() : store::dense_columns()).size();
  }

  Result<std::vector<SimilarText>> search(const store::QueryText& query, std::size_t count) {
    const auto locked = files_.lock_shared();
    if (!locked) return tl::unexpected(locked.error());
    return rows_->search(query, count);
  }

  Result<void> start_again() {
    seen_version_.reset();
    const auto locked = files_.lock_exclusive();
    if (!locked) return tl::unexpected(locked.error());
    return files_.clear();
  }

  /// The committed state, or nothing when there is none to be trusted.
  Result<store::IndexFiles::Counts> current() {
    const auto locked = files_.lock_shared();
    if (locked) return files_.counts;
    if (locked.error().code != ErrorCode::invalid) return tl::unexpected(locked.error());
    const auto emptied = files_.lock_exclusive();
    if (!emptied) return tl::unexpected(emptied.error());
    return files_.counts;
  }

  Result<void> catch_up(const IndexProgress& progress) {
    const auto version = store_.version();
    if (!version) return tl::unexpected(version.error());
    auto now = current();
    if (!now) return tl::unexpected(now.error());
    const bool known = seen_version_ == *version && now->last_text == seen_.last_text &&
                       now->last_forgotten == seen_.last_forgotten;
    if (known) return {};
    if (auto same = check_last_forgotten(); !same) return same;
    if (auto forgot = forget_rows(); !forgot) return forgot;
    if (auto same = check_last_text(); !same) return same;
    for (bool more = true; more;) {
      auto added = add_batch(progress);
      if (!added) return tl::unexpected(added.error());
      if (*added == Batch::stopped) return {};
      more = *added == Batch::added;
    }
    seen_version_ = *version;
    seen_ = files_.counts;
    return {};
  }

  /// A store that was put back from a copy may have given the same ids to other texts since.
  Result<void> check_last_text() {
    const auto kept = keeps_last_text();
    if (!kept && kept.error().code == ErrorCode::invalid) return start_again();
    if (!kept) return tl::unexpected(kept.error());
    if (!*kept) return {};
    const auto counts = files_.counts;
    const auto texts = store_.texts(counts.last_text - 1, 1);
    if (!texts) return tl::unexpected(texts.error());
    const bool same = !texts->empty() && texts->front().id == counts.last_text &&
                      hash_bytes(texts->front().text) == counts.last_text_hash;
    return same ? Result<void>() : start_again();
  }

  /// Whether the newest text was not forgotten. Under the lock, since others may empty the files.
  /// Errors: invalid when they are damaged.
  Result<bool> keeps_last_text() {
    const auto locked = files_.lock_shared();
    if (!locked) return tl::unexpected(locked.error());
    auto& ids = files_.column(0);
    if (ids.bytes() == 0) return false;
    constexpr auto row_bytes = sizeof(store::RowId);
    if (auto sound = ids.check(ids.bytes() - row_bytes, row_bytes); !sound)
      return tl::unexpected(sound.error());
    return !ids.as<store::RowId>().back().forgotten();
  }

  /// Nor may it know of the same deletions.
  Result<void> check_last_forgotten() {
    const auto counts = files_.counts;
    if (counts.last_forgotten == 0) return {};
    const auto gone = store_.forgotten(counts.last_forgotten - 1, 1);
    if (!gone) return tl::unexpected(gone.error());
    const bool same = !gone->empty() && gone->front().sequence == counts.last_forgotten &&
                      gone->front().text_id == counts.last_forgotten_text;
    return same ? Result<void>() : start_again();
  }

  Result<void> forget_rows() {
    for (;;) {
      const auto gone = store_.forgotten(files_.counts.last_forgotten, batch_);
      if (!gone) return tl::unexpected(gone.error());
      if (gone->empty()) return {};
      const auto locked = files_.lock_exclusive();
      if (!locked) return tl::unexpected(locked.error());
      auto done = forget_texts(*gone);
      if (done) done = files_.commit();
      if (!done && done.error().code == ErrorCode::invalid) done = files_.clear();
      if (!done) return done;
    }
  }

  /// Errors: invalid when the files are damaged.
  Result<void> forget_texts(const std::vector<ForgottenText>& texts) {
    auto& ids = files_.column(0);
    if (auto sound = ids.check(0, ids.bytes()); !sound) return sound;
    for (const auto& text : texts) {
      if (text.sequence <= files_.counts.last_forgotten) continue;
      if (auto wiped = forget_row(text.text_id); !wiped) return wiped;
      files_.counts.last_forgotten = text.sequence;
      files_.counts.last_forgotten_text = text.text_id;
    }
    return {};
  }

  /// Also one that another process had wiped before it was killed: that may not be on the disk.
  Result<void> forget_row(std::uint64_t text_id) {
    const auto ids = files_.column(0).as<store::RowId>();
    const auto row = std::ranges::lower_bound(ids, text_id, {}, &store::RowId::id);
    if (row == ids.end() || row->id() != text_id) return {};
    const auto number = static_cast<std::uint64_t>(row - ids.begin());
    const std::vector<std::uint64_t> flagged{text_id | store::RowId::forgotten_flag};
    if (auto done = rows_->wipe(number); !done) return done;
    return files_.column(0).overwrite(number * sizeof(store::RowId),
                                      store::bytes_of_array(flagged));
  }

  enum class Batch { added, nothing, stopped };

  Result<Batch> add_batch(const IndexProgress& progress) {
    const auto before = files_.counts;
    const auto texts = store_.texts(before.last_text, batch_);
    if (!texts) return tl::unexpected(texts.error());
    if (texts->empty()) return Batch::nothing;
    const auto made = vectors_of(*texts, before.last_text);
    if (!made) return tl::unexpected(made.error());
    {
      const auto locked = files_.lock_exclusive();
      if (!locked) return tl::unexpected(locked.error());
      // Another process was faster: begin again behind what it has added. One of these texts may be
      // among those that it has seen forgotten.
      const bool same = files_.counts.last_text == before.last_text &&
                        files_.counts.last_forgotten == before.last_forgotten;
      if (!same) return Batch::added;
      if (auto done = add(*texts, *made); !done) return tl::unexpected(done.error());
    }
    if (!progress) return Batch::added;
    const auto newest = store_.last_text();
    if (!newest) return tl::unexpected(newest.error());
    return progress(files_.counts.last_text, *newest) ? Batch::added : Batch::stopped;
  }

  /// Damaged files are emptied instead.
  Result<void> add(const std::vector<StoredText>& texts, const DenseVectors& made) {
    auto done = append(texts, made);
    if (done) done = files_.commit();
    if (done) return done;
    rows_->drop_uncommitted();
    if (done.error().code == ErrorCode::invalid) return files_.clear();
    (void)files_.load();  // what it cannot read is seen again at the next lock
    return done;
  }

  Result<void> append(const std::vector<StoredText>& texts, const DenseVectors& made) {
    std::vector<std::uint64_t> ids;
    for (const auto& text : texts) ids.push_back(text.id);
    if (auto done = rows_->add(texts, made); !done) return done;
    if (auto done = files_.column(0).append(store::bytes_of_array(ids)); !done) return done;
    files_.counts.rows += texts.size();
    files_.counts.last_text = texts.back().id;
    files_.counts.last_text_hash = hash_bytes(texts.back().text);
    return {};
  }

  /// Vectors that the store has, and new ones for the rest, which it keeps if they fit.
  Result<DenseVectors> vectors_of(const std::vector<StoredText>& texts, std::uint64_t from) {
    if (embedder_.sparse()) return DenseVectors();
    const auto stored = store_.vectors(embedder_.name, from, texts.size());
    if (!stored) return tl::unexpected(stored.error());
    std::unordered_map<std::uint64_t, const std::vector<float>*> known;
    for (const auto& vector : *stored) {
      if (rows_->check({&vector.values, 1})) known[vector.text_id] = &vector.values;
    }
    std::vector<std::string> missing;
    for (const auto& text : texts) {
      if (!known.contains(text.id)) missing.push_back(text.text);
    }
    auto made = missing.empty() ? Result<DenseVectors>() : embedder_.embed(missing);
    if (!made) return made;
    if (auto fit = rows_->check(*made); !fit) return tl::unexpected(fit.error());
    DenseVectors all;
    std::vector<StoredVector> fresh;
    for (const auto& text : texts) {
      const auto found = known.find(text.id);
      if (found != known.end()) {
        all.push_back(*found->second);
        continue;
      }
      all.push_back(std::move((*made)[fresh.size()]));
      fresh.push_back({text.id, all.back()});
    }
    if (auto kept = store_.put_vectors(embedder_.name, fresh); !kept) {
      return tl::unexpected(kept.error());
    }
    return all;
  }

  mutable std::mutex mutex_;
  Store& store_;
  Embedder embedder_;
  std::size_t batch_;
  store::IndexFiles files_;
  std::unique_ptr<store::Rows> rows_;
  std::optional<std::uint64_t> seen_version_;
  store::IndexFiles::Counts seen_;
};

/// "openai/bge-m3" as the name of a folder.
std::string folder_of(const IndexOptions& options, const Embedder& embedder) {
  std::string name = embedder.name;
  std::ranges::replace_if(
      name, [](unsigned char c) { return std::isalnum(c) == 0 && c != '-' && c != '.'; }, '_');
  return fmt::format("{}/{}-{:08x}", options.folder, name.substr(0, 64),
                     hash_bytes(embedder.name) >> 32U);
}

}  // namespace

Result<std::unique_ptr<TextIndex>> open_index(Store& store, const Embedder& embedder,
                                              const IndexOptions& options) {
  const auto identity = store.identity();
  // Files beside a store that is gone with the process would only be left behind.
  const bool in_memory = options.folder.empty() || identity.empty();
  const auto key = hash_bytes(identity, hash_bytes(embedder.name, layout));
  auto files =
      store::IndexFiles::open(in_memory ? "" : folder_of(options, embedder), key,
                              embedder.sparse() ? store::sparse_columns() : store::dense_columns());
  if (!files) return tl::unexpected(files.error());
  return std::make_unique<StoreIndex>(store, embedder, options, std::move(*files));
}

Result<void> reembed(Store& store, const Embedder& embedder, const IndexOptions& options,
                     const IndexProgress& progress) {
  const auto index = open_index(store, embedder, options);
  if (!index) return tl::unexpected(index.error());
  return (*index)->refresh(progress);
}

}  // namespace schedmate
