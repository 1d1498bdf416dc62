#include "tests/targets/p4_machine.h"

#include <algorithm>
#include <sstream>

#include "tests/targets/p4_tokens.h"

namespace roost::targets {
namespace {

constexpr unsigned kAddressBits = 48;

}  // namespace

P4Machine::P4Machine(std::string_view text, std::string_view commands) : program_(read_p4(text)) {
  numbers_.resize(program_.bits.size());
  for (const auto& [name, cells] : program_.registers) cells_[name].resize(cells.size);
  std::istringstream lines{std::string(commands)};
  for (std::string line; fault().empty() && std::getline(lines, line);) read_command(line);
}

void P4Machine::read_command(const std::string& line) {
  constexpr std::string_view kControl = "Ingress.";
  std::istringstream words(line);
  std::string command, name, rest;
  words >> command >> name;
  std::getline(words, rest);
  if (!name.starts_with(kControl)) return fail("a command of another control: " + line);
  name.erase(0, kControl.size());
  if (command == "register_write" && program_.registers.contains(name))
    return write_register(name, rest, line);
  if (command == "table_add" && program_.tables.contains(name)) return add_entry(name, rest, line);
  fail("unknown: " + line);
}

void P4Machine::write_register(const std::string& name, const std::string& words,
                               const std::string& line) {
  std::istringstream in(words);
  size_t index = 0;
  uint64_t number = 0;
  in >> index >> number;
  std::vector<uint64_t>& cells = cells_[name];
  if (in.fail() || index >= cells.size() || number > p4_mask(program_.registers[name].bits))
    return fail("no such cell or value: " + line);
  cells[index] = number;
}

void P4Machine::add_entry(const std::string& name, const std::string& words,
                          const std::string& line) {
  const P4Table& table = program_.tables[name];
  std::istringstream in(words);
  std::string action, match, arrow;
  uint64_t argument = 0;
  in >> action >> match >> arrow >> argument;
  const bool is_known =
      std::ranges::find(table.actions, action) != table.actions.end() && !in.fail();
  if (!is_known || arrow != "=>" || argument > p4_mask(program_.actions[action].argument_bits))
    return fail("no such action: " + line);
  const size_t slash = match.find('/');
  const auto key = p4_number(match.substr(0, slash));
  uint64_t length = kAddressBits;
  if (!table.is_exact) {
    const std::string after = slash == std::string::npos ? "" : match.substr(slash + 1);
    length = p4_number(after).value_or(kAddressBits + 1);
  }
  if (!key || length > kAddressBits) return fail("no such match: " + line);
  const auto free_bits = static_cast<unsigned>(kAddressBits - length);
  if (*key >> free_bits << free_bits != *key || *key > p4_mask(kAddressBits))
    return fail("bits beside a prefix: " + line);
  Entries& entries = entries_[name];
  if (!entries.by_free_bits[free_bits].emplace(*key, Entry(action, argument)).second)
    return fail("twice: " + line);
  if (++entries.count > table.size) fail("too many entries: " + line);
}

uint64_t P4Machine::value(const P4Operand& operand) const {
  const uint64_t number = operand.variable ? numbers_[*operand.variable] : operand.number;
  return operand.bits == 0 ? number : number & p4_mask(operand.bits);
}

P4Machine::Sent P4Machine::run(uint64_t destination) {
  std::ranges::fill(numbers_, uint64_t{0});
  numbers_[program_.variable("hdr.ethernet.dst_addr")] = destination;
  is_dropped_ = false;
  run(program_.ingress);
  const uint64_t source = numbers_[program_.variable("hdr.ethernet.src_addr")];
  if (is_dropped_) return {.source = source};
  return {.port = numbers_[program_.variable("standard_metadata.egress_spec")], .source = source};
}

void P4Machine::run(const std::vector<P4Statement>& statements) {
  for (const P4Statement& statement : statements) run(statement);
}

void P4Machine::run(const P4Statement& statement) {
  const uint64_t left = value(statement.left);
  const uint64_t right = value(statement.right);
  const std::string& word = statement.word;
  switch (statement.kind) {
    case P4Statement::Kind::kDrop:
      is_dropped_ = true;
      return;
    case P4Statement::Kind::kApply:
      return apply(word);
    case P4Statement::Kind::kRead:
      if (right >= cells_[word].size()) return fail(word + " is read behind its end");
      numbers_[statement.to] = cells_[word][right];
      return;
    case P4Statement::Kind::kIf: {
      const bool holds = word == "==" ? left == right : word == "!=" ? left != right : left < right;
      return run(holds ? statement.then : statement.otherwise);
    }
    case P4Statement::Kind::kAssign:
      return assign(statement);
  }
}

void P4Machine::assign(const P4Statement& statement) {
  uint64_t number = value(statement.left);
  const uint64_t right = value(statement.right);
  if (statement.word == "+") number += right;
  if (statement.word == "&") number &= right;
  if (statement.word == "^") number ^= right;
  if (statement.word == "<<") number <<= right;
  if (statement.word == ">>") number >>= right;
  numbers_[statement.to] = number & p4_mask(program_.bits[statement.to]);
}

void P4Machine::apply(const std::string& name) {
  const uint64_t key = numbers_[program_.variable("hdr.ethernet.dst_addr")];
  for (const auto& [free_bits, entries] : entries_[name].by_free_bits) {
    const auto found = entries.find(key >> free_bits << free_bits);
    if (found == entries.end()) continue;
    const auto& [action, argument] = found->second;
    for (const auto& [to, number] : program_.actions[action].sets)
      numbers_[to] = number.value_or(argument);
    return;
  }
}

}  // namespace roost::targets
