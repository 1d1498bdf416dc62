# What every target of Roost shares: the language, the warnings, and three ways to declare a target.
#   roost_room(NAME base HEADERS ... SOURCES ... USES <rooms> LINKS <targets>)   a library, roost::<name>
#   roost_test(NAME flow_table [NATIVE] [THREADS] [ISA] [CONFORMANCE] SOURCES ... USES <rooms> LINKS <targets>) a GoogleTest program in ctest
#   roost_fuzz(NAME parse SOURCES ... USES <rooms> RUNS <n> [SEEDS <n>])          a libFuzzer program in ctest

set(CMAKE_CXX_STANDARD 20)
set(CMAKE_CXX_STANDARD_REQUIRED ON)
set(CMAKE_CXX_EXTENSIONS OFF)
set(CMAKE_EXPORT_COMPILE_COMMANDS ON)
set(CMAKE_VERIFY_INTERFACE_HEADER_SETS ON)

find_package(PkgConfig REQUIRED)
find_package(Threads REQUIRED)
if(ROOST_DPDK)
  pkg_check_modules(DPDK REQUIRED IMPORTED_TARGET libdpdk)
endif()

if(ROOST_TESTS)
  add_custom_target(roost_headers)  # that each room's headers include what they need
endif()

add_library(roost_options INTERFACE)
target_include_directories(roost_options INTERFACE ${PROJECT_SOURCE_DIR})
target_compile_options(roost_options INTERFACE
  -Wall -Wextra -Wpedantic -Wshadow -Wconversion -Wsign-conversion -Wimplicit-fallthrough -Wundef -Werror
  "$<$<COMPILE_LANGUAGE:CXX>:-Wold-style-cast;-Wnon-virtual-dtor;-Woverloaded-virtual>")
# Assertions name their file by its path in the tree, whatever folder that was built in.
target_compile_options(roost_options INTERFACE -fmacro-prefix-map=${PROJECT_SOURCE_DIR}/=)
# GCC 12 sees overlapping copies in "literal" + std::string where there are none (its bug 105651).
if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU" AND CMAKE_CXX_COMPILER_VERSION VERSION_LESS 13)
  target_compile_options(roost_options INTERFACE $<$<COMPILE_LANGUAGE:CXX>:-Wno-restrict>)
endif()
# In a unity build sources are included, and GCC takes what has an unnamed namespace there for a header's.
if(CMAKE_UNITY_BUILD AND CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
  target_compile_options(roost_options INTERFACE $<$<COMPILE_LANGUAGE:CXX>:-Wno-subobject-linkage>)
endif()
if(CMAKE_SYSTEM_PROCESSOR STREQUAL "x86_64")
  target_compile_options(roost_options INTERFACE -march=x86-64-v2)
endif()
if(ROOST_SANITIZE)
  target_compile_options(roost_options INTERFACE
    -fsanitize=${ROOST_SANITIZE} -fno-sanitize-recover=all -fno-omit-frame-pointer)
  target_link_options(roost_options INTERFACE -fsanitize=${ROOST_SANITIZE})
  target_compile_definitions(roost_options INTERFACE ROOST_SANITIZED)  # tests repeat less often
  # Objects' sizes are what the address sanitizer checks; this check of Clang's beside it finds no
  # more, and takes a quarter of the time to compile a table.
  if(CMAKE_CXX_COMPILER_ID STREQUAL "Clang")
    target_compile_options(roost_options INTERFACE -fno-sanitize=object-size)
  endif()
  # Of fences GCC's thread sanitizer knows nothing; asio's locks, which it does, order the same.
  if(ROOST_SANITIZE STREQUAL "thread")
    target_compile_definitions(roost_options INTERFACE ASIO_DISABLE_FENCED_BLOCK)
  endif()
endif()

# Called by a folder whose code does little per test: without optimisation it compiles in half the
# time under the address sanitizer. What tests run millions of times over (tables, simulated cores)
# stays optimised, and so do fuzz targets.
macro(roost_unoptimised_under_asan)
  if(ROOST_SANITIZE MATCHES "address" AND ROOST_TESTS)
    add_compile_options(-O0)
  endif()
endmacro()

function(roost_room)
  cmake_parse_arguments(ARG "" "NAME" "HEADERS;SOURCES;USES;LINKS" ${ARGN})
  set(target roost_${ARG_NAME})
  if(ARG_SOURCES)
    add_library(${target} STATIC ${ARG_SOURCES})
    set(scope PUBLIC)
    # The shared library is made of the same objects (package.cmake). Calls between its functions
    # stay direct, and inline functions stay its own.
    set_target_properties(${target} PROPERTIES POSITION_INDEPENDENT_CODE ON)
    target_compile_options(${target} PRIVATE -fno-semantic-interposition -fvisibility-inlines-hidden)
  else()
    add_library(${target} INTERFACE)
    set(scope INTERFACE)
  endif()
  add_library(roost::${ARG_NAME} ALIAS ${target})
  target_sources(${target} ${scope} FILE_SET HEADERS
    BASE_DIRS ${PROJECT_SOURCE_DIR} FILES ${ARG_HEADERS})
  list(TRANSFORM ARG_USES PREPEND roost::)
  target_link_libraries(${target} ${scope} roost_options ${ARG_USES} ${ARG_LINKS})
  if(TARGET roost_headers)
    roost_room_headers(${target} ${ARG_HEADERS})
  endif()
endfunction()

# A room's headers in one source, the last first: one that leans on what those before it include does
# not compile. Preset debug compiles each alone (all_verify_interface_header_sets), which takes minutes.
function(roost_room_headers room)
  set(source ${CMAKE_CURRENT_BINARY_DIR}/${room}_headers.cc)
  list(REVERSE ARGN)
  list(TRANSFORM ARGN REPLACE "(.+)" "#include \"${CMAKE_CURRENT_SOURCE_DIR}/\\1\"\n")
  list(JOIN ARGN "" includes)
  file(CONFIGURE OUTPUT ${source} CONTENT "${includes}" @ONLY)
  add_library(${room}_headers OBJECT EXCLUDE_FROM_ALL ${source})
  target_compile_options(${room}_headers PRIVATE -O0)
  target_link_libraries(${room}_headers PRIVATE ${room})
  add_dependencies(roost_headers ${room}_headers)
endfunction()

function(roost_test)
  if(NOT ROOST_TESTS)
    return()
  endif()
  cmake_parse_arguments(ARG "NATIVE;THREADS;ISA;CONFORMANCE" "NAME" "SOURCES;USES;LINKS" ${ARGN})
  set(target ${ARG_NAME}_test)
  add_executable(${target} ${ARG_SOURCES})
  list(TRANSFORM ARG_USES PREPEND roost::)
  target_link_libraries(${target} PRIVATE roost_options ${ARG_USES} ${ARG_LINKS} GTest::gtest GTest::gtest_main)
  add_test(NAME ${ARG_NAME} COMMAND ${target})
  set_tests_properties(${ARG_NAME} PROPERTIES TIMEOUT 1200)
  set(labels "")
  # What has threads is what the thread sanitizer looks at. They poll, and beside another test they
  # would wait for each other's processor.
  if(ARG_THREADS)
    list(APPEND labels threads)
    set_tests_properties(${ARG_NAME} PROPERTIES PROCESSORS 2)
    add_dependencies(roost_thread_tests ${target})
  endif()
  # What depends on the instruction set is what every change is tried with on others.
  if(ARG_ISA)
    list(APPEND labels isa)
    add_dependencies(roost_isa_tests ${target})
  endif()
  # What says how a table answers, call by call: sanitizers see the same code by random operations.
  if(ARG_CONFORMANCE)
    list(APPEND labels conformance)
    set_property(GLOBAL APPEND PROPERTY roost_tests_not_sanitized ${target})
  endif()
  set_tests_properties(${ARG_NAME} PROPERTIES LABELS "${labels}")
  # Again, on a processor that has x86-64-v2 and nothing beyond: ctest -C v2 -L v2. Not so what is
  # NATIVE: a program that starts itself again leaves the emulator, and a page of the address space
  # costs the emulator memory of its own.
  if(CMAKE_SYSTEM_PROCESSOR STREQUAL "x86_64" AND NOT ROOST_SANITIZE AND NOT ARG_NATIVE)
    add_test(NAME ${ARG_NAME}_on_v2 CONFIGURATIONS v2
      COMMAND qemu-x86_64 -cpu Nehalem $<TARGET_FILE:${target}>)
    set_tests_properties(${ARG_NAME}_on_v2 PROPERTIES TIMEOUT 1200 LABELS "v2;${labels}")
  endif()
endfunction()

function(roost_fuzz)
  if(NOT ROOST_FUZZ)
    return()
  endif()
  cmake_parse_arguments(ARG "" "NAME;RUNS;SEEDS" "SOURCES;USES;LINKS" ${ARGN})
  if(NOT ARG_SEEDS)
    set(ARG_SEEDS 1)
  endif()
  set(target ${ARG_NAME}_fuzz)
  add_executable(${target} ${ARG_SOURCES})
  list(TRANSFORM ARG_USES PREPEND roost::)
  target_link_libraries(${target} PRIVATE roost_options ${ARG_USES} ${ARG_LINKS})
  target_compile_options(${target} PRIVATE -fsanitize=fuzzer)
  target_link_options(${target} PRIVATE -fsanitize=fuzzer)
  # Runs from several seeds stand side by side.
  set(name fuzz_${ARG_NAME})
  foreach(seed RANGE 1 ${ARG_SEEDS} 1)
    add_test(NAME ${name} COMMAND ${target} -seed=${seed} -len_control=0 -runs=${ARG_RUNS} -print_final_stats=0 -verbosity=0)
    math(EXPR next "${seed} + 1")
    set(name fuzz_${ARG_NAME}_${next})
  endforeach()
endfunction()
