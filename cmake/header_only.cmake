# What the network functions use of other projects, by headers alone: for a cross build, where this
# machine's libraries are of another architecture. The headers are linked into a folder of their own,
# because the compiler must not find the rest of /usr/include.
set(folder ${CMAKE_BINARY_DIR}/header_only)
file(MAKE_DIRECTORY ${folder})
foreach(library fmt nlohmann toml++)
  file(CREATE_LINK /usr/include/${library} ${folder}/${library} SYMBOLIC)
endforeach()

add_library(header_only INTERFACE)
target_include_directories(header_only SYSTEM INTERFACE ${folder})
target_compile_definitions(header_only INTERFACE FMT_HEADER_ONLY=1)
add_library(fmt::fmt ALIAS header_only)
add_library(nlohmann_json::nlohmann_json ALIAS header_only)
add_library(PkgConfig::TOMLPLUSPLUS ALIAS header_only)
