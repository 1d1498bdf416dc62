#include "apps/lb/takeover/state_directory.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <fstream>
#include <iterator>
#include <optional>
#include <system_error>
#include <type_traits>
#include <utility>

#include "roost/config/toml_file.h"

namespace roost::lb {

namespace {

using control::Json;

constexpr mode_t kOwnerOnly = 0700;
constexpr const char* kManifest = "manifest.json";
constexpr const char* kRoster = "roster.json";
constexpr uint64_t kPage = 4'096;

struct Region {
  uint64_t offset = 0;
  uint64_t bytes = 0;

  friend bool operator==(const Region&, const Region&) = default;
};

// What stands first in a worker's file.
struct StateFileHeader {
  static constexpr std::array<char, 8> kMagic = {'R', 'o', 'o', 's', 't', 'L', 'b', 'S'};
  static constexpr uint32_t kVersion = 1;

  std::array<char, 8> magic = kMagic;
  uint32_t version = kVersion;
  uint32_t worker = 0;
  uint32_t family = 0;
  uint32_t unused = 0;
  Region connections{};
  Region replies{};
  Region bindings{};

  friend bool operator==(const StateFileHeader&, const StateFileHeader&) = default;
};
static_assert(sizeof(StateFileHeader) == 72 && std::is_trivially_copyable_v<StateFileHeader>);

uint64_t end_of(const Region& region) {
  return (region.offset + region.bytes + kPage - 1) / kPage * kPage;
}

StateFileHeader header_for(const StateDirectory::Place& place, const conntrack::TableBytes& bytes) {
  StateFileHeader header{.worker = static_cast<uint32_t>(place.worker),
                         .family = static_cast<uint32_t>(place.family)};
  header.connections = {kPage, bytes.connections};
  header.replies = {end_of(header.connections), bytes.replies};
  header.bindings = {end_of(header.replies), bytes.bindings};
  return header;
}

StateDirectory::Lent lent(SharedFile file, const StateFileHeader& header, bool is_adopted) {
  const auto part = [&](const Region& region) {
    return file.memory().subspan(region.offset, region.bytes);
  };
  const conntrack::TableMemory memory{.connections = part(header.connections),
                                      .replies = part(header.replies),
                                      .bindings = part(header.bindings),
                                      .is_adopted = is_adopted};
  return {std::move(file), memory};
}

Error failed_at(const std::string& path) {
  return Error{path + ": " + std::generic_category().message(errno) +
               "; [lb] state names a directory that this process may write to"};
}

}  // namespace

std::string read_boot() {
  std::ifstream file("/proc/sys/kernel/random/boot_id");
  std::string boot;
  std::getline(file, boot);
  return boot;
}

Result<StateDirectory> StateDirectory::open(const std::string& path) {
  if (mkdir(path.c_str(), kOwnerOnly) != 0 && errno != EEXIST) return failed_at(path);
  struct stat status = {};
  if (lstat(path.c_str(), &status) != 0) return failed_at(path);
  const bool is_own = S_ISDIR(status.st_mode) && status.st_uid == geteuid() &&
                      (status.st_mode & (S_IWGRP | S_IWOTH)) == 0;
  if (!is_own) {
    return Error{path +
                 ": [lb] state must be a directory that its owner alone, this process, may "
                 "write to; what stands there decides where packets go"};
  }
  const std::string lock = path + "/lock";
  FileDescriptor file(::open(lock.c_str(), O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600));
  if (file.number() < 0) return failed_at(lock);
  return StateDirectory(path, std::move(file));
}

bool StateDirectory::try_lock() { return flock(lock_descriptor(), LOCK_EX | LOCK_NB) == 0; }

bool StateDirectory::has_manifest() const {
  return access((path_ + "/" + kManifest).c_str(), F_OK) == 0;
}

Result<std::string> StateDirectory::read(const char* name) const {
  const std::string path = path_ + "/" + name;
  config::Outcome<std::string> text = config::read_text(path);
  if (!text.config) return Error{path + ": it cannot be read"};
  return std::move(*text.config);
}

Result<Manifest> StateDirectory::read_manifest() const {
  const Result<std::string> text = read(kManifest);
  if (!text) return text.error();
  const std::string path = path_ + "/" + kManifest;
  try {
    const Json json = Json::parse(text.value());
    const auto format = json.at("format").get<uint64_t>();
    if (format != Manifest::kFormat) {
      return Error{fmt::format("{}: the connections are of format {}, and this program reads {}",
                               path, format, Manifest::kFormat)};
    }
    Manifest manifest{.boot = json.at("boot"),
                      .start_cycles = json.at("start_cycles"),
                      .tick_cycles = json.at("tick_cycles"),
                      .owner_seed = json.at("owner_seed"),
                      .worker_count = json.at("workers"),
                      .has_tables = json.at("has_tables"),
                      .configuration = json.at("configuration")};
    if (manifest.boot != read_boot()) {
      return Error{path + ": the connections are from before the system was started"};
    }
    if (manifest.tick_cycles == 0) return Error{path + ": a tick of no cycles cannot be right"};
    return manifest;
  } catch (const Json::exception& error) {
    return Error{fmt::format("{}: it is no manifest ({})", path, error.what())};
  }
}

Result<Roster> StateDirectory::read_roster() const {
  const Result<std::string> text = read(kRoster);
  if (!text) return text.error();
  Result<Roster> roster = lb::read_roster(text.value());
  if (!roster) return Error{path_ + "/" + kRoster + ": " + roster.error().message};
  return roster;
}

std::optional<Error> StateDirectory::write(const char* name, const Json& json) const {
  const std::string path = path_ + "/" + name;
  const std::string made = path + ".new";
  std::ofstream file(made, std::ios::binary | std::ios::trunc);
  file << json.dump(1, ' ', false, Json::error_handler_t::replace) << "\n";
  file.close();
  if (!file || rename(made.c_str(), path.c_str()) != 0) return failed_at(path);
  return {};
}

std::optional<Error> StateDirectory::write_manifest(const Manifest& manifest) const {
  return write(kManifest, {{"format", Manifest::kFormat},
                           {"boot", manifest.boot},
                           {"start_cycles", manifest.start_cycles},
                           {"tick_cycles", manifest.tick_cycles},
                           {"owner_seed", manifest.owner_seed},
                           {"workers", manifest.worker_count},
                           {"has_tables", manifest.has_tables},
                           {"configuration", manifest.configuration}});
}

std::optional<Error> StateDirectory::write_roster(const Roster& roster) const {
  return write(kRoster, roster_json(roster));
}

void StateDirectory::clear() const { unlink((path_ + "/" + kManifest).c_str()); }

std::string StateDirectory::memory_path(const Place& place) const {
  return fmt::format("{}/worker{}-{}", path_, place.worker, place.family == 0 ? "ipv4" : "ipv6");
}

Result<StateDirectory::Lent> StateDirectory::make_memory(const Place& place,
                                                         const conntrack::TableBytes& bytes) const {
  const StateFileHeader header = header_for(place, bytes);
  auto file = SharedFile::create(memory_path(place), end_of(header.bindings));
  if (!file) return Error{"[lb] state: " + file.error().message};
  std::memcpy(file.value().memory().data(), &header, sizeof(header));
  return lent(std::move(file).value(), header, false);
}

Result<StateDirectory::Lent> StateDirectory::find_memory(const Place& place,
                                                         const conntrack::TableBytes& bytes) const {
  const std::string path = memory_path(place);
  auto file = SharedFile::open(path);
  if (!file) return file.error();
  const StateFileHeader wanted = header_for(place, bytes);
  StateFileHeader found;
  if (file.value().memory().size() < end_of(wanted.bindings)) {
    return Error{path + ": it is shorter than these connections are"};
  }
  std::memcpy(&found, file.value().memory().data(), sizeof(found));
  if (found.magic != StateFileHeader::kMagic) return Error{path + ": these are no connections"};
  if (found.version != StateFileHeader::kVersion) {
    return Error{fmt::format("{}: the connections are of version {}, and this program reads {}",
                             path, found.version, StateFileHeader::kVersion)};
  }
  if (found != wanted) {
    return Error{path + ": the connections are another worker's, or laid out for other sizes"};
  }
  return lent(std::move(file).value(), wanted, true);
}

}  // namespace roost::lb
