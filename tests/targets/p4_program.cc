#include "tests/targets/p4_program.h"

#include <cctype>

#include "tests/targets/p4_tokens.h"

namespace roost::targets {
namespace {

// Tokens, one at a time.
class P4Reader {
 public:
  explicit P4Reader(std::string_view text) : tokens_(p4_tokens(text)) {}

  P4Program program() && {
    program_.names.emplace("standard_metadata.egress_spec", program_.bits.size());
    program_.bits.push_back(9);
    read_program();
    return std::move(program_);
  }

 private:
  [[nodiscard]] std::string_view peek() const;
  std::string_view next();
  bool take(std::string_view token);
  void expect(std::string_view token);
  void expect_all(std::string_view tokens);
  void fail(const std::string& what);
  [[nodiscard]] bool has_failed() const { return !program_.fault.empty(); }

  void read_program();
  void read_fields(std::string_view prefix);
  void read_control();
  void read_register();
  void read_action();
  void read_table();
  std::vector<P4Statement> read_block();
  P4Statement read_statement();
  P4Statement read_apply(std::string_view table);
  P4Statement read_read(std::string_view cells);
  P4Statement read_assignment();
  P4Statement read_if();
  unsigned read_bit_type(std::string_view end = ">");
  size_t read_variable();
  P4Operand read_operand();
  void expect_width(const P4Operand& operand, unsigned bits, std::string_view where);

  std::vector<std::string> tokens_;
  size_t at_ = 0;
  P4Program program_;
};

std::string_view P4Reader::peek() const {
  return at_ < tokens_.size() ? std::string_view(tokens_[at_]) : std::string_view();
}
std::string_view P4Reader::next() {
  const std::string_view token = peek();
  ++at_;
  return token;
}
bool P4Reader::take(std::string_view token) {
  if (peek() != token) return false;
  ++at_;
  return true;
}
void P4Reader::expect(std::string_view token) {
  if (!take(token))
    fail("\"" + std::string(token) + "\" is missing before \"" + std::string(peek()) + "\"");
}
void P4Reader::expect_all(std::string_view tokens) {
  for (const std::string& token : p4_tokens(tokens)) expect(token);
}
void P4Reader::fail(const std::string& what) {
  if (program_.fault.empty()) program_.fault = what;
  at_ = tokens_.size();
}

void P4Reader::read_program() {
  expect_all("header ethernet_t {");
  read_fields("hdr.ethernet.");
  expect_all("struct headers_t { ethernet_t ethernet; }");
  expect_all("struct metadata_t {");
  read_fields("meta.");
  expect_all(
      "parser PacketParser(packet_in packet, out headers_t hdr, inout metadata_t meta,"
      " inout standard_metadata_t standard_metadata) {"
      " state start { packet.extract(hdr.ethernet); transition accept; } }");
  expect_all("control VerifyChecksum(inout headers_t hdr, inout metadata_t meta) { apply { } }");
  read_control();
  expect_all(
      "control Egress(inout headers_t hdr, inout metadata_t meta,"
      " inout standard_metadata_t standard_metadata) { apply { } }");
  expect_all("control ComputeChecksum(inout headers_t hdr, inout metadata_t meta) { apply { } }");
  expect_all(
      "control PacketDeparser(packet_out packet, in headers_t hdr)"
      " { apply { packet.emit(hdr.ethernet); } }");
  expect_all(
      "V1Switch(PacketParser(), VerifyChecksum(), Ingress(), Egress(), ComputeChecksum(),"
      " PacketDeparser()) main;");
  if (!has_failed() && at_ != tokens_.size()) fail("something follows the program");
}

void P4Reader::read_fields(std::string_view prefix) {
  while (!has_failed() && !take("}")) {
    const unsigned bits = read_bit_type();
    const std::string name = std::string(prefix) + std::string(next());
    if (!program_.names.emplace(name, program_.bits.size()).second)
      return fail(name + " is there twice");
    program_.bits.push_back(bits);
    expect(";");
  }
}

unsigned P4Reader::read_bit_type(std::string_view end) {
  expect_all("bit <");
  const auto bits = p4_number(next());
  if (!bits || *bits == 0 || *bits > 64) {
    fail("a type has a wrong width");
    return 1;
  }
  expect(end);
  return static_cast<unsigned>(*bits);
}

void P4Reader::read_control() {
  expect_all(
      "control Ingress(inout headers_t hdr, inout metadata_t meta,"
      " inout standard_metadata_t standard_metadata) {");
  while (!has_failed() && peek() != "apply") {
    if (take("register")) {
      read_register();
    } else if (take("action")) {
      read_action();
    } else if (take("table")) {
      read_table();
    } else {
      return fail("\"" + std::string(peek()) + "\" is no declaration that is known");
    }
  }
  expect_all("apply {");
  program_.ingress = read_block();
  expect("}");
}

void P4Reader::read_register() {
  expect("<");
  const unsigned bits = read_bit_type(">>");
  expect("(");
  const std::string_view size = next();
  const auto cells = size.starts_with("32w") ? p4_number(size.substr(3)) : std::nullopt;
  if (!cells || *cells == 0) return fail("a register has no size");
  expect(")");
  program_.registers[std::string(next())] = {.bits = bits, .size = *cells};
  expect(";");
}

void P4Reader::read_action() {
  const std::string name(next());
  P4Action action;
  std::string argument;
  expect("(");
  if (!take(")")) {
    action.argument_bits = read_bit_type();
    argument = next();
    expect(")");
  }
  expect("{");
  while (!has_failed() && !take("}")) {
    const size_t to = read_variable();
    expect("=");
    if (take(argument)) {
      if (action.argument_bits != program_.bits[to])
        fail(name + ": its argument has another width");
      action.sets.emplace_back(to, std::nullopt);
    } else {
      const P4Operand number = read_operand();
      expect_width(number, program_.bits[to], name);
      action.sets.emplace_back(to, number.number);
    }
    expect(";");
  }
  program_.actions[name] = action;
}

void P4Reader::read_table() {
  const std::string name(next());
  P4Table table;
  expect_all("{ key = { hdr.ethernet.dst_addr :");
  table.is_exact = peek() == "exact";
  if (!table.is_exact && peek() != "lpm") return fail(name + ": unknown match");
  next();
  expect_all("; } actions = {");
  while (!has_failed() && !take("}")) {
    table.actions.emplace_back(next());
    if (!program_.actions.contains(table.actions.back()))
      return fail("no action " + table.actions.back());
    expect(";");
  }
  expect_all("default_action = keep(); size =");
  table.size = p4_number(next()).value_or(0);
  expect_all("; }");
  program_.tables[name] = table;
}

std::vector<P4Statement> P4Reader::read_block() {
  std::vector<P4Statement> statements;
  while (!has_failed() && !take("}")) statements.push_back(read_statement());
  return statements;
}

P4Statement P4Reader::read_statement() {
  if (take("if")) return read_if();
  if (take("mark_to_drop")) {
    expect_all("(standard_metadata);");
    return {.kind = P4Statement::Kind::kDrop};
  }
  const std::string_view word = peek();
  const size_t point = word.rfind('.');
  const std::string_view name = word.substr(0, point);
  if (word.ends_with(".apply")) return read_apply(name);
  if (word.ends_with(".read")) return read_read(name);
  return read_assignment();
}

P4Statement P4Reader::read_apply(std::string_view table) {
  if (!program_.tables.contains(table)) fail("no table " + std::string(table));
  P4Statement apply{.kind = P4Statement::Kind::kApply, .word = std::string(table)};
  next();
  expect_all("();");
  return apply;
}

P4Statement P4Reader::read_read(std::string_view cells) {
  const auto found = program_.registers.find(cells);
  P4Statement read{.kind = P4Statement::Kind::kRead, .word = std::string(cells)};
  if (found == program_.registers.end()) {
    fail("no register " + read.word);
    return read;
  }
  next();
  expect("(");
  read.to = read_variable();
  expect(",");
  read.right = read_operand();
  expect_all(");");
  expect_width(read.right, 32, read.word);
  if (found->second.bits != program_.bits[read.to]) fail(read.word + " is read into another width");
  return read;
}

P4Statement P4Reader::read_assignment() {
  P4Statement assign{.kind = P4Statement::Kind::kAssign};
  assign.to = read_variable();
  expect("=");
  assign.left = read_operand();
  expect_width(assign.left, program_.bits[assign.to], "an assignment");
  if (take(";")) return assign;
  assign.word = next();
  assign.right = read_operand();
  const bool is_shift = assign.word == "<<" || assign.word == ">>";
  if (!is_shift && assign.word != "+" && assign.word != "&" && assign.word != "^")
    fail("no operator " + assign.word);
  if (!is_shift) expect_width(assign.right, assign.left.bits, "an operation");
  if (is_shift && assign.right.bits != 0) fail("a shift by what is no plain number");
  expect(";");
  return assign;
}

P4Statement P4Reader::read_if() {
  P4Statement branch{.kind = P4Statement::Kind::kIf};
  expect("(");
  branch.left = read_operand();
  branch.word = next();
  if (branch.word != "==" && branch.word != "!=" && branch.word != "<")
    fail("no comparison " + branch.word);
  branch.right = read_operand();
  expect_width(branch.right, branch.left.bits, "a comparison");
  expect_all(") {");
  branch.then = read_block();
  if (take("else")) {
    expect("{");
    branch.otherwise = read_block();
  }
  return branch;
}

size_t P4Reader::read_variable() {
  const auto found = program_.names.find(peek());
  if (found == program_.names.end()) {
    fail("no variable " + std::string(peek()));
    return 0;
  }
  next();
  return found->second;
}

P4Operand P4Reader::read_operand() {
  unsigned cast = 0;
  if (take("(")) {
    cast = read_bit_type();
    expect(")");
  }
  P4Operand operand;
  const std::string_view word = peek();
  if (!word.empty() && std::isdigit(static_cast<unsigned char>(word[0])) != 0) {
    next();
    const size_t width = word.find('w');
    if (width != std::string_view::npos)
      operand.bits = static_cast<unsigned>(p4_number(word.substr(0, width)).value_or(0));
    const auto number = p4_number(width == std::string_view::npos ? word : word.substr(width + 1));
    if (!number) fail("no number: " + std::string(word));
    operand.number = number.value_or(0);
    if (operand.bits != 0 && operand.number > p4_mask(operand.bits))
      fail(std::string(word) + " does not fit its width");
  } else {
    operand.variable = read_variable();
    operand.bits = has_failed() ? 0 : program_.bits[*operand.variable];
  }
  if (cast != 0) operand.bits = cast;
  return operand;
}

void P4Reader::expect_width(const P4Operand& operand, unsigned bits, std::string_view where) {
  if (!has_failed() && operand.bits != bits) {
    fail(std::string(where) + " has operands of " + std::to_string(bits) + " and " +
         std::to_string(operand.bits) + " bits");
  }
}

}  // namespace

P4Program read_p4(std::string_view text) { return P4Reader(text).program(); }

}  // namespace roost::targets
