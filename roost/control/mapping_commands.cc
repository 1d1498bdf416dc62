#include "roost/control/mapping_commands.h"

#include <fmt/format.h>

#include <string>
#include <vector>

#include "roost/net/address.h"
#include "roost/net/headers.h"

namespace roost::control {

namespace {

using conntrack::Held;
using Row = conntrack::PortMappings::Row;

constexpr uint64_t kMappingRowsDefault = 100;
constexpr uint64_t kMappingRowsMax = 1'000;

struct MappingFilter {
  std::optional<net::IpPrefix> inside{};
  std::optional<net::IpPrefix> outside{};
  std::optional<net::IpProtocol> protocol{};

  [[nodiscard]] bool admits(const Row& row, const net::Ipv4Address& external) const {
    return (!protocol || *protocol == row.protocol) &&
           (!inside || inside->contains(row.inside.address)) &&
           (!outside || outside->contains(external));
  }
};

// A page of a worker's mappings.
class MappingsRequest final : public node::Request {
 public:
  MappingsRequest(const Held& held, const MappingFilter& filter, uint64_t place, size_t rows_max)
      : held_(held), filter_(filter), rows_max_(rows_max), place_(place) {
    rows_.reserve(rows_max);
  }
  bool step() override {
    constexpr uint64_t kPlacesOfStep = 1'024;
    for (uint64_t i = 0; i < kPlacesOfStep; ++i) {
      if (rows_.size() == rows_max_) return true;
      const bool has_more = held_.mappings.walk(place_, 1, [&](const Row& row) {
        if (filter_.admits(row, held_.external[row.bound.address])) rows_.push_back(row);
      });
      if (!has_more) is_at_end_ = true;
      if (is_at_end_) return true;
    }
    return false;
  }

  [[nodiscard]] uint64_t place() const { return place_; }  // where the next page begins
  [[nodiscard]] bool is_at_end() const { return is_at_end_; }
  [[nodiscard]] const std::vector<Row>& rows() const { return rows_; }

 private:
  const Held& held_;
  const MappingFilter& filter_;
  size_t rows_max_;
  uint64_t place_;
  bool is_at_end_ = false;
  std::vector<Row> rows_;
};

Json mapping_json(size_t worker, const Row& row, const Held& held) {
  return {{"worker", worker},
          {"protocol", mapped_protocol_name(row.protocol)},
          {"inside", net::endpoint_text(row.inside.address, row.inside.port)},
          {"outside", net::endpoint_text(held.external[row.bound.address], row.bound.port)},
          {"connections", row.holders},
          {"forward", row.is_static}};
}

Result<MappingFilter> parse_mapping_filter(const Json& parameters) {
  const auto inside = parse_prefix(parameters, "inside");
  const auto outside = parse_prefix(parameters, "outside");
  if (!inside) return inside.error();
  if (!outside) return outside.error();
  MappingFilter filter{.inside = inside.value(), .outside = outside.value()};
  const std::string name = parameters.value("protocol", "");
  for (const auto protocol : {net::IpProtocol::kTcp, net::IpProtocol::kUdp, net::kProtocolIcmp4}) {
    if (mapped_protocol_name(protocol) == name) filter.protocol = protocol;
  }
  return filter;
}

}  // namespace

std::string_view mapped_protocol_name(net::IpProtocol protocol) {
  if (protocol == net::IpProtocol::kTcp) return "tcp";
  return protocol == net::IpProtocol::kUdp ? "udp" : "icmp";
}

Json mappings_view(const Json& result) {
  View view;
  view.table("/mappings", {"worker", "protocol", "inside", "outside", "connections", "forward"});
  if (result.contains("cursor"))
    view.text("there are more: --cursor " + result["cursor"].get<std::string>());
  return view.take();
}

// Worker after worker, until the page is full.
Result<Json> run_mappings(
    const Json& parameters, std::span<const Held* const> held,
    const std::function<std::optional<Error>(std::span<node::Request* const>)>& ask) {
  const auto filter = parse_mapping_filter(parameters);
  if (!filter) return filter.error();
  const auto limit = parse_number(parameters, "limit", 1, kMappingRowsMax);
  if (!limit) return limit.error();
  const size_t rows_max = limit.value().value_or(kMappingRowsDefault);
  const auto cursor = parse_cursor<2>(parameters, held.size());
  if (!cursor) return cursor.error();
  auto [worker, place] = cursor.value();
  Json rows = Json::array();
  while (worker < held.size() && rows.size() < rows_max) {
    MappingsRequest request(*held[worker], filter.value(), place, rows_max - rows.size());
    std::vector<node::Request*> posted(held.size());
    posted[worker] = &request;
    if (auto error = ask(posted)) return *error;
    for (const Row& row : request.rows()) rows.push_back(mapping_json(worker, row, *held[worker]));
    place = request.is_at_end() ? 0 : request.place();
    if (request.is_at_end()) ++worker;
  }
  Json result = {{"mappings", std::move(rows)}};
  if (worker < held.size()) result["cursor"] = fmt::format("{}.{}", worker, place);
  return result;
}

}  // namespace roost::control
