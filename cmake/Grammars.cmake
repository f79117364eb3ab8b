# Tree-sitter grammars, carried as repacked npm packages (third_party/README.md) and unpacked into
# the build folder at configure time. Generated C: built without our warnings.
function(schedmate_grammar language version)
  set(archive ${CMAKE_SOURCE_DIR}/third_party/tree-sitter-${language}/tree-sitter-${language}-${version}.tar.xz)
  set(folder ${CMAKE_BINARY_DIR}/grammars/${language}-${version})
  if(NOT EXISTS ${folder}/src/parser.c)
    file(ARCHIVE_EXTRACT INPUT ${archive} DESTINATION ${folder})
  endif()
  add_library(grammar_${language} STATIC ${folder}/src/parser.c ${folder}/src/scanner.c)
  target_include_directories(grammar_${language} PRIVATE ${folder}/src)
  target_compile_options(grammar_${language} PRIVATE -w)
  set_target_properties(grammar_${language} PROPERTIES UNITY_BUILD OFF)
endfunction()

schedmate_grammar(python 0.23.6)
