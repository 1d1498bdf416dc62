#include "lab/functions/acl_filter.h"

#include <fmt/format.h>
#include <rte_acl.h>

#include <array>
#include <cstddef>
#include <cstring>

#include "roost/base/assert.h"
#include "roost/net/byte_order.h"
#include "roost/net/packet_batch.h"

namespace roost::lab {
namespace {

using Tuple = AclFilter::Tuple;

constexpr unsigned kFields = 5;
RTE_ACL_RULE_DEF(AclRule, kFields);

// Fields behind the first byte come in groups of four bytes, which `input_index` numbers.
constexpr std::array<rte_acl_field_def, kFields> kFieldDefs = {
    {{RTE_ACL_FIELD_TYPE_BITMASK, sizeof(uint8_t), 0, 0, offsetof(Tuple, protocol)},
     {RTE_ACL_FIELD_TYPE_MASK, sizeof(uint32_t), 1, 1, offsetof(Tuple, source)},
     {RTE_ACL_FIELD_TYPE_MASK, sizeof(uint32_t), 2, 2, offsetof(Tuple, destination)},
     {RTE_ACL_FIELD_TYPE_RANGE, sizeof(uint16_t), 3, 3, offsetof(Tuple, source_port)},
     {RTE_ACL_FIELD_TYPE_RANGE, sizeof(uint16_t), 4, 3, offsetof(Tuple, destination_port)}}};

struct Algorithm {
  enum rte_acl_classify_alg number;  // a function has the same name
  std::string_view name;
};
constexpr std::array<Algorithm, 5> kAlgorithms = {{{RTE_ACL_CLASSIFY_AVX512X32, "AVX-512, 32"},
                                                   {RTE_ACL_CLASSIFY_AVX512X16, "AVX-512, 16"},
                                                   {RTE_ACL_CLASSIFY_AVX2, "AVX2"},
                                                   {RTE_ACL_CLASSIFY_SSE, "SSE"},
                                                   {RTE_ACL_CLASSIFY_SCALAR, "scalar"}}};

rte_acl_field network_field(const acl::RuleSide& side) {
  rte_acl_field field{};
  if (side.networks.empty()) return field;
  ROOST_ASSERT(side.networks.size() == 1);
  field.value.u32 = net::load_be32(side.networks[0].address.ipv4().bytes.data());
  field.mask_range.u32 = side.networks[0].prefix_bits;
  return field;
}

rte_acl_field port_field(const std::vector<acl::PortRange>& ranges) {
  ROOST_ASSERT(ranges.size() <= 1);
  rte_acl_field field{};
  field.value.u16 = ranges.empty() ? uint16_t{0} : ranges[0].first;
  field.mask_range.u16 = ranges.empty() ? UINT16_MAX : ranges[0].last;
  return field;
}

AclRule rule_of(const acl::RuleConfig& config, uint32_t place) {
  AclRule rule{};
  rule.data.category_mask = 1;
  rule.data.priority = static_cast<int32_t>(RTE_ACL_MAX_PRIORITY - place);
  rule.data.userdata = place + 1;  // 0: no rule matches
  rule.field[0].value.u8 = config.protocol.value_or(0);
  rule.field[0].mask_range.u8 = config.protocol ? UINT8_MAX : uint8_t{0};
  rule.field[1] = network_field(config.from);
  rule.field[2] = network_field(config.to);
  rule.field[3] = port_field(config.source_ports);
  rule.field[4] = port_field(config.ports);
  return rule;
}

}  // namespace

void AclFilter::Free::operator()(rte_acl_ctx* context) const { rte_acl_free(context); }

Result<AclFilter> AclFilter::create(std::span<const acl::RuleConfig> rules) {
  const rte_acl_param param{.name = "rules",
                            .socket_id = SOCKET_ID_ANY,
                            .rule_size = RTE_ACL_RULE_SZ(kFields),
                            .max_rule_num = static_cast<uint32_t>(rules.size())};
  std::unique_ptr<rte_acl_ctx, Free> context(rte_acl_create(&param));
  if (context == nullptr) return Error{"rte_acl has no memory for its rules"};
  for (size_t place = 0; place < rules.size(); ++place) {
    const AclRule rule = rule_of(rules[place], static_cast<uint32_t>(place));
    if (rte_acl_add_rules(context.get(), reinterpret_cast<const rte_acl_rule*>(&rule), 1) != 0) {
      return Error{fmt::format("rte_acl refuses rule {}: {}", place, rule_text(rules[place]))};
    }
  }
  rte_acl_config config{};
  config.num_categories = 1;
  config.num_fields = kFields;
  std::memcpy(config.defs, kFieldDefs.data(), sizeof kFieldDefs);
  if (rte_acl_build(context.get(), &config) != 0) return Error{"rte_acl cannot build its tries"};
  for (const Algorithm& algorithm : kAlgorithms) {
    if (rte_acl_set_ctx_classify(context.get(), algorithm.number) == 0) {
      return AclFilter(std::move(context), algorithm.name);
    }
  }
  return Error{"rte_acl has no algorithm for this processor"};
}

AclFilter::Tuple AclFilter::tuple_of(const net::FlowKey4& key) {
  Tuple tuple{.protocol = static_cast<uint8_t>(key.protocol),
              .source = key.source,
              .destination = key.destination};
  net::store_be16(tuple.source_port.data(), key.source_port);
  net::store_be16(tuple.destination_port.data(), key.destination_port);
  return tuple;
}

void AclFilter::find(std::span<const Tuple* const> packets, std::span<uint32_t> places) const {
  ROOST_DEBUG_ASSERT(packets.size() <= net::kBatchLanesMax);
  std::array<const uint8_t*, net::kBatchLanesMax> data;
  for (size_t i = 0; i < packets.size(); ++i)
    data[i] = reinterpret_cast<const uint8_t*>(packets[i]);
  rte_acl_classify(context_.get(), data.data(), places.data(),
                   static_cast<uint32_t>(packets.size()), 1);
  for (size_t i = 0; i < packets.size(); ++i) --places[i];
}

}  // namespace roost::lab
