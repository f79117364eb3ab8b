// SPDX-License-Identifier: Apache-2.0
#include <doctest/doctest.h>

#include <filesystem>
#include <fstream>

#include "facts/extract.hpp"
#include "tests/support/scratch.hpp"

namespace schedmate::facts {
namespace {

void write(const std::string& path, std::string_view text) { std::ofstream(path) << text; }

TEST_CASE("an operator's folder adds rows and key names without compiling") {
  const testing::Scratch scratch;
  const std::string folder = scratch.path("");
  write(folder + "/datasets.toml",
        "[[dataset]]\nname = \"Lab scans\"\ndomain = \"cv\"\naliases = [\"labscans\"]\n");
  write(folder + "/keys.toml",
        "[[key]]\nfield = \"batch_size\"\nmeaning = \"per_device\"\nnames = [\"portion\"]\n");
  const auto rules = load_fact_rules(folder);
  REQUIRE_MESSAGE(rules, rules.error().message);
  REQUIRE((*rules)->tables.find_dataset("/data/labscans/train"));
  CHECK((*rules)->tables.find_dataset("/data/labscans/train")->name == "Lab scans");
  CHECK((*rules)->tables.find_dataset("cifar10"));
  REQUIRE((*rules)->keys.find("train.portion").size() == 1);
  CHECK((*rules)->keys.find("train.portion")[0].meaning == "per_device");
  CHECK_FALSE((*load_fact_rules(""))->tables.find_dataset("labscans").has_value());
}

TEST_CASE("a folder that is missing or wrong is an error that names it") {
  CHECK(load_fact_rules("/no/such/folder").error().message ==
        "/no/such/folder: no such folder (setting rules)");
  const testing::Scratch scratch;
  const std::string folder = scratch.path("");
  write(folder + "/keys.toml", "[[key]]\nfield = 3\n");
  const auto rules = load_fact_rules(folder);
  REQUIRE_FALSE(rules);
  CHECK(rules.error().message.contains("keys.toml"));
}

TEST_CASE("an operator's rows count as they are when a job is read") {
  const testing::Scratch scratch;
  const std::string folder = scratch.path("");
  write(folder + "/train.py", "import torch\ntorch.optim.SGD(model.parameters(), lr=0.1)\n");
  const JobSource job{folder, ".", "python train.py", 1, 1, "", folder};
  CHECK(extract_facts(job));
  const auto kept = load_fact_rules(folder);
  REQUIRE(kept);
  write(folder + "/keys.toml", "[[key]]\nfield = 3\n");
  CHECK_FALSE(extract_facts(job));
  CHECK(extract_facts(job, **kept));
  std::filesystem::remove(folder + "/keys.toml");
  CHECK(extract_facts(job));
}

}  // namespace
}  // namespace schedmate::facts
