// SPDX-License-Identifier: Apache-2.0
/// Dense rows: a first pass over codes of one byte a dimension, then the exact product of the rows
/// that can be among the best.
///
/// A row d is kept as scale x code + rest, with the length of the rest beside it, the query q in
/// the same way with finer codes. By Cauchy and Schwarz the product of the codes misses the true
/// one by at most |q'| |d - d'| + |q - q'| |d|, so a row whose upper bound is below the k-th best
/// lower bound cannot be among the k best: the result is that of a full search.
#include <fmt/format.h>

#include <cmath>

#include "store/dot.hpp"
#include "store/text_index.hpp"
#include "store/top.hpp"

namespace schedmate::store {
namespace {

enum : std::size_t { dense_ids, row_codes, row_scales, row_floats };

struct Scale {
  float scale = 0;
  float rest = 0;  ///< length of the row minus its code, rounded up
};

/// Rows of which the exact numbers are kept in memory at once.
constexpr std::size_t rows_held = 64;

/// Unit rows may be off by their rounding; sums of doubles by less.
constexpr double slack = 1e-5;

struct QuantisedRow {
  std::vector<std::int16_t> codes;
  double scale = 0, rest = 0, length = 0;
};

/// The vector in whole multiples of its largest value / `levels`.
QuantisedRow encode(std::span<const float> vector, int levels) {
  double largest = 0;
  for (const float value : vector) largest = std::max(largest, std::abs(double{value}));
  QuantisedRow coded;
  coded.scale = largest / levels;
  coded.codes.resize((vector.size() + dot_step - 1) / dot_step * dot_step);
  double rest = 0;
  double length = 0;
  for (std::size_t i = 0; i < vector.size(); ++i) {
    const double code = coded.scale > 0 ? std::nearbyint(double{vector[i]} / coded.scale) : 0;
    const double left = double{vector[i]} - code * coded.scale;
    rest += left * left;
    length += code * code * coded.scale * coded.scale;
    coded.codes[i] = static_cast<std::int16_t>(code);
  }
  coded.rest = std::sqrt(rest);
  coded.length = std::sqrt(length);
  return coded;
}

struct Candidate {
  double upper = 0;
  std::uint64_t row = 0;
};

class DenseRows final : public Rows {
 public:
  DenseRows(IndexFiles& files, std::string name, unsigned threads)
      : files_(files), name_(std::move(name)), threads_(threads) {}

  /// The first ones say how long all are.
  [[nodiscard]] Result<void> check(std::span<const std::vector<float>> vectors) const override {
    for (const auto& vector : vectors) {
      const std::size_t wanted = files_.counts.own == 0 ? vectors.front().size() : dimensions();
      if (auto fits = check_vector(vector, wanted); !fits) return fits;
    }
    return {};
  }

  Result<void> add(const std::vector<StoredText>& texts, const DenseVectors& vectors) override {
    if (auto fit = check(vectors); !fit) return fit;
    if (files_.counts.own == 0 && !vectors.empty()) files_.counts.own = vectors.front().size();
    std::vector<std::int8_t> codes;
    std::vector<Scale> scales;
    std::vector<float> floats;
    for (std::size_t i = 0; i < texts.size(); ++i) {
      const auto coded = encode(vectors[i], 127);
      for (const auto code : coded.codes) codes.push_back(static_cast<std::int8_t>(code));
      // The scale is rounded before it is used, so the rest is that of the rounded one.
      const auto scale = static_cast<float>(coded.scale);
      const double rounding = std::abs(coded.scale - double{scale}) * 127 *
                              std::sqrt(static_cast<double>(vectors[i].size()));
      scales.push_back({scale, std::nextafter(static_cast<float>(coded.rest + rounding), 2.0F)});
      floats.insert(floats.end(), vectors[i].begin(), vectors[i].end());
    }
    auto done = files_.column(row_codes).append(bytes_of_array(codes));
    if (done) done = files_.column(row_scales).append(bytes_of_array(scales));
    if (done) done = files_.column(row_floats).append(bytes_of_array(floats));
    return done;
  }

  Result<void> wipe(std::uint64_t row) override {
    const std::vector<std::int8_t> no_codes(stride());
    const std::vector<Scale> no_scale(1);
    const std::vector<float> no_floats(dimensions());
    auto done = files_.column(row_codes).overwrite(row * stride(), bytes_of_array(no_codes));
    if (done) {
      done = files_.column(row_scales).overwrite(row * sizeof(Scale), bytes_of_array(no_scale));
    }
    if (!done) return done;
    return files_.column(row_floats)
        .overwrite(row * dimensions() * sizeof(float), bytes_of_array(no_floats));
  }

  Result<std::vector<SimilarText>> search(const QueryText& query, std::size_t count) override {
    if (files_.counts.rows == 0 || count == 0) return std::vector<SimilarText>();
    if (auto fits = check({&query.vector, 1}); !fits) return tl::unexpected(fits.error());
    for (const auto number : {dense_ids, row_codes, row_scales}) {
      auto& column = files_.column(number);
      if (auto good = column.check(0, column.bytes()); !good) return tl::unexpected(good.error());
    }
    return ranked(query.vector, candidates(query.vector, count), count);
  }

 private:
  [[nodiscard]] std::size_t dimensions() const { return files_.counts.own; }
  [[nodiscard]] std::size_t stride() const {
    return (dimensions() + dot_step - 1) / dot_step * dot_step;
  }

  /// A server that changed its model under the same name would mix what cannot be compared.
  [[nodiscard]] Result<void> check_vector(const std::vector<float>& vector,
                                          std::size_t wanted) const {
    const bool finite = std::ranges::all_of(vector, [](float x) { return std::isfinite(x); });
    if (vector.size() == wanted && wanted > 0 && wanted <= most_dimensions && finite) return {};
    return fail(ErrorCode::bad_reply,
                fmt::format("embedder {}: a vector of {} {}numbers, but the index has {}: give the "
                            "new model another name, so that it gets its own index",
                            name_, vector.size(), finite ? "" : "partly infinite ", wanted));
  }

  [[nodiscard]] std::vector<Candidate> candidates(const std::vector<float>& vector,
                                                  std::size_t count) const {
    const auto query = encode(vector, query_levels);
    const auto codes = files_.column(row_codes).as<std::int8_t>();
    const auto scales = files_.column(row_scales).as<Scale>();
    std::vector<TopRows> tops(threads_, TopRows(count));
    std::vector<std::vector<Candidate>> found(threads_);
    in_pieces(files_.counts.rows, threads_, [&](std::size_t piece, auto begin, auto end) {
      auto& top = tops[piece];
      for (auto row = begin; row < end; ++row) {
        const auto product = dot_codes(query.codes, codes.data() + row * stride());
        const double near = static_cast<double>(product) * query.scale * double{scales[row].scale};
        const double miss = query.length * double{scales[row].rest} + query.rest + slack;
        if (near + miss < top.floor()) continue;
        found[piece].push_back({near + miss, row});
        top.offer(near - miss, row);
      }
    });
    double floor = 0;
    for (const auto& top : tops) floor = std::max(floor, top.floor());
    std::vector<Candidate> all;
    for (const auto& part : found) {
      std::ranges::copy_if(part, std::back_inserter(all),
                           [&](const Candidate& candidate) { return candidate.upper >= floor; });
    }
    return all;
  }

  Result<std::vector<SimilarText>> ranked(const std::vector<float>& vector,
                                          const std::vector<Candidate>& rows, std::size_t count) {
    TopRows best(count);
    auto& column = files_.column(row_floats);
    const auto texts = files_.column(dense_ids).as<RowId>();
    const auto row_bytes = dimensions() * sizeof(float);
    for (std::size_t i = 0; i < rows.size(); ++i) {
      const auto& candidate = rows[i];
      if (i % rows_held == 0) column.release();
      if (texts[candidate.row].forgotten()) continue;
      if (auto good = column.check(candidate.row * row_bytes, row_bytes); !good) {
        return tl::unexpected(good.error());
      }
      const float* const row = column.as<float>().data() + candidate.row * dimensions();
      best.offer(dot_exact(vector, row), candidate.row);
    }
    column.release();
    std::vector<SimilarText> similar;
    for (const auto& found : std::move(best).best_first()) {
      similar.push_back({texts[found.row].id(), std::min(found.score, 1.0)});
    }
    return similar;
  }

  IndexFiles& files_;
  std::string name_;
  unsigned threads_;
};

}  // namespace

std::vector<std::string> dense_columns() { return {"ids", "codes", "scales", "floats"}; }

std::unique_ptr<Rows> make_dense_rows(IndexFiles& files, const Embedder& embedder,
                                      unsigned threads) {
  return std::make_unique<DenseRows>(files, embedder.name, threads);
}

}  // namespace schedmate::store
