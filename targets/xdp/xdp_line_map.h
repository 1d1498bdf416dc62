// A line map where XDP reads it: frames go where the value of their destination says
// (docs/decisions/0050-value-maps-elsewhere.md).
//
//   auto map = LineMapBuilder<uint64_t>::build({.value_bits = 16}, entries).value();
//   auto xdp = XdpLineMap::load(map.image(), {.actions = {{0, {kXdpRedirect, eth1}}}}).value();
//   map.move_image(xdp.memory());  // from now on changes are what packets meet
//   xdp.attach("eth0", XdpMode::kNative);
//
// One control thread calls all of it. Where the target was left out of the build, load() and find()
// say so.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "roost/base/result.h"
#include "targets/xdp/xdp_settings.h"

namespace roost::xdp {

// What becomes of packets; `interface` is the index of the device that they are redirected to.
struct Action {
  XdpAction kind = kXdpPass;
  unsigned interface = 0;
};

struct XdpConfig {
  XdpKey key = kXdpDestinationMac;
  std::map<uint32_t, Action> actions{};  // by value, below 2^20
  Action strangers{};                    // keys that the table has not, for certain
  Action unassigned{.kind = kXdpDrop};   // values that have no action; no redirect
};

enum class XdpMode : uint8_t {
  kNative,   // by the device's driver
  kGeneric,  // by the kernel, behind the driver: any device, slower
};

// How many packets had each verdict, by XdpVerdict.
using XdpCounts = std::array<uint64_t, kXdpVerdicts>;
// "redirected", "dropped", "passed", "sent_back", "unassigned", "stranger", "busy", "foreign",
// "port_gone".
[[nodiscard]] std::string_view verdict_name(size_t verdict);

// What is attached to an interface, whichever process did it.
class AttachedXdp {
 public:
  // Nothing: no XDP program is there. Errors: there is no such interface; its program is another
  // one; the kernel refuses to say.
  static Result<std::optional<AttachedXdp>> find(const std::string& interface);

  AttachedXdp(AttachedXdp&&) noexcept;
  ~AttachedXdp();

  // The image that packets meet; its builder may be changing it.
  [[nodiscard]] std::span<const std::byte> image() const;
  [[nodiscard]] Result<XdpCounts> counts() const;
  [[nodiscard]] XdpMode mode() const;
  // Takes the program away. Errors: it has gone, or was replaced meanwhile; the kernel refuses.
  [[nodiscard]] std::optional<Error> detach();

 private:
  friend class XdpLineMap;
  struct State;
  explicit AttachedXdp(std::unique_ptr<State> state);

  std::unique_ptr<State> state_;
};

// A program with its maps, loaded. It goes with this object unless it is attached: the interface
// holds it then.
class XdpLineMap {
 public:
  // Of a line map's image of keys of one word, which is copied. `before`: its counts go on. Errors:
  // the image is of other keys; a number of the configuration that cannot be; the kernel refuses
  // BPF, with what its verifier said.
  static Result<XdpLineMap> load(std::span<const std::byte> image, const XdpConfig& config,
                                 const AttachedXdp* before = nullptr);

  XdpLineMap(XdpLineMap&&) noexcept;
  XdpLineMap& operator=(XdpLineMap&&) noexcept;
  ~XdpLineMap();

  // The array that packets are looked up in: the image, to be written by its builder.
  [[nodiscard]] std::span<std::byte> memory() const;
  [[nodiscard]] Result<XdpCounts> counts() const;
  // File descriptors of the program and of the array, for those who run it themselves.
  [[nodiscard]] int program() const;
  [[nodiscard]] int lines() const;

  // Where a program of ours is attached already, this one takes its place, at once. Errors: there
  // is no such interface; it has a program of others; its driver has no native XDP.
  [[nodiscard]] std::optional<Error> attach(const std::string& interface, XdpMode mode);

 private:
  struct State;
  explicit XdpLineMap(std::unique_ptr<State> state);

  std::unique_ptr<State> state_;
};

// What a program must know of an image and a configuration.
[[nodiscard]] Result<XdpSettings> settings_of(std::span<const std::byte> image,
                                              const XdpConfig& config);
// Elements of the maps of actions and ports: values that have actions, and one behind them for
// strangers.
[[nodiscard]] uint32_t action_count(const XdpConfig& config);

}  // namespace roost::xdp
