// SPDX-License-Identifier: Apache-2.0
#include <doctest/doctest.h>
#include <fmt/format.h>

#include <string>

#include "tests/tidy/code.hpp"
#include "tests/tidy/rules.hpp"
#include "tests/tidy/written_tree.hpp"

namespace schedmate::tidy {
namespace {

std::string function_of(int lines) { return "int f() {\n" + repeat("  g();\n", lines - 2) + "}\n"; }

std::string banned_in(const std::string& code) {
  return listed(check_banned_words(file("src/core/a.cpp", code)));
}

}  // namespace

TEST_CASE("comments, strings and directives are blanked and keep their place") {
  CHECK(blank_non_code("a; // b\nc;") == "a;     \nc;");
  CHECK(blank_non_code("a /* b\n */ c") == "a     \n    c");
  CHECK(blank_non_code("f(\"new\\\" x\", 'n')") == "f(         ,    )");
  CHECK(blank_non_code("x = 1'000; y = 'a';") == "x = 1'000; y =    ;");
  CHECK(blank_non_code("#define A \\\n  new\nb;") == "           \n     \nb;");
  CHECK(blank_non_code("R\"(new )\" + a").ends_with(" + a"));
  CHECK(!blank_non_code("R\"x(new )\" new)x\" + a").contains("new"));
}

TEST_CASE("comments alone are kept where they stand") {
  CHECK(blank_non_comments("a; // b\nc;") == "   // b\n  ");
  CHECK(blank_non_comments("#include <a>  // b \"c\"\n") == "              // b \"c\"\n");
  CHECK(blank_non_comments("f(\"// no\"); /* d */") == "            /* d */");
}

TEST_CASE("functions are found with their length and parameters") {
  const auto found = find_functions(
      "namespace n {\n"
      "template <class T, int N>\n"
      "std::map<int, T> first(const std::map<int, T>& a, int (&b)[N]) {\n"
      "  if (a) {\n"
      "    return a;\n"
      "  }\n"
      "}\n"
      "class C : public D {\n"
      " public:\n"
      "  explicit C(int a) : a_{a}, b_(f(1, 2, 3, 4, 5)) {\n"
      "  }\n"
      "  bool operator<=(const C& other) const;\n"
      "  int operator()(int a, int b, int c);\n"
      "  int a_ = g(1, 2);\n"
      "  std::function<int(int, int)> f_;\n"
      "};\n"
      "}\n");
  REQUIRE(found.size() == 4);
  CHECK(found[0].name == "first");
  CHECK(found[0].line == 3);
  CHECK(found[0].lines == 5);
  CHECK(found[0].parameters == 2);
  CHECK(found[1].name == "C");
  CHECK(found[1].parameters == 1);
  CHECK(found[1].lines == 2);
  CHECK(found[2].name == "operator");
  CHECK(found[2].parameters == 1);
  CHECK(found[2].lines == 0);
  CHECK(found[3].parameters == 3);
}

TEST_CASE("a macro in front of a function does not hide it, nor is it one") {
  const auto found = find_functions(
      "USE_CASE(a)\nUSE_CASE(b, c)\nint f(int a, int b, int c) {\n}\nTEST_CASE() {\n}\n");
  REQUIRE(found.size() == 2);
  CHECK(found[0].name == "f");
  CHECK(found[0].parameters == 3);
  CHECK(found[1].name == "TEST_CASE");
}

TEST_CASE(
    "a header may not include a library that is slow to compile, a public header none at all") {
  const auto header = file("src/report/a.hpp", "#pragma once\n#include <nlohmann/json.hpp>\n");
  CHECK(listed(check_libraries(header)) ==
        "2: a header includes the library <nlohmann/json.hpp>\n");
  CHECK(check_libraries(file("src/report/a.cpp", header.text)).empty());
  const std::string declares = "#include <nlohmann/json_fwd.hpp>\n";
  CHECK(check_libraries(file("src/report/a.hpp", declares)).empty());
  CHECK(check_libraries(file("include/schedmate/a.hpp", declares)).size() == 1);
  const std::string fast = "#include <simdjson.h>\n";
  CHECK(check_libraries(file("src/trace/a.hpp", fast)).empty());
  CHECK(check_libraries(file("include/schedmate/a.hpp", fast)).size() == 1);
}

TEST_CASE("sizes over the limits are found, at the limits not") {
  const auto sizes = [](const std::string& path, const std::string& text) {
    return listed(check_sizes(file(path, text), Limits{}));
  };
  CHECK(sizes("a.hpp", repeat("\n", 200)).empty());
  CHECK(sizes("a.hpp", repeat("\n", 201)) == "0: lines: 201, limit 200\n");
  CHECK(sizes("a.cpp", repeat("\n", 500)).empty());
  CHECK(sizes("a.cpp", repeat("\n", 501)) == "0: lines: 501, limit 500\n");
  CHECK(sizes("a.cpp", "\n" + std::string(101, 'x') + "\n") == "2: columns: 101, limit 100\n");
  CHECK(sizes("a.cpp", repeat("é", 100) + "\n").empty());
  CHECK(sizes("a.cpp", function_of(60)).empty());
  CHECK(sizes("a.cpp", function_of(61)) == "1: lines of function f: 61, limit 60\n");
  CHECK(sizes("a.hpp", "int f(int, int, int, A<1, 2>);").empty());
  CHECK(sizes("a.hpp", "int f(int, int, int, int, int);") == "1: parameters of f: 5, limit 4\n");
  const std::string of_c = "int schedmate_f(int, int, int, int, int) {}";
  CHECK(sizes("src/face/c_face.cpp", of_c).empty());
  CHECK(sizes("src/face/round.cpp", of_c) == "1: parameters of schedmate_f: 5, limit 4\n");
  CHECK(sizes("src/face/c_face.cpp", "int schedmate_f(int, int, int, int, int, int) {}") ==
        "1: parameters of schedmate_f: 6, limit 5\n");
  CHECK(sizes("src/face/c_face.cpp", "int f(int, int, int, int, int) {}") ==
        "1: parameters of f: 5, limit 4\n");
}

TEST_CASE("a function that is mainly a switch may have ten lines more") {
  const auto with_switch = [](int cases) {
    return "int f(int a) {\n  switch (a) {\n" + repeat("  case 1: return 2;\n", cases) + "  }\n}\n";
  };
  CHECK(check_sizes(file("a.cpp", with_switch(66)), Limits{}).empty());
  CHECK(check_sizes(file("a.cpp", with_switch(67)), Limits{}).size() == 1);
}

TEST_CASE("banned words are found in code only, each with its replacement") {
  CHECK(banned_in("int a = rand();") == "1: unseeded random numbers\n");
  CHECK(banned_in("std::random_device d;") == "1: unrepeatable random numbers\n");
  CHECK(banned_in("\nauto p = std::getenv(\"HOME\");") == "2: reads the environment\n");
  CHECK(banned_in("std::cout << 1;") == "1: std::cout\n");
  CHECK(banned_in("using namespace std;") == "1: using namespace\n");
  CHECK(banned_in("auto p = new Job();") == "1: naked new\n");
  CHECK(banned_in("CHECK(a == doctest::Approx(1));") ==
        "1: doctest::Approx: small values pass unchecked\n");
  CHECK(banned_in("double wait_time = 0;") == "1: a time as a bare number\n");
  CHECK(banned_in("double time_awareness = 2; Random random(1);").empty());
  CHECK(banned_in("// a new Job\nauto text = \"rand()\"; brand(1);\n#include <new>\n").empty());
}

TEST_CASE("C++ files and scripts begin with their licence") {
  const std::string name = "SPDX-License-Identifier: Apache-2.0\n";
  CHECK(check_licence_line(file("a.cpp", "// " + name)).empty());
  CHECK(check_licence_line(file("a.sh", "#!/bin/sh\n# " + name)).empty());
  CHECK(check_licence_line(file("a.md", "text\n")).empty());
  CHECK(listed(check_licence_line(file("a.hpp", "#pragma once\n"))) == "1: no licence line\n");
  CHECK(listed(check_licence_line(file("a", "#!/bin/sh\n"))) == "2: no licence line\n");
}

TEST_CASE("leftover notes are found in every text") {
  const std::string note = std::string("TO") + "DO";
  CHECK(listed(check_leftovers(file("a.md", "a\n" + note + ": b\n"))) ==
        "2: leftover note: " + note + "\n");
  CHECK(check_leftovers(file("a.sh", "mktemp x." + std::string(6, 'X') + "\n")).empty());
}

TEST_CASE("paths of one machine and registry hosts are found") {
  const auto path = std::string("/ho") + "me/ann/data";
  CHECK(listed(check_places(file("a.md", "see `" + path + "`"))) ==
        "1: a path of one machine: " + path + "\n");
  CHECK(check_places(file("a.md", "src" + path + " is relative")).empty());
  const auto host = std::string("files.py") + "pi.org";
  CHECK(listed(check_places(file("a.sh", "curl https://" + host + "/x"))) ==
        "1: the host name of a package registry: " + host + "\n");
}

TEST_CASE("a test that reads shared data without saying so is found") {
  const std::string place = "/../sha" + std::string("red/data/");
  const auto in = [](const std::string& path, const std::string& text) {
    return listed(check_shared_data(file(path, text)));
  };
  const std::string found = "1: a way to data that not every machine has: " + place.substr(1, 9);
  CHECK(in("src/trace/a_test.cpp", "auto a = ROOT \"" + place + "\";\n") == found + "\n");
  CHECK(in("tests/a/a.sh", "cat $1" + place + "a\n") == found + "\n");
  CHECK(in("tests/a/a.sh", "# cat $1" + place + "a\n").empty());
  CHECK(in("src/trace/a_test.cpp", "  // " + place + "\n").empty());
  CHECK(in("src/trace/a_test.cpp", "link(\"../.." + place.substr(3) + "\");\n").empty());
  CHECK(in("src/trace/a.cpp", "auto a = ROOT \"" + place + "\";\n").empty());
}

TEST_CASE("large files are found, with more room in data and third_party") {
  const auto bytes = [](const std::string& path, std::uintmax_t size) {
    return check_file_bytes({{{path, "", size}}, ""}, Limits{}).size();
  };
  CHECK(bytes("docs/a.png", 200'000) == 0);
  CHECK(bytes("docs/a.png", 200'001) == 1);
  CHECK(bytes("data/a.gz", 2'000'000) == 0);
  CHECK(bytes("third_party/a.js", 2'000'001) == 1);
}

TEST_CASE("a folder of src with too many sources is found, tests not counted") {
  Tree tree;
  for (int i = 0; i < 45; ++i) {
    tree.files.push_back(file(fmt::format("src/log/lines/{}.cpp", i), ""));
    tree.files.push_back(file(fmt::format("src/log/lines/{}_test.cpp", i), ""));
    tree.files.push_back(file(fmt::format("src/log/ask/{}.cpp", i), ""));
  }
  CHECK(check_rooms(tree, Limits{}).empty());
  tree.files.push_back(file("src/log/ask/more.cpp", ""));
  CHECK(listed(check_rooms(tree, Limits{})) == "0: 46 sources, limit 45\n");
}

TEST_CASE("the programs together have few lines") {
  Tree tree{{file("apps/a.cpp", repeat("\n", 4'000)), file("apps/b.hpp", repeat("\n", 1'000)),
             file("apps/a_test.cpp", repeat("\n", 500))},
            ""};
  CHECK(check_programs(tree, Limits{}).empty());
  tree.files.push_back(file("apps/c.cpp", "\n"));
  CHECK(listed(check_programs(tree, Limits{})) == "0: 5001 lines, limit 5000\n");
}

TEST_CASE("what a comment or a page cites is a file of the tree") {
  const auto cites = [](const std::string& path, const std::string& text) {
    return listed(check_citations({{file(path, text), file("docs/formats/lucid.md", "")}, ""}));
  };
  const std::string page = "lu" + std::string("cid.md");
  const std::string no_page = "1: cites a page that is not here: " + page + "\n";
  CHECK(cites("src/a.cpp", "// " + page + " 5.2\n") == no_page);
  CHECK(cites("src/a.cpp", "int a;  /* " + page + " */\n") == no_page);
  CHECK(cites("src/a.sh", "# " + page + "\n") == no_page);
  CHECK(cites("docs/a.md", "as " + page + " says\n") == no_page);
  CHECK(cites("src/a.cpp", "// docs/formats/lucid.md, NAME.md, AGENTS.md\n").empty());
  CHECK(cites("docs/formats/a.md", "[it](" + page + ")\n").empty());
  CHECK(cites("docs/a.md", "[" + page + "](formats/" + page + ")\n").empty());
  CHECK(cites("src/a.cpp", "auto a = \"" + page + "\";\n").empty());
  const std::string design = "des" + std::string("ign 4.2");
  CHECK(cites("src/a.hpp", "/// Jobs (" + design + ").\n") ==
        "1: cites a text that is not here: " + design + "\n");
  CHECK(cites("src/a.hpp", "/// By design, 4 at once.\n").empty());
}

TEST_CASE("a link to a file that is not there is found") {
  const Tree tree{
      {file("README.md", "[a](docs/a.md#x) [b](https://b) [c](docs) [d](#d)\n[e](e.md)\n"),
       file("docs/a.md", "[up](../README.md)\n```\n[no](no.md)\n```\n[out](../../x)\n")},
      ""};
  CHECK(listed(check_links(tree)) ==
        "2: the link leads nowhere: e.md\n5: the link leads nowhere: ../../x\n");
}

TEST_CASE("each row of a table is documented and tested") {
  Tree tree{{file("src/policy/policies.def", "// POLICY(name)\nPOLICY(sjf, \"x\")\n"),
             file("src/trace/formats.def", "FORMAT(swf, \"x\")\n"),
             file("src/policy/estimators.def", "ESTIMATOR(limit, \"x\")\n")},
            ""};
  CHECK(listed(check_table_rows(tree)) ==
        "2: sjf is not documented\n2: sjf is not tested\n1: swf is not documented\n"
        "1: swf is not tested\n1: limit is not documented\n1: limit is not tested\n");
  tree.files.push_back(file("docs/a.md", "`sjf`, `limit`"));
  tree.files.push_back(file("docs/formats/swf.md", ""));
  tree.files.push_back(file("tests/scenarios/a.scn", "policy sjf\n"));
  tree.files.push_back(file("tests/fixtures/traces/swf_broken.swf", "1\n"));
  tree.files.push_back(file("src/policy/a_test.cpp", "make(\"limit:2\")\n"));
  CHECK(listed(check_table_rows(tree)) == "1: swf is not tested\n");
  tree.files.push_back(file("tests/fixtures/traces/swf.swf", "1\n"));
  CHECK(check_table_rows(tree).empty());
}

TEST_CASE("a variant is documented and tested under its whole name") {
  Tree tree{{file("src/policy/policies.def", "VARIANT(\"sjf+sm\", sjf, \"x=1\", \"x\")\n"),
             file("docs/a.md", "`sjf`"), file("src/policy/a_test.cpp", "sjf\n")},
            ""};
  CHECK(listed(check_table_rows(tree)) == "1: sjf+sm is not documented\n1: sjf+sm is not tested\n");
  tree.files.push_back(file("docs/b.md", "`sjf+sm`"));
  tree.files.push_back(file("src/policy/b_test.cpp", "make(\"sjf+sm\")\n"));
  CHECK(check_table_rows(tree).empty());
}

TEST_CASE("a word in running text does not document a row") {
  const Tree tree{
      {file("src/policy/estimators.def", "ESTIMATOR(limit, \"x\")\n"),
       file("docs/a.md", "the limit of `limits`"), file("src/policy/a_test.cpp", "limit\n")},
      ""};
  CHECK(listed(check_table_rows(tree)) == "1: limit is not documented\n");
}

TEST_CASE("sources and scenarios outside the build are found") {
  const Tree tree{{file("src/core/a.cpp", ""), file("src/core/deep/b_test.cpp", ""),
                   file("CMakeLists.txt", "add_executable(f tests/fuzz/fuzz_f.cpp)"),
                   file("tests/fuzz/fuzz_f.cpp", ""), file("tests/more/c.scn", "")},
                  R"([{"file": "/x/src/core/a.cpp"}])"};
  const auto found = check_in_build(tree);
  REQUIRE(found.size() == 2);
  CHECK(found[0].path == "src/core/deep/b_test.cpp");
  CHECK(found[1].path == "tests/more/c.scn");
}

TEST_CASE("a folder whose CMakeLists.txt nobody reads is found") {
  Tree tree{{file("CMakeLists.txt", "add_subdirectory(tests)\nadd_subdirectory(a/b)\n"),
             file("tests/CMakeLists.txt", "add_subdirectory(fuzz)\n"),
             file("tests/fuzz/CMakeLists.txt", ""), file("a/b/CMakeLists.txt", "")},
            ""};
  CHECK(check_in_build(tree).empty());
  tree.files.push_back(file("tests/lost/CMakeLists.txt", ""));
  CHECK(check_in_build(tree).size() == 1);
}

TEST_CASE("a module has a namespace of its own") {
  const auto found = [](const char* path, const char* text) {
    return listed(check_namespaces(file(path, text)));
  };
  CHECK(found("src/log/lines/a.hpp", "namespace schedmate::lines {\nstruct Line {\n") == "");
  CHECK(found("src/log/lines/a.hpp", "namespace schedmate::lines::testing {\n") == "");
  CHECK(found("src/log/lines/a.hpp", "namespace schedmate {\nstruct Line;\n}\n") ==
        "0: no namespace\n");
  CHECK(found("src/log/lines/a.hpp",
              "namespace schedmate {\nstruct Line {\n}\nnamespace schedmate::lines {\n") ==
        "2: Line is in the namespace of all\n");
  CHECK(found("src/trace/a.hpp", "namespace schedmate::trace {\n}\nnamespace schedmate::sim {\n") ==
        "3: a namespace of another module\n");
  // Public functions are defined in a module, generated sources are declared there.
  CHECK(found("src/trace/a.cpp", "namespace schedmate::embedded {\n}\nnamespace schedmate {\n") ==
        "");
  CHECK(found("src/trace/a.cpp", "namespace schedmate::sim {\n") ==
        "1: a namespace of another module\n");
  CHECK(found("src/base/a.hpp", "namespace schedmate {\nstruct Text {\n") == "");
}

TEST_CASE("two headers may not give one name of a namespace to two types") {
  const auto in = [](const char* path, const char* space, const char* type) {
    return file(path, fmt::format("namespace {} {{\n{}\n}}\n", space, type));
  };
  const Tree twice{{in("src/a/x.hpp", "schedmate", "struct Sample {"),
                    in("src/b/y.hpp", "schedmate", "class Sample final {")},
                   ""};
  CHECK(listed(check_type_names(twice)) == "2: schedmate::Sample is also in src/a/x.hpp\n");
  const Tree apart{{in("src/a/x.hpp", "schedmate", "struct Sample {"),
                    in("src/b/y.hpp", "schedmate::python", "struct Sample {"),
                    in("src/c/z.hpp", "schedmate", "struct Sample;")},
                   ""};
  CHECK(check_type_names(apart).empty());
  const Tree behind{
      {{"src/a/x.hpp",
        "namespace schedmate {\nnamespace inner {\n}  // namespace inner\nstruct Sample {\n"},
       in("src/b/y.hpp", "schedmate", "struct Sample {")},
      ""};
  CHECK_FALSE(check_type_names(behind).empty());
}

TEST_CASE("a public header says what it promises, in 30 to 45 comment lines of a hundred") {
  const auto found_in = [](int code, int comments) {
    return listed(check_header_comments(
        file("include/schedmate/a.hpp",
             repeat("void f();\n\n", code) + repeat("  /// What f does.\n", comments)),
        Limits()));
  };
  CHECK(found_in(71, 29) == "0: comments: 29 % of the public lines, limits 30 and 45\n");
  CHECK(found_in(70, 30).empty());
  CHECK(found_in(54, 46) == "0: comments: 46 % of the public lines, limits 30 and 45\n");
  CHECK(found_in(29, 0).empty());
  const std::string hidden = "class A {\n private:\n" + repeat("  int a;\n", 60) + "};\n";
  const std::string shown = repeat("void f();\n", 40) + repeat("// g\n", 20);
  CHECK(check_header_comments(file("include/schedmate/a.hpp", hidden + shown), Limits()).empty());
  CHECK(check_header_comments(file("src/a/a.hpp", repeat("void f();\n", 99)), Limits()).empty());
}

TEST_CASE("TOML is read in one place, and users' configs in another") {
  const auto found_in = [](const char* path) {
    return listed(check_toml_readers(file(path, "\n#include <toml++/toml.h>\n")));
  };
  CHECK(found_in("src/facts/a.cpp") == "2: reads TOML by hand\n");
  CHECK(found_in("src/facts/a_test.cpp").empty());
  CHECK(found_in("src/config/toml.cpp").empty());
}

TEST_CASE("secrets are taken out in one place") {
  const auto found_in = [](const char* path) {
    return listed(check_redaction(file(path, "\n#include \"secrets/redact.hpp\"\n")));
  };
  CHECK(found_in("src/service/ask.cpp") == "2: redacts by itself\n");
  CHECK(found_in("apps/ask_command.cpp") == "2: redacts by itself\n");
  CHECK(found_in("src/secrets/outgoing.cpp").empty());
  CHECK(found_in("tests/fuzz/fuzz_redact.cpp").empty());
}

TEST_CASE("text leaves the program in one place") {
  const auto found_in = [](const char* path, const char* line) {
    return listed(check_printing(file(path, line)));
  };
  for (const auto* const line : {"fmt::print(\"{}\", x);", "std::cout << x;", "std::cerr << x;",
                                 "std::puts(x);", "printf(\"x\");", "std::fprintf(f, x);",
                                 "write(STDOUT_FILENO, x, 1);", "fflush(stdout);"}) {
    CAPTURE(line);
    CHECK(found_in("apps/list_command.cpp", line) == "1: prints by itself\n");
    CHECK(found_in("src/service/ask.cpp", line) == "1: prints by itself\n");
    CHECK(found_in("apps/console.cpp", line).empty());
    CHECK(found_in("bench/speed.cpp", line).empty());
  }
  for (const auto* const line :
       {"std::snprintf(a, 4, x);", "// fmt::print", "print_format(x);", "const char* stdout_path;"})
    CHECK(found_in("src/service/ask.cpp", line).empty());
}

TEST_CASE("the tree of this project can be read and holds this file") {
  const auto tree = read_tree(SCHEDMATE_SOURCE_DIR, "");
  REQUIRE(tree);
  const auto* const self = tree->find("tests/tidy/tidy_test.cpp");
  REQUIRE(self != nullptr);
  CHECK(self->text.contains("holds this file"));
  CHECK(tree->has_folder("src/base"));
  CHECK(!tree->has_folder("build"));
}

}  // namespace schedmate::tidy
