// SPDX-License-Identifier: Apache-2.0
#include "daemon/waiting_ends.hpp"

#include <doctest/doctest.h>

#include <filesystem>
#include <fstream>
#include <limits>
#include <string>
#include <vector>

#include "tests/support/ended_jobs.hpp"
#include "tests/support/faulty_disk.hpp"

namespace schedmate::daemon {
namespace {

namespace fs = std::filesystem;

/// A folder with the file in it.
struct EndsFile {
  testing::Scratch here;
  std::string path = here.path("ends.sqlite");
  std::vector<std::string> lines;  // for the log

  [[nodiscard]] WaitingEnds open(std::int64_t most_ends = 200'000,
                                 std::int64_t most_bytes = 1 << 20) {
    return {{.path = path, .most_ends = most_ends, .most_bytes = most_bytes},
            [this](const std::string& line) { lines.push_back(line); }};
  }
  void make(int ends);
};

std::vector<EndRecord> ends_of(int first, int last, Seconds ran = Seconds(60)) {
  std::vector<EndRecord> ends;
  for (int i = first; i <= last; ++i)
    ends.push_back(
        testing::need(Historian::end_record(testing::ended_job(std::to_string(i), ran))));
  return ends;
}

void EndsFile::make(int ends) { testing::need(open().add(ends_of(1, ends))); }

/// Ids, oldest first.
std::vector<std::string> all_of(WaitingEnds& waiting) {
  std::vector<std::string> ids;
  for (const EndRecord& end : testing::need(waiting.oldest(1000)).ends)
    ids.push_back(end.record.id);
  return ids;
}

TEST_CASE("what waits is there for the next process, oldest first, until it is removed") {
  EndsFile file;
  {
    WaitingEnds waiting = file.open();
    testing::need(waiting.look());
    CHECK_FALSE(fs::exists(file.path));
    testing::need(waiting.add(ends_of(1, 3)));
    testing::need(waiting.add(ends_of(4, 5)));
    CHECK(waiting.size() == 5);
  }
  CHECK((fs::status(file.path).permissions() & fs::perms::all) ==
        (fs::perms::owner_read | fs::perms::owner_write));
  {
    WaitingEnds waiting = file.open();
    testing::need(waiting.look());
    CHECK(waiting.size() == 5);
    const auto batch = testing::need(waiting.oldest(2));
    REQUIRE(batch.ends.size() == 2);
    CHECK(batch.ends[0].record == ends_of(1, 1).front().record);
    testing::need(waiting.remove(batch.last));
    CHECK(waiting.size() == 3);
    testing::need(waiting.add(ends_of(6, 6)));
  }
  WaitingEnds waiting = file.open();
  CHECK(all_of(waiting).empty());  // it has not looked
  testing::need(waiting.look());
  CHECK(all_of(waiting) == std::vector<std::string>{"3", "4", "5", "6"});
  testing::need(waiting.remove(testing::need(waiting.oldest(10)).last));
  CHECK(waiting.size() == 0);
  CHECK(fs::is_empty(file.here.path()));
  CHECK(file.lines.empty());
}

TEST_CASE("of a job that ends again the last end waits; of one that had ended before the first") {
  EndsFile file;
  WaitingEnds waiting = file.open();
  testing::need(waiting.add(ends_of(1, 2)));
  testing::need(waiting.add(ends_of(1, 1, Seconds(90))));
  CHECK(waiting.size() == 2);
  CHECK(all_of(waiting) == std::vector<std::string>{"2", "1"});
  std::vector<EndRecord> old = ends_of(1, 3, Seconds(5));
  for (EndRecord& end : old) end.is_old = true;
  testing::need(waiting.add(old));
  CHECK(all_of(waiting) == std::vector<std::string>{"2", "1", "3"});
  const auto ends = testing::need(waiting.oldest(10)).ends;
  CHECK(ends[1].record.outcome->duration == Seconds(90));
  CHECK_FALSE(ends[1].is_old);
  CHECK(ends[2].is_old);
  // Ids come again.
  testing::need(waiting.add(std::vector{
      testing::need(Historian::end_record(testing::ended_job("1", Seconds(60), 9000)))}));
  CHECK(waiting.size() == 4);
}

TEST_CASE("of too many, or too long ones, the oldest go, and are counted") {
  EndsFile file;
  {
    WaitingEnds waiting = file.open(10);
    testing::need(waiting.add(ends_of(1, 8)));
    CHECK(waiting.dropped() == 0);
    testing::need(waiting.add(ends_of(9, 25)));
    CHECK(waiting.size() == 10);
    CHECK(waiting.dropped() == 15);
    CHECK(all_of(waiting).front() == "16");
  }
  const auto bytes = static_cast<std::int64_t>(end_text(ends_of(25, 25).front()).size());
  WaitingEnds waiting = file.open(10, 3 * bytes);
  testing::need(waiting.look());
  CHECK(waiting.size() == 10);
  testing::need(waiting.add(ends_of(26, 26)));
  CHECK(all_of(waiting) == std::vector<std::string>{"24", "25", "26"});
  CHECK(waiting.dropped() == 8);
}

TEST_CASE("a file that is of no use is set aside, said so, and another takes its place") {
  EndsFile file;
  const auto is_set_aside = [&](int times) {
    WaitingEnds waiting = file.open();
    testing::need(waiting.look());
    CHECK(waiting.size() == 0);
    testing::need(waiting.add(ends_of(1, 1)));
    CHECK(all_of(waiting) == std::vector<std::string>{"1"});
    CHECK(file.lines.size() == static_cast<std::size_t>(times));
    const std::string aside = file.path + ".damaged." + std::to_string(times);
    CHECK(file.lines.back().contains(aside));
    return fs::exists(fs::symlink_status(aside));
  };
  SUBCASE("no database") {
    std::ofstream(file.path) << std::string(5000, 'x');
    CHECK(is_set_aside(1));
    std::ofstream(file.path) << std::string(5000, 'y');
    CHECK(is_set_aside(2));
  }
  SUBCASE("cut short") {
    file.make(300);
    fs::resize_file(file.path, fs::file_size(file.path) / 2);
    CHECK(is_set_aside(1));
  }
  SUBCASE("its pages overwritten") {
    file.make(300);
    std::fstream pages(file.path, std::ios::in | std::ios::out | std::ios::binary);
    pages.seekp(4096);
    pages << std::string(fs::file_size(file.path) - 4096, 'x');
    pages.close();
    CHECK(is_set_aside(1));
  }
  SUBCASE("of another program") {
    auto other = testing::need(sqlite::Database::open({.path = file.path, .what = "other"}));
    other->run("CREATE TABLE other (x)");
    other.reset();
    CHECK(is_set_aside(1));
  }
  SUBCASE("of a newer version") {
    file.make(2);
    auto newer = testing::need(sqlite::Database::open({.path = file.path, .what = "newer"}));
    newer->run("PRAGMA user_version = 99");
    newer.reset();
    CHECK(is_set_aside(1));
  }
  SUBCASE("a link to elsewhere") {
    std::ofstream(file.here.path("elsewhere")) << "keep";
    fs::create_symlink(file.here.path("elsewhere"), file.path);
    CHECK(is_set_aside(1));
    CHECK(fs::file_size(file.here.path("elsewhere")) == 4);
  }
}

TEST_CASE("an end that cannot be read is left out, and the others are there") {
  EndsFile file;
  file.make(3);
  auto spoilt = testing::need(sqlite::Database::open({.path = file.path, .what = "spoilt"}));
  spoilt->run("UPDATE ends SET body = CAST('{}' AS BLOB) WHERE job = '2'");
  testing::need(spoilt->take_error());
  spoilt.reset();
  WaitingEnds waiting = file.open();
  testing::need(waiting.look());
  const auto batch = testing::need(waiting.oldest(10));
  CHECK(batch.ends.size() == 2);
  CHECK(batch.unreadable == 1);
  testing::need(waiting.remove(batch.last));
  CHECK(waiting.size() == 0);
}

TEST_CASE("what was acknowledged survives a kill and a power cut") {
  for (const auto loss : {testing::Loss::process, testing::Loss::all}) {
    testing::FaultyDisk disk(1);
    testing::DiskImage image;
    const WaitingEnds::Options options{.path = "/ends.sqlite", .vfs = disk.vfs()};
    {
      WaitingEnds waiting(options, {});
      testing::need(waiting.add(ends_of(1, 40)));
      testing::need(waiting.add(ends_of(41, 50)));
      testing::need(waiting.remove(testing::need(waiting.oldest(7)).last));
      image = disk.image();
    }
    disk.restore(image);
    disk.crash(loss);
    WaitingEnds waiting(options, {});
    testing::need(waiting.look());
    CHECK(waiting.size() == 43);
    CHECK(all_of(waiting).front() == "8");
  }
}

TEST_CASE("a full disk adds nothing and loses nothing; what was given is not given again") {
  testing::FaultyDisk disk(1);
  WaitingEnds waiting({.path = "/ends.sqlite", .vfs = disk.vfs()}, {});
  testing::need(waiting.add(ends_of(1, 4)));
  disk.faults.capacity = 0;
  CHECK(waiting.add(ends_of(5, 500)).error().code == ErrorCode::unavailable);
  const auto batch = testing::need(waiting.oldest(2));
  REQUIRE(batch.ends.size() == 2);
  CHECK_FALSE(waiting.remove(batch.last));
  CHECK(all_of(waiting) == std::vector<std::string>{"3", "4"});
  CHECK(waiting.size() == 2);
  disk.faults.capacity = std::numeric_limits<std::size_t>::max();
  testing::need(waiting.add(ends_of(5, 5)));
  CHECK(all_of(waiting) == std::vector<std::string>{"3", "4", "5"});
  CHECK(waiting.size() == 3);
}

}  // namespace
}  // namespace schedmate::daemon
