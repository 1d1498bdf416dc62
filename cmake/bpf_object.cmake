# roost_bpf_object(SOURCE line_map.bpf.c OUTPUT_VARIABLE object DEPENDS ...): compiles a source for the kernel's BPF and
# sets the variable to the object's path. As a script, with -DOBJECT=, -DOUTPUT= and -DFUNCTION=, it writes the object's
# bytes into a C++ source: so no path has to be found at run time.
if(CMAKE_SCRIPT_MODE_FILE)
  file(READ ${OBJECT} bytes HEX)
  string(REGEX REPLACE "(................................)" "\\1\n" bytes "${bytes}")
  string(REGEX REPLACE "([0-9a-f][0-9a-f])" "0x\\1," bytes "${bytes}")
  file(WRITE ${OUTPUT} "#include \"targets/xdp/${FUNCTION}.h\"

namespace roost::xdp {
namespace {

alignas(8) constexpr unsigned char kObject[] = {
${bytes}};

}  // namespace

std::span<const std::byte> ${FUNCTION}() { return std::as_bytes(std::span(kObject)); }

}  // namespace roost::xdp
")
  return()
endif()

# Sets ROOST_XDP_MISSING to what the target lacks here, or to nothing.
set(ROOST_XDP_MISSING "")
if(CMAKE_CROSSCOMPILING OR NOT CMAKE_SYSTEM_PROCESSOR STREQUAL "x86_64")
  set(ROOST_XDP_MISSING "a processor of x86-64, whose order of loads the program relies on")
else()
  find_program(ROOST_BPF_CLANG NAMES clang-16 clang clang-17 clang-18 clang-19 clang-15 clang-14)
  pkg_check_modules(LIBBPF IMPORTED_TARGET libbpf>=1.0)
  if(NOT ROOST_BPF_CLANG)
    set(ROOST_XDP_MISSING "clang, which compiles for BPF")
  elseif(NOT LIBBPF_FOUND)
    set(ROOST_XDP_MISSING "libbpf 1.0 and its headers")
  endif()
endif()

function(roost_bpf_object)
  cmake_parse_arguments(ARG "" "SOURCE;OUTPUT_VARIABLE" "DEPENDS" ${ARGN})
  cmake_path(GET ARG_SOURCE STEM LAST_ONLY stem)
  set(object ${CMAKE_CURRENT_BINARY_DIR}/${stem}.o)
  # No folder of whoever built it: its debug information is what the kernel shows of it.
  add_custom_command(OUTPUT ${object}
    COMMAND ${ROOST_BPF_CLANG} -target bpf -O2 -g -std=gnu2x -ffreestanding -Wall -Wextra -Werror -I${PROJECT_SOURCE_DIR}
      -idirafter /usr/include/${CMAKE_LIBRARY_ARCHITECTURE} -fdebug-prefix-map=${PROJECT_SOURCE_DIR}/= -fdebug-compilation-dir=.
      -c ${CMAKE_CURRENT_SOURCE_DIR}/${ARG_SOURCE} -o ${object}
    DEPENDS ${ARG_SOURCE} ${ARG_DEPENDS} VERBATIM)
  set(${ARG_OUTPUT_VARIABLE} ${object} PARENT_SCOPE)
endfunction()
