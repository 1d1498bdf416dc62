#include "targets/switch/switch_export.h"

#include <fmt/format.h>

#include <iterator>
#include <utility>

#include "targets/switch/p4_text.h"
#include "targets/switch/swx_spec.h"
#include "targets/switch/tofino_report.h"

namespace roost::targets {
namespace {

struct Exported {
  SwitchTable table;
  SwitchProgram program;
};

Result<Exported> read_image(std::span<const std::byte> image, const ExportOptions& options) {
  auto table = SwitchTable::of_image(image, options.stash_reads);
  if (!table) return table.error();
  auto program = SwitchProgram::for_table(table.value(), options.answer, options.port_count);
  if (!program) return program.error();
  return Exported{std::move(table).value(), std::move(program).value()};
}

std::string lines_of(const std::vector<std::string>& lines) {
  return fmt::format("{}{}", fmt::join(lines, "\n"), lines.empty() ? "" : "\n");
}

std::string swx_commands(const SwxSpec& spec, const SwitchTable& table) {
  std::string text =
      "# For dpdk-pipeline of DPDK's sources, behind \"pipeline PIPELINE0 build\".\n";
  for (const SwxRegister& each : spec.registers) {
    const auto cells = table.cells(each.which);
    for (size_t i = 0; i < cells.size(); ++i) {
      fmt::format_to(std::back_inserter(text), "pipeline PIPELINE0 regwr {} value {:#x} index {}\n",
                     each.name, cells[i], i);
    }
  }
  for (const SwxTable& each : spec.tables)
    text += fmt::format("pipeline PIPELINE0 table {0} add {0}.txt\n", each.name);
  return text + "pipeline PIPELINE0 commit\n";
}

}  // namespace

Result<std::vector<ExportedFile>> export_swx(std::span<const std::byte> image,
                                             const ExportOptions& options) {
  const auto read = read_image(image, options);
  if (!read) return read.error();
  const auto& [table, program] = read.value();
  const SwxSpec spec = SwxSpec::of(program, table);
  return std::vector<ExportedFile>{{"parrot.spec", spec.text()},
                                   {"ranges.txt", lines_of(swx_entries(table, Table::kRanges))},
                                   {"overflow.txt", lines_of(swx_entries(table, Table::kOverflow))},
                                   {"registers.cli", swx_commands(spec, table)}};
}

Result<std::vector<ExportedFile>> export_p4(std::span<const std::byte> image,
                                            const ExportOptions& options) {
  const auto read = read_image(image, options);
  if (!read) return read.error();
  const auto& [table, program] = read.value();
  return std::vector<ExportedFile>{{"parrot.p4", p4_text(program, table)},
                                   {"parrot.commands", p4_commands(program, table)}};
}

Result<std::vector<ExportedFile>> export_report(std::span<const std::byte> image,
                                                const ExportOptions& options) {
  const auto table = SwitchTable::of_image(image, options.stash_reads);
  if (!table) return table.error();
  return std::vector<ExportedFile>{
      {"tofino.txt", tofino_report(SwitchSizes::of(table.value())).text()}};
}

}  // namespace roost::targets
