#include "apps/halo/inputs.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <filesystem>
#include <system_error>

#include "roost/config/toml_file.h"
#include "roost/memory/memory_there.h"
#include "roost/memory/whole_file.h"
#include "roost/table/image_header.h"
#include "roost/traffic/draw.h"
#include "sim/lookup_run.h"

namespace roost::halo {

namespace {

// What a simulated machine takes beside the table: lines and directories of its caches.
constexpr uint64_t kMachineBytes = uint64_t{64} << 20;

Result<Inputs> built_inputs(const InputOptions& options) {
  Inputs inputs{.table_name = fmt::format("a table of {} entries", options.build.entries)};
  if (auto error = too_large(inputs.table_name, built_bytes(options.build), options.machines))
    return *error;
  auto built = build_table(options.build);
  if (!built) return built.error();
  inputs.bytes = std::move(built.value().image);
  if (!options.trace_path.empty()) return inputs;
  const std::vector<sim::KeyBytes>& keys = built.value().keys;
  traffic::Draw draw(options.build.seed);
  inputs.trace_name = "keys by chance";
  for (uint64_t i = 0; i < options.keys; ++i) {
    const bool is_miss = draw.unit() < options.misses;
    inputs.trace.keys.push_back(is_miss ? key_not_built(options.build, i)
                                        : keys[draw.below(keys.size())]);
  }
  return inputs;
}

Result<Inputs> saved_inputs(const InputOptions& options) {
  Inputs inputs{.table_name = options.table_path};
  std::error_code unknown;
  const uint64_t bytes = std::filesystem::file_size(options.table_path, unknown);
  if (auto error = too_large(inputs.table_name, unknown ? 0 : bytes, options.machines))
    return *error;
  auto read = read_whole(options.table_path);
  if (!read) return read.error();
  inputs.bytes = std::move(read).value();
  return inputs;
}

// Tables of the paper's format are only built, so ours of the same keys are too.
std::optional<Error> add_other_images(const InputOptions& options, Inputs& inputs) {
  if (inputs.table.metadata.is_paper()) {
    if (!options.table_path.empty()) {
      return Error{
          options.table_path +
          ": a table of the paper's format, which no program has; have one built by --build"};
    }
    BuildOptions split = options.build;
    split.format = BuiltFormat::kSplit;
    auto built = build_table(split);
    if (!built) return built.error();
    inputs.as_own = std::move(built).value().image;
    return {};
  }
  const auto paper = sim::paper_table_of(inputs.image());
  if (!paper) return Error{inputs.table_name + ": " + paper.error().message};
  inputs.as_paper = copy_of(sim::image_of(paper.value()));
  return {};
}

}  // namespace

std::optional<Error> too_large(const std::string& name, uint64_t image_bytes, uint64_t machines) {
  const std::optional<uint64_t> there = read_memory_there();
  const uint64_t needed = 2 * image_bytes + machines * (image_bytes + kMachineBytes);
  if (!there || needed <= *there) return {};
  constexpr uint64_t kMebi = uint64_t{1} << 20;
  return Error{
      fmt::format("{}: {} MiB of memory are needed to simulate it on {} machines at a time, "
                  "and {} MiB are there; give a smaller table, or fewer --threads",
                  name, needed / kMebi, machines, *there / kMebi)};
}

Result<sim::MachineDescription> read_machine(const std::string& path) {
  if (path.empty()) return sim::default_machine();
  auto outcome = config::read_file(path, sim::parse_machine);
  if (!outcome.config) return config::error_of(outcome.faults, path);
  return *std::move(outcome.config);
}

std::span<const std::byte> Inputs::image() const {
  return std::visit([](const auto& held) { return std::as_bytes(std::span(held)); }, bytes);
}

Question Inputs::question() const {
  const auto or_image = [this](const std::vector<std::byte>& other) {
    return sim::RunTables{{.image = other.empty() ? image() : std::span(other)}};
  };
  return {.tables = {{.image = image()}},
          .paper_tables = or_image(as_paper),
          .own_tables = or_image(as_own),
          .trace = {trace.keys, words},
          .key_bytes = table.metadata.key_bytes,
          .is_inline = table.metadata.format == sim::TableFormat::kInline,
          .is_single = table.metadata.format == sim::TableFormat::kPaperSingle};
}

double Inputs::load() const {
  const auto slots = static_cast<double>(table.metadata.buckets * table.metadata.slots);
  return static_cast<double>(table.entries) / slots;
}

Result<Inputs> read_inputs(const InputOptions& options) {
  auto read = options.table_path.empty() ? built_inputs(options) : saved_inputs(options);
  if (!read) return read;
  Inputs inputs = std::move(read).value();
  auto audited = sim::audit_image(inputs.image());
  if (!audited) return Error{inputs.table_name + ": " + audited.error().message};
  inputs.table = audited.value();
  ImageIdentity identity;
  std::memcpy(&identity, inputs.image().data(), sizeof(identity));
  inputs.kind = identity.kind.data();
  const uint32_t key_bytes = inputs.table.metadata.key_bytes;
  if (!options.trace_path.empty()) {
    auto trace = read_trace(options.trace_path, key_bytes, options.trace_format);
    if (!trace) return trace.error();
    inputs.trace_name = options.trace_path;
    inputs.trace = std::move(trace).value();
  }
  if (auto error = add_other_images(options, inputs)) return *error;
  auto words = sim::words_of({{inputs.image()}}, inputs.trace.keys);
  if (!words) return words.error();
  inputs.words = std::move(words).value();
  inputs.hits = static_cast<uint64_t>(std::ranges::count_if(inputs.words, sim::is_found));
  if (inputs.hits != 0 || options.misses == 1) return inputs;
  return Error{
      fmt::format("{}: none of its {} keys is in {}; the first one is {}, and {} is one of "
                  "the table's {}: give keys as the table has them",
                  inputs.trace_name, inputs.trace.keys.size(), inputs.table_name,
                  hex_of(inputs.trace.keys.front(), key_bytes),
                  inputs.table.entries == 0 ? "none" : hex_of(inputs.table.some_key, key_bytes),
                  inputs.table.entries)};
}

}  // namespace roost::halo
