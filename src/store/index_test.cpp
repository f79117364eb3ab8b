// SPDX-License-Identifier: Apache-2.0
/// The search index, over a store in memory and over SQLite with files.
#include <doctest/doctest.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cmath>
#include <filesystem>
#include <map>
#include <numeric>
#include <optional>
#include <schedmate/search.hpp>
#include <utility>

#include "base/hash.hpp"
#include "base/input.hpp"
#include "base/output.hpp"
#include "base/random.hpp"
#include "store/dot.hpp"
#include "tests/support/near.hpp"
#include "tests/support/store_places.hpp"

namespace {

std::optional<int> writes_until_full;  ///< calls of pwrite in this program

}  // namespace

extern "C" ssize_t pwrite(int file, const void* bytes, std::size_t size, off_t offset) {
  if (writes_until_full && (*writes_until_full)-- == 0) {
    errno = ENOSPC;
    return -1;
  }
  return ::syscall(SYS_pwrite64, file, bytes, size, offset);
}

namespace schedmate::store {
namespace {

using testing::full_record;
using testing::near;
using testing::open_or_fail;
using testing::Scratch;

/// One feature per word and one for its first letter.
std::vector<Feature> letters(std::string_view word) {
  return {{static_cast<std::uint32_t>(hash_bytes(word) & 0xFFFFU), 2},
          {static_cast<std::uint32_t>(word[0]), 1}};
}
Embedder sparse(const std::string& name = "letters") {
  return {.name = name, .threshold = 0.5, .features = letters, .embed = {}};
}

constexpr std::size_t dimensions = 100;

/// A unit vector that depends on the text; texts with the same first 3 letters are near.
std::vector<float> vector_of(const std::string& text) {
  Random cluster(hash_bytes(text.substr(0, 3)));
  Random own(hash_bytes(text));
  std::vector<float> values;
  for (std::size_t i = 0; i < dimensions; ++i) {
    values.push_back(static_cast<float>(cluster.normal() + 0.1 * own.normal()));
  }
  const float length =
      std::sqrt(std::inner_product(values.begin(), values.end(), values.begin(), 0.0F));
  for (float& value : values) value /= length;
  return values;
}
Embedder dense(int* calls = nullptr) {
  return {.name = "fake/1",
          .threshold = 0.9,
          .features = {},
          .embed = [calls](std::span<const std::string> texts) -> Result<DenseVectors> {
            if (calls != nullptr) ++*calls;
            DenseVectors vectors;
            for (const auto& text : texts) vectors.push_back(vector_of(text));
            return vectors;
          }};
}

JobRecord job(int number, const std::string& text) {
  auto record = full_record(number);
  record.text = text;
  return record;
}

/// Facts of made-up jobs in families, so that there are near and far ones.
std::string made_text(Random& random) {
  const auto family = random.below(40);
  std::string text = "model=m" + std::to_string(family) + " data=d" + std::to_string(family % 7);
  for (int i = 0; i < 4; ++i) {
    text += " k" + std::to_string(i) + "=" +
            std::to_string(random.below(3) == 0 ? random.below(50) : family);
  }
  return text;
}

void fill(Store& store, int jobs) {
  Random random(7);
  std::vector<JobRecord> records;
  for (int i = 0; i < jobs; ++i) records.push_back(job(i, made_text(random)));
  REQUIRE(store.put_many(records));
}

std::unique_ptr<TextIndex> open(Store& store, const Embedder& embedder, const std::string& folder) {
  auto index = open_index(store, embedder, {.folder = folder});
  REQUIRE(index.has_value());
  REQUIRE((*index)->refresh());
  return std::move(*index);
}

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
  const auto index = open(*store, sparse(), "");
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
  const auto index = open(*store, dense(), "");
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
    const auto first = open(*store, embedder, folder.path("vectors"));
    const auto second = open(*store, embedder, folder.path("vectors"));
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
    open(*store, dense(&calls), folder.path("one"));
  }
  const int paid = calls;
  CHECK(paid >= 1);
  {
    open(*store, dense(&calls), folder.path("one"));
  }
  {
    open(*store, dense(&calls), folder.path("two"));
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
  for (const auto& embedder : {sparse(), dense()}) open(*store, embedder, folder.path("v"));
  REQUIRE(store->forget("job-1"));
  for (const auto& embedder : {sparse(), dense()}) {
    const auto index = open(*store, embedder, folder.path("v"));
    const auto all = index->nearest("secret words", 5).value();
    for (const auto& found : all) CHECK(found.text_id != 1);
    CHECK(index->verify());
  }
}

TEST_CASE("damaged files are made again, whichever it is and however it is damaged") {
  for (const auto& embedder : {sparse(), dense()}) {
    const Scratch folder;
    const auto store = open_or_fail("sqlite:" + folder.path("h.db"));
    fill(*store, 300);
    const auto query = store->texts(0, 1)->front().text;
    const auto good = open(*store, embedder, folder.path("v"))->nearest(query, 3).value();
    std::vector<std::string> names;
    for (const auto& entry : std::filesystem::recursive_directory_iterator(folder.path("v"))) {
      if (entry.is_regular_file()) names.push_back(entry.path());
    }
    for (const auto& path : names) {
      for (const bool cut : {false, true}) {
        CAPTURE(path);
        CAPTURE(cut);
        auto bytes = read_file(path).value();
        if (bytes.empty()) continue;
        if (cut) {
          std::filesystem::resize_file(path, bytes.size() / 2);
        } else {
          bytes[bytes.size() / 3] = static_cast<char>(bytes[bytes.size() / 3] ^ 0x41);
          REQUIRE(write_file(path, bytes));
        }
        CHECK(open(*store, embedder, folder.path("v"))->nearest(query, 3).value() == good);
      }
    }
  }
}

TEST_CASE("what is new is added to damaged files, and what is gone leaves them") {
  for (const auto& embedder : {sparse(), dense()}) {
    const Scratch folder;
    const auto store = open_or_fail("sqlite:" + folder.path("h.db"));
    fill(*store, 300);
    open(*store, embedder, folder.path("v"));
    std::vector<std::string> names;
    for (const auto& entry : std::filesystem::recursive_directory_iterator(folder.path("v"))) {
      if (entry.is_regular_file()) names.push_back(entry.path());
    }
    int number = 1000;
    for (const auto& path : names) {
      for (const bool is_new : {false, true}) {
        CAPTURE(path);
        CAPTURE(is_new);
        auto bytes = read_file(path).value();
        if (bytes.empty()) continue;
        bytes[bytes.size() / 3] = static_cast<char>(bytes[bytes.size() / 3] ^ 0x41);
        REQUIRE(write_file(path, bytes));
        if (is_new) {
          REQUIRE(store->put(job(number, "words of number " + std::to_string(number))));
          number += 1;
        } else {
          REQUIRE(store->forget("job-" + std::to_string(number % 250)));
        }
        const auto index = open_index(*store, embedder, {.folder = folder.path("v")}).value();
        REQUIRE(index->refresh());
        const auto texts = store->texts(0, 1000).value();
        for (const auto& kept : texts) {
          CHECK(near(index->nearest(kept.text, 1)->front().score, 1, 1e-6, 0));
        }
      }
    }
  }
}

TEST_CASE("files of another store, or of a store that was put back, are not used") {
  const Scratch folder;
  const auto path = folder.path("h.db");
  const auto copy = folder.path("copy.db");
  {
    const auto store = open_or_fail("sqlite:" + path);
    REQUIRE(store->put(job(1, "one a")));
    REQUIRE(store->flush());
    std::filesystem::copy_file(path, copy);
    REQUIRE(store->put(job(2, "two b")));
    open(*store, sparse(), folder.path("v"));
    REQUIRE(store->flush());
  }
  std::filesystem::rename(copy, path);
  const auto store = open_or_fail("sqlite:" + path);
  REQUIRE(store->put(job(3, "nine c")));  // gets the number that "two b" had
  const auto index = open(*store, sparse(), folder.path("v"));
  CHECK(index->nearest("two b", 3)->empty());
  CHECK(near(index->nearest("nine c", 1)->front().score, 1, 1e-12, 0));

  const auto other = open_or_fail("sqlite:" + folder.path("other.db"));
  CHECK(open(*other, sparse(), folder.path("v"))->nearest("one a", 3)->empty());
}

TEST_CASE("a store that was put back is noticed by what it has forgotten") {
  const Scratch folder;
  const auto path = folder.path("h.db");
  const auto copy = folder.path("copy.db");
  for (const bool last : {false, true}) {
    CAPTURE(last);
    const std::string gone = last ? "job-2" : "job-1";
    {
      const auto store = open_or_fail("sqlite:" + path);
      REQUIRE(store->put(job(1, "one a")));
      REQUIRE(store->put(job(2, "two b")));
      REQUIRE(store->flush());
      std::filesystem::copy_file(path, copy);
      open(*store, sparse(), folder.path("v"));
      REQUIRE(store->forget(gone));
      open(*store, sparse(), folder.path("v"));
      REQUIRE(store->flush());
    }
    std::filesystem::rename(copy, path);
    {
      const auto store = open_or_fail("sqlite:" + path);
      for (const std::string text : {"one a", "two b"}) {
        const auto found = open(*store, sparse(), folder.path("v"))->nearest(text, 1).value();
        REQUIRE(found.size() == 1);
        CHECK(near(found.front().score, 1, 1e-12, 0));
      }
      REQUIRE(store->forget(last ? "job-1" : "job-2"));  // by the number that the other one had
      const auto index = open(*store, sparse(), folder.path("v"));
      CHECK(index->nearest(last ? "one a" : "two b", 3)->empty());
      CHECK(index->nearest(last ? "two b" : "one a", 3)->size() == 1);
    }
    std::filesystem::remove(path);
  }
}

TEST_CASE("a text that is forgotten while it is embedded does not come back") {
  const Scratch folder;
  const auto store = open_or_fail("sqlite:" + folder.path("h.db"));
  REQUIRE(store->put(job(1, "abc")));
  open(*store, dense(), folder.path("v"));
  REQUIRE(store->put(job(2, "def")));
  REQUIRE(store->put(job(3, "ghi")));
  Embedder slow = dense();
  bool first = true;
  slow.embed = [&](std::span<const std::string> texts) -> Result<DenseVectors> {
    if (std::exchange(first, false)) {
      REQUIRE(store->forget("job-2"));
      Embedder down = dense();
      down.embed = [](std::span<const std::string>) -> Result<DenseVectors> {
        return fail(ErrorCode::unavailable, "no server");
      };
      const auto other = open_index(*store, down, {.folder = folder.path("v")}).value();
      CHECK_FALSE(other->refresh());
    }
    return dense().embed(texts);
  };
  const auto index = open(*store, slow, folder.path("v"));
  CHECK(index->rows() == 2);
  const auto found = index->nearest("def", 3).value();
  CHECK(std::ranges::none_of(found, [](const SimilarText& each) { return each.text_id == 2; }));
}

TEST_CASE("vectors of another length are refused and not kept") {
  const auto store = open_or_fail("memory");
  std::size_t length = dimensions;
  Embedder changes = dense();
  changes.embed = [&](std::span<const std::string> texts) -> Result<DenseVectors> {
    auto made = dense().embed(texts).value();
    for (auto& vector : made) vector.resize(length);
    return made;
  };
  const auto index = open(*store, changes, "");
  CHECK(index->nearest("x", 3)->empty());
  REQUIRE(store->put(job(1, "abc")));
  REQUIRE(index->refresh());
  REQUIRE(store->put(job(2, "abd")));
  length = dimensions / 2;
  CHECK(index->refresh().error().code == ErrorCode::bad_reply);
  CHECK(index->rows() == 1);
  CHECK(store->vectors("fake/1", 1, 1)->empty());
  length = dimensions;
  CHECK(index->refresh());
  CHECK(index->rows() == 2);
  REQUIRE(store->put(job(3, "abe")));  // one that was kept by an earlier version
  REQUIRE(store->put_vectors("fake/1", std::vector<StoredVector>{{3, {1, 0}}}));
  CHECK(index->refresh());
  CHECK(index->rows() == 3);
}

TEST_CASE("an empty history has no neighbours") {
  const auto store = open_or_fail("memory");
  CHECK(open(*store, dense(), "")->nearest("x", 3)->empty());
  CHECK(open(*store, sparse(), "")->nearest("x", 3)->empty());
}

TEST_CASE("a damaged end of a row is noticed when the row is wiped") {
  const Scratch folder;
  const auto store = open_or_fail("sqlite:" + folder.path("h.db"));
  fill(*store, 100);
  open(*store, sparse(), folder.path("v"));
  const auto path = [&] {
    for (const auto& entry : std::filesystem::recursive_directory_iterator(folder.path("v")))
      if (entry.path().filename() == "row-ends") return entry.path().string();
    return std::string();
  }();
  for (std::size_t byte = 0; byte < 16; ++byte) {
    CAPTURE(byte);
    auto bytes = read_file(path).value();
    const std::size_t row = 3 * byte + 1;  // its begin, then its end
    bytes[(row - 1) * 8 + byte] = static_cast<char>(bytes[(row - 1) * 8 + byte] ^ 0x81);
    REQUIRE(write_file(path, bytes));
    const auto texts = store->texts(0, 100).value();
    const auto jobs = store->list({.text_id = texts[row].id}).value();
    for (const auto& each : jobs) REQUIRE(store->forget(each.id));
    const auto index = open_index(*store, sparse(), {.folder = folder.path("v")}).value();
    REQUIRE(index->refresh());
    const auto kept = store->texts(0, 100).value();
    for (const auto& text : kept)
      CHECK(near(index->nearest(text.text, 1)->front().score, 1, 1e-9, 0));
  }
}

TEST_CASE("after any write that fails the index goes on") {
  for (const auto& embedder : {sparse(), dense()}) {
    int failed = 0;
    for (int call = 0; failed == call; ++call) {
      CAPTURE(embedder.name);
      CAPTURE(call);
      const Scratch folder;
      const auto store = open_or_fail("sqlite:" + folder.path("h.db"));
      fill(*store, 20);
      const auto index = open(*store, embedder, folder.path("v"));
      REQUIRE(store->put(job(30, "words that nobody wrote before")));
      REQUIRE(store->forget("job-3"));
      writes_until_full = call;
      const auto done = index->refresh();
      writes_until_full.reset();
      if (!done) ++failed;
      REQUIRE(store->put(job(31, "and these are others that nobody wrote")));
      REQUIRE(index->refresh());
      CHECK(index->verify());
      const auto texts = store->texts(0, 100).value();
      for (const auto& text : texts)
        CHECK(near(index->nearest(text.text, 1)->front().score, 1, 1e-6, 0));
    }
    MESSAGE(embedder.name, ": each of ", failed, " writes failed once");
    CHECK(failed > 4);
  }
}

}  // namespace
}  // namespace schedmate::store
