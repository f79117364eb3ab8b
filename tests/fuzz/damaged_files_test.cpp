// SPDX-License-Identifier: Apache-2.0
/// 200 damaged copies of an input of every format, read from disk through the public function.
#include <doctest/doctest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <iterator>
#include <schedmate/trace.hpp>
#include <set>

#include "base/input.hpp"
#include "base/output.hpp"
#include "tests/fuzz/corrupt.hpp"
#include "tests/fuzz/targets.hpp"
#include "tests/support/effort.hpp"
#include "tests/support/needs.hpp"
#include "tests/support/places.hpp"

namespace schedmate::fuzz {
namespace {

namespace fs = std::filesystem;
constexpr int copies = testing::sanitized ? 100 : 200;
constexpr std::size_t longest_text = 40'000;

using testing::needs_shared;
using testing::shared;

struct Input {
  std::string format, path;
};

std::string raw_bytes(const fs::path& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

std::set<std::string> files_of(const fs::path& folder) {
  std::set<std::string> names;
  for (const fs::directory_entry& entry : fs::recursive_directory_iterator(folder)) {
    names.insert(entry.path().string());
  }
  return names;
}

struct Outcome {
  int errors = 0, skips = 0, untouched = 0;
};

void read_damaged(const std::string& spec, Outcome& outcome) {
  const auto trace = read_trace(spec, {});
  check_trace(trace);
  if (!trace) {
    ++outcome.errors;
    CHECK(trace.error().code == ErrorCode::invalid);
  } else {
    ++(trace->report.dropped.empty() ? outcome.untouched : outcome.skips);
  }
}

/// Each gives an error or counted skips, and no other file is touched.
void read_damaged_copies(const std::vector<Input>& inputs) {
  const fs::path folder = fs::temp_directory_path() / ("damaged_" + std::to_string(::getpid()));
  fs::create_directories(folder);
  const std::string path = (folder / "damaged").string();
  for (const Input& input : inputs) {
    const std::string text = read_file(input.path).value().substr(0, longest_text);
    Outcome outcome;
    for (std::uint64_t seed = 1; seed <= copies; ++seed) {
      Random random(seed);
      REQUIRE(write_file(path, corrupt(text, random)));
      read_damaged(input.format + ":" + path, outcome);
    }
    CHECK(files_of(folder) == std::set<std::string>{path});
    CHECK(outcome.errors + outcome.skips + outcome.untouched == copies);
    CHECK_MESSAGE(outcome.errors + outcome.skips > copies / 4, input.format);  // it did hurt
  }
  fs::remove_all(folder);
}

}  // namespace

TEST_CASE("damaged fixtures give an error or counted skips, and no other file is touched") {
  const std::string fixtures = testing::fixtures + "traces/";
  read_damaged_copies({{"helios", fixtures + "helios.csv"},
                       {"philly", fixtures + "philly.csv"},
                       {"philly", fixtures + "philly.json"},
                       {"acme", fixtures + "acme_kalos.csv"},
                       {"lucid", fixtures + "lucid/jobs.csv"},
                       {"sacct", fixtures + "sacct.txt"},
                       {"sacct", fixtures + "sacct_25.json"},
                       {"swf", fixtures + "swf.swf"}});
}

TEST_CASE("damaged real inputs give an error or counted skips, and no other file is touched" *
          needs_shared("data/traces") * needs_shared("data/lucid")) {
  read_damaged_copies({{"helios", shared("data/traces/venus_sept2020_jobs.csv.gz")},
                       {"philly", shared("data/traces/philly_jobs_10vc.csv.gz")},
                       {"lucid", shared("data/lucid/input/jobs.csv.gz")}});
}

TEST_CASE("damage to the compressed bytes never passes for a shorter file" *
          needs_shared("data/traces")) {
  const std::string real = shared("data/traces/venus_sept2020_jobs.csv.gz");
  const fs::path folder = fs::temp_directory_path() / ("bits_" + std::to_string(::getpid()));
  fs::create_directories(folder);
  const std::string path = (folder / "damaged.csv.gz").string();
  const std::string whole = raw_bytes(real);
  for (std::uint64_t seed = 1; seed <= copies; ++seed) {
    Random random(seed);
    std::string bytes = whole;
    if (seed % 2 == 0) {
      bytes.resize(
          static_cast<std::size_t>(random.between(2, static_cast<std::int64_t>(bytes.size()) - 1)));
    } else {  // behind the header, which no checksum covers
      char& c = bytes[static_cast<std::size_t>(
          random.between(64, static_cast<std::int64_t>(bytes.size()) - 1))];
      c = static_cast<char>(c ^ (1 << random.below(8)));
    }
    REQUIRE(write_file(path, bytes));
    const auto trace = read_trace("helios:" + path, {});
    CHECK_MESSAGE(!trace, seed);
  }
  fs::remove_all(folder);
}

}  // namespace schedmate::fuzz
