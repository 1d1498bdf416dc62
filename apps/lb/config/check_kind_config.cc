#include "apps/lb/config/check_kind_config.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "roost/config/message_text.h"

namespace roost::lb {

namespace {

enum class Kind : uint8_t { kTcp, kHttp, kHttps, kUdp, kDns };
constexpr std::array<std::string_view, 5> kKindNames = {"tcp", "http", "https", "udp", "dns"};
constexpr std::array<std::string_view, 2> kMethodNames = {"GET", "HEAD"};

constexpr std::array<std::string_view, 7> kTypeNames = {"A",  "AAAA", "NS", "SOA",
                                                        "MX", "TXT",  "SRV"};
constexpr std::array<uint16_t, 7> kTypes = {1, 28, 2, 6, 15, 16, 33};  // IANA's numbers

constexpr size_t kTextBytesMax = 1'024;
constexpr size_t kHostBytesMax = 253;
constexpr size_t kLabelBytesMax = 63;  // RFC 1035, section 2.3.4
constexpr uint16_t kStatusMin = 200;
constexpr uint16_t kStatusMax = 599;

constexpr uint32_t bit_of(Kind kind) { return uint32_t{1} << static_cast<uint32_t>(kind); }

// Keys that not every kind has.
struct OwnedKey {
  std::string_view key;
  uint32_t kinds;  // a bit each
};
constexpr uint32_t kWeb = bit_of(Kind::kHttp) | bit_of(Kind::kHttps);
constexpr uint32_t kTls = bit_of(Kind::kHttps);
constexpr uint32_t kUdp = bit_of(Kind::kUdp);
constexpr uint32_t kDns = bit_of(Kind::kDns);
constexpr std::array kOwnedKeys = {
    OwnedKey{"path", kWeb}, OwnedKey{"host", kWeb},   OwnedKey{"method", kWeb},
    OwnedKey{"body", kWeb}, OwnedKey{"status", kWeb}, OwnedKey{"verify", kTls},
    OwnedKey{"ca", kTls},   OwnedKey{"send", kUdp},   OwnedKey{"expect", kUdp},
    OwnedKey{"name", kDns}, OwnedKey{"type", kDns},   OwnedKey{"rcode", kDns},
};

// `kind = "a" or "b"`, of these kinds.
std::string kinds_text(uint32_t kinds) {
  std::vector<std::string> names;
  for (size_t i = 0; i < kKindNames.size(); ++i) {
    const bool is_of_these = (kinds & bit_of(static_cast<Kind>(i))) != 0;
    if (is_of_these) names.push_back(config::in_quotes(kKindNames[i]));
  }
  return fmt::format("kind = {}", fmt::join(names, " or "));
}

void refuse_keys_of_other_kinds(config::TomlTable& table, std::optional<Kind> kind) {
  for (const OwnedKey& owned : kOwnedKeys) {
    if (!table.contains(owned.key) || !kind || (owned.kinds & bit_of(*kind)) != 0) continue;
    table.fault_in(owned.key,
                   fmt::format("a check of kind {} has none; leave it out, or give {}",
                               kKindNames[static_cast<size_t>(*kind)], kinds_text(owned.kinds)));
  }
}

std::string read_path(config::TomlTable& table) {
  const std::string path = table.text("path").value_or("/");
  const bool is_plain = std::ranges::all_of(path, [](char c) { return c > ' ' && c <= '~'; });
  if (!path.starts_with('/') || !is_plain || path.size() > kTextBytesMax) {
    table.fault_in("path", config::in_quotes(path) + " is no path; write it like \"/health\"");
  }
  return path;
}

bool is_in_host_name(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '-' ||
         c == '_' || c == '.';
}

std::string read_host(config::TomlTable& table) {
  const std::optional<std::string> host = table.text("host");
  if (!host) return "";
  if (host->empty() || host->size() > kHostBytesMax || host->starts_with('.') ||
      !std::ranges::all_of(*host, is_in_host_name)) {
    table.fault_in("host", config::in_quotes(*host) +
                               " is no host's name; write it like \"www.example.org\", "
                               "without a port");
  }
  return *host;
}

void check_length(config::TomlTable& table, std::string_view key, size_t bytes) {
  if (bytes > 0 && bytes <= kTextBytesMax) return;
  table.fault_in(key, fmt::format("{} bytes; give 1 to {}", bytes, config::grouped(kTextBytesMax)));
}

// Empty: none is given.
std::string read_part(config::TomlTable& table, std::string_view key) {
  const std::optional<std::string> part = table.text(key);
  if (part) check_length(table, key, part->size());
  return part.value_or("");
}

std::optional<uint16_t> status_of(std::string_view text) {
  uint16_t status = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), status);
  if (error != std::errc() || end != text.data() + text.size()) return {};
  if (status < kStatusMin || status > kStatusMax) return {};
  return status;
}

// 200, "200", "200-399"
std::optional<control::StatusRange> status_range_of(const toml::node& node) {
  const std::string text =
      node.is_integer() ? std::to_string(node.as_integer()->get()) : node.value_or(std::string());
  const size_t dash = text.find('-');
  const auto first = status_of(std::string_view(text).substr(0, dash));
  const auto last = dash == std::string::npos ? first : status_of(text.substr(dash + 1));
  if (!first || !last || *first > *last) return {};
  return control::StatusRange{*first, *last};
}

std::vector<control::StatusRange> read_statuses(const toml::table& toml, config::TomlTable& table) {
  const toml::node* written = toml.get("status");
  if (written == nullptr) return {{}};
  std::vector<control::StatusRange> statuses;
  bool is_right = true;
  const auto add = [&](const toml::node& node) {
    const std::optional<control::StatusRange> range = status_range_of(node);
    is_right = is_right && range.has_value();
    if (range) statuses.push_back(*range);
  };
  if (const toml::array* several = written->as_array()) {
    for (const toml::node& node : *several) add(node);
  } else {
    add(*written);
  }
  if (!is_right || statuses.empty()) {
    table.fault_in("status", fmt::format("no status; give one from {} to {}, or ranges, as in 200, "
                                         "\"200-399\" or [200, \"301-302\"]",
                                         kStatusMin, kStatusMax));
  }
  return statuses;
}

control::HttpCheck read_http(const toml::table& toml, config::TomlTable& table) {
  control::HttpCheck http;
  http.path = read_path(table);
  http.host = read_host(table);
  http.is_head = table.choice("method", kMethodNames).value_or(0) == 1;
  http.statuses = read_statuses(toml, table);
  http.body = read_part(table, "body");
  if (http.is_head && !http.body.empty()) {
    table.fault_in("body", "the answer to HEAD has none; leave it out, or give method = \"GET\"");
  }
  return http;
}

control::TlsSettings read_tls(config::TomlTable& table) {
  control::TlsSettings tls;
  tls.verify = table.boolean("verify").value_or(true);
  const std::optional<std::string> ca = table.text("ca");
  if (!ca) return tls;
  if (!ca->starts_with('/') || ca->size() > kTextBytesMax) {
    table.fault_in("ca", config::in_quotes(*ca) +
                             " is no file's path; write it from the root, like "
                             "\"/etc/roost/ca.pem\"");
  }
  if (!tls.verify) {
    table.fault_in("ca", "with verify = false no certificate is verified; leave out one of them");
  }
  tls.ca = *ca;
  return tls;
}

// A text, or its bytes one by one; empty: none are given.
std::string read_bytes(const toml::table& toml, config::TomlTable& table, std::string_view key) {
  const toml::node* written = toml.get(key);
  if (written == nullptr || !written->is_array()) return read_part(table, key);
  std::string bytes;
  for (const uint64_t byte : table.integers(key, {0, 255}, "this is no byte")) {
    bytes += static_cast<char>(byte);
  }
  check_length(table, key, written->as_array()->size());
  return bytes;
}

control::UdpCheck read_udp(const toml::table& toml, config::TomlTable& table) {
  table.require("send", "send = \"ping\", or bytes: send = [0x1b, 0, 0]");
  return {.send = read_bytes(toml, table, "send"), .expect = read_bytes(toml, table, "expect")};
}

// "www.example.org", "example.org.", "."
bool is_dns_name(std::string_view name) {
  if (name == ".") return true;
  if (name.ends_with('.')) name.remove_suffix(1);
  if (name.size() > kHostBytesMax || !std::ranges::all_of(name, is_in_host_name)) return false;
  size_t label_bytes = 0;
  for (const char c : name) {
    label_bytes = c == '.' ? 0 : label_bytes + 1;
    if (label_bytes > kLabelBytesMax) return false;
  }
  return !name.empty() && !name.starts_with('.') && !name.ends_with('.') &&
         name.find("..") == std::string_view::npos;
}

control::DnsCheck read_dns(config::TomlTable& table) {
  table.require("name", "name = \"www.example.org\", which the server knows");
  control::DnsCheck dns;
  if (const std::optional<std::string> name = table.text("name")) {
    dns.name = *name;
    if (!is_dns_name(*name)) {
      table.fault_in("name", config::in_quotes(*name) +
                                 " is no name of DNS; write it like \"www.example.org\"");
    }
  }
  dns.type = kTypes[table.choice("type", kTypeNames).value_or(0)];
  dns.rcode =
      static_cast<uint16_t>(table.choice("rcode", control::kRcodeNames).value_or(dns.rcode));
  return dns;
}

}  // namespace

control::CheckKind read_check_kind(const toml::table& toml, config::TomlTable& table) {
  table.require("kind", "kind = \"tcp\", \"http\", \"https\", \"udp\" or \"dns\"");
  const std::optional<size_t> choice = table.choice("kind", kKindNames);
  const auto kind = choice ? std::optional(static_cast<Kind>(*choice)) : std::nullopt;
  refuse_keys_of_other_kinds(table, kind);
  if (kind == Kind::kUdp) return read_udp(toml, table);
  if (kind == Kind::kDns) return read_dns(table);
  if (kind != Kind::kHttp && kind != Kind::kHttps) return control::TcpCheck{};
  control::HttpCheck http = read_http(toml, table);
  if (kind == Kind::kHttps) http.tls = read_tls(table);
  return http;
}

}  // namespace roost::lb
