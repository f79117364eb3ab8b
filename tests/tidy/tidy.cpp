// SPDX-License-Identifier: Apache-2.0
// tidy ROOT [BUILD]: checks the tree at ROOT against the rules of the house (rules.hpp). BUILD is a
// build folder with compile_commands.json. Prints "path:line: what; instead do".
// tidy --graph ROOT: prints the modules layer by layer, and checks these alone.
// Exit code 1 when something was found, 2 when the tree cannot be read.
#include <fmt/format.h>

#include <cstdio>
#include <string_view>

#include "tests/tidy/rules.hpp"

int main(int argc, char** argv) {
  const bool graph = argc > 1 && std::string_view(argv[1]) == "--graph";
  if (argc < 2 || argc > 3 || (graph && argc < 3)) {
    fmt::print(stderr, "usage: tidy ROOT [BUILD]\n       tidy --graph ROOT\n");
    return 2;
  }
  const auto tree = graph ? schedmate::tidy::read_tree(argv[2], "")
                          : schedmate::tidy::read_tree(argv[1], argc == 3 ? argv[2] : "");
  if (!tree) {
    fmt::print(stderr, "{}\n", tree.error().message);
    return 2;
  }
  if (graph) fmt::print("{}", schedmate::tidy::layers_text(*tree));
  const auto findings =
      graph ? schedmate::tidy::check_layers(*tree) : schedmate::tidy::check_all(*tree);
  for (const auto& finding : findings) {
    fmt::print("{}:{}: {}; {}\n", finding.path, finding.line, finding.what, finding.instead);
  }
  fmt::print("tidy: {} files, {} findings\n", tree->files.size(), findings.size());
  return findings.empty() ? 0 : 1;
}
