// A program with its maps, from the object that was compiled with it.
#include "targets/xdp/xdp_line_map.h"

#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <linux/if_link.h>

#include <cerrno>
#include <cstring>
#include <utility>

#include "roost/compact/image_head.h"
#include "targets/xdp/attached_state.h"
#include "targets/xdp/kernel_calls.h"
#include "targets/xdp/line_map_object.h"

namespace roost::xdp {
namespace {

// What must be said of the maps before they are made; 0, or an error of errno.
int size_maps(const Object& object, size_t image_bytes, const XdpConfig& config,
              const XdpSettings& settings) {
  const auto lines = static_cast<uint32_t>(image_bytes / (kXdpLineWords * sizeof(uint64_t)));
  const uint32_t actions = action_count(config) + 1;
  int error = bpf_map__set_max_entries(map_named(object, kLinesName), lines);
  if (error == 0) error = bpf_map__set_max_entries(map_named(object, kActionsName), actions);
  if (error == 0) error = bpf_map__set_max_entries(map_named(object, kPortsName), actions);
  if (error != 0) return error;
  return bpf_map__set_initial_value(map_named(object, kSettingsName), &settings, sizeof settings);
}

// Nothing if it is no redirect.
int write_port(const Object& object, uint32_t value, const Action& action) {
  if (action.kind != kXdpRedirect) return 0;
  const int ports = bpf_map__fd(map_named(object, kPortsName));
  return bpf_map_update_elem(ports, &value, &action.interface, BPF_ANY);
}

// What is done with strangers is constant; only their port is in a map, behind those of values.
int write_actions(const Object& object, const XdpConfig& config) {
  const int actions = bpf_map__fd(map_named(object, kActionsName));
  int error = write_port(object, action_count(config), config.strangers);
  for (const auto& [value, action] : config.actions) {
    const uint32_t kind = action.kind;
    if (error == 0) error = bpf_map_update_elem(actions, &value, &kind, BPF_ANY);
    if (error == 0) error = write_port(object, value, action);
  }
  return error;
}

}  // namespace

struct XdpLineMap::State {
  Object object;
  bpf_program* program;
  MappedArray lines;
};

XdpLineMap::XdpLineMap(std::unique_ptr<State> state) : state_(std::move(state)) {}
XdpLineMap::XdpLineMap(XdpLineMap&&) noexcept = default;
XdpLineMap& XdpLineMap::operator=(XdpLineMap&&) noexcept = default;
XdpLineMap::~XdpLineMap() = default;

Result<XdpLineMap> XdpLineMap::load(std::span<const std::byte> image, const XdpConfig& config,
                                    const AttachedXdp* before) {
  const auto settings = settings_of(image, config);
  if (!settings) return settings.error();
  const QuietLibbpf quiet;
  const std::span<const std::byte> bytes = line_map_object();
  Object object(bpf_object__open_mem(bytes.data(), bytes.size(), nullptr));
  if (!object) return kernel_error("the XDP program cannot be opened", errno);
  int error = size_maps(object, image.size(), config, settings.value());
  if (error == 0 && before != nullptr)
    error = bpf_map__reuse_fd(map_named(object, kCountsName), before->state_->counts.number());
  if (error == 0) error = bpf_object__load(object.get());
  if (error != 0) {
    Error refused = kernel_error("the kernel does not take the XDP program", error);
    if (const std::string said = QuietLibbpf::said(); !said.empty()) refused.message += "\n" + said;
    return refused;
  }
  error = write_actions(object, config);
  if (error != 0) return kernel_error("an action's device cannot be redirected to", error);
  auto lines = MappedArray::map(bpf_map__fd(map_named(object, kLinesName)), image.size(), true);
  if (!lines) return lines.error();
  std::memcpy(lines.value().bytes().data(), image.data(), image.size());
  // It will be changed in place, and a checksum would not follow.
  std::memset(lines.value().bytes().data() + offsetof(compact::ImageHead, checksum), 0,
              sizeof compact::ImageHead::checksum);
  bpf_program* const program = bpf_object__find_program_by_name(object.get(), kProgramName);
  ROOST_ASSERT(program != nullptr);
  return XdpLineMap(
      std::make_unique<State>(State{std::move(object), program, std::move(lines).value()}));
}

std::span<std::byte> XdpLineMap::memory() const { return state_->lines.bytes(); }

Result<XdpCounts> XdpLineMap::counts() const {
  return read_counts(bpf_map__fd(map_named(state_->object, kCountsName)));
}

int XdpLineMap::program() const { return bpf_program__fd(state_->program); }

int XdpLineMap::lines() const { return bpf_map__fd(map_named(state_->object, kLinesName)); }

std::optional<Error> XdpLineMap::attach(const std::string& interface, XdpMode mode) {
  const auto before = AttachedXdp::find(interface);
  if (!before) return before.error();
  const auto index = interface_index(interface);
  if (!index) return index.error();
  const QuietLibbpf quiet;
  const uint32_t flags = mode == XdpMode::kNative ? XDP_FLAGS_DRV_MODE : XDP_FLAGS_SKB_MODE;
  int error = 0;
  if (before.value()) {
    if (before.value()->mode() != mode)
      return Error{interface + " has a program of the other mode; detach it first"};
    const bpf_xdp_attach_opts options{.sz = sizeof options,
                                      .old_prog_fd = before.value()->state_->program.number()};
    error = bpf_xdp_attach(static_cast<int>(index.value()), program(), flags, &options);
  } else {
    error = bpf_xdp_attach(static_cast<int>(index.value()), program(),
                           flags | XDP_FLAGS_UPDATE_IF_NOEXIST, nullptr);
  }
  if (error == 0) return {};
  Error refused = kernel_error(interface + " does not take the program", error);
  if (error == -EOPNOTSUPP) refused.message += "; its driver has no native XDP: give mode generic";
  return refused;
}

}  // namespace roost::xdp
