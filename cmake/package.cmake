# libroost, and what `cmake --install` puts where (docs/decisions/0005-package.md).
#
# Both libraries are made of the objects of capi and of the rooms that need no DPDK and that programs link. Every path
# in an installed file is relative to the file itself, so that the prefix may be moved.

include(GNUInstallDirs)
include(CMakePackageConfigHelpers)

if(IS_ABSOLUTE "${CMAKE_INSTALL_LIBDIR}" OR IS_ABSOLUTE "${CMAKE_INSTALL_INCLUDEDIR}"
    OR IS_ABSOLUTE "${CMAKE_INSTALL_DATADIR}")
  message(FATAL_ERROR "CMAKE_INSTALL_LIBDIR, _INCLUDEDIR and _DATADIR are below the prefix, so that it may be "
    "moved: give relative paths")
endif()

set(package_rooms base memory isa hash expiry table concurrent compact balance net conntrack)
set(package_objects $<TARGET_OBJECTS:roost_capi>)
install(FILES capi/roost.h capi/roost_types.h capi/roost_shared.h capi/roost_map.h DESTINATION ${CMAKE_INSTALL_INCLUDEDIR})
foreach(room IN LISTS package_rooms)
  get_target_property(kind roost_${room} TYPE)
  if(NOT kind STREQUAL "INTERFACE_LIBRARY")
    list(APPEND package_objects $<TARGET_OBJECTS:roost_${room}>)
  endif()
  install(DIRECTORY ${PROJECT_SOURCE_DIR}/roost/${room} DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}/roost
    FILES_MATCHING PATTERN "*.h")
endforeach()

add_library(roost_shared SHARED ${package_objects})
add_library(roost_static STATIC ${package_objects})
set_target_properties(roost_shared roost_static PROPERTIES OUTPUT_NAME roost LINKER_LANGUAGE CXX)
target_include_directories(roost_shared INTERFACE $<INSTALL_INTERFACE:${CMAKE_INSTALL_INCLUDEDIR}>)
target_include_directories(roost_static INTERFACE $<INSTALL_INTERFACE:${CMAKE_INSTALL_INCLUDEDIR}>)
# C++ programs get the language that the headers need; C programs are not concerned.
target_compile_features(roost_shared INTERFACE cxx_std_20)
target_compile_features(roost_static INTERFACE cxx_std_20)

# The soname's number changes when the C ABI loses or changes something.
set_target_properties(roost_shared PROPERTIES EXPORT_NAME roost VERSION ${PROJECT_VERSION} SOVERSION 0)
file(STRINGS capi/abi/symbols.txt package_c_symbols REGEX "^ROOST_0\\.1 ")
list(TRANSFORM package_c_symbols REPLACE "^ROOST_0\\.1 " "    ")
list(JOIN package_c_symbols ";\n" package_c_symbols)
set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS capi/abi/symbols.txt)
configure_file(cmake/roost.map.in ${PROJECT_BINARY_DIR}/roost.map @ONLY)
set_target_properties(roost_shared PROPERTIES LINK_DEPENDS ${PROJECT_BINARY_DIR}/roost.map)
target_link_options(roost_shared PRIVATE
  LINKER:--version-script=${PROJECT_BINARY_DIR}/roost.map LINKER:--no-undefined LINKER:--no-undefined-version)

# A C program that links the static library needs C++'s runtime, which its linker would not add.
target_link_libraries(roost_static INTERFACE stdc++ m)

install(TARGETS roost_shared roost_static EXPORT roostTargets
  LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR} ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR})

set(package_cmake_dir ${CMAKE_INSTALL_LIBDIR}/cmake/roost)
install(EXPORT roostTargets NAMESPACE roost:: DESTINATION ${package_cmake_dir})
configure_package_config_file(cmake/roostConfig.cmake.in ${PROJECT_BINARY_DIR}/roostConfig.cmake
  INSTALL_DESTINATION ${package_cmake_dir} NO_SET_AND_CHECK_MACRO)
write_basic_package_version_file(${PROJECT_BINARY_DIR}/roostConfigVersion.cmake COMPATIBILITY SameMinorVersion)
install(FILES ${PROJECT_BINARY_DIR}/roostConfig.cmake ${PROJECT_BINARY_DIR}/roostConfigVersion.cmake
  DESTINATION ${package_cmake_dir})

set(package_pkgconfig_dir ${CMAKE_INSTALL_LIBDIR}/pkgconfig)
file(RELATIVE_PATH package_prefix /${package_pkgconfig_dir} /)
string(REGEX REPLACE "/$" "" package_prefix ${package_prefix})
foreach(name roost roost-static)
  configure_file(cmake/${name}.pc.in ${PROJECT_BINARY_DIR}/${name}.pc @ONLY)
  install(FILES ${PROJECT_BINARY_DIR}/${name}.pc DESTINATION ${package_pkgconfig_dir})
endforeach()

install(FILES LICENSE CHANGELOG.md DESTINATION ${CMAKE_INSTALL_DOCDIR})
install(FILES docs/migrating-from-rte_hash.md DESTINATION ${CMAKE_INSTALL_DOCDIR}/docs)
install(FILES examples/CMakeLists.txt examples/connection_counter.cc examples/flow_counter.c examples/flow_counter.cc
    examples/rte_hash_or_roost.c
  DESTINATION ${CMAKE_INSTALL_DOCDIR}/examples)
install(FILES tools/gdb/roost_gdb.py DESTINATION ${CMAKE_INSTALL_DATADIR}/roost)
