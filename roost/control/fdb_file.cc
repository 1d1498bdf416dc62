#include "roost/control/fdb_file.h"

#include <fmt/format.h>

#include <charconv>
#include <fstream>
#include <optional>
#include <sstream>
#include <string_view>

#include "roost/bridge/station.h"
#include "roost/config/message_text.h"

namespace roost::control {

namespace {

constexpr size_t kFaultsMax = 10;

std::optional<uint16_t> parse_integer(std::string_view text) {
  uint16_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size()) return {};
  return value;
}

// A line that is no remark, or why it is none.
Result<FdbLine> parse_line(const std::string& text, size_t port_count,
                           const bridge::VlanPorts& vlans) {
  std::istringstream words(text);
  std::string vlan_word, mac_word, port_word, kind, more;
  words >> vlan_word >> mac_word >> port_word >> kind >> more;
  if (kind.empty() || !more.empty()) {
    return Error{config::in_quotes(text) +
                 " is no entry; write VLAN, MAC, port and kind: 10 02:00:00:00:01:10 3 learned"};
  }
  const auto vlan = parse_integer(vlan_word);
  if (!vlan || *vlan < bridge::kVlanMin || *vlan > bridge::kVlanMax) {
    return Error{config::in_quotes(vlan_word) + " is no VLAN; give 1 to 4,094"};
  }
  const auto mac = bridge::parse_station_mac(mac_word);
  if (!mac) return Error{config::in_quotes(mac_word) + " is not the MAC of one station"};
  if (kind != "learned" && kind != "static") {
    return Error{config::in_quotes(kind) + " is no kind; give learned or static"};
  }
  FdbLine line{.key = bridge::FdbKey(*vlan, *mac), .is_static = kind == "static"};
  const bool is_drop = port_word == "drop";
  if (is_drop && !line.is_static) return Error{"only static entries drop"};
  const auto port = is_drop ? bridge::FdbValue::kNoPort : parse_integer(port_word);
  if (!port || (!is_drop && *port >= port_count)) {
    return Error{fmt::format("{} is no port; give 0 to {}{}", config::in_quotes(port_word),
                             port_count - 1, line.is_static ? ", or drop" : "")};
  }
  line.port = *port;
  if (std::string why = bridge::why_not_there(line.key, line.port, port_count, vlans);
      !why.empty()) {
    return Error{std::move(why)};
  }
  return line;
}

}  // namespace

std::string format_line(const bridge::FdbKey& key, bridge::FdbValue value) {
  return fmt::format("{} {} {} {}", key.vlan(), key.mac().format(), bridge::port_text(value.port()),
                     bridge::kind_name(value));
}

Result<std::vector<FdbLine>> read_fdb_file(const std::string& path, size_t port_count,
                                           const bridge::VlanPorts& vlans) {
  std::ifstream file(path);
  if (!file) return Error{path + " cannot be read; give a file that this program may read"};
  std::vector<FdbLine> lines;
  std::string faults;
  size_t fault_count = 0;
  size_t number = 0;
  for (std::string text; std::getline(file, text);) {
    ++number;
    const size_t begin = text.find_first_not_of(" \t\r");
    if (begin == std::string::npos || text[begin] == '#') continue;
    const Result<FdbLine> line = parse_line(text, port_count, vlans);
    if (line) {
      lines.push_back(line.value());
    } else if (++fault_count <= kFaultsMax) {
      faults += fmt::format("{}{}:{}: {}", faults.empty() ? "" : "\n", path, number,
                            line.error().message);
    }
  }
  if (file.bad()) return Error{path + " cannot be read to its end"};
  if (fault_count > kFaultsMax) {
    faults += fmt::format("\n{}: and {} more lines are wrong", path, fault_count - kFaultsMax);
  }
  if (fault_count != 0) return Error{faults + "\n" + path + ": nothing was imported"};
  return lines;
}

}  // namespace roost::control
