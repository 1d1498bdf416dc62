// What a health check asks a backend for, by kind, and which answers are good.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

namespace roost::control {

// A connection is enough.
struct TcpCheck {};

struct StatusRange {
  uint16_t first = 200;
  uint16_t last = 399;  // included

  bool operator==(const StatusRange&) const = default;
};

struct TlsSettings {
  bool verify = true;  // that the certificate is good, and the host's
  std::string ca{};    // file of the authorities that count; empty: the system's
};

struct HttpCheck {
  std::string path = "/";
  std::string host{};  // also in TLS; empty: the target's address and port
  bool is_head = false;
  std::vector<StatusRange> statuses = {{}};  // those that are good
  std::string body{};  // a text that the answer's body contains; empty: any body
  std::optional<TlsSettings> tls{};
};

// A datagram that has to be answered.
struct UdpCheck {
  std::string send{};
  std::string expect{};  // bytes that the answer contains; empty: any answer
};

// By their numbers in RFC 1035.
inline constexpr std::array<std::string_view, 6> kRcodeNames = {"NOERROR",  "FORMERR", "SERVFAIL",
                                                                "NXDOMAIN", "NOTIMP",  "REFUSED"};

// A request to a name server, over UDP.
struct DnsCheck {
  std::string name{};
  uint16_t type = 1;   // of records, by IANA's numbers: A
  uint16_t rcode = 0;  // of the answer, an index into the names
};

using CheckKind = std::variant<TcpCheck, HttpCheck, UdpCheck, DnsCheck>;

}  // namespace roost::control
