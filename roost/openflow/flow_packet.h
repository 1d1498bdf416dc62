// A packet on its way through flow tables: its bytes and what rules see of it, kept in agreement
// while actions change it.
#pragma once

#include <cstdint>

#include "roost/classify/packet_fields.h"
#include "roost/net/packet_batch.h"
#include "roost/net/parse.h"
#include "roost/openflow/flow.h"

namespace roost::openflow {

// The bytes are whoever's they were. Checksums are updated for what changed, never recomputed but
// for SCTP's; a packet that was damaged stays recognisably damaged.
class FlowPacket {
 public:
  FlowPacket() = default;

  // Reads a frame. Without fields (classify::has_fields) no rule can look at it, and nothing below
  // may be called.
  [[nodiscard]] net::ParseVerdict read(const net::Packet& packet);

  [[nodiscard]] const net::Packet& packet() const { return packet_; }
  [[nodiscard]] const net::ParsedPacket& parsed() const { return parsed_; }
  [[nodiscard]] net::ParseVerdict verdict() const { return verdict_; }
  [[nodiscard]] const classify::PacketFields& fields() const { return fields_; }
  // The same bytes stand elsewhere now, with so much room in front of them.
  void move_to(uint8_t* data, uint32_t headroom) {
    packet_.data = data;
    packet_.headroom = headroom;
  }
  void set_connection_state(uint8_t bits) { set(fields_, classify::Field::kCtState, bits); }

  // A field that the packet has not stays unwritten: addresses of another family, ports of a later
  // fragment, the VLAN of a frame without a tag.
  void set_field(const SetField& action);
  // An outer tag, with the identifier and priority of the one before it. False, and nothing
  // changed, when there is no room for it in front of the frame.
  [[nodiscard]] bool push_vlan(uint16_t eth_type);
  // Of a frame without tags, nothing.
  void pop_vlan();
  // One less; false, and nothing changed, when that would be none. Nothing of what is not IP.
  [[nodiscard]] bool decrement_ttl();

 private:
  void read_again();
  void write_bytes(classify::Field field, classify::FieldNumber number);
  void write_mac(size_t offset, classify::FieldNumber number);
  template <class Address>
  void write_address(size_t offset, classify::FieldNumber number);
  void write_port(size_t offset, uint16_t port);
  void write_dscp(uint8_t dscp);
  [[nodiscard]] bool has_field(classify::Field field) const;
  [[nodiscard]] bool has_l4_bytes(uint32_t bytes) const;

  net::Packet packet_{};
  net::ParsedPacket parsed_{};
  net::ParseVerdict verdict_{};
  classify::PacketFields fields_{};
};

}  // namespace roost::openflow
