#include "targets/switch/switch_program.h"

#include <algorithm>
#include <array>

#include "roost/compact/crc8.h"

namespace roost::targets {
namespace {

static_assert(compact::kBucketSlots == 4, "a slot's index is its bucket's, two bits further left");

// Writes steps one behind the other.
class StepList {
 public:
  explicit StepList(const SwitchProgram::Config& config) : config_(config) {}

  std::vector<Step> steps() && {
    set(Field::kKey, Field::kDestination);
    set(Field::kFound, 0);
    look_up(Table::kOverflow);
    begin_if(Operation::kIfEqual, Field::kFound, 0);
    look_up(Table::kRanges);
    if (config_.stash_reads > 0) ask_stash();
    begin_if(Operation::kIfEqual, Field::kFound, 0);
    hash_key();
    ask_slot();
    end();
    end();
    answer();
    return std::move(steps_);
  }

 private:
  void add(Operation operation, Field to, Operand from) {
    steps_.push_back({.operation = operation, .to = to, .from = from});
  }
  void set(Field to, Operand from) { add(Operation::kSet, to, from); }
  void read(Field to, Register cells, Field index) {
    steps_.push_back({.operation = Operation::kRead, .to = to, .from = index, .cells = cells});
  }
  void look_up(Table table) { steps_.push_back({.operation = Operation::kLookUp, .table = table}); }
  void begin_if(Operation operation, Field left, Operand right) { add(operation, left, right); }
  void end() { steps_.push_back({.operation = Operation::kEnd}); }

  // The bucket's first entry, and the one behind it.
  void ask_stash() {
    read(Field::kEntry, Register::kStashFirst, Field::kBucket);
    begin_if(Operation::kIfDifferent, Field::kEntry, 0);
    ask_entry();
    for (uint32_t i = 1; i < config_.stash_reads; ++i) {
      begin_if(Operation::kIfEqual, Field::kFound, 0);
      add(Operation::kAdd, Field::kEntry, 1);
      ask_entry();
      end();
    }
    end();
  }
  void ask_entry() {
    read(Field::kStashKey, Register::kStashKeys, Field::kEntry);
    begin_if(Operation::kIfEqual, Field::kStashKey, Field::kKey);
    read(Field::kValue, Register::kStashValues, Field::kEntry);
    set(Field::kFound, 1);
    end();
  }

  // crc8(seeded(key, seed)), the most significant byte first.
  void hash_key() {
    read(Field::kSeed, Register::kSeeds, Field::kBucket);
    set(Field::kLow, Field::kKey);
    add(Operation::kAdd, Field::kLow, Field::kSeed);
    set(Field::kCrc, 0);
    for (unsigned place = kSwitchKeyBits; place > 0; place -= 8) {
      const bool has_seed = place <= 32;
      set(Field::kPart, has_seed ? Field::kLow : Field::kKey);
      if (place > 8) add(Operation::kShiftRight, Field::kPart, place - 8);
      add(Operation::kXor, Field::kCrc, Field::kPart);
      read(Field::kCrc, Register::kCrc8, Field::kCrc);
    }
  }

  // slot_of_crc(), and what the slot has.
  void ask_slot() {
    set(Field::kPart, Field::kCrc);
    add(Operation::kShiftRight, Field::kPart, 3);
    add(Operation::kShiftRight, Field::kCrc, 6);
    add(Operation::kAdd, Field::kCrc, Field::kPart);
    add(Operation::kAnd, Field::kCrc, compact::kBucketSlots - 1);
    set(Field::kIndex, Field::kBucket);
    add(Operation::kShiftLeft, Field::kIndex, 2);
    add(Operation::kAdd, Field::kIndex, Field::kCrc);
    read(Field::kValue, Register::kValues, Field::kIndex);
    begin_if(Operation::kIfDifferent, Field::kValue, UINT32_MAX >> (32 - config_.value_bits));
    if (config_.has_keys) {
      read(Field::kSlotKey, Register::kSlotKeys, Field::kIndex);
      begin_if(Operation::kIfEqual, Field::kSlotKey, Field::kKey);
    }
    set(Field::kFound, 1);
    if (config_.has_keys) end();
    end();
  }

  void answer() {
    const bool is_port = config_.answer == Answer::kPort;
    set(Field::kPort, is_port ? kPortNone : 1);
    begin_if(Operation::kIfEqual, Field::kFound, 1);
    if (is_port) {
      // A value is below the reserved one, which the field may not be able to hold one more than.
      const uint32_t values = UINT32_MAX >> (32 - config_.value_bits);
      begin_if(Operation::kIfBelow, Field::kValue, std::min(config_.port_count, values));
      set(Field::kPort, Field::kValue);
      end();
    } else {
      set(Field::kSource, Field::kValue);
      set(Field::kPort, 0);
    }
    end();
  }

  const SwitchProgram::Config& config_;
  std::vector<Step> steps_;
};

constexpr std::array<std::string_view, kFieldCount> kFieldNames = {
    "dst_addr", "src_addr", "address", "found", "bucket",   "entry", "stash_key", "seed",
    "low",      "part",     "crc",     "index", "slot_key", "value", "port"};

}  // namespace

Result<SwitchProgram> SwitchProgram::create(const Config& config) {
  if (config.port_count < 1 || config.port_count > kPortCountMax)
    return Error{"a switch has 1 to " + std::to_string(kPortCountMax) + " ports"};
  return SwitchProgram{.config = config, .steps = StepList(config).steps()};
}

Result<SwitchProgram> SwitchProgram::for_table(const SwitchTable& table, Answer answer,
                                               uint32_t port_count) {
  return create({.value_bits = table.shape.value_bits,
                 .has_keys = table.shape.has_keys != 0,
                 .stash_reads = table.stash_reads,
                 .answer = answer,
                 .port_count = port_count});
}

unsigned SwitchProgram::bits_of(Field field) const {
  switch (field) {
    case Field::kDestination:
    case Field::kSource:
    case Field::kKey:
    case Field::kStashKey:
    case Field::kSlotKey:
    case Field::kPart:
      return kSwitchKeyBits;
    case Field::kBucket:
    case Field::kEntry:
    case Field::kLow:
    case Field::kIndex:
      return 32;
    case Field::kPort:
      return 16;
    case Field::kValue:
      return config.value_bits <= 8 ? 8 : config.value_bits <= 16 ? 16 : 32;
    default:
      return 8;
  }
}

unsigned SwitchProgram::bits_of(Register cells) const {
  const auto read = std::ranges::find_if(steps, [&](const Step& step) {
    return step.operation == Operation::kRead && step.cells == cells;
  });
  return read == steps.end() ? 0 : bits_of(read->to);
}

bool SwitchProgram::reads(Register cells) const { return bits_of(cells) != 0; }

std::string_view name_of(Field field) { return kFieldNames[static_cast<size_t>(field)]; }

std::string_view name_of(Table table) { return table == Table::kOverflow ? "overflow" : "ranges"; }

}  // namespace roost::targets
