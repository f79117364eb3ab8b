// SPDX-License-Identifier: Apache-2.0
/// store_bench [JOBS] [FOLDER]: how fast the history takes JOBS (a million) in, and finds similar
/// ones by sparse rows. Prints a table; ends with 1 when a search differs from the full scan.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <schedmate/search.hpp>

#include "bench/made_jobs.hpp"
#include "bench/watch.hpp"
#include "tests/support/scratch.hpp"

namespace {

using schedmate::bench::MadeJobs;
using schedmate::bench::measure;
using schedmate::bench::need;
using schedmate::bench::row;
using schedmate::bench::Watch;

/// The rows as written-out vectors and a query against all of them: the plain way.
class FullScan {
 public:
  FullScan(schedmate::Store& store, const schedmate::Embedder& embedder, std::uint64_t weighed)
      : embedder_(embedder) {
    std::vector<std::uint64_t> rows_with(weights_.size());
    for (std::uint64_t after = 0;;) {
      const auto texts = need(store.texts(after, 4096));
      if (texts.empty()) break;
      for (const auto& text : texts) add(text, rows_with, weighed);
      after = texts.back().id;
    }
    for (std::size_t i = 0; i < weights_.size(); ++i) {
      weights_[i] =
          std::log((static_cast<double>(weighed) + 1) / (static_cast<double>(rows_with[i]) + 0.5));
    }
  }

  std::vector<schedmate::SimilarText> nearest(const std::string& text, std::size_t count) const {
    std::vector<double> query(weights_.size());
    for (const auto& [bucket, amount] : counts_of(text)) query[bucket] = amount * weights_[bucket];
    const double query_length = length_of(query);
    std::vector<schedmate::SimilarText> best;
    for (std::size_t i = 0; i < ids_.size(); ++i) {
      double dot = 0;
      double length = 0;
      for (auto at = ends_[i]; at < ends_[i + 1]; ++at) {
        const double value = features_[at].count * weights_[features_[at].bucket];
        dot += value * query[features_[at].bucket];
        length += value * value;
      }
      const double score = dot / (std::sqrt(length) * query_length);
      if (best.size() == count && score <= best.back().score) continue;
      best.push_back({ids_[i], score});
      std::ranges::stable_sort(best, std::greater(), &schedmate::SimilarText::score);
      if (best.size() > count) best.pop_back();
    }
    return best;
  }

 private:
  using Counts = std::map<std::uint32_t, float>;
  static double length_of(const std::vector<double>& values) {
    double sum = 0;
    for (const double value : values) sum += value * value;
    return std::sqrt(sum);
  }
  Counts counts_of(const std::string& text) const {
    Counts counts;
    for (std::size_t at = 0; at < text.size();) {
      const auto end = std::min(text.find(' ', at), text.size());
      for (const auto& feature : embedder_.features(text.substr(at, end - at))) {
        counts[feature.bucket] += feature.count;
      }
      at = end + 1;
    }
    return counts;
  }
  void add(const schedmate::StoredText& text, std::vector<std::uint64_t>& rows_with,
           std::uint64_t weighed) {
    for (const auto& [bucket, amount] : counts_of(text.text)) {
      features_.push_back({bucket, amount});
      if (ids_.size() < weighed) ++rows_with[bucket];
    }
    ids_.push_back(text.id);
    ends_.push_back(features_.size());
  }

  schedmate::Embedder embedder_;
  std::vector<double> weights_ = std::vector<double>(std::size_t{1} << 16U);
  std::vector<std::uint64_t> ids_;
  std::vector<std::size_t> ends_{0};
  std::vector<schedmate::Feature> features_;
};

/// Rows at which the index last weighed its features.
std::uint64_t weighed_rows(std::uint64_t rows) {
  std::uint64_t weighed = 0;
  for (auto next = weighed + 1; next <= rows; next = std::max(weighed + 1, weighed + weighed / 2)) {
    weighed = next;
  }
  return weighed;
}

int differences(schedmate::TextIndex& index, const FullScan& scan, int queries) {
  MadeJobs made(99);
  int different = 0;
  for (int i = 0; i < queries; ++i) {
    const auto text = made.text();
    const auto found = need(index.nearest(text, 3));
    const auto plain = scan.nearest(text, 3);
    bool same = found.size() == plain.size();
    for (std::size_t k = 0; same && k < found.size(); ++k) {
      // Equal scores may stand in either order.
      same = std::abs(found[k].score - plain[k].score) < 1e-9;
    }
    different += same ? 0 : 1;
  }
  return different;
}

void take_in(schedmate::Store& store, std::int64_t jobs) {
  MadeJobs made(1);
  std::vector<schedmate::JobRecord> batch;
  double making_ms = 0;
  double making_cpu_ms = 0;
  const Watch watch;
  for (std::int64_t i = 0; i < jobs;) {
    const Watch making;
    batch.clear();
    for (; i < jobs && batch.size() < 50'000; ++i) batch.push_back(made.job(i));
    making_ms += making.wall_ms();
    making_cpu_ms += making.cpu_ms();
    need(store.put_many(batch));
  }
  row(fmt::format("import of {} jobs, s (CPU)", jobs),
      fmt::format("{:.1f} ({:.1f})", (watch.wall_ms() - making_ms) / 1000,
                  (watch.cpu_ms() - making_cpu_ms) / 1000),
      "60");
}

int run(std::int64_t jobs, const std::string& folder) {
  const auto spec = "sqlite:" + folder + "/history.db";
  const schedmate::IndexOptions options{.folder = folder + "/vectors"};
  const auto lexical = need(schedmate::make_embedder("lexical"));
  {
    const auto store =
        need(schedmate::open_store(spec, {.cache_mib = schedmate::StoreOptions::import_cache_mib}));
    take_in(*store, jobs);
    const Watch watch;
    const auto index = need(schedmate::open_index(*store, lexical, options));
    need(index->refresh());
    row(fmt::format("index of {} distinct texts, s (CPU)", index->rows()),
        fmt::format("{:.1f} ({:.1f})", watch.wall_ms() / 1000, watch.cpu_ms() / 1000));
  }
  MadeJobs queries(99);
  const auto cold = measure(5, [&] {
    const auto store = need(schedmate::open_store(spec));
    const auto index = need(schedmate::open_index(*store, lexical, options));
    need(index->refresh());
    const auto found = need(index->nearest(queries.text(), 3));
    for (const auto& text : found) need(store->list({.text_id = text.text_id, .brief = true}));
  });
  row("open, search, read the jobs, close; ms (worst; CPU)", cold, "1000");
  const auto store = need(schedmate::open_store(spec));
  const auto index = need(schedmate::open_index(*store, lexical, options));
  need(index->refresh());
  const auto search = measure(1000, [&] { need(index->nearest(queries.text(), 3)); });
  row(fmt::format("sparse top 3 of {} rows, ms (p99; CPU)", index->rows()), search,
      fmt::format("{:.1f}", 2.5e-5 * static_cast<double>(jobs)));
  schedmate::Random random(4);
  const auto recent = measure(1000, [&] {
    const auto user = random.below(2000);
    need(store->list({.user = fmt::format("user{}", user),
                      .root = fmt::format("/cluster/user{}/project{}", user, random.below(10)),
                      .limit = 20,
                      .brief = true}));
  });
  row("20 newest jobs of a user and folder, ms (p99; CPU)", recent, "5");
  const auto writing = measure(200, [&, made = MadeJobs(5), i = jobs]() mutable {
    need(store->put(made.job(i++)));
    need(index->refresh());
  });
  row("one job recorded and indexed, ms (p99; CPU)", writing);
  row("peak memory, GiB", fmt::format("{:.2f}", schedmate::bench::peak_gib()), "1.5");
  const FullScan scan(*store, lexical, weighed_rows(index->rows()));
  const int compared = jobs > 200'000 ? 100 : 1000;
  const int different = differences(*index, scan, compared);
  row(fmt::format("of {} clustered queries unlike the full scan", compared),
      fmt::format("{}", different), "0");
  return different == 0 ? 0 : 1;
}

}  // namespace

int main(int argc, char** argv) {
  const std::int64_t jobs = argc > 1 ? std::atoll(argv[1]) : 1'000'000;
  const schedmate::testing::Scratch scratch;
  row("", "is", "target");
  return run(jobs, argc > 2 ? argv[2] : scratch.path());
}
