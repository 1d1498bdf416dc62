#include "roost/config/toml_file.h"

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <system_error>

#include "roost/config/message_text.h"

namespace roost::config {

namespace {

constexpr uintmax_t kFileBytesMax = 64 << 20;

}  // namespace

std::vector<Fault> read_toml(std::string_view text,
                             const std::function<void(TomlTable& top, std::vector<Fault>&)>& read) {
  std::vector<Fault> faults;
  try {
    const toml::table toml = toml::parse(text);
    TomlTable top(toml, "", faults);
    read(top, faults);
  } catch (const toml::parse_error& error) {
    faults.push_back(
        {std::max<uint32_t>(1, error.source().begin.line),
         "not TOML: " + printable(error.description()) + "; see https://toml.io for the syntax"});
  }
  std::ranges::stable_sort(faults, {}, &Fault::line);
  return faults;
}

Outcome<std::string> read_text(const std::string& path) {
  std::error_code error;
  const uintmax_t bytes = std::filesystem::file_size(path, error);
  std::ifstream file(path, std::ios::binary);
  if (error || !file) {
    return {.faults = {{0, "it cannot be read; give a file that is there and readable"}}};
  }
  if (bytes > kFileBytesMax) {
    return {.faults = {{0, "more than 64 MiB; this is no configuration"}}};
  }
  return {.config = std::string((std::istreambuf_iterator<char>(file)), {})};
}

}  // namespace roost::config
