// Finds what an interface has by the numbers that the kernel gives programs and maps.
#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <linux/if_link.h>

#include <array>
#include <cerrno>
#include <string_view>
#include <utility>

#include "targets/xdp/attached_state.h"
#include "targets/xdp/kernel_calls.h"

namespace roost::xdp {
namespace {

constexpr size_t kMapsMax = 16;

// A map of a program's, and how many elements it has; the descriptor is none if there is no such
// map.
struct NamedMap {
  FileDescriptor map{-1};
  uint32_t elements = 0;
};

NamedMap find_map(std::span<const uint32_t> ids, std::string_view name) {
  for (const uint32_t id : ids) {
    FileDescriptor map(bpf_map_get_fd_by_id(id));
    bpf_map_info info{};
    uint32_t bytes = sizeof info;
    if (map.number() < 0 || bpf_obj_get_info_by_fd(map.number(), &info, &bytes) != 0) continue;
    if (name == info.name) return {std::move(map), info.max_entries};
  }
  return {};
}

}  // namespace

AttachedXdp::AttachedXdp(std::unique_ptr<State> state) : state_(std::move(state)) {}
AttachedXdp::AttachedXdp(AttachedXdp&&) noexcept = default;
AttachedXdp::~AttachedXdp() = default;

Result<std::optional<AttachedXdp>> AttachedXdp::find(const std::string& interface) {
  const auto index = interface_index(interface);
  if (!index) return index.error();
  bpf_xdp_query_opts attached{};
  attached.sz = sizeof attached;
  const QuietLibbpf quiet;
  int error = bpf_xdp_query(static_cast<int>(index.value()), 0, &attached);
  if (error != 0) return kernel_error(interface + " cannot be asked for its program", error);
  if (attached.attach_mode == XDP_ATTACHED_NONE) return std::optional<AttachedXdp>();
  FileDescriptor program(bpf_prog_get_fd_by_id(attached.prog_id));
  std::array<uint32_t, kMapsMax> maps{};
  bpf_prog_info info{};
  info.nr_map_ids = kMapsMax;
  info.map_ids = reinterpret_cast<uintptr_t>(maps.data());
  uint32_t bytes = sizeof info;
  error = program.number() < 0 ? errno : 0;
  if (error == 0) error = bpf_obj_get_info_by_fd(program.number(), &info, &bytes);
  if (error != 0) return kernel_error("the program of " + interface + " cannot be read", error);
  const std::string_view name = info.name;
  if (name != kProgramName || attached.attach_mode == XDP_ATTACHED_MULTI) {
    return Error{interface + " has an XDP program that is not Roost's: \"" + std::string(name) +
                 "\"; take it away first"};
  }
  const std::span<const uint32_t> ids(maps.data(), info.nr_map_ids);
  NamedMap lines = find_map(ids, kLinesName);
  NamedMap counts = find_map(ids, kCountsName);
  if (lines.map.number() < 0 || counts.map.number() < 0)
    return Error{"the maps of the program of " + interface + " cannot be read"};
  const size_t image_bytes = size_t{lines.elements} * kXdpLineWords * sizeof(uint64_t);
  auto memory = MappedArray::map(lines.map.number(), image_bytes, false);
  if (!memory) return memory.error();
  const bool is_native = attached.attach_mode == XDP_ATTACHED_DRV;
  return std::optional(AttachedXdp(std::make_unique<State>(
      State{interface, index.value(), is_native ? XdpMode::kNative : XdpMode::kGeneric,
            std::move(program), std::move(counts.map), std::move(memory).value()})));
}

std::span<const std::byte> AttachedXdp::image() const { return state_->lines.bytes(); }

Result<XdpCounts> AttachedXdp::counts() const { return read_counts(state_->counts.number()); }

XdpMode AttachedXdp::mode() const { return state_->mode; }

std::optional<Error> AttachedXdp::detach() {
  const QuietLibbpf quiet;
  const uint32_t flags = state_->mode == XdpMode::kNative ? XDP_FLAGS_DRV_MODE : XDP_FLAGS_SKB_MODE;
  const bpf_xdp_attach_opts options{.sz = sizeof options, .old_prog_fd = state_->program.number()};
  const int error = bpf_xdp_detach(static_cast<int>(state_->index), flags, &options);
  if (error == 0) return {};
  return kernel_error("the program of " + state_->interface + " does not go", error);
}

}  // namespace roost::xdp
