// Text forms of addresses. IP addresses go through the C library's inet_pton and inet_ntop, which
// are strict and write RFC 5952's form.
#include "roost/net/address.h"

#include <arpa/inet.h>

#include <charconv>
#include <cstring>

namespace roost::net {
namespace {

Error not_an_address(std::string_view text, std::string_view expected) {
  return Error{"\"" + std::string(text) + "\" is not " + std::string(expected)};
}

// True when `text` is one address of the family and nothing else; its bytes are then at `bytes`.
bool read_ip(int family, std::string_view text, void* bytes) {
  if (text.find('\0') != std::string_view::npos) return false;
  return inet_pton(family, std::string(text).c_str(), bytes) == 1;
}

std::string write_ip(int family, const void* bytes) {
  std::array<char, INET6_ADDRSTRLEN> text{};
  return inet_ntop(family, bytes, text.data(), text.size());
}

// The value of a hexadecimal digit, or -1.
int hex_digit(char c) {
  if (c >= '0' && c <= '9') return c - '0';
  if (c >= 'a' && c <= 'f') return c - 'a' + 10;
  if (c >= 'A' && c <= 'F') return c - 'A' + 10;
  return -1;
}

}  // namespace

Result<MacAddress> MacAddress::parse(std::string_view text) {
  constexpr std::string_view kExpected = "a MAC address; write it like 02:00:00:00:01:10";
  constexpr size_t kCharactersPerByte = 3;  // two digits and a colon, which the last byte lacks
  MacAddress address;
  if (text.size() != address.bytes.size() * kCharactersPerByte - 1)
    return not_an_address(text, kExpected);
  for (size_t i = 0; i < address.bytes.size(); ++i) {
    const size_t at = i * kCharactersPerByte;
    const int high = hex_digit(text[at]);
    const int low = hex_digit(text[at + 1]);
    const bool is_separated = at + 2 == text.size() || text[at + 2] == ':';
    if (high < 0 || low < 0 || !is_separated) return not_an_address(text, kExpected);
    address.bytes[i] = static_cast<uint8_t>(high * 16 + low);
  }
  return address;
}

std::string MacAddress::format() const {
  constexpr std::string_view kDigits = "0123456789abcdef";
  std::string text;
  for (const uint8_t byte : bytes) {
    if (!text.empty()) text += ':';
    text += kDigits[byte >> 4];
    text += kDigits[byte & 15];
  }
  return text;
}

Result<Ipv4Address> Ipv4Address::parse(std::string_view text) {
  Ipv4Address address;
  if (!read_ip(AF_INET, text, &address)) {
    return not_an_address(text, "an IPv4 address; write it like 192.0.2.1");
  }
  return address;
}

std::string Ipv4Address::format() const { return write_ip(AF_INET, bytes.data()); }

Result<Ipv6Address> Ipv6Address::parse(std::string_view text) {
  Ipv6Address address;
  if (!read_ip(AF_INET6, text, &address)) {
    return not_an_address(text, "an IPv6 address; write it like 2001:db8::1");
  }
  return address;
}

std::string Ipv6Address::format() const { return write_ip(AF_INET6, bytes.data()); }

Result<IpAddress> IpAddress::parse(std::string_view text) {
  if (text.find(':') != std::string_view::npos) {
    Result<Ipv6Address> address = Ipv6Address::parse(text);
    if (!address) return address.error();
    return IpAddress(address.value());
  }
  Ipv4Address address;
  if (!read_ip(AF_INET, text, &address)) {
    return not_an_address(text, "an IP address; write it like 192.0.2.1 or 2001:db8::1");
  }
  return IpAddress(address);
}

std::string IpAddress::format() const { return is_ipv6_ ? ipv6().format() : ipv4().format(); }

bool IpAddress::shares_prefix(const IpAddress& other, uint8_t prefix_bits) const {
  ROOST_DEBUG_ASSERT(prefix_bits <= bit_count());
  if (is_ipv6_ != other.is_ipv6_) return false;
  const size_t whole_bytes = prefix_bits / 8;
  if (std::memcmp(bytes_.data(), other.bytes_.data(), whole_bytes) != 0) return false;
  const uint32_t rest_bits = prefix_bits % 8;
  if (rest_bits == 0) return true;
  return ((bytes_[whole_bytes] ^ other.bytes_[whole_bytes]) >> (8 - rest_bits)) == 0;
}

Result<IpPrefix> IpPrefix::parse(std::string_view text) {
  constexpr std::string_view kExpected =
      "an address with a prefix length; write it like 192.0.2.1/24";
  const size_t slash = text.find('/');
  if (slash == std::string_view::npos) return not_an_address(text, kExpected);
  Result<IpAddress> address = IpAddress::parse(text.substr(0, slash));
  if (!address) return address.error();

  const std::string_view length = text.substr(slash + 1);
  const bool has_leading_zero = length.size() > 1 && length[0] == '0';
  uint8_t prefix_bits = 0;
  const auto [end, error] =
      std::from_chars(length.data(), length.data() + length.size(), prefix_bits);
  if (error != std::errc() || end != length.data() + length.size() || has_leading_zero) {
    return not_an_address(text, kExpected);
  }
  if (prefix_bits > address.value().bit_count()) {
    return Error{"\"" + std::string(text) +
                 "\" has a prefix longer than its address; use at most /" +
                 std::to_string(address.value().bit_count())};
  }
  return IpPrefix{address.value(), prefix_bits};
}

Result<IpPrefix> IpPrefix::parse_network(std::string_view text) {
  if (text.find('/') != std::string_view::npos) return parse(text);
  const Result<IpAddress> address = IpAddress::parse(text);
  if (!address) return address.error();
  return IpPrefix{address.value(), address.value().bit_count()};
}

std::string IpPrefix::format() const {
  return address.format() + "/" + std::to_string(prefix_bits);
}

std::string endpoint_text(const IpAddress& address, uint16_t port) {
  const std::string text = address.format();
  return (address.is_ipv6() ? "[" + text + "]" : text) + ":" + std::to_string(port);
}

}  // namespace roost::net
