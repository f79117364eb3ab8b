// SPDX-License-Identifier: Apache-2.0
/// The fuzz targets in an ordinary test run: seeded damage to the fixtures, the same every time.
#include <doctest/doctest.h>

#include <array>
#include <filesystem>
#include <vector>

#include "base/input.hpp"
#include "tests/fuzz/corrupt.hpp"
#include "tests/fuzz/targets.hpp"
#include "tests/support/effort.hpp"

namespace schedmate::fuzz {
namespace {

namespace fs = std::filesystem;

struct Target {
  std::string name;
  void (*run)(std::string_view);
};

std::vector<Target> targets() {
  return {
#define FORMAT(name, summary) {#name, fuzz_##name},
#include "trace/formats.def"
#undef FORMAT
      {"clusters", fuzz_cluster},
      {"tables", fuzz_tables},
      {"reply", fuzz_reply},
      {"redact", fuzz_redact},
      {"ignore", fuzz_ignore},
      {"notebook", fuzz_notebook},
      {"log_lines", fuzz_log_lines},
      {"log_formats", fuzz_log_formats},
      {"kernel_log", fuzz_kernel_log},
      {"log_reply", fuzz_log_reply},
      {"recipes", fuzz_recipes},
      {"accounting", fuzz_accounting},
      {"elastic", fuzz_elastic},
      {"jobstats", fuzz_jobstats},
      {"slurm/", fuzz_slurm},
      {"slurm_library/", fuzz_slurm_library},
      {"http/", fuzz_http},
      {"wire/", fuzz_wire},
      {"reader/", fuzz_reader},
      {"probe/", fuzz_probe},
      {"ray/", fuzz_ray},
  };
}

/// Fixtures whose path names the target; for the tables, three of the lucid folder in one text.
std::vector<std::string> seeds_of(const std::string& target) {
  const fs::path fixtures = SCHEDMATE_SOURCE_DIR "/tests/fixtures";
  if (target == "tables") {
    const std::string lucid = (fixtures / "traces/lucid/").string();
    return {read_file(lucid + "single_data.csv").value() + "\n#\n" +
            read_file(lucid + "colocate_info.csv").value() + "\n#\n" +
            read_file(lucid + "throughput_pred.csv").value()};
  }
  std::vector<std::string> seeds;
  if (target == "recipes") {
    for (const char* file : {"recipes/heavy.toml", "interference.toml", "extraction_errors.toml"})
      seeds.push_back(read_file(std::string(SCHEDMATE_SOURCE_DIR "/data/") + file).value());
    return seeds;
  }
  if (target == "elastic")
    seeds.push_back(read_file(SCHEDMATE_SOURCE_DIR "/data/elastic/syn_tables.toml").value());
  for (const fs::directory_entry& entry : fs::recursive_directory_iterator(fixtures)) {
    const std::string path = fs::relative(entry.path(), fixtures).string();
    if (!entry.is_regular_file() || path.find(target) == std::string::npos) continue;
    if (path.ends_with(".gz")) continue;  // whole dumps: too large to be damaged a thousand times
    seeds.push_back(read_file(entry.path().string()).value());
  }
  return seeds;
}

}  // namespace

TEST_CASE("no reader breaks a promise on damaged fixtures") {
  for (const Target& target : targets()) {
    const auto seeds = seeds_of(target.name);
    REQUIRE_MESSAGE(!seeds.empty(), target.name);
    for (std::uint64_t round = 0; round < (testing::sanitized ? 700 : 1500); ++round) {
      Random random(mix(round));
      target.run(corrupt(seeds[round % seeds.size()], random));
    }
  }
}

TEST_CASE("no reader breaks a promise on noise") {
  constexpr std::string_view letters = "01239-:;,|\"\\{}[]= \n\r\t.eEnul#TZ";
  for (const Target& target : targets()) {
    for (std::uint64_t seed = 0; seed < 500; ++seed) {
      Random random(seed);
      std::string text(static_cast<std::size_t>(random.below(400)), ' ');
      for (char& c : text) c = letters[static_cast<std::size_t>(random.below(letters.size()))];
      target.run(text);
    }
  }
}

}  // namespace schedmate::fuzz
