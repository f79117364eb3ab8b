// SPDX-License-Identifier: Apache-2.0
/// Sparse rows: TF-IDF cosine, without ever writing a vector down.
///
/// A text is a bag of words, a word a bag of hashed features, and both are kept as such. As the dot
/// product of query and row is a sum over the row's words of what each word is worth to the query,
/// a search first computes the worth of every known word (some ten thousand, from the query's
/// weighted features), then adds up the worths of each row's words (one table look-up a word). That
/// is exact, reads 4 bytes a word, and needs nothing to be built when the files are opened.
///
/// The weights follow the history: they are computed again whenever it has grown by half, from the
/// rows up to there, so they depend on the order of the texts alone.
#include <cmath>
#include <limits>
#include <unordered_map>

#include "base/hash.hpp"
#include "store/text_index.hpp"
#include "store/top.hpp"

namespace schedmate::store {
namespace {

constexpr std::size_t buckets = std::size_t{1} << 16U;

enum : std::size_t {
  sparse_ids,
  row_ends,
  row_words,
  row_norms,
  word_hashes,
  word_ends,
  word_features,
  weights
};

std::vector<std::string_view> words_of(std::string_view text) {
  constexpr std::string_view blanks = " \t\r\n\v\f";
  std::vector<std::string_view> words;
  for (auto at = text.find_first_not_of(blanks); at != std::string_view::npos;) {
    const auto end = std::min(text.find_first_of(blanks, at), text.size());
    words.push_back(text.substr(at, end - at));
    at = text.find_first_not_of(blanks, end);
  }
  return words;
}

/// Of a feature that stands in `rows_with` of `rows` texts. About 0 for one that all texts have.
double rarity(std::uint64_t rows, std::uint64_t rows_with) {
  return std::log((static_cast<double>(rows) + 1) / (static_cast<double>(rows_with) + 0.5));
}

/// A sum of features as an array over all buckets that is quick to empty.
class Tally {
 public:
  void add(const Feature& feature) {
    auto& count = counts_[feature.bucket % buckets];
    if (count == 0) touched_.push_back(feature.bucket % buckets);
    count += feature.count;
  }
  void clear() {
    for (const auto bucket : touched_) counts_[bucket] = 0;
    touched_.clear();
  }
  [[nodiscard]] const std::vector<std::uint32_t>& touched() const { return touched_; }
  [[nodiscard]] double of(std::uint32_t bucket) const { return counts_[bucket]; }
  [[nodiscard]] double length(std::span<const double> weight) const {
    double sum = 0;
    for (const auto bucket : touched_) {
      const double part = counts_[bucket] * weight[bucket];
      sum += part * part;
    }
    return std::sqrt(sum);
  }

 private:
  std::vector<double> counts_ = std::vector<double>(buckets);
  std::vector<std::uint32_t> touched_;
};

class SparseRows final : public Rows {
 public:
  SparseRows(IndexFiles& files, const Embedder& embedder, unsigned threads)
      : files_(files), features_(embedder.features), threads_(threads) {}

  Result<void> add(const std::vector<StoredText>& texts, const DenseVectors&) override {
    auto done = check_columns();
    return done ? add_parts(texts) : done;
  }

  void drop_uncommitted() override { numbers_.clear(); }

  Result<void> wipe(std::uint64_t row) override {
    if (auto sound = check_columns(); !sound) return sound;
    const auto ends = files_.column(row_ends).as<std::uint64_t>();
    const auto begin = row == 0 ? 0 : ends[row - 1];
    // Word 0 has no features.
    const std::vector<std::uint32_t> nothing(ends[row] - begin);
    return files_.column(row_words).overwrite(begin * sizeof(std::uint32_t),
                                              bytes_of_array(nothing));
  }

  Result<std::vector<SimilarText>> search(const QueryText& query, std::size_t count) override {
    if (auto sound = check_columns(); !sound) return tl::unexpected(sound.error());
    if (files_.counts.rows == 0) return std::vector<SimilarText>();
    const auto worths = worth_of_words(query.text);
    const auto words = files_.column(row_words).as<std::uint32_t>();
    const auto ends = files_.column(row_ends).as<std::uint64_t>();
    const auto norms = files_.column(row_norms).as<double>();
    std::vector<TopRows> tops(threads_, TopRows(count));
    in_pieces(files_.counts.rows, threads_, [&](std::size_t piece, auto begin, auto end) {
      auto& top = tops[piece];
      std::uint64_t word = begin == 0 ? 0 : ends[begin - 1];
      for (auto row = begin; row < end; ++row) {
        double sum = 0;
        for (; word < ends[row]; ++word) sum += worths[words[word]];
        top.offer(sum * norms[row], row);
      }
    });
    return merged(std::move(tops), count);
  }

 private:
  Result<void> check_columns() {
    for (std::size_t i = sparse_ids; i <= weights; ++i) {
      auto& column = files_.column(i);
      if (auto good = column.check(0, column.bytes()); !good) return good;
    }
    return {};
  }

  Result<void> add_parts(std::span<const StoredText> texts) {
    auto rows = files_.counts.rows;
    while (!texts.empty()) {
      const auto part = texts.first(std::min<std::uint64_t>(next_weighing() - rows, texts.size()));
      if (auto added = add_part(part); !added) return added;
      texts = texts.subspan(part.size());
      rows += part.size();
      if (rows < next_weighing()) continue;
      if (auto weighed = weigh(rows); !weighed) return weighed;
    }
    return {};
  }

  /// Number of rows at which the weights are computed again.
  [[nodiscard]] std::uint64_t next_weighing() const {
    const auto last = files_.counts.own;
    return std::max(last + 1, last + last / 2);
  }

  [[nodiscard]] std::span<const double> current_weights() const {
    return files_.column(weights).as<double>();
  }

  [[nodiscard]] std::span<const Feature> features_of(std::uint32_t word) const {
    const auto ends = files_.column(word_ends).as<std::uint64_t>();
    const auto begin = word == 0 ? 0 : ends[word - 1];
    return files_.column(word_features).as<Feature>().subspan(begin, ends[word] - begin);
  }

  Result<void> add_part(std::span<const StoredText> texts) {
    std::vector<std::uint32_t> words;
    std::vector<std::uint64_t> ends;
    std::vector<double> norms;
    if (auto ready = prepare_words(); !ready) return ready;
    auto old_words = files_.column(row_words).bytes() / sizeof(std::uint32_t);
    for (const auto& text : texts) {
      for (const auto word : words_of(text.text)) {
        const auto number = number_of(word);
        if (!number) return tl::unexpected(number.error());
        words.push_back(*number);
      }
      ends.push_back(old_words + words.size());
      norms.push_back(inverse_length(
          std::span(words).subspan((ends.size() == 1 ? 0 : ends[ends.size() - 2] - old_words))));
    }
    auto done = files_.column(row_words).append(bytes_of_array(words));
    if (done) done = files_.column(row_ends).append(bytes_of_array(ends));
    if (done) done = files_.column(row_norms).append(bytes_of_array(norms));
    return done;
  }

  /// Loads the numbers of the known words; word 0 is the empty one.
  Result<void> prepare_words() {
    if (epoch_ != files_.counts.epoch) numbers_.clear();
    epoch_ = files_.counts.epoch;
    if (files_.column(word_hashes).bytes() == 0) {
      numbers_.clear();
      const auto added = new_word("", 0);
      if (!added) return tl::unexpected(added.error());
    }
    const auto known = files_.column(word_hashes).as<std::uint64_t>();
    for (auto i = numbers_.size(); i < known.size(); ++i) {
      numbers_.emplace(known[i], static_cast<std::uint32_t>(i));
    }
    return {};
  }

  Result<std::uint32_t> number_of(std::string_view word) {
    const auto hash = hash_bytes(word);
    const auto known = numbers_.find(hash);
    return known == numbers_.end() ? new_word(word, hash) : known->second;
  }

  Result<std::uint32_t> new_word(std::string_view word, std::uint64_t hash) {
    const auto number = static_cast<std::uint32_t>(numbers_.size());
    const auto features = word.empty() ? std::vector<Feature>() : features_(word);
    auto& column = files_.column(word_features);
    auto done = column.append(bytes_of_array(features));
    const std::vector<std::uint64_t> end{column.bytes() / sizeof(Feature)};
    if (done) done = files_.column(word_ends).append(bytes_of_array(end));
    if (done) done = files_.column(word_hashes).append(bytes_of_array(std::vector{hash}));
    if (!done) return tl::unexpected(done.error());
    numbers_.emplace(hash, number);
    return number;
  }

  void tally(std::span<const std::uint32_t> words) {
    tally_.clear();
    for (const auto word : words) {
      for (const auto& feature : features_of(word)) tally_.add(feature);
    }
  }

  double inverse_length(std::span<const std::uint32_t> words) {
    if (current_weights().empty()) return 0;  // the first weighing follows at once
    tally(words);
    const double length = tally_.length(current_weights());
    return length > 0 ? 1 / length : 0;
  }

  /// Computes the weights from the first `rows` rows, and all lengths with them.
  Result<void> weigh(std::uint64_t rows) {
    const auto words = files_.column(row_words).as<std::uint32_t>();
    const auto ends = files_.column(row_ends).as<std::uint64_t>();
    const auto words_in = [&](std::uint64_t row) {
      const auto begin = row == 0 ? 0 : ends[row - 1];
      return words.subspan(begin, ends[row] - begin);
    };
    std::vector<std::uint64_t> rows_with(buckets);
    for (std::uint64_t row = 0; row < rows; ++row) {
      tally(words_in(row));
      for (const auto bucket : tally_.touched()) ++rows_with[bucket];
    }
    std::vector<double> fresh(buckets, rarity(rows, 0));
    for (std::size_t i = 0; i < buckets; ++i)
      if (rows_with[i] > 0) fresh[i] = rarity(rows, rows_with[i]);
    if (auto marked = files_.begin_in_place(); !marked) return marked;
    auto& column = files_.column(weights);
    auto done = column.bytes() == 0 ? column.append(bytes_of_array(fresh))
                                    : column.overwrite(0, bytes_of_array(fresh));
    if (!done) return done;
    std::vector<double> norms(rows);
    for (std::uint64_t row = 0; row < rows; ++row) norms[row] = inverse_length(words_in(row));
    files_.counts.own = rows;
    return files_.column(row_norms).overwrite(0, bytes_of_array(norms));
  }

  /// What one occurrence of each known word adds to the dot product with the query.
  std::vector<double> worth_of_words(const std::string& text) {
    tally_.clear();
    for (const auto word : words_of(text)) {
      for (const auto& feature : features_(word)) tally_.add(feature);
    }
    const auto weight = current_weights();
    const double length = tally_.length(weight);
    std::vector<double> by_bucket(buckets);
    for (const auto bucket : tally_.touched()) {
      if (length > 0) {
        by_bucket[bucket] = tally_.of(bucket) * weight[bucket] * weight[bucket] / length;
      }
    }
    const auto features = files_.column(word_features).as<Feature>();
    const auto ends = files_.column(word_ends).as<std::uint64_t>();
    std::vector<double> worths(ends.size());
    in_pieces(ends.size(), threads_, [&](std::size_t, auto begin, auto end) {
      std::uint64_t at = begin == 0 ? 0 : ends[begin - 1];
      for (auto word = begin; word < end; ++word) {
        double sum = 0;
        for (; at < ends[word]; ++at) sum += by_bucket[features[at].bucket] * features[at].count;
        worths[word] = sum;
      }
    });
    return worths;
  }

  std::vector<SimilarText> merged(std::vector<TopRows> tops, std::size_t count) {
    TopRows best(count);
    for (auto& top : tops) {
      auto rows = std::move(top).best_first();
      std::ranges::sort(rows, {}, &ScoredRow::row);
      for (const auto& found : rows) best.offer(found.score, found.row);
    }
    const auto texts = files_.column(sparse_ids).as<RowId>();
    std::vector<SimilarText> similar;
    for (const auto& found : std::move(best).best_first()) {
      similar.push_back({texts[found.row].id(), std::min(found.score, 1.0)});
    }
    return similar;
  }

  IndexFiles& files_;
  std::function<std::vector<Feature>(std::string_view)> features_;
  unsigned threads_;
  std::uint64_t epoch_ = 0;
  std::unordered_map<std::uint64_t, std::uint32_t> numbers_;  ///< of words by their hash
  Tally tally_;
};

}  // namespace

std::vector<std::string> sparse_columns() {
  return {"ids",         "row-ends",  "row-words",     "row-norms",
          "word-hashes", "word-ends", "word-features", "weights"};
}

std::unique_ptr<Rows> make_sparse_rows(IndexFiles& files, const Embedder& embedder,
                                       unsigned threads) {
  return std::make_unique<SparseRows>(files, embedder, threads);
}

}  // namespace schedmate::store
