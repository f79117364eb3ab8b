// SPDX-License-Identifier: Apache-2.0
/// dense_bench [ROWS] [FOLDER]: exact search over ROWS (100,000) clustered vectors of 1,024
/// numbers, as an embedding model gives them. Prints a table; ends with 1 when a search differs
/// from the full scan.
#include <cmath>
#include <schedmate/search.hpp>

#include "base/random.hpp"
#include "bench/watch.hpp"
#include "store/dot.hpp"
#include "store/text_index.hpp"
#include "store/top.hpp"
#include "tests/support/scratch.hpp"

namespace {

using schedmate::bench::measure;
using schedmate::bench::need;
using schedmate::bench::row;
using schedmate::bench::Watch;

constexpr std::size_t dimensions = 1024;

/// The vector of a number: near those of the same family, of which there are 2,000.
std::vector<float> vector_of(std::uint64_t number) {
  schedmate::Random family(number % 2000);
  schedmate::Random own(schedmate::mix(number));
  std::vector<float> values(dimensions);
  double sum = 0;
  for (float& value : values) {
    value = static_cast<float>(family.uniform() - 0.5 + 0.4 * (own.uniform() - 0.5));
    sum += double{value} * double{value};
  }
  for (float& value : values) value = static_cast<float>(double{value} / std::sqrt(sum));
  return values;
}

void fill(schedmate::store::IndexFiles& files, schedmate::store::Rows& rows, std::uint64_t count) {
  for (std::uint64_t done = 0; done < count;) {
    std::vector<schedmate::StoredText> texts;
    std::vector<std::uint64_t> ids;
    schedmate::DenseVectors vectors;
    for (; done < count && texts.size() < 1024; ++done) {
      texts.push_back({done + 1, ""});
      ids.push_back(done + 1);
      vectors.push_back(vector_of(done));
    }
    const auto locked = need(files.lock_exclusive());
    need(rows.add(texts, vectors));
    need(files.column(0).append(schedmate::store::bytes_of_array(ids)));
    files.counts.rows = done;
    files.counts.last_text = done;
    need(files.commit());
  }
}

int differences(schedmate::store::IndexFiles& files, schedmate::store::Rows& rows, int queries) {
  const auto locked = need(files.lock_shared());
  const auto floats = files.column(3).as<float>();
  int different = 0;
  for (int i = 0; i < queries; ++i) {
    const schedmate::store::QueryText query{"",
                                            vector_of(7'000'000 + static_cast<std::uint64_t>(i))};
    schedmate::store::TopRows best(3);
    for (std::uint64_t at = 0; at < files.counts.rows; ++at) {
      best.offer(schedmate::store::dot_exact(query.vector, floats.data() + at * dimensions), at);
    }
    const auto plain = std::move(best).best_first();
    const auto found = need(rows.search(query, 3));
    bool same = found.size() == plain.size();
    for (std::size_t k = 0; same && k < found.size(); ++k) {
      same = found[k].text_id == plain[k].row + 1;
    }
    different += same ? 0 : 1;
  }
  return different;
}

int run(std::uint64_t count, const std::string& folder) {
  const schedmate::Embedder embedder{
      .name = "made/1", .threshold = 0.9, .features = {}, .embed = {}};
  const auto open = [&] {
    return need(schedmate::store::IndexFiles::open(folder, 1, schedmate::store::dense_columns()));
  };
  {
    auto files = open();
    const auto rows = schedmate::store::make_dense_rows(files, embedder, 2);
    const Watch watch;
    fill(files, *rows, count);
    row(fmt::format("{} rows made and written, s (CPU)", count),
        fmt::format("{:.1f} ({:.1f})", watch.wall_ms() / 1000, watch.cpu_ms() / 1000));
  }
  std::uint64_t next = 9'000'000;
  const auto search_once = [&](schedmate::store::IndexFiles& files, schedmate::store::Rows& rows) {
    const schedmate::store::QueryText query{"", vector_of(++next)};
    const auto locked = need(files.lock_shared());
    (void)need(rows.search(query, 3));
  };
  row("open and search once, checksums included, ms",
      measure(3,
              [&] {
                auto files = open();
                search_once(files, *schedmate::store::make_dense_rows(files, embedder, 2));
              }),
      "1000");
  auto files = open();
  const auto rows = schedmate::store::make_dense_rows(files, embedder, 2);
  search_once(files, *rows);
  row(fmt::format("top 3 of {} rows, ms (p99; CPU)", count),
      measure(200, [&] { search_once(files, *rows); }),
      fmt::format("{:.0f}", count > 200'000 ? 1.2e-4 * static_cast<double>(count) : 15));
  row("peak memory, GiB", fmt::format("{:.2f}", schedmate::bench::peak_gib()), "1.5");
  const int compared = count > 200'000 ? 20 : 1000;
  const int different = differences(files, *rows, compared);
  row(fmt::format("of {} clustered queries unlike the full scan", compared),
      fmt::format("{}", different), "0");
  return different == 0 ? 0 : 1;
}

}  // namespace

int main(int argc, char** argv) {
  const schedmate::testing::Scratch scratch;
  row("", "is", "target");
  return run(argc > 1 ? std::strtoull(argv[1], nullptr, 10) : 100'000,
             argc > 2 ? argv[2] : scratch.path());
}
