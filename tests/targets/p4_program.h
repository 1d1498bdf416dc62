// What a reader of P4-16 text makes of it: no more of P4 than Roost renders. It takes no statement
// that it does not know, and asks for what P4 asks for: both sides of an operation have one width,
// literals fit theirs, and shifts are by plain numbers.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace roost::targets {

struct P4Operand {
  std::optional<size_t> variable{};  // else the number
  uint64_t number = 0;
  unsigned bits = 0;  // 0: a number without a width
};

struct P4Statement {
  enum class Kind { kAssign, kRead, kApply, kIf, kDrop } kind{};
  std::string word{};  // an operator, a register or a table
  size_t to = 0;
  P4Operand left{};
  P4Operand right{};
  std::vector<P4Statement> then{};
  std::vector<P4Statement> otherwise{};
};

struct P4Action {
  unsigned argument_bits = 0;                                      // 0: it has none
  std::vector<std::pair<size_t, std::optional<uint64_t>>> sets{};  // nothing: to the argument
};

struct P4Table {
  bool is_exact = false;  // else by the longest prefix
  uint64_t size = 0;
  std::vector<std::string> actions{};
};

struct P4Register {
  unsigned bits = 0;
  size_t size = 0;
};

struct P4Program {
  std::string fault{};                                 // the first, if something is wrong
  std::map<std::string, size_t, std::less<>> names{};  // of variables
  std::vector<unsigned> bits{};                        // by variable
  std::map<std::string, P4Register, std::less<>> registers{};
  std::map<std::string, P4Action, std::less<>> actions{};
  std::map<std::string, P4Table, std::less<>> tables{};
  std::vector<P4Statement> ingress{};

  [[nodiscard]] size_t variable(std::string_view name) const { return names.find(name)->second; }
};

[[nodiscard]] P4Program read_p4(std::string_view text);

}  // namespace roost::targets
