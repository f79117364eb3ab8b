# libschedmate.so: src/face and all below it, of which only what src/face/libschedmate.map lists can
# be seen from outside; and what finds it where it is installed.
include(GNUInstallDirs)
include(CMakePackageConfigHelpers)
set(map ${CMAKE_SOURCE_DIR}/src/face/libschedmate.map)
file(CONFIGURE OUTPUT ${CMAKE_BINARY_DIR}/library/library.cpp CONTENT "// All that is in this library comes from others.\n")

# One compile serves the programs and the library. No function of ours is replaced by that of another
# library: calls stay direct, and are inlined.
function(schedmate_shareable target)
  get_target_property(type ${target} TYPE)
  if(type STREQUAL STATIC_LIBRARY)
    get_target_property(done ${target} POSITION_INDEPENDENT_CODE)
    if(done)
      return()
    endif()
    set_target_properties(${target} PROPERTIES POSITION_INDEPENDENT_CODE ON)
    target_compile_options(${target} PRIVATE -fno-semantic-interposition)
  endif()
  get_target_property(links ${target} INTERFACE_LINK_LIBRARIES)
  foreach(link ${links})
    string(REGEX REPLACE "^\\$<LINK_ONLY:(.*)>$" "\\1" link "${link}")
    if(link MATCHES "^(schedmate|grammar)_" AND TARGET ${link})
      schedmate_shareable(${link})
    endif()
  endforeach()
endfunction()
schedmate_shareable(schedmate_face)

add_library(schedmate_library SHARED ${CMAKE_BINARY_DIR}/library/library.cpp)
target_link_libraries(schedmate_library PRIVATE "$<LINK_LIBRARY:WHOLE_ARCHIVE,schedmate_face>")
target_link_options(schedmate_library PRIVATE
  -Wl,--version-script=${map} -Wl,--no-undefined -Wl,-z,relro -Wl,-z,now)
target_include_directories(schedmate_library INTERFACE
  $<BUILD_INTERFACE:${CMAKE_SOURCE_DIR}/include> $<INSTALL_INTERFACE:${CMAKE_INSTALL_INCLUDEDIR}>)
set_target_properties(schedmate_library PROPERTIES OUTPUT_NAME schedmate EXPORT_NAME SchedMate
  VERSION ${PROJECT_VERSION} SOVERSION ${PROJECT_VERSION_MAJOR} LINK_DEPENDS ${map} UNITY_BUILD OFF)

# `cmake --install BUILD --component library` installs these alone; without it they come with the rest.
set(package ${CMAKE_INSTALL_LIBDIR}/cmake/SchedMate)
install(TARGETS schedmate_library EXPORT SchedMateTargets
  LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR} COMPONENT library NAMELINK_COMPONENT library)
install(FILES ${CMAKE_SOURCE_DIR}/include/schedmate.h ${CMAKE_SOURCE_DIR}/include/schedmate_policy.h
  DESTINATION ${CMAKE_INSTALL_INCLUDEDIR} COMPONENT library)
install(FILES ${CMAKE_SOURCE_DIR}/include/schedmate/library.hpp ${CMAKE_SOURCE_DIR}/include/schedmate/result.hpp
  DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}/schedmate COMPONENT library)
install(EXPORT SchedMateTargets NAMESPACE SchedMate:: DESTINATION ${package} COMPONENT library)
write_basic_package_version_file(${CMAKE_BINARY_DIR}/library/SchedMateConfigVersion.cmake
  COMPATIBILITY SameMajorVersion)
file(CONFIGURE OUTPUT ${CMAKE_BINARY_DIR}/library/SchedMateConfig.cmake @ONLY CONTENT [[
# SchedMate::SchedMate: schedmate.h and, for C++, schedmate/library.hpp, which needs tl::expected.
include("${CMAKE_CURRENT_LIST_DIR}/SchedMateTargets.cmake")
]])
# From the folder of schedmate.pc back to the prefix, wherever that is moved.
file(RELATIVE_PATH to_prefix /prefix/${CMAKE_INSTALL_LIBDIR}/pkgconfig /prefix)
file(CONFIGURE OUTPUT ${CMAKE_BINARY_DIR}/library/schedmate.pc @ONLY CONTENT [[
prefix=${pcfiledir}/@to_prefix@
includedir=${prefix}/@CMAKE_INSTALL_INCLUDEDIR@
libdir=${prefix}/@CMAKE_INSTALL_LIBDIR@

Name: SchedMate
Description: What GPU jobs are, when they start, how long they run and why they failed
Version: @PROJECT_VERSION@
Cflags: -I${includedir}
Libs: -L${libdir} -lschedmate
]])
install(FILES ${CMAKE_BINARY_DIR}/library/SchedMateConfig.cmake ${CMAKE_BINARY_DIR}/library/SchedMateConfigVersion.cmake
  DESTINATION ${package} COMPONENT library)
install(FILES ${CMAKE_BINARY_DIR}/library/schedmate.pc
  DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig COMPONENT library)
