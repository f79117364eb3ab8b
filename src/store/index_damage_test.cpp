// SPDX-License-Identifier: Apache-2.0
/// What the search index does with files that are damaged, of another store or half written.
#include <doctest/doctest.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <optional>
#include <set>
#include <string>
#include <utility>

#include "base/input.hpp"
#include "base/output.hpp"
#include "store/column.hpp"
#include "tests/support/near.hpp"
#include "tests/support/store_places.hpp"
#include "tests/support/text_indexes.hpp"

namespace {

std::optional<int> writes_until_full;  ///< calls of pwrite in this program

class IndexDisk;
IndexDisk* watched = nullptr;

/// Sees what is written and synced of the index in a folder "v" while it is there.
class IndexDisk {
 public:
  IndexDisk() { watched = this; }
  IndexDisk(const IndexDisk&) = delete;
  IndexDisk& operator=(const IndexDisk&) = delete;
  ~IndexDisk() { watched = nullptr; }

  int too_early = 0;  ///< writes before the sync that they had to wait for
  int manifests = 0, syncs = 0;
  std::optional<int> syncs_until_fault{};

  void write(int file, const void* bytes) {
    const std::string path = path_of(file);
    if (!path.contains("/v/")) return;
    if (!path.ends_with("/manifest")) {
      too_early += is_void_ ? 1 : 0;
      unsynced_.insert(path);
      return;
    }
    std::array<std::uint64_t, 2> key_and_rows{};
    std::memcpy(key_and_rows.data(), bytes, sizeof key_and_rows);
    manifests += 1;
    is_void_ = key_and_rows[0] == 0;
    too_early += key_and_rows[1] != 0 && !unsynced_.empty() ? 1 : 0;
  }
  /// False: it fails.
  bool sync(int file) {
    const std::string path = path_of(file);
    if (!path.contains("/v/")) return true;
    if (syncs_until_fault && (*syncs_until_fault)-- == 0) return false;
    syncs += 1;
    unsynced_.erase(path);
    if (path.ends_with("/manifest")) is_void_ = false;
    return true;
  }

 private:
  static std::string path_of(int file) {
    return std::filesystem::read_symlink("/proc/self/fd/" + std::to_string(file));
  }
  std::set<std::string> unsynced_;  ///< columns and their checksums
  bool is_void_ = false;            ///< the manifest is to name nothing, which is not synced
};

}  // namespace

// NOLINTNEXTLINE(readability-inconsistent-declaration-parameter-name): the library's are reserved
extern "C" ssize_t pwrite(int file, const void* bytes, std::size_t size, off_t offset) {
  if (writes_until_full && (*writes_until_full)-- == 0) {
    errno = ENOSPC;
    return -1;
  }
  if (watched != nullptr) watched->write(file, bytes);
  return ::syscall(SYS_pwrite64, file, bytes, size, offset);
}

// NOLINTNEXTLINE(readability-inconsistent-declaration-parameter-name): the library's are reserved
extern "C" int fdatasync(int file) {
  if (watched != nullptr && !watched->sync(file)) {
    errno = EIO;
    return -1;
  }
  return static_cast<int>(::syscall(SYS_fdatasync, file));
}

namespace schedmate::store {
namespace {

using testing::dense;
using testing::dimensions;
using testing::fill;
using testing::job;
using testing::near;
using testing::open_or_fail;
using testing::open_refreshed;
using testing::Scratch;
using testing::sparse;

std::vector<std::string> files_in(const std::string& folder) {
  std::vector<std::string> names;
  for (const auto& entry : std::filesystem::recursive_directory_iterator(folder)) {
    if (entry.is_regular_file()) names.push_back(entry.path());
  }
  return names;
}

/// Some bits of the byte.
void flip(const std::string& path, std::size_t at) {
  auto bytes = read_file(path).value();
  bytes.at(at) = static_cast<char>(bytes.at(at) ^ 0xC1);
  REQUIRE(write_file(path, bytes));
}

TEST_CASE("damaged files are made again, whichever it is and however it is damaged") {
  for (const auto& embedder : {sparse(), dense()}) {
    const Scratch folder;
    const auto store = open_or_fail("sqlite:" + folder.path("h.db"));
    fill(*store, 300);
    const auto query = store->texts(0, 1)->front().text;
    const auto good = open_refreshed(*store, embedder, folder.path("v"))->nearest(query, 3).value();
    for (const auto& path : files_in(folder.path("v"))) {
      for (const bool cut : {false, true}) {
        CAPTURE(path);
        CAPTURE(cut);
        const auto size = std::filesystem::file_size(path);
        if (size == 0) continue;
        if (cut) {
          std::filesystem::resize_file(path, size / 2);
        } else {
          flip(path, size / 3);
        }
        CHECK(open_refreshed(*store, embedder, folder.path("v"))->nearest(query, 3).value() ==
              good);
      }
    }
  }
}

TEST_CASE("a block that the disk does not give is damaged, and no signal comes") {
  const Scratch folder;
  auto column = Column::open(folder.path("ids")).value();
  REQUIRE(column.append(std::string(3 * Column::block_bytes, 'a')));
  REQUIRE(column.seal());
  // Whoever looks there through the mapping gets SIGBUS, as where the disk fails.
  std::filesystem::resize_file(folder.path("ids"), Column::block_bytes);
  CHECK(column.check(0, Column::block_bytes));
  const auto gone = column.check(Column::block_bytes, 1);
  REQUIRE_FALSE(gone.has_value());
  CHECK(gone.error().code == ErrorCode::invalid);
}

TEST_CASE("what is new is added to damaged files, and what is gone leaves them") {
  for (const auto& embedder : {sparse(), dense()}) {
    const Scratch folder;
    const auto store = open_or_fail("sqlite:" + folder.path("h.db"));
    fill(*store, 300);
    open_refreshed(*store, embedder, folder.path("v"));
    int number = 1000;
    for (const auto& path : files_in(folder.path("v"))) {
      for (const bool is_new : {false, true}) {
        CAPTURE(path);
        CAPTURE(is_new);
        const auto size = std::filesystem::file_size(path);
        if (size == 0) continue;
        flip(path, size / 3);
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
    open_refreshed(*store, sparse(), folder.path("v"));
    REQUIRE(store->flush());
  }
  std::filesystem::rename(copy, path);
  const auto store = open_or_fail("sqlite:" + path);
  REQUIRE(store->put(job(3, "nine c")));  // gets the number that "two b" had
  const auto index = open_refreshed(*store, sparse(), folder.path("v"));
  CHECK(index->nearest("two b", 3)->empty());
  CHECK(near(index->nearest("nine c", 1)->front().score, 1, 1e-12, 0));

  const auto other = open_or_fail("sqlite:" + folder.path("other.db"));
  CHECK(open_refreshed(*other, sparse(), folder.path("v"))->nearest("one a", 3)->empty());
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
      open_refreshed(*store, sparse(), folder.path("v"));
      REQUIRE(store->forget(gone));
      open_refreshed(*store, sparse(), folder.path("v"));
      REQUIRE(store->flush());
    }
    std::filesystem::rename(copy, path);
    {
      const auto store = open_or_fail("sqlite:" + path);
      for (const std::string text : {"one a", "two b"}) {
        const auto found =
            open_refreshed(*store, sparse(), folder.path("v"))->nearest(text, 1).value();
        REQUIRE(found.size() == 1);
        CHECK(near(found.front().score, 1, 1e-12, 0));
      }
      REQUIRE(store->forget(last ? "job-1" : "job-2"));  // by the number that the other one had
      const auto index = open_refreshed(*store, sparse(), folder.path("v"));
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
  open_refreshed(*store, dense(), folder.path("v"));
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
  const auto index = open_refreshed(*store, slow, folder.path("v"));
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
  const auto index = open_refreshed(*store, changes, "");
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

TEST_CASE("a damaged end of a row is noticed when the row is wiped") {
  const Scratch folder;
  const auto store = open_or_fail("sqlite:" + folder.path("h.db"));
  fill(*store, 100);
  open_refreshed(*store, sparse(), folder.path("v"));
  const auto files = files_in(folder.path("v"));
  const auto path = *std::ranges::find_if(
      files, [](const std::string& each) { return each.ends_with("/row-ends"); });
  for (std::size_t byte = 0; byte < 16; ++byte) {
    CAPTURE(byte);
    const std::size_t row = 3 * byte + 1;  // its begin, then its end
    flip(path, (row - 1) * 8 + byte);
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

TEST_CASE("what a manifest names is on the disk before it, and what begins anew leaves nothing") {
  for (const auto& embedder : {sparse(), dense()}) {
    CAPTURE(embedder.name);
    const Scratch folder;
    const auto store = open_or_fail("sqlite:" + folder.path("h.db"));
    fill(*store, 100);
    IndexDisk disk;
    const auto index = open_refreshed(*store, embedder, folder.path("v"));
    CHECK(disk.syncs <= 2 * 8 + 2);  // columns, their checksums; the manifest twice
    REQUIRE(store->put(job(200, "words that nobody wrote before")));
    REQUIRE(store->forget("job-3"));
    REQUIRE(index->refresh());
    const auto other = open_or_fail("sqlite:" + folder.path("other.db"));
    fill(*other, 5);
    open_refreshed(*other, embedder, folder.path("v"));
    CHECK(disk.manifests >= 7);
    CHECK(disk.too_early == 0);
    for (const auto& path : files_in(folder.path("v")))
      if (path.ends_with("/ids"))
        CHECK(std::filesystem::file_size(path) == 8 * other->texts(0, 10)->size());
  }
}

/// An index whose store has one text more, and another one less, since it was made.
struct StaleIndex {
  explicit StaleIndex(const Embedder& embedder) {
    fill(*store, 20);
    index = open_refreshed(*store, embedder, folder.path("v"));
    REQUIRE(store->put(job(30, "words that nobody wrote before")));
    REQUIRE(store->forget("job-3"));
  }
  Scratch folder;
  std::unique_ptr<Store> store = open_or_fail("sqlite:" + folder.path("h.db"));
  std::unique_ptr<TextIndex> index;
};

TEST_CASE("what a sync has failed to keep is written again before a manifest names it") {
  for (const auto& embedder : {sparse(), dense()}) {
    int failed = 0;
    for (int call = 0; failed == call; ++call) {
      CAPTURE(embedder.name);
      CAPTURE(call);
      const StaleIndex here(embedder);
      IndexDisk disk;
      disk.syncs_until_fault = call;
      if (!here.index->refresh()) ++failed;
      disk.syncs_until_fault.reset();
      CHECK(open_refreshed(*here.store, embedder, here.folder.path("v"))->verify());
      CHECK(disk.too_early == 0);
    }
    CHECK(failed >= 4);  // of one batch, each column's
  }
}

TEST_CASE("after any write that fails the index goes on") {
  for (const auto& embedder : {sparse(), dense()}) {
    int failed = 0;
    for (int call = 0; failed == call; ++call) {
      CAPTURE(embedder.name);
      CAPTURE(call);
      const StaleIndex here(embedder);
      writes_until_full = call;
      const auto done = here.index->refresh();
      writes_until_full.reset();
      if (!done) ++failed;
      REQUIRE(here.store->put(job(31, "and these are others that nobody wrote")));
      REQUIRE(here.index->refresh());
      CHECK(here.index->verify());
      const auto texts = here.store->texts(0, 100).value();
      for (const auto& text : texts)
        CHECK(near(here.index->nearest(text.text, 1)->front().score, 1, 1e-6, 0));
    }
    MESSAGE(embedder.name, ": each of ", failed, " writes failed once");
    CHECK(failed > 4);
  }
}

}  // namespace
}  // namespace schedmate::store
