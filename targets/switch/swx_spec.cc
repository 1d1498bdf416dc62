#include "targets/switch/swx_spec.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <optional>
#include <string_view>
#include <utility>

#include "roost/base/assert.h"

namespace roost::targets {
namespace {

constexpr std::string_view kDropLabel = "DROP";

std::string swx_name(Field field) {
  const bool is_header = field == Field::kDestination || field == Field::kSource;
  return is_header ? fmt::format("h.{}.{}", kSwxHeader, name_of(field))
                   : fmt::format("m.{}", name_of(field));
}
std::string swx_operand(const Operand& operand) {
  return operand.field ? swx_name(*operand.field) : fmt::format("{:#x}", operand.number);
}

// Instructions with jumps forward. A condition jumps behind its end if it does not hold.
class SwxInstructions {
 public:
  void add(std::string instruction) { instructions_.push_back(std::move(instruction)); }

  void add(const Step& step) {
    const std::string to = swx_name(step.to);
    const std::string from = swx_operand(step.from);
    switch (step.operation) {
      case Operation::kSet:
        return add(fmt::format("mov {} {}", to, from));
      case Operation::kAdd:
        return add(fmt::format("add {} {}", to, from));
      case Operation::kAnd:
        return add(fmt::format("and {} {}", to, from));
      case Operation::kXor:
        return add(fmt::format("xor {} {}", to, from));
      case Operation::kShiftLeft:
        return add(fmt::format("shl {} {}", to, from));
      case Operation::kShiftRight:
        return add(fmt::format("shr {} {}", to, from));
      case Operation::kRead:
        return add(fmt::format("regrd {} {} {}", to, name_of(step.cells), from));
      case Operation::kLookUp:
        return add(fmt::format("table {}", name_of(step.table)));
      case Operation::kIfEqual:
        return begin_if("jmpneq", fmt::format("{} {}", to, from));
      case Operation::kIfDifferent:
        return begin_if("jmpeq", fmt::format("{} {}", to, from));
      case Operation::kIfBelow:
        ROOST_ASSERT(!step.from.field && step.from.number > 0);
        return begin_if("jmpgt", fmt::format("{} {:#x}", to, step.from.number - 1));
      case Operation::kEnd:
        return end_if();
    }
  }

  // A jump out of all conditions.
  void jump_if(std::string_view condition, std::string_view label, const std::string& operands) {
    add(fmt::format("{} {} {}", condition, label, operands));
  }

  // Labels stand before what they lead to.
  [[nodiscard]] std::vector<std::string> labelled() && {
    for (const auto& [at, jump] : jumps_) {
      instructions_[at] = fmt::format("{} {} {}", jump.word, label_of(jump.target), jump.operands);
    }
    for (const auto& [at, jump] : jumps_) labels_.emplace(jump.target, label_of(jump.target));
    for (const auto& [target, label] : labels_)
      instructions_[target] = fmt::format("{} : {}", label, instructions_[target]);
    return std::move(instructions_);
  }

 private:
  struct Jump {
    std::string word;
    std::string operands;
    size_t target = 0;
  };

  static std::string label_of(size_t target) { return fmt::format("L{}", target); }

  void begin_if(std::string word, std::string operands) {
    open_.push_back(instructions_.size());
    jumps_.emplace(instructions_.size(), Jump{std::move(word), std::move(operands)});
    add(std::string());
  }
  void end_if() {
    jumps_.at(open_.back()).target = instructions_.size();
    open_.pop_back();
  }

  std::vector<std::string> instructions_;
  std::vector<size_t> open_;
  std::map<size_t, Jump> jumps_;
  std::map<size_t, std::string> labels_;
};

std::vector<std::string> swx_instructions(const SwitchProgram& program) {
  SwxInstructions list;
  list.add("rx m.port_in");
  list.add(fmt::format("extract h.{}", kSwxHeader));
  for (const Step& step : program.steps) list.add(step);
  list.jump_if("jmpeq", kDropLabel, fmt::format("{} {:#x}", swx_name(Field::kPort), kPortNone));
  list.add(fmt::format("emit h.{}", kSwxHeader));
  list.add(fmt::format("tx {}", swx_name(Field::kPort)));
  list.add(fmt::format("{} : drop", kDropLabel));
  return std::move(list).labelled();
}

std::string swx_struct_text(const SwxStruct& type) {
  std::string text = fmt::format("struct {} {{\n", type.name);
  for (const SwxField& field : type.fields)
    text += fmt::format("\tbit<{}> {}\n", field.bits, field.name);
  return text + "}\n\n";
}

}  // namespace

SwxSpec SwxSpec::of(const SwitchProgram& program, const SwitchTable& table) {
  SwxSpec spec;
  spec.header = {.name = "ethernet_h",
                 .fields = {{"dst_addr", 48}, {"src_addr", 48}, {"ether_type", 16}}};
  spec.metadata = {.name = "metadata_t", .fields = {{"port_in", 32}}};
  for (size_t i = 0; i < kFieldCount; ++i) {
    const auto field = static_cast<Field>(i);
    if (field == Field::kDestination || field == Field::kSource) continue;
    spec.metadata.fields.push_back({std::string(name_of(field)), program.bits_of(field)});
  }
  for (size_t i = 0; i < kRegisterCount; ++i) {
    const auto which = static_cast<Register>(i);
    if (!program.reads(which)) continue;
    spec.registers.push_back({.which = which,
                              .name = std::string(name_of(which)),
                              .size = static_cast<uint32_t>(table.cells(which).size())});
  }
  spec.arguments = {
      {.name = "set_bucket_args", .fields = {{"bucket", 32}}},
      {.name = "set_value_args", .fields = {{"value", program.bits_of(Field::kValue)}}}};
  spec.actions = {{.name = kSwxKeep, .instructions = {"return"}},
                  {.name = "set_bucket",
                   .arguments = "set_bucket_args",
                   .instructions = {"mov m.bucket t.bucket", "return"}},
                  {.name = "set_value",
                   .arguments = "set_value_args",
                   .instructions = {"mov m.found 0x1", "mov m.value t.value", "return"}}};
  const auto entries = [](size_t count) {
    return static_cast<uint32_t>(std::max<size_t>(count, 1));
  };
  const std::string key = swx_name(Field::kDestination);
  spec.tables = {{.which = Table::kOverflow,
                  .name = std::string(name_of(Table::kOverflow)),
                  .key = key,
                  .is_exact = true,
                  .action = "set_value",
                  .argument_bytes = program.bits_of(Field::kValue) / 8,
                  .size = entries(table.overflow.size())},
                 {.which = Table::kRanges,
                  .name = std::string(name_of(Table::kRanges)),
                  .key = key,
                  .action = "set_bucket",
                  .argument_bytes = program.bits_of(Field::kBucket) / 8,
                  .size = entries(table.ranges.size())}};
  spec.instructions = swx_instructions(program);
  return spec;
}

std::string SwxSpec::text() const {
  std::string out = "; A Parrot table, for DPDK's SWX pipeline. Rendered by Roost.\n\n";
  out += swx_struct_text(header);
  out += fmt::format("header {} instanceof {}\n\n", kSwxHeader, header.name);
  out += swx_struct_text(metadata);
  out += fmt::format("metadata instanceof {}\n\n", metadata.name);
  for (const SwxStruct& type : arguments) out += swx_struct_text(type);
  for (const SwxRegister& each : registers)
    out += fmt::format("regarray {} size {} initval 0\n", each.name, each.size);
  for (const SwxAction& action : actions) {
    out += fmt::format("\naction {} args {} {{\n", action.name,
                       action.arguments.empty() ? "none" : "instanceof " + action.arguments);
    for (const std::string& instruction : action.instructions)
      out += fmt::format("\t{}\n", instruction);
    out += "}\n";
  }
  for (const SwxTable& each : tables) {
    out += fmt::format(
        "\ntable {} {{\n\tkey {{\n\t\t{} {}\n\t}}\n\n\tactions {{\n\t\t{}\n\t\t{}\n\t}}\n\n"
        "\tdefault_action {} args none\n\tsize {}\n}}\n",
        each.name, each.key, each.is_exact ? "exact" : "wildcard", each.action, kSwxKeep, kSwxKeep,
        each.size);
  }
  out += "\napply {\n";
  for (const std::string& instruction : instructions) out += fmt::format("\t{}\n", instruction);
  return out + "}\n";
}

std::vector<std::string> swx_entries(const SwitchTable& table, Table which) {
  std::vector<std::string> lines;
  if (which == Table::kOverflow) {
    for (const OverflowEntry& entry : table.overflow) {
      lines.push_back(
          fmt::format("match {:#x} action set_value value {:#x}", entry.key, entry.value));
    }
    return lines;
  }
  for (const RangeEntry& entry : table.ranges) {
    // Priority 0 is the highest.
    lines.push_back(fmt::format("match {:#x}/{:#x} priority {} action set_bucket bucket {:#x}",
                                entry.prefix.first, entry.prefix.mask(), entry.prefix.free_bits,
                                entry.bucket));
  }
  return lines;
}

}  // namespace roost::targets
