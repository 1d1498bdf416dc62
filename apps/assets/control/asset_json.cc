#include "apps/assets/control/asset_json.h"

#include <fmt/chrono.h>
#include <fmt/format.h>

#include <algorithm>
#include <utility>

namespace roost::assets {

using control::Json;

std::string TickTime::text(Tick tick) const {
  constexpr uint64_t kMicrosecondsMax = uint64_t{253'402'300'799} * 1'000'000;  // of year 9999
  const uint64_t ticks = std::min(tick.count, kMicrosecondsMax / tick_microseconds_);
  const Point point = start_ + std::chrono::microseconds(ticks * tick_microseconds_);
  return fmt::format("{:%Y-%m-%dT%H:%M:%S}Z", std::chrono::floor<std::chrono::seconds>(point));
}

std::string protocol_name(net::IpProtocol protocol) {
  return protocol == net::IpProtocol::kTcp ? "tcp" : "udp";
}

Json host_json(const HostKey& host) {
  Json json = {{"vlan", host.vlan}};
  if (host.inner_vlan != 0) json["inner_vlan"] = host.inner_vlan;
  json["mac"] = host.mac.format();
  json["address"] = host.ip().format();
  return json;
}

Json host_json(const Host& host, std::span<const Service> services, const TickTime& time) {
  Json json = host_json(host.key);
  json["first_seen"] = time.text(host.first);
  json["last_seen"] = time.text(host.last);
  if (host.value.syn) json["syn"] = host.value.syn->format();
  Json rows = Json::array();
  for (const Service& service : services) {
    rows.push_back({{"protocol", protocol_name(service.protocol)},
                    {"port", service.port},
                    {"first_seen", time.text(service.first)},
                    {"last_seen", time.text(service.last)}});
  }
  json["services"] = std::move(rows);
  return json;
}

}  // namespace roost::assets
