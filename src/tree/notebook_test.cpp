// SPDX-License-Identifier: Apache-2.0
#include "tree/notebook.hpp"

#include <doctest/doctest.h>

namespace schedmate::tree {

TEST_CASE("code cells stand at the lines of the file that hold them") {
  const auto code = notebook_code(
      "{\n"
      " \"cells\": [\n"
      "  {\"cell_type\": \"markdown\", \"source\": [\"# lr = 5\"]},\n"
      "  {\"cell_type\": \"code\", \"outputs\": [{\"text\": [\"lr = 7\"]}], \"source\": [\n"
      "   \"%pip install x\\n\",\n"
      "   \"lr = 1  # \\u00e9 \\ud83d\\ude00\\n\",\n"
      "   \"print(\\\"a\\\")\"\n"
      "  ]}\n"
      " ], \"nbformat\": 4}\n");
  REQUIRE(code);
  CHECK(*code == "\n\n\n\n# %pip install x\nlr = 1  # \u00e9 \U0001F600\nprint(\"a\")\n");
}

TEST_CASE("a notebook on one line gives its code in order") {
  const auto code = notebook_code(R"({"cells":[{"cell_type":"code","source":"a = 1\n!ls\nb = 2"},)"
                                  R"({"cell_type":"code","source":["c = 3"]}]})");
  REQUIRE(code);
  CHECK(*code == "a = 1\n# !ls\nb = 2\nc = 3\n");
}

TEST_CASE("what is no notebook is an error with its line") {
  for (const std::string_view text :
       {"", "[]", "{\n\"cells\": [", "{\"a\": \"\\q\"}", "{\"a\" 1}", "{\"a\": \"x\n\"}", "{,}"}) {
    const auto code = notebook_code(text);
    REQUIRE_FALSE(code);
    CHECK(code.error().message.starts_with("line "));
  }
  const auto deep = notebook_code("{\"a\": " + std::string(100000, '[') + "}");
  REQUIRE_FALSE(deep);
  CHECK(deep.error().message == "line 1: nested too deeply");
}

}  // namespace schedmate::tree
