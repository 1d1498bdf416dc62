// The external addresses of a NAT: which worker has each, and which one a host has (paired address
// pooling, RFC 4787 REQ-2). A host keeps its address, over restarts too: it follows from its own,
// unless a forward leads to it, which then says.
#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "roost/hash/keyed_hash.h"
#include "roost/net/address_numbers.h"
#include "roost/net/flow_key.h"
#include "roost/net/headers.h"

namespace roost::conntrack {

// A port of an external address that always leads to the same inside endpoint: a forward.
struct StaticMapping {
  net::IpProtocol protocol{};
  net::Endpoint4 external{};
  net::Endpoint4 inside{};
  uint32_t line = 0;  // of the configuration

  // Wherever it stands there.
  [[nodiscard]] bool is_same(const StaticMapping& other) const {
    return protocol == other.protocol && external == other.external && inside == other.inside;
  }
};

// All workers' are the same; each has its own.
class ExternalAddresses {
 public:
  ExternalAddresses(std::span<const net::Ipv4Address> addresses, size_t worker_count,
                    std::span<const StaticMapping> forwards)
      : addresses_(addresses.begin(), addresses.end()), worker_count_(worker_count) {
    std::vector<std::pair<net::Ipv4Address, uint16_t>> numbered;
    for (size_t i = 0; i < addresses.size(); ++i)
      numbered.emplace_back(addresses[i], static_cast<uint16_t>(i));
    indices_ = Numbers(numbered);
    numbered.clear();
    for (const StaticMapping& one : forwards) {
      if (const auto index = index_of(one.external.address))
        numbered.emplace_back(one.inside.address, *index);
    }
    std::ranges::sort(numbered);  // a host that has several has the first one
    pinned_ = Numbers(numbered);
  }

  [[nodiscard]] const net::Ipv4Address& operator[](size_t index) const { return addresses_[index]; }
  [[nodiscard]] size_t count() const { return addresses_.size(); }
  // Nothing if it is none of them.
  [[nodiscard]] std::optional<uint16_t> index_of(const net::Ipv4Address& address) const {
    return indices_.find(address);
  }
  // The index of the one that an inside host has.
  [[nodiscard]] uint16_t of_host(const net::Ipv4Address& host) const {
    if (const auto index = pinned_.find(host)) return *index;
    constexpr KeyedHash kHash(0);
    uint64_t key = 0;
    std::ranges::copy(host.bytes, reinterpret_cast<uint8_t*>(&key));
    return static_cast<uint16_t>(kHash.hash<sizeof key>(&key).bits % addresses_.size());
  }
  [[nodiscard]] size_t worker_of(size_t index) const { return index % worker_count_; }
  // The worker that has an inside host's.
  [[nodiscard]] size_t worker_of_host(const net::Ipv4Address& host) const {
    return worker_count_ == 1 ? 0 : worker_of(of_host(host));
  }

 private:
  using Numbers = net::AddressNumbers<net::Ipv4Address>;

  std::vector<net::Ipv4Address> addresses_;
  size_t worker_count_;
  Numbers indices_;
  Numbers pinned_;
};

}  // namespace roost::conntrack
