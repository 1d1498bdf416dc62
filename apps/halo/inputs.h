// What a run needs: a machine, a table and the keys that it is asked for, checked before the first
// cycle.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <variant>
#include <vector>

#include "apps/halo/built_table.h"
#include "apps/halo/key_trace.h"
#include "apps/halo/ways.h"
#include "roost/base/result.h"
#include "sim/lookup_program.h"
#include "sim/parameters.h"
#include "sim/saved_table.h"

namespace roost::halo {

// Of a file, or the one that is compiled in if the path is empty. Errors: every fault, with its
// line.
[[nodiscard]] Result<sim::MachineDescription> read_machine(const std::string& path);

struct InputOptions {
  std::string table_path{};  // what save_table() wrote; or
  BuildOptions build{};      // if that is empty
  std::string trace_path{};  // if empty, keys of the table by chance
  std::optional<TraceFormat> trace_format{};
  uint64_t keys = 0;      // how many of those
  double misses = 0;      // the share of those that the table has not
  uint64_t machines = 1;  // that are simulated at a time
};

struct Inputs {
  std::string table_name{};
  std::variant<std::string, std::vector<std::byte>> bytes{};  // of a file, or built
  std::string kind{};                                         // layout, probing, hash
  sim::AuditedTable table{};
  std::string trace_name{};
  KeyTrace trace{};
  std::vector<uint64_t> words{};  // that the keys are answered with
  uint64_t hits = 0;              // of the keys

  // Images that software is asked by, where `bytes` are of another format; else empty.
  std::vector<std::byte> as_paper{};
  std::vector<std::byte> as_own{};

  [[nodiscard]] std::span<const std::byte> image() const;
  [[nodiscard]] Question question() const;
  [[nodiscard]] double load() const;
};

// Not enough memory for so many bytes of tables: they are held twice, in two formats, and once in
// each machine that is simulated at a time.
[[nodiscard]] std::optional<Error> too_large(const std::string& name, uint64_t image_bytes,
                                             uint64_t machines);

// Errors: not enough memory; no table, one of another format, cut, or damaged; no trace, or one of
// which the table has no key.
[[nodiscard]] Result<Inputs> read_inputs(const InputOptions& options);

}  // namespace roost::halo
