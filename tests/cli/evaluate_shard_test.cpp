// SPDX-License-Identifier: Apache-2.0
#include <doctest/doctest.h>
#include <fmt/format.h>

#include <array>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>

#include "base/sha256.hpp"
#include "base/text.hpp"
#include "tests/cli/evaluate_world.hpp"

namespace schedmate {
namespace {

/// Small experiments of each kind in one folder: with a sweep, of estimators, of elastic jobs.
struct Shards : World {
  Shards() {
    const std::string sweep =
        "[sweep]\nvalues = [\"1\", \"5\"]\n[[arm]]\nlabel = \"k\"\n"
        "policy = \"sjf:estimate=last_k:{at}\"\n";
    write("small.toml", std::string(small_experiment) + sweep);
    write("errors.toml",
          "title = \"E\"\nhost = \"last_k\"\nestimates = true\nperturbations = 5\n"
          "warm_up_days = 0\n[[trace]]\nname = \"crowd\"\ntrace = \"helios:jobs.csv\"\n"
          "cluster = \"cluster.toml\"\n[[arm]]\npolicy = \"gbdt\"\n");
    write("elastic.toml",
          "title = \"T\"\nhost = \"sia\"\nperturbations = 3\n[settings]\n"
          "elastic.tables = \"here\"\n[[trace]]\nname = \"syn\"\ntrace = \"sia:syn.csv\"\n"
          "cluster = \"syn40\"\n[[arm]]\nlabel = \"sm\"\npolicy = \"sia+sm\"\n");
    const std::string data = SCHEDMATE_SOURCE_DIR "/data/elastic/syn";
    write("syn.csv", contents(data + "/jobs.csv"));
    std::filesystem::copy(data, path("here"), std::filesystem::copy_options::recursive);
  }
  [[nodiscard]] Ran make(const std::vector<std::string>& more = {}) const {
    std::vector<std::string> words{"evaluate",     "small.toml", "errors.toml",
                                   "elastic.toml", "--out",      "out"};
    words.insert(words.end(), more.begin(), more.end());
    return run(words);
  }
};

constexpr std::array names = {"small", "errors", "elastic"};

void check_equal(const World& one, const World& two) {
  for (const char* name : names) {
    for (const char* ending : {".csv", ".manifest"}) {
      const std::string file = fmt::format("out/{}{}", name, ending);
      CHECK_FALSE(one.read(file).empty());
      CHECK_MESSAGE(one.read(file) == two.read(file), file);
    }
    CHECK_FALSE(std::filesystem::exists(two.path(fmt::format("out/{}.runs", name))));
  }
}

std::vector<std::string> kept(const World& world, const std::string& name) {
  std::vector<std::string> paths;
  for (const auto& entry :
       std::filesystem::recursive_directory_iterator(world.path(fmt::format("out/{}.runs", name))))
    if (entry.is_regular_file()) paths.push_back(entry.path().string());
  return paths;
}

TEST_CASE("evaluate: shards in any order, then merged, give the CSVs of a single run") {
  const Shards one;
  const Shards two;
  REQUIRE(one.make().status == 0);
  for (const char* shard : {"3/3", "1/3", "2/3"}) {
    const Ran ran = two.make({"--shard", shard});
    REQUIRE_MESSAGE(ran.status == 0, ran.err);
    CHECK(ran.out.contains("out/small.csv: 2 of its 6 runs are there\n"));
    CHECK(two.read("out/small.csv").empty());
  }
  CHECK(kept(two, "small").size() == 6);
  CHECK(kept(two, "errors").size() == 5);
  CHECK(kept(two, "elastic").size() == 3);
  REQUIRE(two.make({"--threads", "2"}).status == 0);
  check_equal(one, two);
  CHECK(two.make({"--shard", "1/3"}).out.contains("out/small.csv: already exists\n"));
}

TEST_CASE("evaluate: what a shard has not made is made when shards are merged") {
  const Shards one;
  const Shards two;
  REQUIRE(one.make().status == 0);
  const Ran ran = two.make({"--shard", "2/4", "--json"});
  REQUIRE_MESSAGE(ran.status == 0, ran.err);
  const auto document = nlohmann::json::parse(ran.out);
  CHECK(document["schema"] == "schedmate.evaluate_shard.v1");
  CHECK(document["experiments"][1]["runs"] == 1);
  CHECK(document["experiments"][1]["runs_of_all_shards"] == 5);
  REQUIRE(two.make().status == 0);
  check_equal(one, two);
}

TEST_CASE("evaluate: runs that were kept are taken, of other inputs not") {
  const Shards one;
  REQUIRE(one.make({"--shard", "1/1"}).status == 0);
  const Shards two;
  REQUIRE(two.make().status == 0);
  // The second number is how many jobs count; shares of them are in the CSV.
  for (const std::string& path : kept(one, "errors")) {
    std::string numbers = contents(path);
    numbers.erase(0, numbers.find('\n') + 1);
    std::vector<std::string> lines;
    for (const std::string_view line : split(numbers, '\n')) lines.emplace_back(line);
    REQUIRE(lines.size() > 4);
    lines[1] = "3000";
    std::string text;
    for (const std::string& line : lines)
      if (!line.empty()) text += line + "\n";
    std::ofstream(path, std::ios::binary) << "schedmate run 1 " << sha256(text) << "\n" << text;
  }
  one.write("syn.csv", one.read("syn.csv") + "\n");
  two.write("syn.csv", two.read("syn.csv") + "\n");
  REQUIRE(one.make().status == 0);
  REQUIRE(two.make().status == 0);
  CHECK(one.read("out/small.csv") == two.read("out/small.csv"));
  CHECK(one.read("out/elastic.csv") == two.read("out/elastic.csv"));
  CHECK(one.read("out/errors.csv") != two.read("out/errors.csv"));
}

TEST_CASE("evaluate: no shard without its number, none with reports") {
  const Shards here;
  const Ran wrong = here.make({"--shard", "4/3"});
  CHECK(wrong.status == 2);
  CHECK(wrong.err.contains("--shard 4/3: must be K/N with 1 <= K <= N <= 10000, as in 2/8"));
  const Ran book = here.make({"--shard", "1/3", "--book", "report.md"});
  CHECK(book.status == 2);
  CHECK(book.err.contains("--shard makes no report"));
}

}  // namespace
}  // namespace schedmate
