#include "apps/assets/control/asset_note.h"

#include <fmt/format.h>

namespace roost::assets {

namespace {

struct HostNote {
  bool has_host = false;
  bool is_there = false;
  uint16_t services = 0;
  HostKey host{};
};

}  // namespace

void explain(Observer& state, const net::Packet& packet, const net::ParsedPacket& parsed,
             net::ParseVerdict verdict, Tick, trace::Note& note) {
  const FrameSource frame_source = read_frame_source(packet, parsed, verdict);
  if (!frame_source.host) return;
  const Host* const host = state.table().find(*frame_source.host);
  note.set(HostNote{.has_host = true,
                    .is_there = host != nullptr,
                    .services = host == nullptr ? uint16_t{0} : host->value.service_count,
                    .host = *frame_source.host});
}

std::string explanation(const trace::Note& before, const trace::Note& after) {
  const auto then = before.get<HostNote>();
  const auto now = after.get<HostNote>();
  if (!now.has_host) return "\n  of no host";
  std::string_view what = then.is_there ? "seen before" : "found";
  if (!now.is_there) what = "outside of the networks";
  return fmt::format("\n  host {} at {} in VLAN {}: {}; {} services, {} before",
                     now.host.ip().format(), now.host.mac.format(), now.host.vlan, what,
                     now.services, then.services);
}

}  // namespace roost::assets
