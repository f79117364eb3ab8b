// SPDX-License-Identifier: Apache-2.0
/// The search index, over a store in memory and over SQLite with files.
#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <schedmate/search.hpp>

#include "base/random.hpp"
#include "store/dot.hpp"
#include "tests/support/near.hpp"
#include "tests/support/store_places.hpp"
#include "tests/support/text_indexes.hpp"

namespace schedmate::store {
namespace {

using testing::dense;
using testing::fill;
using testing::job;
using testing::letters;
using testing::made_text;
using testing::near;
using testing::open_or_fail;
using testing::open_refreshed;
using testing::Scratch;
using testing::sparse;
using testing::vector_of;

/// TF-IDF by definition, in vectors that are written down.
std::vector<SimilarText> by_definition(const std::vector<StoredText>& texts,
                                       const std::string& query, std::size_t weighed) {
  using Counts = std::map<std::uint32_t, double>;
  const auto counts_of = [](const std::string& text) {
    Counts counts;
    for (std::size_t at = 0; at < text.size();) {
      const auto end = std::min(text.find(' ', at), text.size());
      for (const auto& f : letters(text.substr(at, end - at))) counts[f.bucket] += f.count;
      at = end + 1;
    }
    return counts;
  };
  Counts rows_with;
  for (std::size_t i = 0; i < weighed; ++i) {
    for (const auto& [bucket, count] : counts_of(texts[i].text)) ++rows_with[bucket];
  }
  const auto weighted = [&](Counts counts) {
    double length = 0;
    for (auto& [bucket, count] : counts) {
      count *= std::log((static_cast<double>(weighed) + 1) / (rows_with[bucket] + 0.5));
      length += count * count;
    }
    for (auto& [bucket, count] : counts) count /= std::sqrt(length);
    return counts;
  };
  const auto wanted = weighted(counts_of(query));
  std::vector<SimilarText> all;
  for (const auto& text : texts) {
    double sum = 0;
    for (const auto& [bucket, count] : weighted(counts_of(text.text))) {
      const auto same = wanted.find(bucket);
      if (same != wanted.end()) sum += count * same->second;
    }
    all.push_back({text.id, sum});
  }
  std::ranges::sort(all, [](const auto& a, const auto& b) { return a.score > b.score; });
  all.resize(std::min<std::size_t>(all.size(), 3));
  return all;
}

TEST_CASE("sparse search finds what TF-IDF by definition finds") {
  const auto store = open_or_fail("memory");
  fill(*store, 600);
  const auto index = open_refreshed(*store, sparse(), "");
  const auto texts = store->texts(0, 1000).value();
  CHECK(index->rows() == texts.size());
  // The weights are those of the first rows up to the last growth by half.
  std::size_t weighed = 1;
  while (std::max(weighed + 1, weighed + weighed / 2) <= texts.size()) {
    weighed = std::max(weighed + 1, weighed + weighed / 2);
  }
  Random random(99);
  for (int i = 0; i < 100; ++i) {
    const auto query = made_text(random);
    const auto found = index->nearest(query, 3).value();
    const auto expected = by_definition(texts, query, weighed);
    REQUIRE(found.size() == expected.size());
    for (std::size_t k = 0; k < found.size(); ++k) {
      CHECK(near(found[k].score, expected[k].score, 1e-9, 0));
    }
  }
}

TEST_CASE("dense search finds what a full scan finds") {
  const auto store = open_or_fail("memory");
  fill(*store, 600);
  const auto index = open_refreshed(*store, dense(), "");
  const auto texts = store->texts(0, 1000).value();
  std::vector<std::vector<float>> rows;
  for (const auto& text : texts) rows.push_back(vector_of(text.text));
  Random random(5);
  for (int i = 0; i < 100; ++i) {
    const auto query = made_text(random);
    const auto vector = vector_of(query);
    std::vector<SimilarText> all;
    for (std::size_t row = 0; row < rows.size(); ++row) {
      all.push_back({texts[row].id, portable::dot_exact(vector, rows[row].data())});
    }
    std::ranges::sort(all, [](const auto& a, const auto& b) { return a.score > b.score; });
    const auto found = index->nearest(query, 5).value();
    REQUIRE(found.size() == 5);
    for (std::size_t k = 0; k < 5; ++k) {
      CHECK(near(found[k].score, std::min(all[k].score, 1.0), 1e-9, 0));
    }
  }
}

TEST_CASE("the fast products equal the plain ones") {
  Random random(3);
  for (const std::size_t size : {32U, 96U, 1024U, 4096U}) {
    std::vector<std::int16_t> query(size);
    std::vector<std::int8_t> row(size);
    for (auto& value : query) value = static_cast<std::int16_t>(random.between(-8191, 8191));
    for (auto& value : row) value = static_cast<std::int8_t>(random.between(-127, 127));
    CHECK(dot_codes(query, row.data()) == portable::dot_codes(query, row.data()));
    std::ranges::fill(query, std::int16_t{query_levels});
    std::ranges::fill(row, std::int8_t{127});
    CHECK(dot_codes(query, row.data()) == static_cast<std::int64_t>(size) * query_levels * 127);
  }
  const auto a = vector_of("abc");
  const auto b = vector_of("abd");
  CHECK(near(dot_exact(a, b.data()), portable::dot_exact(a, b.data()), 1e-12, 0));
}

TEST_CASE("files are taken up by the next process, and by one that runs already") {
  const Scratch folder;
  const auto store = open_or_fail("sqlite:" + folder.path("h.db"));
  for (const auto& embedder : {sparse(), dense()}) {
    CAPTURE(embedder.name);
    const auto base = store->list({}).value().size();
    const auto number = static_cast<int>(base);
    REQUIRE(store->put(job(number, "one two " + embedder.name)));
    const auto first = open_refreshed(*store, embedder, folder.path("vectors"));
    const auto second = open_refreshed(*store, embedder, folder.path("vectors"));
    REQUIRE(store->put(job(number + 1, "three four " + embedder.name)));
    REQUIRE(second->refresh());
    const auto found = first->nearest("three four " + embedder.name, 1).value();
    REQUIRE(found.size() == 1);
    CHECK(near(found[0].score, 1, 1e-12, 0));
    CHECK(store->list({.text_id = found[0].text_id})->front().id ==
          "job-" + std::to_string(number + 1));
    CHECK(first->verify());
  }
}

TEST_CASE("a dense vector is paid for once") {
  const Scratch folder;
  const auto store = open_or_fail("sqlite:" + folder.path("h.db"));
  fill(*store, 50);
  int calls = 0;
  {
    open_refreshed(*store, dense(&calls), folder.path("one"));
  }
  const int paid = calls;
  CHECK(paid >= 1);
  {
    open_refreshed(*store, dense(&calls), folder.path("one"));
  }
  {
    open_refreshed(*store, dense(&calls), folder.path("two"));
  }  // made from the vectors in the store
  CHECK(calls == paid);
}

TEST_CASE("re-embedding stops on request and goes on from there") {
  const auto folder = Scratch();
  const auto store = open_or_fail("sqlite:" + folder.path("h.db"));
  fill(*store, 100);
  const auto newest = store->last_text().value();
  const IndexOptions options{.folder = folder.path("v"), .batch = 10};
  int steps = 0;
  REQUIRE(reembed(*store, dense(), options, [&](std::uint64_t done, std::uint64_t last) {
    CHECK(last == newest);
    CHECK(done == 10U * static_cast<unsigned>(++steps));
    return steps < 3;
  }));
  CHECK(steps == 3);
  std::vector<std::uint64_t> seen;
  REQUIRE(reembed(*store, dense(), options, [&](std::uint64_t done, std::uint64_t) {
    seen.push_back(done);
    return true;
  }));
  CHECK(seen.front() == 40);
  CHECK(seen.back() == newest);
}

TEST_CASE("a forgotten text is found no more, in any index") {
  const Scratch folder;
  const auto store = open_or_fail("sqlite:" + folder.path("h.db"));
  REQUIRE(store->put(job(1, "secret words")));
  REQUIRE(store->put(job(2, "other words")));
  for (const auto& embedder : {sparse(), dense()})
    open_refreshed(*store, embedder, folder.path("v"));
  REQUIRE(store->forget("job-1"));
  for (const auto& embedder : {sparse(), dense()}) {
    const auto index = open_refreshed(*store, embedder, folder.path("v"));
    const auto all = index->nearest("secret words", 5).value();
    for (const auto& found : all) CHECK(found.text_id != 1);
    CHECK(index->verify());
  }
}

TEST_CASE("an empty history has no neighbours") {
  const auto store = open_or_fail("memory");
  CHECK(open_refreshed(*store, dense(), "")->nearest("x", 3)->empty());
  CHECK(open_refreshed(*store, sparse(), "")->nearest("x", 3)->empty());
}

}  // namespace
}  // namespace schedmate::store
