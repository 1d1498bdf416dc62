#include "targets/switch/swx_pipeline.h"

#include <fmt/format.h>
#include <rte_byteorder.h>
#include <rte_errno.h>
#include <rte_ether.h>
#include <rte_mbuf.h>
#include <rte_ring.h>
#include <rte_swx_ctl.h>
#include <rte_swx_pipeline.h>
#include <rte_swx_port_ring.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <optional>
#include <string_view>
#include <utility>
#include <vector>

#include "roost/base/assert.h"
#include "roost/io/buffer_pool.h"
#include "targets/switch/swx_spec.h"

namespace roost::targets {
namespace {

constexpr int kAnyNode = SOCKET_ID_ANY;
constexpr uint32_t kBurst = 32;
constexpr uint32_t kRingSize = 2 * SwxPipeline::kPacketsMax;  // holds one less
constexpr uint32_t kInstructionsARound = 16'384;
// Rounds without a packet that leaves. A packet takes fewer instructions than a round has.
constexpr int kIdleRoundsMax = 1'000;

// What a packet has behind its Ethernet header: which one it is.
struct [[gnu::packed]] Packet {
  std::array<uint8_t, 6> destination{};
  std::array<uint8_t, 6> source{};
  uint16_t ether_type = 0;
  uint32_t number = 0;
};
static_assert(sizeof(Packet) == 18);

constexpr uint16_t kEtherTypeLocal = 0x88b5;  // IEEE 802 local experimental
constexpr size_t kFrameBytes = 60;

struct FreePipeline {
  void operator()(rte_swx_pipeline* pipeline) const { rte_swx_pipeline_free(pipeline); }
};
struct FreeControl {
  void operator()(rte_swx_ctl_pipeline* control) const { rte_swx_ctl_pipeline_free(control); }
};
struct FreeRing {
  void operator()(rte_ring* ring) const {
    void* packet = nullptr;
    while (rte_ring_dequeue(ring, &packet) == 0) rte_pktmbuf_free(static_cast<rte_mbuf*>(packet));
    rte_ring_free(ring);
  }
};
struct FreeEntry {
  void operator()(rte_swx_table_entry* entry) const {
    std::free(entry->key);
    std::free(entry->key_mask);
    std::free(entry->action_data);
    std::free(entry);
  }
};
using Entry = std::unique_ptr<rte_swx_table_entry, FreeEntry>;
using Ring = std::unique_ptr<rte_ring, FreeRing>;

std::vector<rte_swx_field_params> parameters_of(const SwxStruct& type) {
  std::vector<rte_swx_field_params> fields;
  for (const SwxField& field : type.fields)
    fields.push_back({.name = field.name.c_str(), .n_bits = field.bits});
  return fields;
}
std::vector<const char*> words_of(const std::vector<std::string>& strings) {
  std::vector<const char*> words;
  for (const std::string& string : strings) words.push_back(string.c_str());
  return words;
}

// What DPDK refused first.
class Refusal {
 public:
  // Whether all went well until now.
  bool accepts(int status, std::string_view what, std::string_view name = {}) {
    if (status != 0 && !error_) {
      error_ = Error{fmt::format("SWX refuses {} {}: {}", what, name,
                                 rte_strerror(status < 0 ? -status : status))};
    }
    return !error_;
  }
  [[nodiscard]] const std::optional<Error>& error() const { return error_; }

 private:
  std::optional<Error> error_;
};

// Registers what a specification says.
void register_program(rte_swx_pipeline* pipeline, const SwxSpec& spec, Refusal& refusal) {
  const auto add_struct = [&](const SwxStruct& type) {
    auto fields = parameters_of(type);
    refusal.accepts(
        rte_swx_pipeline_struct_type_register(pipeline, type.name.c_str(), fields.data(),
                                              static_cast<uint32_t>(fields.size()), 0),
        "struct", type.name);
  };
  add_struct(spec.header);
  add_struct(spec.metadata);
  for (const SwxStruct& type : spec.arguments) add_struct(type);
  refusal.accepts(
      rte_swx_pipeline_packet_header_register(pipeline, kSwxHeader, spec.header.name.c_str()),
      "header", kSwxHeader);
  refusal.accepts(rte_swx_pipeline_packet_metadata_register(pipeline, spec.metadata.name.c_str()),
                  "metadata");
  for (const SwxRegister& each : spec.registers) {
    refusal.accepts(rte_swx_pipeline_regarray_config(pipeline, each.name.c_str(), each.size, 0),
                    "register array", each.name);
  }
  for (const SwxAction& action : spec.actions) {
    auto words = words_of(action.instructions);
    refusal.accepts(rte_swx_pipeline_action_config(
                        pipeline, action.name.c_str(),
                        action.arguments.empty() ? nullptr : action.arguments.c_str(), words.data(),
                        static_cast<uint32_t>(words.size())),
                    "action", action.name);
  }
  for (const SwxTable& each : spec.tables) {
    rte_swx_match_field_params key{
        .name = each.key.c_str(),
        .match_type = each.is_exact ? RTE_SWX_TABLE_MATCH_EXACT : RTE_SWX_TABLE_MATCH_WILDCARD};
    std::array<const char*, 2> actions = {each.action.c_str(), kSwxKeep};
    std::array<int, 2> for_entries = {1, 1};
    rte_swx_pipeline_table_params parameters{};
    parameters.fields = &key;
    parameters.n_fields = 1;
    parameters.action_names = actions.data();
    parameters.action_is_for_table_entries = for_entries.data();
    parameters.action_is_for_default_entry = for_entries.data();
    parameters.n_actions = actions.size();
    parameters.default_action_name = kSwxKeep;
    refusal.accepts(rte_swx_pipeline_table_config(pipeline, each.name.c_str(), &parameters, nullptr,
                                                  nullptr, each.size),
                    "table", each.name);
  }
  auto words = words_of(spec.instructions);
  refusal.accepts(rte_swx_pipeline_instructions_config(pipeline, words.data(),
                                                       static_cast<uint32_t>(words.size())),
                  "the instructions");
}

// A ring that a port reads or writes.
Ring make_ring(const std::string& name) {
  return Ring(rte_ring_create(name.c_str(), kRingSize, kAnyNode, RING_F_SP_ENQ | RING_F_SC_DEQ));
}

}  // namespace

// Order of declaration is order of life: the pipeline's ports hold packets of the rings and pool.
struct SwxPipeline::State {
  io::BufferPool pool;
  std::vector<Ring> out{};
  Ring in{};
  std::unique_ptr<rte_swx_pipeline, FreePipeline> pipeline{};
  std::unique_ptr<rte_swx_ctl_pipeline, FreeControl> control{};
  size_t instruction_count = 0;

  // Packets that have neither left nor been dropped.
  [[nodiscard]] uint32_t underway_count() const {
    uint32_t count = pool.in_use_count();
    for (const Ring& ring : out) count -= rte_ring_count(ring.get());
    return count;
  }

  // A ring in, and a ring for each port out.
  void make_ports(uint32_t port_count, const std::string& name, Refusal& refusal) {
    const std::string in_name = name + "_in";
    in = make_ring(in_name);
    rte_swx_port_ring_reader_params reader{.name = in_name.c_str(), .burst_size = kBurst};
    refusal.accepts(rte_swx_pipeline_port_in_config(pipeline.get(), 0, "ring", &reader),
                    "input port", in_name);
    for (uint32_t port = 0; port < port_count; ++port) {
      const std::string out_name = fmt::format("{}_{}", name, port);
      out.push_back(make_ring(out_name));
      rte_swx_port_ring_writer_params writer{.name = out_name.c_str(), .burst_size = kBurst};
      refusal.accepts(rte_swx_pipeline_port_out_config(pipeline.get(), port, "ring", &writer),
                      "output port", out_name);
    }
  }

  void load(const SwxSpec& spec, const SwitchTable& table, Refusal& refusal) {
    for (const SwxRegister& each : spec.registers) {
      const auto cells = table.cells(each.which);
      for (uint32_t i = 0; i < cells.size(); ++i) {
        if (!refusal.accepts(
                rte_swx_ctl_pipeline_regarray_write(pipeline.get(), each.name.c_str(), i, cells[i]),
                "a cell of", each.name))
          return;
      }
    }
    rte_swx_table_state* states = nullptr;
    if (!refusal.accepts(rte_swx_pipeline_table_state_get(pipeline.get(), &states),
                         "the state of tables"))
      return;
    for (uint32_t id = 0; id < spec.tables.size() && !refusal.error(); ++id)
      fill_table(id, spec.tables[id], swx_entries(table, spec.tables[id].which), states[id],
                 refusal);
  }

  // The table's object is made of all its entries at once: rte_swx_ctl_pipeline_table_entry_add()
  // compares each entry with all before it, which takes 20 s for 50,000.
  void fill_table(uint32_t id, const SwxTable& table, const std::vector<std::string>& lines,
                  rte_swx_table_state& state, Refusal& refusal) {
    rte_swx_table_ops operations{};
    int is_stub = 0;
    if (!refusal.accepts(rte_swx_ctl_table_ops_get(pipeline.get(), id, &operations, &is_stub),
                         "table", table.name))
      return;
    std::vector<Entry> entries;
    rte_swx_table_entry_list list;
    TAILQ_INIT(&list);
    for (const std::string& line : lines) {
      entries.emplace_back(rte_swx_ctl_pipeline_table_entry_read(control.get(), table.name.c_str(),
                                                                 line.c_str(), nullptr));
      if (!refusal.accepts(entries.back() ? 0 : EINVAL, "the entry", line)) return;
      TAILQ_INSERT_TAIL(&list, entries.back().get(), node);
    }
    // The key begins the header.
    rte_swx_table_params parameters{};
    parameters.match_type =
        table.is_exact ? RTE_SWX_TABLE_MATCH_EXACT : RTE_SWX_TABLE_MATCH_WILDCARD;
    parameters.key_size = kSwitchKeyBits / 8;
    parameters.action_data_size = table.argument_bytes;
    parameters.n_keys_max = table.size;
    void* const filled = operations.create(&parameters, &list, nullptr, kAnyNode);
    if (!refusal.accepts(filled != nullptr ? 0 : ENOMEM, "the entries of", table.name)) return;
    if (state.obj != nullptr) operations.free(state.obj);
    state.obj = filled;
  }
};

Result<SwxPipeline> SwxPipeline::create(const SwitchProgram& program, const SwitchTable& table) {
  auto pool = io::BufferPool::create({.buffer_count = 2 * kPacketsMax, .data_room_bytes = 128});
  if (!pool) return pool.error();
  auto state = std::make_unique<State>(std::move(pool).value());
  static uint32_t number = 0;
  const std::string name = fmt::format("roost_swx_{}", number++);
  const SwxSpec spec = SwxSpec::of(program, table);
  state->instruction_count = spec.instructions.size();
  Refusal refusal;
  rte_swx_pipeline* pipeline = nullptr;
  refusal.accepts(rte_swx_pipeline_config(&pipeline, name.c_str(), kAnyNode), "a pipeline");
  if (const auto& refused = refusal.error()) return *refused;
  state->pipeline.reset(pipeline);
  state->make_ports(program.ports(), name, refusal);
  if (!refusal.error()) register_program(pipeline, spec, refusal);
  if (!refusal.error()) refusal.accepts(rte_swx_pipeline_build(pipeline), "to build the pipeline");
  if (const auto& refused = refusal.error()) return *refused;
  state->control.reset(rte_swx_ctl_pipeline_create(pipeline));
  if (!state->control) return Error{"no memory for the control of an SWX pipeline"};
  state->load(spec, table, refusal);
  if (const auto& refused = refusal.error()) return *refused;
  return SwxPipeline(std::move(state));
}

SwxPipeline::SwxPipeline(std::unique_ptr<State> state) : state_(std::move(state)) {}
SwxPipeline::SwxPipeline(SwxPipeline&&) noexcept = default;
SwxPipeline::~SwxPipeline() = default;

size_t SwxPipeline::instruction_count() const { return state_->instruction_count; }

bool SwxPipeline::send(std::span<const uint64_t> destinations, std::span<Sent> sent) {
  put(destinations);
  const bool has_run = run();
  take(sent);
  return has_run;
}

void SwxPipeline::put(std::span<const uint64_t> destinations) {
  ROOST_ASSERT(destinations.size() <= kPacketsMax);
  for (uint32_t number = 0; number < destinations.size(); ++number) {
    rte_mbuf* const buffer = rte_pktmbuf_alloc(state_->pool.get());
    ROOST_ASSERT(buffer != nullptr);
    void* const frame = rte_pktmbuf_append(buffer, kFrameBytes);
    std::memset(frame, 0, kFrameBytes);
    Packet packet{.ether_type = rte_cpu_to_be_16(kEtherTypeLocal), .number = number};
    const uint64_t address = rte_cpu_to_be_64(destinations[number] << 16);
    std::memcpy(packet.destination.data(), &address, packet.destination.size());
    std::memcpy(frame, &packet, sizeof packet);
    const int status = rte_ring_enqueue(state_->in.get(), buffer);
    ROOST_ASSERT(status == 0);
  }
}

bool SwxPipeline::run() {
  uint32_t underway = state_->underway_count();
  for (int idle = 0; underway != 0; ++idle) {
    if (idle == kIdleRoundsMax) return false;
    rte_swx_pipeline_run(state_->pipeline.get(), kInstructionsARound);
    rte_swx_pipeline_flush(state_->pipeline.get());
    const uint32_t before = std::exchange(underway, state_->underway_count());
    if (underway != before) idle = 0;
  }
  return true;
}

void SwxPipeline::take(std::span<Sent> sent) {
  std::ranges::fill(sent, Sent{});
  for (uint32_t port = 0; port < state_->out.size(); ++port) {
    void* taken = nullptr;
    while (rte_ring_dequeue(state_->out[port].get(), &taken) == 0) {
      auto* const buffer = static_cast<rte_mbuf*>(taken);
      Packet packet;
      std::memcpy(&packet, rte_pktmbuf_mtod(buffer, void*), sizeof packet);
      ROOST_ASSERT(packet.number < sent.size());
      uint64_t source = 0;
      std::memcpy(&source, packet.source.data(), packet.source.size());
      sent[packet.number] = {.port = port, .source = rte_be_to_cpu_64(source) >> 16};
      rte_pktmbuf_free(buffer);
    }
  }
}

}  // namespace roost::targets
