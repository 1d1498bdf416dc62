// A machine with a table in it, for tests of the accelerator.
#pragma once

#include <gtest/gtest.h>

#include <cstring>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "roost/traffic/key.h"
#include "sim/machine.h"
#include "sim/paper_table.h"
#include "tests/sim/script.h"

namespace roost::sim {

// In a bank of DRAM that the first keys are not in, if there is one channel.
inline constexpr uint64_t kTableAddress = (uint64_t{1} << 30) + (uint64_t{1} << 19);
inline constexpr uint64_t kKeysAddress = uint64_t{1} << 20;     // keys that are looked up
inline constexpr uint64_t kResultsAddress = uint64_t{2} << 20;  // words of LOOKUP_NB

// Key number i, of 16 bytes; odd ones are in no table.
[[nodiscard]] inline traffic::Key128 key_of(uint64_t i) { return {{traffic::mix(i + 1), i}}; }

[[nodiscard]] inline KeyBytes bytes_of(const traffic::Key128& key) {
  KeyBytes bytes{};
  std::memcpy(bytes.data(), &key, sizeof(key));
  return bytes;
}

// A cuckoo table of the paper's format with keys 0, 2, 4, ..., whose values are their numbers.
[[nodiscard]] inline PaperTable paper_table(uint64_t entries, uint64_t buckets,
                                            TableFormat format = TableFormat::kPaperCuckoo) {
  PaperTable table =
      PaperTable::create({.format = format, .buckets = buckets, .entries = entries, .seed = 77})
          .value();
  for (uint64_t i = 0; i < entries; ++i) {
    const traffic::Key128 key = key_of(2 * i);
    ROOST_ASSERT(table.insert(std::as_bytes(std::span(&key, 1)), 2 * i));
  }
  return table;
}

class LookupBench {
 public:
  LookupBench(const Parameters& parameters, std::span<const std::byte> image,
              std::optional<KeyMask> mask = {})
      : machine(parameters) {
    ROOST_ASSERT(machine.bytes().put_zeroes(kKeysAddress, 1 << 20));
    ROOST_ASSERT(machine.bytes().put_zeroes(kResultsAddress, 1 << 20));
    Result<uint64_t> put = put_table(machine.bytes(), kTableAddress, image, mask);
    ROOST_ASSERT(put.ok());
    table = put.value();
    metadata = *TableMetadata::of_line(machine.bytes().read_line(line_of(table)));
  }

  // Runs a core to its end. `began` and `ended` are its cycles.
  Script run(Tile tile, std::vector<Op> ops) {
    Script script(std::move(ops));
    began = machine.events().now() + 1;
    machine.events().at(began, {&idle_, 0, 0, 0});
    (void)machine.events().run_cycle(began);
    machine.start(tile, script);
    const Result<Cycle> result = machine.run();
    if (!result) ADD_FAILURE() << result.error().message;
    ended = result ? result.value() : 0;
    return script;
  }

  // Where a key is put before it is looked up: a line of its own for each number.
  [[nodiscard]] static uint64_t key_address(uint64_t i) { return kKeysAddress + i % 8192 * 128; }
  [[nodiscard]] static std::vector<Op> put_key(uint64_t i) {
    const traffic::Key128 key = key_of(i);
    return {{.kind = OpKind::kStore,
             .bytes = 16,
             .address = key_address(i),
             .data = {key.words[0], key.words[1]}}};
  }
  [[nodiscard]] Op lookup_b(uint64_t i, uint32_t tag) const {
    return {.kind = OpKind::kLookupB,
            .bytes = 16,
            .address = key_address(i),
            .table = table,
            .tag = tag};
  }
  [[nodiscard]] Op lookup_nb(uint64_t i, uint64_t result) const {
    return {.kind = OpKind::kLookupNb,
            .bytes = 16,
            .address = key_address(i),
            .table = table,
            .result = result};
  }
  struct Looked {
    uint64_t word;
    Cycle cycles;
  };
  // Stores the key, waits until it is in L1D, and looks it up: what a lookup alone takes.
  Looked look_up(Tile tile, uint64_t i) {
    run(tile, put_key(i));
    const Script script = run(tile, {lookup_b(i, 1)});
    return {script.of(1).word, script.of(1).when - began};
  }

  [[nodiscard]] Tile home(uint64_t address) const {
    return const_cast<Machine&>(machine).memory().slice_of(line_of(address));
  }
  [[nodiscard]] KeyPlaces places(uint64_t i) const {
    return places_of(metadata, hash_of(metadata, bytes_of(key_of(i))));
  }
  // The address of the entry that holds a key, and whether that is in its secondary bucket.
  struct Held {
    uint64_t entry;
    bool is_secondary;
  };
  [[nodiscard]] Held held(uint64_t i) {
    const KeyPlaces where = places(i);
    for (const uint64_t bucket : {where.primary, where.secondary}) {
      const LineBytes line = machine.bytes().read_line(line_of(bucket_address(metadata, bucket)));
      for (uint32_t left = candidates(metadata, line, where.tag, bytes_of(key_of(i))); left != 0;
           left &= left - 1) {
        const uint64_t entry =
            entry_address(metadata, bucket, static_cast<unsigned>(std::countr_zero(left)), line);
        KeyBytes key{};
        machine.bytes().read(entry, std::span(key).first(16));
        if (key == bytes_of(key_of(i))) return {entry, bucket != where.primary};
      }
    }
    return {0, false};
  }
  // The first key from i on, of those in the table or not, that is where it is wanted.
  template <class IsWanted>
  [[nodiscard]] uint64_t key_where(uint64_t i, IsWanted&& is_wanted) {
    while (!is_wanted(i)) i += 2;
    return i;
  }

  Machine machine;
  uint64_t table = 0;
  TableMetadata metadata;
  Cycle began = 0;
  Cycle ended = 0;

 private:
  struct Idle final : EventTarget {
    void handle(const Event& /*event*/) override {}
  };
  Idle idle_;
};

// What an accelerator's lookup takes, step by step, added up from the machine's numbers.
class LookupCosts {
 public:
  LookupCosts(LookupBench& bench, Tile core)
      : bench_(bench),
        p_(bench.machine.memory().parameters()),
        core_(core),
        unit_(bench.home(bench.table)) {}
  // The same for a unit that is elsewhere.
  LookupCosts(LookupBench& bench, Tile core, Tile unit) : LookupCosts(bench, core) { unit_ = unit; }

  [[nodiscard]] Cycle between(Tile from, Tile to) const {
    return bench_.machine.memory().mesh().hops(from, to) * Cycle{p_.mesh_hop_cycles};
  }
  // From the core's port to the command queue: the distributor, the mesh.
  [[nodiscard]] Cycle command() const { return p_.distributor_send_cycles + between(core_, unit_); }
  // A cycle in the queue; metadata found.
  [[nodiscard]] Cycle metadata_hit() const { return 1 + Cycle{p_.accelerator_metadata_cycles}; }
  // A request enters the port's register, is offered, and leaves in the cycle after.
  [[nodiscard]] static Cycle port() { return 3; }
  // To a home slice and back, with a line that it has.
  [[nodiscard]] Cycle llc(uint64_t address) const {
    const Tile home = bench_.home(address);
    return near(unit_, home) + p_.llc_tag_cycles + p_.llc_data_cycles + near(home, unit_);
  }
  // With one that is in an open row of DRAM.
  [[nodiscard]] Cycle dram(uint64_t address) const {
    const Tile home = bench_.home(address);
    return near(unit_, home) + p_.llc_tag_cycles + p_.dram_controller_cycles + p_.dram_read_cycles +
           p_.dram_burst_cycles + near(home, unit_);
  }
  // With one that the core has modified.
  [[nodiscard]] Cycle snooped(uint64_t address) const {
    const Tile home = bench_.home(address);
    return near(unit_, home) + p_.llc_tag_cycles + between(home, core_) + p_.core_snoop_cycles +
           between(core_, home) + near(home, unit_);
  }
  // A reply is seen, and the hash of a key of 16 bytes ends so many cycles later.
  [[nodiscard]] Cycle hash() const { return p_.accelerator_hash_cycles; }
  // Locks enter their port's register, one a cycle, and a read of the memory port behind them.
  [[nodiscard]] static Cycle locks(uint32_t count) { return count + port(); }
  [[nodiscard]] Cycle tag_and_data() const { return p_.llc_tag_cycles + p_.llc_data_cycles; }
  [[nodiscard]] Cycle compare() const { return p_.accelerator_compare_cycles; }
  // Into the result queue, offered, to the core's register.
  [[nodiscard]] Cycle result() const {
    return 3 + between(unit_, core_) + p_.distributor_result_cycles;
  }

 private:
  [[nodiscard]] Cycle near(Tile from, Tile to) const {
    return p_.lines == LinesChoice::kLocal ? 0 : between(from, to);
  }

  LookupBench& bench_;
  const Parameters& p_;
  Tile core_;
  Tile unit_;
};

}  // namespace roost::sim
