#include "targets/switch/p4_text.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <string_view>
#include <vector>

namespace roost::targets {
namespace {

constexpr std::string_view kP4Head = R"(// A Parrot table as P4-16 for v1model. Rendered by Roost.
// NOT TESTED: no P4 compiler has read this text, and no switch has run it. The same steps ran as a
// DPDK SWX pipeline.
#include <core.p4>
#include <v1model.p4>

header ethernet_t {
    bit<48> dst_addr;
    bit<48> src_addr;
    bit<16> ether_type;
}

struct headers_t {
    ethernet_t ethernet;
}

struct metadata_t {
)";
constexpr std::string_view kP4Parser = R"(}

parser PacketParser(packet_in packet, out headers_t hdr, inout metadata_t meta,
                    inout standard_metadata_t standard_metadata) {
    state start {
        packet.extract(hdr.ethernet);
        transition accept;
    }
}

control VerifyChecksum(inout headers_t hdr, inout metadata_t meta) {
    apply { }
}

control Ingress(inout headers_t hdr, inout metadata_t meta,
                inout standard_metadata_t standard_metadata) {
)";
constexpr std::string_view kP4Tail = R"(    }
}

control Egress(inout headers_t hdr, inout metadata_t meta,
               inout standard_metadata_t standard_metadata) {
    apply { }
}

control ComputeChecksum(inout headers_t hdr, inout metadata_t meta) {
    apply { }
}

control PacketDeparser(packet_out packet, in headers_t hdr) {
    apply {
        packet.emit(hdr.ethernet);
    }
}

V1Switch(PacketParser(), VerifyChecksum(), Ingress(), Egress(), ComputeChecksum(),
         PacketDeparser()) main;
)";

std::string p4_name(Field field) {
  const bool is_header = field == Field::kDestination || field == Field::kSource;
  return fmt::format("{}.{}", is_header ? "hdr.ethernet" : "meta", name_of(field));
}

// Renders steps, each as a statement, with the casts that P4 asks for.
class P4Statements {
 public:
  explicit P4Statements(const SwitchProgram& program) : program_(program) {}

  void add(const Step& step) {
    const std::string to = p4_name(step.to);
    const unsigned bits = program_.bits_of(step.to);
    switch (step.operation) {
      case Operation::kSet:
        return line(fmt::format("{} = {};", to, operand(step.from, bits)));
      case Operation::kAdd:
        return line(fmt::format("{0} = {0} + {1};", to, operand(step.from, bits)));
      case Operation::kAnd:
        return line(fmt::format("{0} = {0} & {1};", to, operand(step.from, bits)));
      case Operation::kXor:
        return line(fmt::format("{0} = {0} ^ {1};", to, operand(step.from, bits)));
      case Operation::kShiftLeft:
        return line(fmt::format("{0} = {0} << {1};", to, step.from.number));
      case Operation::kShiftRight:
        return line(fmt::format("{0} = {0} >> {1};", to, step.from.number));
      case Operation::kRead:
        return line(fmt::format("{}.read({}, {});", name_of(step.cells), to,
                                operand(step.from, kIndexBits)));
      case Operation::kLookUp:
        return line(fmt::format("{}.apply();", name_of(step.table)));
      case Operation::kIfEqual:
        return begin_if(fmt::format("{} == {}", to, operand(step.from, bits)));
      case Operation::kIfDifferent:
        return begin_if(fmt::format("{} != {}", to, operand(step.from, bits)));
      case Operation::kIfBelow:
        return begin_if(fmt::format("{} < {}", to, operand(step.from, bits)));
      case Operation::kEnd:
        return end_if();
    }
  }

  [[nodiscard]] const std::string& text() const { return text_; }

 private:
  static constexpr unsigned kIndexBits = 32;  // of a register's index
  static constexpr size_t kIndent = 4;

  [[nodiscard]] std::string operand(const Operand& from, unsigned bits) const {
    if (!from.field) return fmt::format("{}w{:#x}", bits, from.number);
    const std::string name = p4_name(*from.field);
    return program_.bits_of(*from.field) == bits ? name : fmt::format("(bit<{}>) {}", bits, name);
  }
  void line(std::string_view statement) {
    text_ += fmt::format("{:{}}{}\n", "", depth_ * kIndent, statement);
  }
  void begin_if(const std::string& condition) {
    line(fmt::format("if ({}) {{", condition));
    ++depth_;
  }
  void end_if() {
    --depth_;
    line("}");
  }

  const SwitchProgram& program_;
  size_t depth_ = 2;
  std::string text_;
};

std::string p4_table(Table which, std::string_view match, std::string_view action, size_t entries) {
  return fmt::format(
      "    table {} {{\n        key = {{\n            {} : {};\n        }}\n"
      "        actions = {{\n            {};\n            keep;\n        }}\n"
      "        default_action = keep();\n        size = {};\n    }}\n\n",
      name_of(which), p4_name(Field::kDestination), match, action, std::max<size_t>(entries, 1));
}

std::vector<Register> registers_of(const SwitchProgram& program) {
  std::vector<Register> all;
  for (size_t i = 0; i < kRegisterCount; ++i)
    if (program.reads(static_cast<Register>(i))) all.push_back(static_cast<Register>(i));
  return all;
}

}  // namespace

std::string p4_text(const SwitchProgram& program, const SwitchTable& table) {
  std::string text(kP4Head);
  for (size_t i = 0; i < kFieldCount; ++i) {
    const auto field = static_cast<Field>(i);
    if (field == Field::kDestination || field == Field::kSource) continue;
    text += fmt::format("    bit<{}> {};\n", program.bits_of(field), name_of(field));
  }
  text += kP4Parser;
  for (const Register each : registers_of(program)) {
    text += fmt::format("    register<bit<{}>>(32w{}) {};\n", program.bits_of(each),
                        table.cells(each).size(), name_of(each));
  }
  text += fmt::format(
      "\n    action keep() {{ }}\n"
      "    action set_bucket(bit<{}> to) {{\n        meta.bucket = to;\n    }}\n"
      "    action set_value(bit<{}> to) {{\n        meta.found = 8w1;\n"
      "        meta.value = to;\n    }}\n\n",
      program.bits_of(Field::kBucket), program.bits_of(Field::kValue));
  text += p4_table(Table::kOverflow, "exact", "set_value", table.overflow.size());
  text += p4_table(Table::kRanges, "lpm", "set_bucket", table.ranges.size());
  text += "    apply {\n";
  P4Statements statements(program);
  for (const Step& step : program.steps) statements.add(step);
  text += statements.text();
  text += fmt::format(
      "        if (meta.port == 16w{:#x}) {{\n            mark_to_drop(standard_metadata);\n"
      "        }} else {{\n            standard_metadata.egress_spec = (bit<9>) meta.port;\n"
      "        }}\n",
      kPortNone);
  text += kP4Tail;
  return text;
}

std::string p4_commands(const SwitchProgram& program, const SwitchTable& table) {
  std::string text;
  for (const RangeEntry& entry : table.ranges) {
    fmt::format_to(std::back_inserter(text), "table_add Ingress.ranges set_bucket {:#x}/{} => {}\n",
                   entry.prefix.first, entry.prefix.length(), entry.bucket);
  }
  for (const OverflowEntry& entry : table.overflow) {
    fmt::format_to(std::back_inserter(text), "table_add Ingress.overflow set_value {:#x} => {}\n",
                   entry.key, entry.value);
  }
  for (const Register each : registers_of(program)) {
    const auto cells = table.cells(each);
    for (size_t i = 0; i < cells.size(); ++i) {
      fmt::format_to(std::back_inserter(text), "register_write Ingress.{} {} {}\n", name_of(each),
                     i, cells[i]);
    }
  }
  return text;
}

}  // namespace roost::targets
