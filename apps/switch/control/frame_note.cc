#include "apps/switch/control/frame_note.h"

#include <fmt/format.h>

#include <array>

#include "roost/bridge/station.h"
#include "roost/net/headers.h"

namespace roost::switching {

namespace {

// The port of a station that is known.
struct Place {
  bool is_known = false;
  bridge::FdbValue value{};

  bool operator==(const Place&) const = default;
};

struct FrameNote {
  uint16_t vlan = 0;  // 0: of none that its port has
  bool is_for_group = false;
  std::array<Place, 2> places{};  // of source and destination
};

std::string words_of(const Place& place) {
  if (!place.is_known) return "unknown";
  if (place.value.port() == bridge::FdbValue::kNoPort) return "static, its frames are dropped";
  return fmt::format("at port {}, {}", place.value.port(), bridge::kind_name(place.value));
}

}  // namespace

void explain(State& state, const net::Packet& packet, const net::ParsedPacket&, net::ParseVerdict,
             Tick now, trace::Note& note) {
  if (packet.contiguous_bytes < net::ethernet::kHeaderBytes) return;
  const auto vlan = state.switching().rules().vlans.vlan_of(packet);
  if (!vlan || vlan->vlan == 0) return;
  const std::array macs = {bridge::FdbKey::load_mac(packet.data + net::ethernet::kSource),
                           bridge::FdbKey::load_mac(packet.data + net::ethernet::kDestination)};
  const std::array keys = {bridge::FdbKey(vlan->vlan, macs[0]),
                           bridge::FdbKey(vlan->vlan, macs[1])};
  std::array<bridge::FdbValue, 2> values;
  HitArray<2> hits;
  const bridge::Fdb& fdb = state.shared().fdb;
  fdb.reader().lookup(keys, std::span(values), hits);
  FrameNote found{.vlan = vlan->vlan, .is_for_group = bridge::FdbKey::is_group(macs[1])};
  const uint64_t sixteenth = fdb.ageing().sixteenth(now);
  for (size_t i = 0; i < keys.size(); ++i) {
    if (!hits.test(i) || bridge::Ageing::is_unknown(values[i], sixteenth)) continue;
    found.places[i] = {.is_known = true, .value = values[i]};
  }
  note.set(found);
}

std::string explanation(const trace::Note& before, const trace::Note& after) {
  const auto found = before.get<FrameNote>();
  if (found.vlan == 0) return {};
  const auto left = after.get<FrameNote>();
  std::string text =
      fmt::format("\n  VLAN       {}\n  source     {}", found.vlan, words_of(found.places[0]));
  if (left.places[0] != found.places[0]) text += " -> " + words_of(left.places[0]);
  if (!found.is_for_group) text += "\n  for        a station " + words_of(found.places[1]);
  return text;
}

}  // namespace roost::switching
