// SPDX-License-Identifier: Apache-2.0
#pragma once

/// The node types and fields of tree-sitter's Python grammar that the interpreter knows.

#include <cstdint>

namespace schedmate::python {

// Names as in the grammar; where that is a C++ keyword, the second column differs.
#define SCHEDMATE_PYTHON_KINDS(KIND)                                                                                                           \
  KIND(other, "")                                                                                                                              \
  KIND(error, "ERROR")                                                                                                                         \
  KIND(module, "module")                                                                                                                       \
  KIND(block, "block")                                                                                                                         \
  KIND(identifier, "identifier")                                                                                                               \
  KIND(integer, "integer")                                                                                                                     \
  KIND(real, "float")                                                                                                                          \
  KIND(yes, "true")                                                                                                                            \
  KIND(no, "false")                                                                                                                            \
  KIND(none, "none")                                                                                                                           \
  KIND(ellipsis, "ellipsis")                                                                                                                   \
  KIND(string, "string") KIND(concatenated_string, "concatenated_string") KIND(                                                                \
      string_start, "string_start") KIND(string_content, "string_content") KIND(string_end,                                                    \
                                                                                "string_end")                                                  \
      KIND(interpolation, "interpolation") KIND(type_conversion, "type_conversion") KIND(                                                      \
          format_specifier, "format_specifier") KIND(list, "list") KIND(tuple,                                                                 \
                                                                        "tuple") KIND(set, "set")                                              \
          KIND(dictionary, "dictionary") KIND(pair, "pair") KIND(list_splat, "list_splat") KIND(                                               \
              dictionary_splat,                                                                                                                \
              "dictionary_splat") KIND(parenthesized,                                                                                          \
                                       "parenthesized_expression") KIND(expression_list,                                                       \
                                                                        "expression_list")                                                     \
              KIND(attribute, "attribute") KIND(subscript, "subscript") KIND(slice, "slice") KIND(                                             \
                  call,                                                                                                                        \
                  "call") KIND(argument_list,                                                                                                  \
                               "argument_list") KIND(keyword_argument,                                                                         \
                                                     "keyword_argument") KIND(binary,                                                          \
                                                                              "binary_operator")                                               \
                  KIND(unary, "unary_operator") KIND(boolean, "boolean_operator") KIND(                                                        \
                      negation,                                                                                                                \
                      "not_operator") KIND(comparison,                                                                                         \
                                           "comparison_operator") KIND(conditional,                                                            \
                                                                       "conditional_expression")                                               \
                      KIND(lambda, "lambda") KIND(named_expression, "named_expression") KIND(                                                  \
                          await, "await") KIND(yield, "yield") KIND(list_comprehension,                                                        \
                                                                    "list_comprehension")                                                      \
                          KIND(dictionary_comprehension, "dictionary_comprehension") KIND(                                                     \
                              set_comprehension, "set_comprehension") KIND(generator_expression,                                               \
                                                                           "generator_"                                                        \
                                                                           "expression")                                                       \
                              KIND(for_in_clause, "for_in_clause") KIND(                                                                       \
                                  if_clause,                                                                                                   \
                                  "if_clause") KIND(expression_statement,                                                                      \
                                                    "expression_statement") KIND(assignment,                                                   \
                                                                                 "assignment")                                                 \
                                  KIND(augmented_assignment, "augmented_assignment") KIND(                                                     \
                                      pattern_list,                                                                                            \
                                      "pattern_list") KIND(tuple_pattern,                                                                      \
                                                           "tuple_pattern") KIND(list_pattern,                                                 \
                                                                                 "list_pattern")                                               \
                                      KIND(splat_pattern, "list_splat_pattern") KIND(                                                          \
                                          double_splat_pattern,                                                                                \
                                          "dictionary_splat_"                                                                                  \
                                          "pattern") KIND(if_statement,                                                                        \
                                                          "if_statement") KIND(elif_clause,                                                    \
                                                                               "elif_clause")                                                  \
                                          KIND(else_clause, "else_clause") KIND(                                                               \
                                              for_statement,                                                                                   \
                                              "for_"                                                                                           \
                                              "statement") KIND(while_statement,                                                               \
                                                                "while_statement") KIND(try_statement,                                         \
                                                                                        "try_"                                                 \
                                                                                        "statemen"                                             \
                                                                                        "t")                                                   \
                                              KIND(except_clause, "except_clause") KIND(                                                       \
                                                  except_group_clause,                                                                         \
                                                  "e"                                                                                          \
                                                  "x"                                                                                          \
                                                  "c"                                                                                          \
                                                  "e"                                                                                          \
                                                  "p"                                                                                          \
                                                  "t"                                                                                          \
                                                  "_"                                                                                          \
                                                  "g"                                                                                          \
                                                  "r"                                                                                          \
                                                  "o"                                                                                          \
                                                  "u"                                                                                          \
                                                  "p"                                                                                          \
                                                  "_"                                                                                          \
                                                  "c"                                                                                          \
                                                  "l"                                                                                          \
                                                  "a"                                                                                          \
                                                  "u"                                                                                          \
                                                  "s"                                                                                          \
                                                  "e") KIND(finally_clause,                                                                    \
                                                            "finally_clause")                                                                  \
                                                  KIND(with_statement, "with_statement") KIND(                                                 \
                                                      with_clause,                                                                             \
                                                      "with_"                                                                                  \
                                                      "clause") KIND(with_item, "with_item") KIND(as_pattern,                                  \
                                                                                                  "a"                                          \
                                                                                                  "s"                                          \
                                                                                                  "_"                                          \
                                                                                                  "p"                                          \
                                                                                                  "a"                                          \
                                                                                                  "t"                                          \
                                                                                                  "t"                                          \
                                                                                                  "e"                                          \
                                                                                                  "r"                                          \
                                                                                                  "n") KIND(as_pattern_target,                 \
                                                                                                            "as_pattern_target")               \
                                                      KIND(match_statement, "match_statement") KIND(                                           \
                                                          case_clause,                                                                         \
                                                          "case_"                                                                              \
                                                          "claus"                                                                              \
                                                          "e") KIND(case_pattern,                                                              \
                                                                    "case_"                                                                    \
                                                                    "pattern")                                                                 \
                                                          KIND(                                                                                \
                                                              union_pattern,                                                                   \
                                                              "union_pattern") KIND(dotted_name,                                               \
                                                                                    "dotted_"                                                  \
                                                                                    "name") KIND(function,                                     \
                                                                                                 "function_"                                   \
                                                                                                 "definition")                                 \
                                                              KIND(                                                                            \
                                                                  class_definition,                                                            \
                                                                  "class_"                                                                     \
                                                                  "definition") KIND(decorated,                                                \
                                                                                     "dec"                                                     \
                                                                                     "ora"                                                     \
                                                                                     "ted"                                                     \
                                                                                     "_"                                                       \
                                                                                     "def"                                                     \
                                                                                     "ini"                                                     \
                                                                                     "tio"                                                     \
                                                                                     "n")                                                      \
                                                                  KIND(decorator, "decorator") KIND(                                           \
                                                                      parameters,                                                              \
                                                                      "para"                                                                   \
                                                                      "me"                                                                     \
                                                                      "ter"                                                                    \
                                                                      "s") KIND(lambda_parameters,                                             \
                                                                                "la"                                                           \
                                                                                "mb"                                                           \
                                                                                "da"                                                           \
                                                                                "_p"                                                           \
                                                                                "ar"                                                           \
                                                                                "am"                                                           \
                                                                                "et"                                                           \
                                                                                "er"                                                           \
                                                                                "s")                                                           \
                                                                      KIND(typed_parameter,                                                    \
                                                                           "typed_"                                                            \
                                                                           "paramete"                                                          \
                                                                           "r")                                                                \
                                                                          KIND(                                                                \
                                                                              default_parameter,                                               \
                                                                              "default_"                                                       \
                                                                              "parameter") KIND(typed_default_parameter,                       \
                                                                                                "typed_"                                       \
                                                                                                "default"                                      \
                                                                                                "_parame"                                      \
                                                                                                "ter")                                         \
                                                                              KIND(                                                            \
                                                                                  keyword_separator,                                           \
                                                                                  "keyword_"                                                   \
                                                                                  "separator") KIND(positional_separator,                      \
                                                                                                    "position"                                 \
                                                                                                    "al_"                                      \
                                                                                                    "separato"                                 \
                                                                                                    "r") KIND(type,                            \
                                                                                                              "type") KIND(return_statement,   \
                                                                                                                           "return_statement") \
                                                                                  KIND(                                                        \
                                                                                      raise_statement,                                         \
                                                                                      "raise"                                                  \
                                                                                      "_stat"                                                  \
                                                                                      "emen"                                                   \
                                                                                      "t") KIND(assert_statement,                              \
                                                                                                "assert_"                                      \
                                                                                                "statement")                                   \
                                                                                      KIND(                                                    \
                                                                                          delete_statement,                                    \
                                                                                          "de"                                                 \
                                                                                          "le"                                                 \
                                                                                          "te"                                                 \
                                                                                          "_s"                                                 \
                                                                                          "ta"                                                 \
                                                                                          "te"                                                 \
                                                                                          "me"                                                 \
                                                                                          "n"                                                  \
                                                                                          "t") KIND(pass_statement,                            \
                                                                                                    "pass_statement") KIND(break_statement,    \
                                                                                                                           "break_"            \
                                                                                                                           "statemen"          \
                                                                                                                           "t")                \
                                                                                          KIND(                                                \
                                                                                              continue_statement,                              \
                                                                                              "co"                                             \
                                                                                              "nt"                                             \
                                                                                              "in"                                             \
                                                                                              "ue"                                             \
                                                                                              "_"                                              \
                                                                                              "st"                                             \
                                                                                              "at"                                             \
                                                                                              "em"                                             \
                                                                                              "en"                                             \
                                                                                              "t") KIND(global_statement,                      \
                                                                                                        "global"                               \
                                                                                                        "_"                                    \
                                                                                                        "statem"                               \
                                                                                                        "ent")                                 \
                                                                                              KIND(                                            \
                                                                                                  nonlocal_statement,                          \
                                                                                                  "no"                                         \
                                                                                                  "nl"                                         \
                                                                                                  "oc"                                         \
                                                                                                  "al"                                         \
                                                                                                  "_"                                          \
                                                                                                  "st"                                         \
                                                                                                  "at"                                         \
                                                                                                  "em"                                         \
                                                                                                  "en"                                         \
                                                                                                  "t") KIND(import_statement,                  \
                                                                                                            "import_"                          \
                                                                                                            "statemen"                         \
                                                                                                            "t")                               \
                                                                                                  KIND(                                        \
                                                                                                      import_from,                             \
                                                                                                      "import"                                 \
                                                                                                      "_"                                      \
                                                                                                      "from_"                                  \
                                                                                                      "statem"                                 \
                                                                                                      "en"                                     \
                                                                                                      "t") KIND(future_import,                 \
                                                                                                                "future_import_statement")     \
                                                                                                      KIND(                                    \
                                                                                                          aliased_import,                      \
                                                                                                          "al"                                 \
                                                                                                          "ia"                                 \
                                                                                                          "se"                                 \
                                                                                                          "d_"                                 \
                                                                                                          "im"                                 \
                                                                                                          "po"                                 \
                                                                                                          "r"                                  \
                                                                                                          "t") KIND(relative_import,           \
                                                                                                                    "relative_import")         \
                                                                                                          KIND(                                \
                                                                                                              import_prefix,                   \
                                                                                                              "im"                             \
                                                                                                              "po"                             \
                                                                                                              "rt"                             \
                                                                                                              "_p"                             \
                                                                                                              "re"                             \
                                                                                                              "fi"                             \
                                                                                                              "x") KIND(wildcard_import,       \
                                                                                                                        "wildcard_import")     \
                                                                                                              KIND(                            \
                                                                                                                  print_statement,             \
                                                                                                                  "print_statement")           \
                                                                                                                  KIND(                        \
                                                                                                                      exec_statement,          \
                                                                                                                      "exec_statement")        \
                                                                                                                      KIND(                    \
                                                                                                                          colon,               \
                                                                                                                          ":")

#define SCHEDMATE_PYTHON_FIELDS(FIELD)                                                             \
  FIELD(name)                                                                                      \
  FIELD(value)                                                                                     \
  FIELD(left)                                                                                      \
  FIELD(right)                                                                                     \
  FIELD(operators)                                                                                 \
  FIELD(body)                                                                                      \
  FIELD(condition)                                                                                 \
  FIELD(consequence)                                                                               \
  FIELD(alternative)                                                                               \
  FIELD(function)                                                                                  \
  FIELD(arguments)                                                                                 \
  FIELD(object) FIELD(attribute) FIELD(subscript) FIELD(parameters) FIELD(superclasses)            \
      FIELD(definition) FIELD(module_name) FIELD(alias) FIELD(type) FIELD(key) FIELD(subject)      \
          FIELD(guard) FIELD(cause) FIELD(argument) FIELD(type_conversion) FIELD(format_specifier) \
              FIELD(expression) FIELD(return_type)

#define SCHEDMATE_KIND_NAME(name, text) name,
enum class Kind : std::uint8_t { SCHEDMATE_PYTHON_KINDS(SCHEDMATE_KIND_NAME) };
#undef SCHEDMATE_KIND_NAME
#define SCHEDMATE_FIELD_NAME(name) name,
/// `operation` is the grammar's field "operator".
enum class Field : std::uint8_t { none, operation, SCHEDMATE_PYTHON_FIELDS(SCHEDMATE_FIELD_NAME) };
#undef SCHEDMATE_FIELD_NAME

}  // namespace schedmate::python
