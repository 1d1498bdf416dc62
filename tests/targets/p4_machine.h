// Runs P4-16 text of the kind that Roost renders: a stand-in for a compiler and a switch, of which
// there are none.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "tests/targets/p4_program.h"

namespace roost::targets {

class P4Machine {
 public:
  // `commands`: of simple_switch_CLI. What is wrong with either is in fault().
  P4Machine(std::string_view text, std::string_view commands);

  [[nodiscard]] const std::string& fault() const { return program_.fault; }

  struct Sent {
    std::optional<uint64_t> port{};  // nothing: dropped
    uint64_t source = 0;
  };
  [[nodiscard]] Sent run(uint64_t destination);

 private:
  using Entry = std::pair<std::string, uint64_t>;  // an action and its argument
  struct Entries {
    std::map<unsigned, std::unordered_map<uint64_t, Entry>> by_free_bits{};
    uint64_t count = 0;
  };

  void fail(const std::string& what) {
    if (program_.fault.empty()) program_.fault = what;
  }
  void read_command(const std::string& line);
  void write_register(const std::string& name, const std::string& words, const std::string& line);
  void add_entry(const std::string& name, const std::string& words, const std::string& line);

  [[nodiscard]] uint64_t value(const P4Operand& operand) const;
  void run(const std::vector<P4Statement>& statements);
  void run(const P4Statement& statement);
  void assign(const P4Statement& statement);
  void apply(const std::string& table);

  P4Program program_;
  std::vector<uint64_t> numbers_;  // by variable
  std::map<std::string, std::vector<uint64_t>> cells_;
  std::map<std::string, Entries> entries_;
  bool is_dropped_ = false;
};

}  // namespace roost::targets
