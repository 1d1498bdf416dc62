// The directory of what outlives a process: the memory of its connections, and what says what they
// are (docs/decisions/0035-takeover.md).
//
//   lock                  held by the process whose directory it is
//   socket                where it listens for the one that takes over
//   manifest.json         Manifest
//   roster.json           Roster
//   worker0-ipv4 ...      the connections of a worker and family
//
// The last ones begin with a page that says what they are; behind it, each from a page's start on,
// the image of `connections`, that of `replies`, and the port bindings.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>

#include "apps/lb/takeover/roster.h"
#include "roost/base/file_descriptor.h"
#include "roost/base/result.h"
#include "roost/conntrack/tables.h"
#include "roost/memory/shared_file.h"

namespace roost::lb {

// What is the same for all that adopt the connections, one after the other.
struct Manifest {
  static constexpr uint32_t kFormat = 1;

  std::string boot{};         // the system's: cycles are counted from it on
  uint64_t start_cycles = 0;  // at which ticks began
  uint64_t tick_cycles = 1;
  uint64_t owner_seed = 0;
  size_t worker_count = 1;
  std::array<bool, 2> has_tables{};  // by family: there were services when they were made
  std::string configuration{};       // the text of the file
};

// The identity of this boot of the system.
[[nodiscard]] std::string read_boot();

class StateDirectory {
 public:
  // Makes the directory if need be. An error: it cannot be made, or written to.
  [[nodiscard]] static Result<StateDirectory> open(const std::string& path);

  // Whether it is ours from now on, if it is nobody's.
  [[nodiscard]] bool try_lock();
  // The lock, to hand it on; and from who hands it on.
  [[nodiscard]] int lock_descriptor() const { return lock_ ? lock_->number() : -1; }
  void take_lock(FileDescriptor lock) { lock_.emplace(std::move(lock)); }

  [[nodiscard]] std::string socket_path() const { return path_ + "/socket"; }
  [[nodiscard]] const std::string& path() const { return path_; }

  [[nodiscard]] bool has_manifest() const;
  // Refused, with the file's path and why: another format, another boot, damage.
  [[nodiscard]] Result<Manifest> read_manifest() const;
  [[nodiscard]] Result<Roster> read_roster() const;
  [[nodiscard]] std::optional<Error> write_manifest(const Manifest& manifest) const;
  [[nodiscard]] std::optional<Error> write_roster(const Roster& roster) const;
  // No connections are there any more, as far as anybody can tell who looks for them.
  void clear() const;

  struct Place {
    size_t worker = 0;
    size_t family = 0;  // 0 IPv4, 1 IPv6
  };
  // A mapping of a worker's file, and what of it is lent to the tables.
  struct Lent {
    SharedFile file;
    conntrack::TableMemory memory{};
  };
  // A new file for so much.
  [[nodiscard]] Result<Lent> make_memory(const Place& place,
                                         const conntrack::TableBytes& bytes) const;
  // The file that is there. Refused: it is another version's, another worker's, or of other sizes.
  [[nodiscard]] Result<Lent> find_memory(const Place& place,
                                         const conntrack::TableBytes& bytes) const;

 private:
  StateDirectory(std::string path, FileDescriptor lock)
      : path_(std::move(path)), lock_(std::move(lock)) {}
  [[nodiscard]] std::string memory_path(const Place& place) const;
  [[nodiscard]] std::optional<Error> write(const char* name, const control::Json& json) const;
  [[nodiscard]] Result<std::string> read(const char* name) const;

  std::string path_;
  std::optional<FileDescriptor> lock_;  // there
};

}  // namespace roost::lb
