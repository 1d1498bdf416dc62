#include "roost/config/control_config.h"

#include <charconv>

#include "roost/config/comparison.h"
#include "roost/config/message_text.h"
#include "roost/config/toml_table.h"

namespace roost::config {

namespace {

constexpr size_t kSocketPathBytesMax = 100;  // struct sockaddr_un has 108, and ".new" is needed
constexpr uint32_t kModeMax = 0777;

void read_socket(TomlTable& table, ControlConfig& config) {
  config.socket = table.text("socket").value_or("");
  if (!config.socket.empty() &&
      (config.socket.front() != '/' || config.socket.size() > kSocketPathBytesMax)) {
    table.fault_in("socket", in_quotes(config.socket) +
                                 " cannot be a socket's path; give an absolute one of at most " +
                                 std::to_string(kSocketPathBytesMax) + " bytes");
  }
  config.socket_group = table.text("group").value_or("");
  const std::optional<std::string> mode = table.text("mode");
  if (!mode) return;
  uint32_t bits = 0;
  const auto [end, error] = std::from_chars(mode->data(), mode->data() + mode->size(), bits, 8);
  if (error != std::errc() || end != mode->data() + mode->size() || bits > kModeMax) {
    table.fault_in("mode", in_quotes(*mode) + " is no mode; write it like \"0660\"");
    return;
  }
  config.socket_mode = bits;
}

// ADDRESS:PORT, where the address may be one of IPv6 in brackets.
bool is_endpoint(const std::string& text) {
  const size_t colon = text.rfind(':');
  if (colon == std::string::npos) return false;
  std::string address = text.substr(0, colon);
  const std::string port_text = text.substr(colon + 1);
  const bool has_brackets = address.size() > 2 && address.front() == '[' && address.back() == ']';
  if (has_brackets) address = address.substr(1, address.size() - 2);
  const Result<net::IpAddress> parsed = net::IpAddress::parse(address);
  uint16_t port = 0;
  const auto [end, error] =
      std::from_chars(port_text.data(), port_text.data() + port_text.size(), port);
  return parsed.ok() && parsed.value().is_ipv6() == has_brackets && error == std::errc() &&
         end == port_text.data() + port_text.size();
}

void read_etcd(TomlTable& table, ControlConfig& config) {
  config.etcd = table.text("etcd").value_or("");
  while (config.etcd.ends_with('/')) config.etcd.pop_back();
  const bool is_url = config.etcd.starts_with("http://") || config.etcd.starts_with("https://");
  const bool has_host = config.etcd.size() > config.etcd.find("://") + 3;
  if (table.contains("etcd") && !(is_url && has_host)) {
    table.fault_in("etcd", in_quotes(config.etcd) +
                               " is no URL of etcd's; write it like \"http://127.0.0.1:2379\"");
  }
  config.etcd_prefix = table.text("etcd_prefix").value_or(config.etcd_prefix);
  if (!config.etcd_prefix.ends_with('/')) {
    table.fault_in("etcd_prefix", in_quotes(config.etcd_prefix) +
                                      " has no slash at its end; write it like \"/roost/\"");
  }
  if (table.contains("etcd_prefix") && config.etcd.empty()) {
    table.fault_in("etcd_prefix", "nothing is read without etcd; give its URL too");
  }
}

}  // namespace

ControlConfig read_control(TomlTable& top, std::vector<Fault>& faults, bool has_store) {
  ControlConfig config;
  const toml::table* toml = top.table("control");
  if (toml == nullptr) return config;
  TomlTable table(*toml, "[control]", faults);
  read_socket(table, config);
  config.metrics = table.text("metrics").value_or("");
  if (!config.metrics.empty() && !is_endpoint(config.metrics)) {
    table.fault_in("metrics", in_quotes(config.metrics) +
                                  " is no address and port; write it like \"127.0.0.1:9100\" or "
                                  "\"[::1]:9100\"");
  }
  if (has_store) read_etcd(table, config);
  table.refuse_unknown_keys();
  return config;
}

void compare_control(const ControlConfig& running, const ControlConfig& file,
                     Comparison& comparison) {
  comparison.compare(0, "[control] socket", running.socket, file.socket);
  comparison.compare(0, "[control] mode", running.socket_mode, file.socket_mode);
  comparison.compare(0, "[control] group", running.socket_group, file.socket_group);
  comparison.compare(0, "[control] metrics", running.metrics, file.metrics);
  comparison.compare(0, "[control] etcd", running.etcd, file.etcd);
  comparison.compare(0, "[control] etcd_prefix", running.etcd_prefix, file.etcd_prefix);
}

}  // namespace roost::config
