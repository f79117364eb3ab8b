# One static library per folder of src/: schedmate_trace of src/trace, schedmate_log_lines of
# src/log/lines. Sources are globbed; x_test.cpp beside x.cpp goes into the module's test program
# (tests/CMakeLists.txt). tests/tidy checks what may include what.
add_library(schedmate_options INTERFACE)
target_compile_options(schedmate_options INTERFACE
  -Wall -Wextra -Wpedantic -Wconversion $<$<BOOL:${SCHEDMATE_WERROR}>:-Werror>
  # In a unity build a name of one file seems to shadow, or to lend its linkage to, that of another.
  $<IF:$<BOOL:${CMAKE_UNITY_BUILD}>,-Wshadow=local,-Wshadow>
  $<$<AND:$<BOOL:${CMAKE_UNITY_BUILD}>,$<COMPILE_LANGUAGE:CXX>>:-Wno-subobject-linkage>
  -ffile-prefix-map=${CMAKE_SOURCE_DIR}/=
  # False alarms of g++ 12: string + string (its bug 105651), std::variant (its bug 105562).
  -Wno-restrict -Wno-maybe-uninitialized)
target_include_directories(schedmate_options INTERFACE ${CMAKE_SOURCE_DIR}/include ${CMAKE_SOURCE_DIR}/src)
target_link_libraries(schedmate_options INTERFACE tl::expected Threads::Threads)
if(SCHEDMATE_SANITIZE)
  target_compile_options(schedmate_options INTERFACE
    -fsanitize=${SCHEDMATE_SANITIZE} -fno-omit-frame-pointer -fno-sanitize-recover=all)
  target_link_options(schedmate_options INTERFACE -fsanitize=${SCHEDMATE_SANITIZE})
endif()

function(schedmate_module name)
  cmake_parse_arguments(PARSE_ARGV 1 module "" "" "LINK")
  string(REPLACE / _ target schedmate_${name})
  file(GLOB sources CONFIGURE_DEPENDS ${CMAKE_SOURCE_DIR}/src/${name}/*.cpp)
  list(FILTER sources EXCLUDE REGEX "_test\\.cpp$")
  if(NOT sources)
    add_library(${target} INTERFACE)
    target_link_libraries(${target} INTERFACE schedmate_options ${module_LINK})
    return()
  endif()
  add_library(${target} STATIC ${sources})
  target_link_libraries(${target} PUBLIC schedmate_options ${module_LINK})
endfunction()
