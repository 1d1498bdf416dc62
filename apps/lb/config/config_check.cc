#include "apps/lb/config/config_check.h"

#include <algorithm>
#include <map>
#include <string>
#include <tuple>
#include <utility>

#include "apps/lb/config/check_mark.h"
#include "apps/lb/config/mode_check.h"
#include "roost/config/first_lines.h"
#include "roost/net/martian.h"

namespace roost::lb {

namespace {

using ServicePlace = std::tuple<net::IpAddress, net::IpProtocol, PortsKind>;

class Check {
 public:
  Check(const Config& config, std::vector<config::Fault>& faults)
      : config_(config), faults_(faults) {}

  void run() {
    for (const ServiceConfig& service : config_.services) note_service(service);
    for (const ServiceConfig& service : config_.services) check_backends(service);
    if (!config_.control.etcd.empty()) check_keys();
    check_modes(config_, faults_);
    check_marks(config_, faults_);
  }

 private:
  void fault(uint32_t line, std::string text) { faults_.push_back({line, std::move(text)}); }

  void note_service(const ServiceConfig& service) {
    const std::string what = "[[service]] " + service.name;
    if (const uint32_t line = service_names_.note(service.name, service.line)) {
      fault(service.line,
            what + ": the name is given in " + config::at_line(line) + " already; choose another");
    }
    const PortsKind kind = service.ports.kind();
    if (const uint32_t line = service_ports_[{service.address, service.protocol, kind}].note(
            service.ports, service.line)) {
      fault(service.line,
            kind == PortsKind::kRange
                ? what + ": some of its ports are those of the service of " +
                      config::at_line(line) +
                      ", and neither goes before the other; give ranges that do not overlap, or a "
                      "single port, which goes before a range"
                : what + ": address, port and protocol are those of the service of " +
                      config::at_line(line) + "; each can be balanced once");
    }
    if (net::is_martian(service.address)) {
      fault(service.line, what + ": " + service.address.format() +
                              " is no address of a station; give a unicast address");
    }
  }

  // In etcd's keys a slash ends a name.
  void check_keys() {
    const auto check = [this](uint32_t line, const std::string& what, const std::string& name) {
      if (name.find('/') == std::string::npos) return;
      fault(line, what + ": a name with a slash stands in no key of etcd's; choose another");
    };
    for (const ServiceConfig& service : config_.services) {
      check(service.line, "[[service]] " + service.name, service.name);
      for (const BackendConfig& backend : service.backends) {
        check(backend.line, "[[service]] " + service.name + " backend " + backend.name,
              backend.name);
      }
    }
  }

  void check_backends(const ServiceConfig& service) {
    config::FirstLines<std::string> names;
    std::map<net::IpAddress, PortLines> ports;
    for (const BackendConfig& backend : service.backends) {
      const std::string what = "[[service]] " + service.name + " backend " + backend.name;
      if (const uint32_t line = names.note(backend.name, backend.line)) {
        fault(backend.line, what + ": the name is given in " + config::at_line(line) +
                                " already; name each backend of a service differently");
      }
      const ServicePorts own = service.ports.moved_to(backend.port);
      if (const uint32_t line = ports[backend.address].note(own, backend.line)) {
        fault(backend.line, what + ": address and port are those of the backend of " +
                                config::at_line(line) + "; give it more weight instead");
      }
      check_backend_address(service, backend, what);
    }
    if (!service.backends.empty() &&
        std::ranges::all_of(service.backends, &BackendConfig::is_fallback)) {
      fault(service.line, "[[service]] " + service.name +
                              ": every backend is a fallback; leave fallback out of those that "
                              "serve while they are well");
    }
  }

  // Of one that has some of these ports; 0: there is none.
  uint32_t line_of_service_at(const net::IpAddress& address, net::IpProtocol protocol,
                              const ServicePorts& ports) const {
    for (const PortsKind kind : {PortsKind::kOne, PortsKind::kRange, PortsKind::kAll}) {
      const auto there = service_ports_.find({address, protocol, kind});
      if (there == service_ports_.end()) continue;
      if (const uint32_t line = there->second.find(ports)) return line;
    }
    return 0;
  }

  // Whether its IPv4 backends are spoken to by IPv4.
  static bool is_translated(const ServiceConfig& service) {
    return service.mode == Mode::kFullnat && service.address.is_ipv6();
  }

  void check_backend_address(const ServiceConfig& service, const BackendConfig& backend,
                             const std::string& what) {
    const std::string address = backend.address.format();
    if (backend.address.is_ipv6() != service.address.is_ipv6() && !is_translated(service)) {
      fault(backend.line,
            what + ": " + address + " is of another family than the service's " +
                service.address.format() +
                (service.address.is_ipv6()
                     ? "; give the service mode fullnat, which translates for IPv4 backends, or "
                       "make a service for each family"
                     : "; make a service for each family (only IPv4 backends of IPv6 services are "
                       "translated for)"));
      return;
    }
    if (const uint32_t line = line_of_service_at(backend.address, service.protocol,
                                                 service.ports.moved_to(backend.port))) {
      fault(backend.line, what + ": it is the virtual address of the service of " +
                              config::at_line(line) + "; packets would go in circles");
    }
    const l3::NetworkConfig& network = config_.network;
    if (!network.is_whole) return;
    if (const l3::PortConfig* port = network.find_owner(backend.address)) {
      fault(backend.line, what + ": " + address + " is the address of the port of " +
                              config::at_line(port->line) + "; a backend is another station");
    } else if (net::is_martian(backend.address)) {
      fault(backend.line,
            what + ": " + address + " is no address of a station; give a unicast address");
    } else if (!network.is_reachable(backend.address)) {
      fault(backend.line, what + ": " + address +
                              " is on no port's network; add an address of that network to a "
                              "[[port]], or a [[route]] to it");
    }
  }

  const Config& config_;
  std::vector<config::Fault>& faults_;
  config::FirstLines<std::string> service_names_;
  std::map<ServicePlace, PortLines> service_ports_;
};

}  // namespace

void check_config(const Config& config, std::vector<config::Fault>& faults) {
  Check(config, faults).run();
}

}  // namespace roost::lb
