// SPDX-License-Identifier: Apache-2.0
#include <doctest/doctest.h>

#include <fstream>

#include "facts/extract.hpp"
#include "tests/support/scratch.hpp"

namespace schedmate {
namespace {

void write(const std::string& path, std::string_view text) { std::ofstream(path) << text; }

TEST_CASE("an operator's folder adds rows and key names without compiling") {
  const testing::Scratch scratch;
  const std::string folder = scratch.path("");
  write(folder + "/datasets.toml",
        "[[dataset]]\nname = \"Lab scans\"\ndomain = \"cv\"\naliases = [\"labscans\"]\n");
  write(folder + "/keys.toml",
        "[[key]]\nfield = \"batch_size\"\nmeaning = \"per_device\"\nnames = [\"portion\"]\n");
  const Rules rules = rules_with(folder);
  REQUIRE_MESSAGE(rules.broken.empty(), rules.broken);
  REQUIRE(rules.tables->find_dataset("/data/labscans/train"));
  CHECK(rules.tables->find_dataset("/data/labscans/train")->name == "Lab scans");
  CHECK(rules.tables->find_dataset("cifar10"));
  REQUIRE(rules.keys->find("train.portion").size() == 1);
  CHECK(rules.keys->find("train.portion")[0].meaning == "per_device");
  CHECK_FALSE(rules_with("").tables->find_dataset("labscans").has_value());
}

TEST_CASE("a folder that is missing or wrong is an error that names it") {
  CHECK(rules_with("/no/such/folder").broken.starts_with("/no/such/folder: no such folder"));
  const testing::Scratch scratch;
  const std::string folder = scratch.path("");
  write(folder + "/keys.toml", "[[key]]\nfield = 3\n");
  CHECK(rules_with(folder).broken.contains("keys.toml"));
  CHECK(rules_with(folder).tables == nullptr);
}

}  // namespace
}  // namespace schedmate
