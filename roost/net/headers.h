// Offsets and constants of the headers that Roost reads and writes, each with its source. An offset
// counts bytes from the start of its own header.
#pragma once

#include <cstddef>
#include <cstdint>

namespace roost::net {

// Ethernet II: IEEE 802.3 clause 3.
namespace ethernet {
inline constexpr size_t kDestination = 0;
inline constexpr size_t kSource = 6;
inline constexpr size_t kAddressesBytes = 12;  // both addresses; VLAN tags stand after them
inline constexpr size_t kEtherTypeBytes = 2;
inline constexpr size_t kHeaderBytes = 14;  // without tags
inline constexpr uint16_t kIpv4 = 0x0800;
inline constexpr uint16_t kIpv6 = 0x86dd;
inline constexpr uint16_t kArp = 0x0806;
}  // namespace ethernet

// VLAN tags: IEEE 802.1Q clause 9. A tag is its protocol identifier, then its control information.
namespace vlan {
inline constexpr size_t kTagBytes = 4;
inline constexpr uint16_t kCustomer = 0x8100;  // C-TAG
inline constexpr uint16_t kService = 0x88a8;   // S-TAG, the outer tag of QinQ
// Of the control information; above it are priority and drop eligibility.
inline constexpr uint16_t kIdentifierMask = 0x0fff;
inline constexpr uint16_t kPriorityOnly = 0;  // an identifier that names no VLAN
inline constexpr size_t kTagsMax = 2;
}  // namespace vlan

// What the length fields of both IP versions can say, and no fragment may reach beyond.
inline constexpr uint32_t kIpBytesMax = 65'535;
inline constexpr uint16_t kL4PortMax = 65'535;

// RFC 791 section 3.1.
namespace ipv4 {
inline constexpr size_t kVersionAndLength = 0;
inline constexpr size_t kTypeOfService = 1;
inline constexpr size_t kTotalLength = 2;
inline constexpr size_t kIdentification = 4;
inline constexpr size_t kFragment = 6;
inline constexpr size_t kTtl = 8;
inline constexpr size_t kProtocol = 9;
inline constexpr size_t kChecksum = 10;
inline constexpr size_t kSource = 12;
inline constexpr size_t kDestination = 16;
inline constexpr size_t kHeaderBytesMin = 20;
inline constexpr uint16_t kDontFragment = 0x4000;
inline constexpr uint16_t kMoreFragments = 0x2000;
inline constexpr uint16_t kFragmentOffsetMask = 0x1fff;
// Options: one byte of type; all but the first two also have one byte of length, which counts both.
inline constexpr uint8_t kOptionEnd = 0;
inline constexpr uint8_t kOptionNoOperation = 1;
inline constexpr uint8_t kOptionLooseSourceRoute = 131;
inline constexpr uint8_t kOptionStrictSourceRoute = 137;
}  // namespace ipv4

// RFC 8200 sections 3 and 4; next-header values from the IANA registry of protocol numbers.
namespace ipv6 {
inline constexpr size_t kPayloadLength = 4;
inline constexpr size_t kNextHeader = 6;
inline constexpr size_t kHopLimit = 7;
inline constexpr size_t kSource = 8;
inline constexpr size_t kDestination = 24;
inline constexpr size_t kHeaderBytes = 40;
inline constexpr uint8_t kHopByHop = 0;
inline constexpr uint8_t kRouting = 43;
inline constexpr uint8_t kFragmentHeader = 44;
inline constexpr uint8_t kAuthentication = 51;  // RFC 4302: its length counts 4-byte units minus 2
inline constexpr uint8_t kDestinationOptions = 60;
inline constexpr size_t kExtensionNextHeader = 0;
inline constexpr size_t kExtensionLength = 1;  // 8-byte units, the first not counted
inline constexpr size_t kExtensionBytesMin = 8;
inline constexpr size_t kRoutingSegmentsLeft = 3;
inline constexpr size_t kFragmentOffsetAndFlags = 2;
inline constexpr size_t kFragmentIdentification = 4;
inline constexpr uint16_t kFragmentOffsetMask = 0xfff8;
inline constexpr uint16_t kMoreFragments = 0x0001;
// RFC 8200 sets no limit. Real chains are shorter than this; a longer one is refused, so that
// parsing a packet is bounded.
inline constexpr size_t kExtensionHeadersMax = 8;
}  // namespace ipv6

// RFC 9293 section 3.1.
namespace tcp {
inline constexpr size_t kSourcePort = 0;
inline constexpr size_t kDestinationPort = 2;
inline constexpr size_t kSequence = 4;
inline constexpr size_t kAcknowledgement = 8;
inline constexpr size_t kDataOffset = 12;  // high four bits, 4-byte units
inline constexpr size_t kFlags = 13;
inline constexpr size_t kWindow = 14;
inline constexpr size_t kChecksum = 16;
inline constexpr size_t kUrgentPointer = 18;
inline constexpr size_t kHeaderBytesMin = 20;
inline constexpr uint8_t kFin = 0x01;
inline constexpr uint8_t kSyn = 0x02;
inline constexpr uint8_t kRst = 0x04;
inline constexpr uint8_t kAck = 0x10;
inline constexpr uint8_t kUrg = 0x20;
// Options: a kind, a length that counts both bytes, and data. The first two have a kind only.
inline constexpr uint8_t kOptionEnd = 0;
inline constexpr uint8_t kOptionPadding = 1;
inline constexpr uint8_t kOptionMss = 2;        // 16 bits
inline constexpr uint8_t kOptionSack = 5;       // pairs of 32 bits (RFC 2018)
inline constexpr uint8_t kOptionFastOpen = 34;  // RFC 7413
}  // namespace tcp

// RFC 768.
namespace udp {
inline constexpr size_t kSourcePort = 0;
inline constexpr size_t kDestinationPort = 2;
inline constexpr size_t kLength = 4;
inline constexpr size_t kChecksum = 6;
inline constexpr size_t kHeaderBytes = 8;
}  // namespace udp

// draft-ietf-intarea-gue-09 section 3.2: version, control bit and header length; what is inside;
// flags.
namespace gue {
inline constexpr size_t kProtocol = 1;
inline constexpr size_t kHeaderBytes = 4;
}  // namespace gue

// RFC 826.
namespace arp {
inline constexpr size_t kHardwareType = 0;
inline constexpr size_t kProtocolType = 2;
inline constexpr size_t kHardwareBytes = 4;
inline constexpr size_t kProtocolBytes = 5;
inline constexpr size_t kOperation = 6;
inline constexpr size_t kSenderMac = 8;
inline constexpr size_t kSender = 14;
inline constexpr size_t kTargetMac = 18;
inline constexpr size_t kTarget = 24;
inline constexpr uint16_t kEthernet = 1;
inline constexpr uint16_t kRequest = 1;
inline constexpr uint16_t kReply = 2;
}  // namespace arp

// RFC 792 (ICMP) and RFC 4443 (ICMPv6): a type, a code, a checksum, four bytes that depend on the
// type; an error carries the start of the packet that it is about behind them.
namespace icmp {
inline constexpr size_t kType = 0;
inline constexpr size_t kCode = 1;
inline constexpr size_t kChecksum = 2;
inline constexpr size_t kMtu6 = 4;      // of packet too big, 32 bits
inline constexpr size_t kMtu4 = 6;      // of fragmentation needed, 16 bits (RFC 1191 section 4)
inline constexpr size_t kPointer4 = 4;  // of parameter problem, 8 bits; in ICMPv6 32 bits
inline constexpr size_t kEmbeddedLength4 = 5;  // RFC 4884 section 4.1: in 4 bytes
inline constexpr size_t kEmbeddedLength6 = 4;  // the same, in 8 bytes
inline constexpr size_t kEchoIdentifier = 4;   // of echo, 16 bits
inline constexpr size_t kHeaderBytes = 8;
inline constexpr uint8_t kEchoReply4 = 0;
inline constexpr uint8_t kUnreachable4 = 3;
inline constexpr uint8_t kNetUnreachable4 = 0;  // codes of kUnreachable4
inline constexpr uint8_t kHostUnreachable4 = 1;
inline constexpr uint8_t kProtocolUnreachable4 = 2;
inline constexpr uint8_t kPortUnreachable4 = 3;
inline constexpr uint8_t kFragmentationNeeded = 4;
inline constexpr uint8_t kNetProhibited4 = 9;
inline constexpr uint8_t kHostProhibited4 = 10;
inline constexpr uint8_t kHostForService4 = 12;  // host unreachable for a type of service
inline constexpr uint8_t kProhibited4 = 13;
inline constexpr uint8_t kPrecedenceViolation4 = 14;
inline constexpr uint8_t kPrecedenceCutoff4 = 15;
inline constexpr uint8_t kSourceQuench4 = 4;  // an error, deprecated by RFC 6633
inline constexpr uint8_t kRedirect4 = 5;      // an error to its sender, never forwarded
inline constexpr uint8_t kEchoRequest4 = 8;
inline constexpr uint8_t kTimeExceeded4 = 11;
inline constexpr uint8_t kParameterProblem4 = 12;
inline constexpr uint8_t kBadLength4 = 2;  // a code of kParameterProblem4
inline constexpr uint8_t kUnreachable6 = 1;
inline constexpr uint8_t kNoRoute6 = 0;  // codes of kUnreachable6
inline constexpr uint8_t kProhibited6 = 1;
inline constexpr uint8_t kBeyondScope6 = 2;
inline constexpr uint8_t kAddressUnreachable6 = 3;
inline constexpr uint8_t kPortUnreachable6 = 4;
inline constexpr uint8_t kTooBig6 = 2;
inline constexpr uint8_t kTimeExceeded6 = 3;
inline constexpr uint8_t kParameterProblem6 = 4;
inline constexpr uint8_t kUnknownNextHeader6 = 1;  // a code of kParameterProblem6
inline constexpr uint8_t kErrorTypes6 = 128;       // types below are errors
// An error embeds as much as fits these many bytes of an IP packet: RFC 1812 section 4.3.2.3,
// RFC 4443 section 2.4 (c).
inline constexpr size_t kErrorBytesMax4 = 576;
inline constexpr size_t kErrorBytesMax6 = 1280;
// What at least is embedded behind the IP header: RFC 792.
inline constexpr size_t kEmbeddedL4BytesMin = 8;
}  // namespace icmp

// RFC 4443 section 2.1; neighbour messages and their options: RFC 4861 sections 4.3, 4.4 and 4.6.
namespace icmpv6 {
inline constexpr size_t kType = 0;
inline constexpr size_t kCode = 1;
inline constexpr size_t kChecksum = 2;
inline constexpr uint8_t kEchoRequest = 128;
inline constexpr uint8_t kEchoReply = 129;
inline constexpr uint8_t kSolicitation = 135;
inline constexpr uint8_t kAdvertisement = 136;
inline constexpr size_t kFlags = 4;
inline constexpr uint8_t kRouterFlag = 0x80;
inline constexpr uint8_t kSolicitedFlag = 0x40;
inline constexpr uint8_t kOverrideFlag = 0x20;
inline constexpr size_t kTarget = 8;
inline constexpr size_t kNeighbourBytes = 24;  // the message without options
inline constexpr uint8_t kSourceLinkAddressOption = 1;
inline constexpr uint8_t kTargetLinkAddressOption = 2;
}  // namespace icmpv6

// Multicast listener discovery: RFC 2710 section 3 (version 1), RFC 3810 section 5 (version 2). The
// options are hop-by-hop ones: RFC 8200 section 4.2, RFC 2711.
namespace mld {
inline constexpr uint8_t kQuery = 130;
inline constexpr uint8_t kReport1 = 131;
inline constexpr uint8_t kDone1 = 132;
inline constexpr uint8_t kReport2 = 143;
inline constexpr size_t kResponse = 4;           // of a query, 16 bits
inline constexpr size_t kGroup = 8;              // of all but a report of version 2
inline constexpr size_t kMessageBytes = 24;      // of version 1
inline constexpr size_t kQueryBytesMin2 = 28;    // of version 2, without sources
inline constexpr size_t kReportHeaderBytes = 8;  // of version 2
inline constexpr size_t kRecordCount = 6;
inline constexpr size_t kRecordBytes = 20;  // without sources
inline constexpr size_t kRecordGroup = 4;   // in a record
inline constexpr uint8_t kPad1 = 0;
inline constexpr uint8_t kPadN = 1;
inline constexpr uint8_t kRouterAlert = 5;
inline constexpr uint16_t kRouterAlertMld = 0;
}  // namespace mld

// The transport protocols that Roost tracks. The protocol field of a header can hold any number.
enum class IpProtocol : uint8_t { kTcp = 6, kUdp = 17 };
inline constexpr IpProtocol kProtocolIcmp4{1};
inline constexpr IpProtocol kProtocolIcmp6{58};
// What is in a packet that carries another one.
inline constexpr uint8_t kProtocolIpv4InIp = 4;
inline constexpr uint8_t kProtocolIpv6InIp = 41;

}  // namespace roost::net
