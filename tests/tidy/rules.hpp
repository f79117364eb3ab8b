// SPDX-License-Identifier: Apache-2.0
#pragma once

/// The rules of the house. Each is a function from values to findings; `check_all` is their sum.
/// Every rule has a case in a test beside it that breaks it.

#include "tests/tidy/tree.hpp"

namespace schedmate::tidy {

/// Hard limits. One is raised only where it would cut in two what is one thing.
struct Limits {
  int header_lines = 200;
  int source_lines = 500;
  int function_lines = 60;
  int switch_function_lines = 70;  ///< when the function is mainly a switch
  int parameters = 4;
  int c_parameters = 5;  ///< of what C calls: a text has a size beside it, an answer a place
  int sources_of_a_folder = 45;  ///< below src/, without tests
  int lines_of_apps = 5'000;     ///< of all its C++ files, without tests
  int columns = 100;
  /// Per cent of the public lines of a public header that are comments; one with fewer lines than
  /// that is mostly its opening paragraph.
  int least_comments = 30;
  int most_comments = 45;
  int short_header_lines = 30;
  std::uintmax_t file_bytes = 200'000;
  std::uintmax_t foreign_file_bytes = 2'000'000;  ///< in data/ and third_party/
};

// Of one C++ file (rules_code.cpp).
Findings check_libraries(const File& file);     ///< those that a header may not include
Findings check_toml_readers(const File& file);  ///< who may know the TOML library
Findings check_redaction(const File& file);     ///< who may take secrets out of texts
Findings check_printing(const File& file);      ///< who may write to the standard streams
Findings check_sizes(const File& file, const Limits& limits);
Findings check_header_comments(const File& file, const Limits& limits);
Findings check_banned_words(const File& file);
Findings check_clocks(const File& file);
Findings check_static_state(const File& file);
Findings check_namespaces(const File& file);  ///< each module has one of its own

// Of one text file (rules_text.cpp).
Findings check_licence_line(const File& file);
Findings check_leftovers(const File& file);
Findings check_places(const File& file);       ///< machine paths and registry hosts
Findings check_shared_data(const File& file);  ///< of a test that does not say that it needs it
/// Of a test: what makes its verdict hang on a clock, or on who else is there (rules_verdicts.cpp).
Findings check_verdicts(const File& file);

// Of the modules (rules_layers.cpp).
Findings check_layers(const Tree& tree);
/// The modules, layer by layer, each with those it uses and how many #include lines lead there.
[[nodiscard]] std::string layers_text(const Tree& tree);

// Of comments and pages (rules_cited.cpp).
Findings check_citations(const Tree& tree);  ///< what they cite is there

// Of the tree (rules_tree.cpp).
Findings check_rooms(const Tree& tree, const Limits& limits);     ///< a folder's sources
Findings check_programs(const Tree& tree, const Limits& limits);  ///< all lines of apps/
Findings check_file_bytes(const Tree& tree, const Limits& limits);
Findings check_links(const Tree& tree);
Findings check_table_rows(const Tree& tree);  ///< each .def row documented and tested
Findings check_in_build(const Tree& tree);    ///< nothing is left out of the build
Findings check_type_names(const Tree& tree);  ///< one type of a name in a namespace

[[nodiscard]] Findings check_all(const Tree& tree);

}  // namespace schedmate::tidy
