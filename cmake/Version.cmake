# What src/settings/version.cpp tells of the build.
# The commit as it is now; a new commit configures again.
find_program(GIT git)
set(commit "")
if(GIT)
  execute_process(COMMAND ${GIT} rev-parse --short=12 HEAD WORKING_DIRECTORY ${CMAKE_SOURCE_DIR}
    OUTPUT_VARIABLE commit OUTPUT_STRIP_TRAILING_WHITESPACE ERROR_QUIET)
endif()
if(NOT commit)
  set(commit unknown)
endif()
if(EXISTS ${CMAKE_SOURCE_DIR}/.git/logs/HEAD)
  set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${CMAKE_SOURCE_DIR}/.git/logs/HEAD)
endif()
set_source_files_properties(${CMAKE_SOURCE_DIR}/src/settings/version.cpp PROPERTIES COMPILE_DEFINITIONS
  "SCHEDMATE_VERSION=\"${PROJECT_VERSION}\";SCHEDMATE_COMMIT=\"${commit}\";SCHEDMATE_BUILD_TYPE=\"${CMAKE_BUILD_TYPE}\"")
