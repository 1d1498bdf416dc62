// The accelerator in C++ and in SystemVerilog, side by side: the same inputs in the same cycles,
// all outputs equal in each (docs/decisions/0054). The other side of the ports answers in any order
// and holds back at random.
#pragma once

#include <gtest/gtest.h>

#include <cstring>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "roost/traffic/draw.h"
#include "sim/accelerator.h"

namespace roost::sim {

// --- The ports of a Verilated model: numbers, or arrays of words of 32 bits. ---

template <class Port>
void drive(Port& port, std::span<const uint32_t> words) {
  if constexpr (std::is_integral_v<Port>) {
    uint64_t all = 0;
    for (size_t i = 0; i < words.size() && i < 2; ++i) all |= uint64_t{words[i]} << (32 * i);
    port = static_cast<Port>(all);
  } else {
    for (size_t i = 0; i < sizeof(port) / 4; ++i) port[i] = i < words.size() ? words[i] : 0;
  }
}

template <class Port>
void drive_bytes(Port& port, std::span<const std::byte> bytes) {
  std::array<uint32_t, 16> words{};
  std::memcpy(words.data(), bytes.data(), bytes.size());
  drive(port, words);
}

// halo::query_t, its last member in the lowest bits.
template <class Port>
void drive_query(Port& port, const AcceleratorQuery& query) {
  __extension__ using Wide = unsigned __int128;
  const Wide low =
      Wide{query.key_address} | Wide{line_of(query.table)} << 52 | Wide{query.token} << 98;
  const auto word = [&](unsigned shift) { return static_cast<uint32_t>(low >> shift); };
  drive(port, std::array{word(0), word(32), word(64), word(96), query.token >> 30});
}

struct WatchesNothing {
  void operator()(auto& /*circuit*/) {}
};

// `Watch` is called with the circuit at the end of each cycle, before its registers change.
template <class Circuit, class Watch = WatchesNothing>
class CircuitPorts {
 public:
  explicit CircuitPorts(Watch watch = {}) : watch_(watch) {
    circuit_.reset = 1;
    clock([] {});
    circuit_.reset = 0;
    circuit_.eval();
  }
  ~CircuitPorts() { circuit_.final(); }

  void tick(const AcceleratorInputs& inputs) {
    circuit_.query_valid = inputs.query.has_value();
    if (inputs.query) {
      drive_query(circuit_.query, *inputs.query);
      circuit_.query_has_key = inputs.query->has_key;
      drive_bytes(circuit_.query_key,
                  std::span(inputs.query->key).first(sizeof(circuit_.query_key)));
    }
    circuit_.memory_ready = inputs.memory_ready;
    circuit_.lock_ready = inputs.lock_ready;
    circuit_.result_ready = inputs.result_ready;
    circuit_.reply_valid = inputs.reply.has_value();
    if (inputs.reply) {
      circuit_.reply_identifier = static_cast<uint8_t>(inputs.reply->identifier);
      drive_bytes(circuit_.reply_line, inputs.reply->bytes);
    }
    circuit_.invalidate_valid = inputs.invalidate.has_value();
    circuit_.invalidate_line = inputs.invalidate.value_or(0);
    circuit_.clear_flows = inputs.clear_flows;
    clock([this] { watch_(circuit_); });
  }

  [[nodiscard]] AcceleratorOutputs outputs() const {
    AcceleratorOutputs offered;
    offered.query_ready = circuit_.query_ready != 0;
    offered.busy = circuit_.busy != 0;
    if (circuit_.memory_valid != 0) {
      offered.memory = {static_cast<AcceleratorRead>(circuit_.memory_read),
                        circuit_.memory_identifier, circuit_.memory_line};
    }
    if (circuit_.lock_valid != 0) offered.lock = {circuit_.lock_is_lock != 0, circuit_.lock_line};
    if (circuit_.result_valid != 0) offered.result = {circuit_.result_token, circuit_.result_word};
    return offered;
  }
  [[nodiscard]] uint64_t flows() const { return circuit_.flows; }

 private:
  template <class AtEnd>
  void clock(AtEnd&& at_end) {
    circuit_.clk = 0;
    circuit_.eval();
    at_end();
    circuit_.clk = 1;
    circuit_.eval();
  }

  mutable Circuit circuit_{};
  Watch watch_;
};

// --- Both of them. ---

// What a port offers in words, for the first difference.
inline std::string in_words(const AcceleratorOutputs& offered, uint64_t flows) {
  std::string words = offered.query_ready ? "ready" : "not ready";
  if (offered.busy) words += ", busy";
  if (offered.memory) {
    words += ", read " + std::to_string(static_cast<int>(offered.memory->read)) + " of line " +
             std::to_string(offered.memory->line) + " by " +
             std::to_string(offered.memory->identifier);
  }
  if (offered.lock)
    words += (offered.lock->is_lock ? ", lock " : ", unlock ") + std::to_string(offered.lock->line);
  if (offered.result) {
    words += ", result " + std::to_string(offered.result->word) + " of " +
             std::to_string(offered.result->token);
  }
  return words + ", flows " + std::to_string(flows);
}

inline bool is_same(const AcceleratorOutputs& a, const AcceleratorOutputs& b) {
  return a.query_ready == b.query_ready && a.busy == b.busy && a.memory == b.memory &&
         a.lock == b.lock && a.result == b.result;
}

struct CosimulationCounts {
  uint64_t cycles = 0;
  uint64_t answers = 0;
  uint64_t found = 0;
  uint64_t refused = 0;
  uint64_t differences = 0;
};

// Probabilities, a cycle: of what the other side does at a port.
struct Patience {
  double query = 1;
  double memory = 1;
  double lock = 1;
  double result = 1;
  double reply = 1;
  double invalidate = 0.002;
  double clear_flows = 0.002;
};

template <class Circuit>
class Cosimulation {
 public:
  Cosimulation(const Parameters& parameters, const SimulatedMemory& memory, uint64_t seed)
      : model_(parameters), memory_(memory), draw_(seed) {}

  // Looks all these up; `word_of` gets each token with its word. Stops at the first difference.
  template <class WordOf>
  void run(const std::vector<AcceleratorQuery>& queries, const std::vector<uint64_t>& tables,
           const Patience& patience, WordOf&& word_of) {
    size_t next = 0;
    const uint64_t answers = counts.answers + queries.size();
    uint64_t quiet = 0;  // cycles since the last answer
    while ((counts.answers < answers || !model_.is_idle()) && counts.differences == 0) {
      const AcceleratorOutputs offered = model_.outputs();
      if (!expect_same(offered)) return;
      AcceleratorInputs inputs;
      if (next < queries.size() && chance(patience.query)) {
        inputs.query = queries[next];
        if (offered.query_ready) ++next;
      }
      inputs.memory_ready = chance(patience.memory);
      inputs.lock_ready = chance(patience.lock);
      inputs.result_ready = chance(patience.result);
      if (!asked_.empty() && chance(patience.reply)) answer(inputs);
      if (chance(patience.invalidate))
        inputs.invalidate = line_of(tables[draw_.below(tables.size())]);
      inputs.clear_flows = chance(patience.clear_flows);
      take(offered, inputs);
      if (offered.result && inputs.result_ready) {
        word_of(offered.result->token, offered.result->word);
        quiet = 0;
      }
      ASSERT_LT(++quiet, 20'000U) << "nothing moves: " << model_.state_in_words();
      model_.tick(inputs);
      circuit_.tick(inputs);
      ++counts.cycles;
    }
    EXPECT_TRUE(locked_.empty()) << "at rest no lock is held";
    (void)expect_same(model_.outputs());
  }

  CosimulationCounts counts;
  [[nodiscard]] const AcceleratorCounts& model_counts() const { return model_.counts(); }

 private:
  bool chance(double probability) { return draw_.unit() < probability; }

  bool expect_same(const AcceleratorOutputs& offered) {
    uint64_t flows = 0;
    for (size_t bit = 0; bit < model_.flow_bits().size(); ++bit)
      flows |= uint64_t{model_.flow_bits()[bit]} << bit;
    const AcceleratorOutputs circuit = circuit_.outputs();
    if (is_same(offered, circuit) && flows == circuit_.flows()) return true;
    ++counts.differences;
    ADD_FAILURE() << "in cycle " << counts.cycles
                  << " the model offers: " << in_words(offered, flows)
                  << "; the circuit: " << in_words(circuit, circuit_.flows());
    return false;
  }

  void answer(AcceleratorInputs& inputs) {
    const size_t any = draw_.below(asked_.size());
    inputs.reply.emplace(
        AcceleratorInputs::Reply{asked_[any].identifier, memory_.read_line(asked_[any].line)});
    asked_[any] = asked_.back();
    asked_.pop_back();
  }

  void take(const AcceleratorOutputs& offered, const AcceleratorInputs& inputs) {
    if (offered.memory && inputs.memory_ready &&
        offered.memory->read != AcceleratorRead::kDropMetadata)
      asked_.push_back(*offered.memory);
    if (offered.lock && inputs.lock_ready) {
      int& count = locked_[offered.lock->line];
      count += offered.lock->is_lock ? 1 : -1;
      EXPECT_GE(count, 0) << "unlocked, and was not locked";
      if (count == 0) locked_.erase(offered.lock->line);
    }
    if (offered.result && inputs.result_ready) {
      ++counts.answers;
      counts.found += is_found(offered.result->word) ? 1U : 0U;
      counts.refused += offered.result->word == kRefusedWord ? 1U : 0U;
    }
  }

  Accelerator model_;
  CircuitPorts<Circuit> circuit_;
  const SimulatedMemory& memory_;
  traffic::Draw draw_;
  std::vector<AcceleratorOutputs::MemoryRequest> asked_;
  std::map<uint64_t, int> locked_;
};

}  // namespace roost::sim
