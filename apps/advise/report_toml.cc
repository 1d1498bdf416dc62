// An advice as a configuration of the balancer, with examples where only the operator knows.
#include <fmt/format.h>

#include <iterator>
#include <string_view>
#include <vector>

#include "apps/advise/report.h"

namespace roost::advise {
namespace {

using TextOut = std::back_insert_iterator<std::string>;

constexpr int kBackendCount = 2;
constexpr unsigned kFirstLocal = 100;  // of the addresses of `fullnat`

// Example networks of a family: RFC 5737's and RFC 3849's, and a private one for the backends.
struct Examples {
  std::string_view name;
  std::string_view port;          // towards the clients
  std::string_view backend_port;  // the same port's address on the backends' network
  std::string_view virtual_address;
  std::string_view backend_prefix;  // of addresses, to which a number is added
  bool is_hexadecimal;
};
constexpr Examples kExamples4 = {"web",           "192.0.2.1/24", "10.0.0.1/24",
                                 "198.51.100.80", "10.0.0.",      false};
constexpr Examples kExamples6 = {"web6",           "2001:db8:1::1/64", "2001:db8:2::1/64",
                                 "2001:db8:3::80", "2001:db8:2::",     true};

std::string numbered(const Examples& examples, unsigned number) {
  return examples.is_hexadecimal ? fmt::format("{}{:x}", examples.backend_prefix, number)
                                 : fmt::format("{}{}", examples.backend_prefix, number);
}

std::string quoted_list(const std::vector<std::string>& texts) {
  return fmt::format("[\"{}\"]", fmt::join(texts, "\", \""));
}

void write_service(const Advice& advice, const Examples& examples, TextOut out) {
  fmt::format_to(out,
                 "\n[[service]]  # an example: replace name, addresses and ports\n"
                 "name = \"{}\"\n"
                 "address = \"{}\"\n"
                 "port = 80\n"
                 "protocol = \"tcp\"\n"
                 "mode = \"{}\"\n"
                 "backends = [\n",
                 examples.name, examples.virtual_address, lb::mode_name(advice.workload.mode));
  for (unsigned number = 1; number <= kBackendCount; ++number)
    fmt::format_to(out, "  {{name = \"b{}\", address = \"{}\"}},\n", number,
                   numbered(examples, 10 + number));
  fmt::format_to(out, "]\n");
}

}  // namespace

std::string format_toml(const Advice& advice) {
  const Workload& workload = advice.workload;
  std::vector<Examples> families;
  if (workload.has_ipv4()) families.push_back(kExamples4);
  if (workload.has_ipv6()) families.push_back(kExamples6);
  std::vector<std::string> port_addresses;
  std::vector<std::string> local_addresses;
  for (const Examples& one : families) {
    port_addresses.emplace_back(one.port);
    port_addresses.emplace_back(one.backend_port);
    for (unsigned worker = 0; worker < workload.cores; ++worker)
      local_addresses.push_back(numbered(one, kFirstLocal + worker));
  }

  std::string toml;
  const TextOut out = std::back_inserter(toml);
  fmt::format_to(out,
                 "# By `roost advise`: sizes, timeouts and workers are its advice. Ports, services "
                 "and backends\n"
                 "# are examples; replace them before you use this on a network.\n"
                 "tick_seconds = {:g}\n"
                 "\n[table]\n"
                 "connections = {}  # of a family, in each worker\n"
                 "\n[timeouts]  # seconds\n",
                 advice.sizing.tick_seconds, advice.sizing.connections);
  for (size_t i = 0; i < kTimeoutCount; ++i)
    fmt::format_to(out, "{} = {:g}\n", conntrack::kTcpUdpTimeouts[i].name, advice.timeouts[i]);
  fmt::format_to(out,
                 "\n[lb]\n"
                 "workers = {}\n"
                 "\n[[port]]  # an example: one for each port of DPDK\n"
                 "addresses = {}\n",
                 workload.cores, quoted_list(port_addresses));
  for (const Examples& one : families) write_service(advice, one, out);
  if (workload.mode == lb::Mode::kFullnat)
    fmt::format_to(out, "\n[fullnat]  # an example: one for each worker\naddresses = {}\n",
                   quoted_list(local_addresses));
  return toml;
}

}  // namespace roost::advise
