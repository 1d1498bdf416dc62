// Writes the signals of the circuit down while it looks one key up: rtl_waveform FILE.vcd, a cycle
// a unit of time. Memory answers after kAwayCycles, everything else at once; the accelerator is
// cold. rtl/waveform.py draws it.
#include <deque>

#include <Vhalo_k16.h>
#include <verilated_vcd_c.h>

#include "tests/rtl/cosimulation.h"
#include "tests/rtl/lookup_tables.h"

namespace roost::sim {
namespace {

constexpr uint64_t kAwayCycles = 6;
constexpr uint64_t kCyclesMax = 1'000;
constexpr uint64_t kTableAt = uint64_t{1} << 32;
constexpr uint64_t kKeyAt = uint64_t{1} << 24;

// What the circuit holds and offers in a cycle beside what it gets in that cycle.
class Trace {
 public:
  explicit Trace(const char* path) : path_(path) {}
  ~Trace() { file_.close(); }
  Trace(const Trace&) = delete;
  Trace& operator=(const Trace&) = delete;

  void operator()(Vhalo_k16& circuit) {
    if (!file_.isOpen()) {
      circuit.trace(&file_, 99);
      file_.open(path_);
    }
    file_.dump(cycle_++);
  }

 private:
  const char* path_;
  VerilatedVcdC file_;
  uint64_t cycle_ = 0;
};

struct Coming {
  uint64_t cycle;
  uint32_t identifier;
  uint64_t line;
};

// The word that it ends with; until all locks are given back.
uint64_t look_up(const SimulatedMemory& memory, const AcceleratorQuery& query, const char* path) {
  Trace trace(path);
  CircuitPorts<Vhalo_k16, Trace&> circuit(trace);
  std::deque<Coming> coming;
  bool is_asked = false;
  int locked = 0;
  uint64_t word = kPendingWord;
  for (uint64_t cycle = 0; cycle < kCyclesMax && (word == kPendingWord || locked != 0); ++cycle) {
    const AcceleratorOutputs offered = circuit.outputs();
    AcceleratorInputs inputs;
    if (!is_asked) inputs.query = query;
    is_asked = is_asked || offered.query_ready;
    if (!coming.empty() && coming.front().cycle == cycle) {
      inputs.reply = {coming.front().identifier, memory.read_line(coming.front().line)};
      coming.pop_front();
    }
    if (offered.memory && offered.memory->read != AcceleratorRead::kDropMetadata)
      coming.push_back({cycle + kAwayCycles, offered.memory->identifier, offered.memory->line});
    circuit.tick(inputs);
    if (offered.lock) locked += offered.lock->is_lock ? 1 : -1;
    if (offered.result) word = offered.result->word;
  }
  return word;
}

int write_waveform(const char* path) {
  Verilated::traceEverOn(true);
  const LookupTable<16, 4> table({.slot_bits = 7, .load = 0.6});
  SimulatedMemory memory;
  AcceleratorQuery query{.token = 1, .key_address = kKeyAt};
  query.table = put_table(memory, kTableAt, table.image()).value();
  if (const auto error = memory.put_zeroes(kKeyAt, kLineBytes); !error) {
    std::fprintf(stderr, "rtl_waveform: %s\n", error.error().message.c_str());
    return 1;
  }
  const KeyBytes key = key_bytes_of(table.key(2));
  memory.write(query.key_address, std::span(key).first(16));
  const uint64_t word = look_up(memory, query, path);
  if (!is_found(word) || !table.is_right(memory, 2, word)) {
    std::fprintf(stderr, "rtl_waveform: the key ends with a wrong word, %llu\n",
                 static_cast<unsigned long long>(word));
    return 1;
  }
  return 0;
}

}  // namespace
}  // namespace roost::sim

int main(int argc, char** argv) {
  if (argc != 2) {
    std::fprintf(stderr, "rtl_waveform FILE.vcd\n");
    return 2;
  }
  return roost::sim::write_waveform(argv[1]);
}
