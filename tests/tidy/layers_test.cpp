// SPDX-License-Identifier: Apache-2.0
#include <doctest/doctest.h>

#include <string>

#include "tests/tidy/modules.hpp"
#include "tests/tidy/rules.hpp"
#include "tests/tidy/written_tree.hpp"

namespace schedmate::tidy {
namespace {

/// Three layers that keep all rules: base, core on it, and two rooms of one house.
Tree good_tree() {
  return {{file("CMakeLists.txt",
                "schedmate_module(base LINK fmt::fmt)\n"
                "schedmate_module(core LINK schedmate_base)\n"
                "schedmate_module(log/lines LINK schedmate_core)  # schedmate_module(no)\n"
                "schedmate_module(log/ask\n  LINK schedmate_log_lines fmt::fmt)\n"),
           file("include/schedmate/job.hpp", "int gpus_of(const Job& job);\n"),
           file("src/base/text.hpp", ""),
           file("src/core/job.cpp",
                "#include <schedmate/job.hpp>\n#include \"base/text.hpp\"\n"
                "int gpus_of(const Job& job) {\n  return 1;\n}\n"),
           file("src/log/lines/lines.cpp",
                "#include <schedmate/job.hpp>\nint f() { return gpus_of(job); }\n"),
           file("src/log/lines/lines.hpp", "#include \"base/text.hpp\"\n"),
           file("src/log/ask/ask.cpp",
                "#include \"log/lines/lines.hpp\"\n#include \"base/text.hpp\"\n")},
          ""};
}

Tree with(std::string path, std::string text) {
  auto tree = good_tree();
  tree.files.push_back(file(std::move(path), std::move(text)));
  return tree;
}

/// The good tree with a further line in CMakeLists.txt.
Tree declared(const std::string& line) {
  auto tree = good_tree();
  tree.files.front().text += line + "\n";
  return tree;
}

std::string found_in(const Tree& tree) { return listed(check_layers(tree)); }

}  // namespace

TEST_CASE("modules are read from CMakeLists.txt with the modules that they link") {
  const auto modules = declared_modules(good_tree());
  REQUIRE(modules.size() == 4);
  CHECK(modules[0].links.empty());
  CHECK(modules[2].name == "log/lines");
  CHECK(modules[3].line == 4);
  CHECK(modules[3].links == std::vector<std::string>{"log/lines"});
  CHECK(found_in(good_tree()).empty());
}

TEST_CASE("layers are listed from the lowest up, with the number of includes") {
  CHECK(layers_text(good_tree()) ==
        "layer 0\n  base\n"
        "layer 1\n  core -> base (1)\n"
        "layer 2\n  log/lines -> base (1), core (link)\n"
        "layer 3\n  log/ask -> base (1), log/lines (1)\n");
}

TEST_CASE("every folder of src with sources is a module, every module has a folder") {
  CHECK(found_in(with("src/new/a.cpp", "")) == "0: its folder is no module: src/new\n");
  CHECK(found_in(with("src/log/a.hpp", "")) == "0: its folder is no module: src/log\n");
  CHECK(found_in(declared("schedmate_module(gone)")) == "6: src/gone has no sources\n");
  CHECK(found_in(declared("schedmate_module(base)")) == "6: module base is declared twice\n");
}

TEST_CASE("an include of a module that is not linked is found") {
  CHECK(found_in(with("src/log/lines/a.cpp", "\n#include \"log/ask/ask.cpp\"\n")) ==
        "2: log/lines includes src/log/ask/ask.cpp and does not link log/ask\n");
  CHECK(found_in(with("src/base/a.cpp", "#include \"../core/job.cpp\"\n")) ==
        "1: base includes src/core/job.cpp and does not link core\n");
  CHECK(found_in(with("src/base/a_test.cpp", "#include \"core/job.cpp\"\n")).empty());
  CHECK(found_in(with("apps/a.cpp", "#include \"log/ask/ask.cpp\"\n")).empty());
}

TEST_CASE("nothing below src or include reads programs, benchmarks or tests") {
  auto tree = with("apps/a.hpp", "");
  tree.files.push_back(file("src/core/a.cpp", "#include \"apps/a.hpp\"\n"));
  CHECK(found_in(tree) == "1: core includes apps/a.hpp\n");
  CHECK(found_in(with("include/schedmate/a.hpp", "#include \"base/text.hpp\"\n")) ==
        "1: a public header includes src/base/text.hpp\n");
}

TEST_CASE("a link that leads up, or nowhere, is found") {
  auto tree = good_tree();
  const std::string core = "schedmate_module(core LINK schedmate_base";
  auto& text = tree.files.front().text;
  text.replace(text.find(core), core.size(), core + " schedmate_log_lines");
  CHECK(found_in(tree) ==
        "2: core links log/lines, which stands above it\n"
        "2: core links log/lines: no such arrow is drawn\n"
        "2: core links log/lines and uses nothing of it\n");
  tree = good_tree();
  tree.files.front().text += "schedmate_module(sim LINK schedmate_core schedmate_simulator)\n";
  tree.files.push_back(file("src/sim/a.cpp", "#include \"core/job.cpp\"\n"));
  CHECK(found_in(tree) == "6: sim links schedmate_simulator, which is no module\n");
}

TEST_CASE("a link beside the declaration is found") {
  CHECK(found_in(with("apps/CMakeLists.txt",
                      "\ntarget_link_libraries(schedmate_log_ask PUBLIC schedmate_core)\n")) ==
        "2: log/ask is linked here\n");
  CHECK(found_in(with("apps/CMakeLists.txt", "target_link_libraries(a schedmate_core)\n")).empty());
}

TEST_CASE("a link that nothing needs is found; a call behind a public header needs one") {
  auto tree = declared("schedmate_module(sim LINK schedmate_core)");
  tree.files.push_back(file("src/sim/a.cpp", "#include <schedmate/job.hpp>\nJob job;\n"));
  CHECK(found_in(tree) == "6: sim links core and uses nothing of it\n");
  tree.files.back().text += "int f() { return gpus_of(job); }\n";
  CHECK(found_in(tree).empty());
}

TEST_CASE("a module links another than base and core only where the arrow is drawn") {
  auto tree = declared("schedmate_module(sim LINK schedmate_log_lines)");
  tree.files.push_back(file("src/sim/a.cpp", "#include \"log/lines/lines.hpp\"\n"));
  CHECK(found_in(tree) == "6: sim links log/lines: no such arrow is drawn\n");
  tree = declared("schedmate_module(secrets LINK schedmate_log_lines)");
  tree.files.push_back(file("src/secrets/a.cpp", "#include \"log/lines/lines.hpp\"\n"));
  CHECK(found_in(tree).empty());
}

TEST_CASE("an arrow that is drawn and not followed is found") {
  auto tree = declared("schedmate_module(elastic LINK schedmate_base)");
  tree.files.push_back(file("src/elastic/a.cpp", "#include \"base/text.hpp\"\n"));
  CHECK(found_in(tree) == "0: no link follows the arrow from elastic to trace\n");
}

TEST_CASE("the arrows of a module that is none are found in the tree that holds them") {
  const auto found = found_in(with("tests/tidy/rules_layers.cpp", ""));
  CHECK(found.contains("0: elastic has arrows and is no module\n"));
  CHECK_FALSE(found.contains("0: log/ask has"));
}

}  // namespace schedmate::tidy
