// SPDX-License-Identifier: Apache-2.0
#include "log/failure/failure_rules.hpp"

#include <doctest/doctest.h>
#include <toml++/toml.h>

#include <fstream>

#include "tests/support/scratch.hpp"

namespace schedmate::failure {
namespace {

FailureRules load(const std::string& folder = "") {
  auto rules = FailureRules::load(folder);
  REQUIRE_MESSAGE(rules, rules.error().message);
  return *std::move(rules);
}

lines::FailureVerdict judge(const FailureCase& what) {
  static const FailureRules rules = load();
  return rules.judge(what).value_or(lines::FailureVerdict());
}

}  // namespace

TEST_CASE("each test line of failures.toml is judged by its own row") {
  const toml::table table = toml::parse_file(SCHEDMATE_SOURCE_DIR "/rules/failures.toml");
  for (const auto& node : *table["failure"].as_array()) {
    const toml::table& row = *node.as_table();
    REQUIRE(row["test"].is_array());
    const std::string near = row["near"][0].value_or(std::string());
    for (const auto& each : *row["test"].as_array()) {
      const auto line = *each.value<std::string>();
      CAPTURE(line);
      CHECK(judge({line, near, RaisedIn::nowhere}).rule == *row["name"].value<std::string>());
    }
  }
}

TEST_CASE("an Xid is judged by NVIDIA's table, one that follows another by that one") {
  const auto lost = judge({"NVRM: Xid (PCI:0000:9b:00): 79, pid=1, fallen off the bus", "", {}});
  CHECK(lost.component == Component::gpu);
  CHECK(lost.recommendation == Recommendation::restart_elsewhere);
  CHECK(judge({"NVRM: Xid (PCI:0000:9b:00): 31, pid=1", "", {}}).verdict ==
        FailureClass::user_script);
  CHECK(judge({"NVRM: Xid (PCI:0000:dc:00): 45, pid=1, caused by previous Xid 149", "", {}})
            .component == Component::nvlink);
}

TEST_CASE("where no word decides, the place of the exception does") {
  const auto verdict = [](std::string_view line, RaisedIn place) {
    return judge({line, "", place}).verdict;
  };
  CHECK(verdict("AttributeError: no 'x'", RaisedIn::project) == FailureClass::user_script);
  CHECK(verdict("AttributeError: no 'x'", RaisedIn::only_library) == FailureClass::framework);
  CHECK(verdict("TypeError: f() takes 6 positional arguments but 7 were given",
                RaisedIn::library_from_library) == FailureClass::framework);
  CHECK(verdict("ValueError: bad mode", RaisedIn::library) == FailureClass::user_script);
  CHECK(verdict("odd words", RaisedIn::nowhere) == FailureClass::other);
  // What a library lacks, and what a config names that it does not have.
  CHECK(verdict("AttributeError: module 'numpy' has no attribute 'float'", RaisedIn::library) ==
        FailureClass::framework);
  CHECK(verdict("AttributeError: 'TypeError' object has no attribute 'message'",
                RaisedIn::library) == FailureClass::framework);
  CHECK(verdict("AttributeError: 'list' object has no attribute 'keys'", RaisedIn::library) ==
        FailureClass::user_script);
  CHECK(verdict("KeyError: 'Net is not in the models registry'", RaisedIn::only_library) ==
        FailureClass::user_script);
}

TEST_CASE("what nothing says is not infrastructure") {
  for (const char* line : {"", "Killed", "something happened", "Error: odd"})
    CHECK(judge({line, "", {}}).verdict != FailureClass::infrastructure);
}

TEST_CASE("an operator's rows come first; a row that cannot be is an error with its line") {
  const testing::Scratch folder;
  const auto write = [&](const std::string& text) {
    std::ofstream(folder.path("failures.toml")) << "[[failure]]\nname = \"own\"\n" << text;
  };
  const std::string rest = "recommendation = \"notify\"\nconfidence = 0.5\nany = [\"flux*\"]\n";
  write("class = \"other\"\n" + rest);
  const auto own = load(folder.path()).judge({"ValueError: flux", "", {}});
  REQUIRE(own);
  CHECK(own->rule == "own");
  for (const char* wrong : {"class = \"odd\"\n", "class = \"infrastructure\"\n",
                            "class = \"other\"\ncomponent = \"gpu\"\n", "clas = \"other\"\n"}) {
    write(wrong + rest);
    const auto rules = FailureRules::load(folder.path());
    REQUIRE_FALSE(rules);
    CHECK(rules.error().message.contains("failures.toml:"));
  }
}

}  // namespace schedmate::failure
