// SPDX-License-Identifier: Apache-2.0
/// 200 damaged copies of real inputs (fixtures where ../shared is absent or has none) for every
/// format, read from disk through the public function.
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

namespace schedmate::fuzz {
namespace {

namespace fs = std::filesystem;
constexpr int copies = 200;
constexpr std::size_t longest_text = 40'000;

const std::string shared = SCHEDMATE_SOURCE_DIR "/../shared/data/";
const std::string fixtures = SCHEDMATE_SOURCE_DIR "/tests/fixtures/traces/";

struct Input {
  std::string format, real, fixture;
};
const std::vector<Input> inputs = {
    {"helios", shared + "traces/venus_sept2020_jobs.csv.gz", fixtures + "helios.csv"},
    {"philly", shared + "traces/philly_jobs_10vc.csv.gz", fixtures + "philly.csv"},
    {"philly", "", fixtures + "philly.json"},
    {"acme", "", fixtures + "acme_kalos.csv"},
    {"lucid", shared + "lucid/input/jobs.csv.gz", fixtures + "lucid/jobs.csv"},
    {"sacct", "", fixtures + "sacct.txt"},
    {"sacct", "", fixtures + "sacct_25.json"},
    {"swf", "", fixtures + "swf.swf"},
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

}  // namespace

TEST_CASE("damaged texts give an error or counted skips, and no other file is touched") {
  const fs::path folder = fs::temp_directory_path() / ("damaged_" + std::to_string(::getpid()));
  fs::create_directories(folder);
  const std::string path = (folder / "damaged").string();
  for (const Input& input : inputs) {
    const bool real = !input.real.empty() && fs::exists(input.real);
    if (!real && !input.real.empty())
      MESSAGE("fixture in place of a real input: ../shared is absent");
    const std::string text =
        read_file(real ? input.real : input.fixture).value().substr(0, longest_text);
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

TEST_CASE("damage to the compressed bytes never passes for a shorter file") {
  const std::string real = inputs.front().real;
  if (!fs::exists(real)) {
    MESSAGE("skipped: ../shared is absent");
    return;
  }
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
